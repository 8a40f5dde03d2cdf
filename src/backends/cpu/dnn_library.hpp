// oneDNN's C functions, found when a kernel first needs one of them. cmake/EbbOneDnn.cmake says why
// nothing is linked.
#pragma once

#include <oneapi/dnnl/dnnl.h>

namespace ebb::cpu {

#define EBB_DNN_FUNCTIONS(FUNCTION)                            \
  FUNCTION(batch_normalization_forward_primitive_desc_create)  \
  FUNCTION(convolution_backward_data_primitive_desc_create)    \
  FUNCTION(convolution_backward_weights_primitive_desc_create) \
  FUNCTION(convolution_forward_primitive_desc_create)          \
  FUNCTION(engine_create)                                      \
  FUNCTION(matmul_primitive_desc_create)                       \
  FUNCTION(memory_create)                                      \
  FUNCTION(memory_desc_create_with_strides)                    \
  FUNCTION(memory_desc_create_with_tag)                        \
  FUNCTION(memory_desc_destroy)                                \
  FUNCTION(memory_desc_equal)                                  \
  FUNCTION(memory_desc_get_size)                               \
  FUNCTION(memory_destroy)                                     \
  FUNCTION(memory_set_data_handle)                             \
  FUNCTION(pooling_backward_primitive_desc_create)             \
  FUNCTION(pooling_forward_primitive_desc_create)              \
  FUNCTION(post_ops_append_binary)                             \
  FUNCTION(post_ops_append_eltwise)                            \
  FUNCTION(post_ops_create)                                    \
  FUNCTION(post_ops_destroy)                                   \
  FUNCTION(primitive_attr_create)                              \
  FUNCTION(primitive_attr_destroy)                             \
  FUNCTION(primitive_attr_set_post_ops)                        \
  FUNCTION(primitive_attr_set_scratchpad_mode)                 \
  FUNCTION(primitive_create)                                   \
  FUNCTION(primitive_desc_destroy)                             \
  FUNCTION(primitive_desc_query_md)                            \
  FUNCTION(primitive_destroy)                                  \
  FUNCTION(primitive_execute)                                  \
  FUNCTION(reorder_primitive_desc_create)                      \
  FUNCTION(sgemm)                                              \
  FUNCTION(softmax_forward_primitive_desc_create)              \
  FUNCTION(stream_create)

struct DnnLibrary {
#define EBB_DNN_MEMBER(name) decltype(&::dnnl_##name) name = nullptr;
  EBB_DNN_FUNCTIONS(EBB_DNN_MEMBER)
#undef EBB_DNN_MEMBER
  // A CPU stream has no state and never waits: one serves every thread. Both live as long as the
  // process.
  dnnl_engine_t engine = nullptr;
  dnnl_stream_t stream = nullptr;
};

// Throws (unsupported) where libdnnl.so.3 is not to be found.
const DnnLibrary& dnn();

// Throws if a call was refused: `what` says which.
void check_dnn(dnnl_status_t status, const char* what);

}  // namespace ebb::cpu
