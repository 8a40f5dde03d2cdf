// A plan: one oneDNN primitive, made ready for one set of shapes, with the reorders around it.
//
// The caller describes each argument as it lies in memory. Where oneDNN asked for another layout
// (blocked weights, usually), the plan reorders inputs before and outputs after, in the workspace.
// A plan belongs to the thread that made it (plan_cache.hpp): its memory objects are pointed at
// other data in each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/cpu/dnn_library.hpp"

namespace ebb::cpu {

template <typename Object, auto Destroy>
struct DnnDeleter {
  using pointer = Object;
  void operator()(Object object) const noexcept { (dnn().*Destroy)(object); }
};
template <typename Object, auto Destroy>
using DnnOwner = std::unique_ptr<std::remove_pointer_t<Object>, DnnDeleter<Object, Destroy>>;

using DnnDesc = DnnOwner<dnnl_memory_desc_t, &DnnLibrary::memory_desc_destroy>;
using DnnMemory = DnnOwner<dnnl_memory_t, &DnnLibrary::memory_destroy>;
using DnnPrimitive = DnnOwner<dnnl_primitive_t, &DnnLibrary::primitive_destroy>;
using DnnPrimitiveDesc = DnnOwner<dnnl_primitive_desc_t, &DnnLibrary::primitive_desc_destroy>;
using DnnAttributes = DnnOwner<dnnl_primitive_attr_t, &DnnLibrary::primitive_attr_destroy>;
using DnnPostOps = DnnOwner<dnnl_post_ops_t, &DnnLibrary::post_ops_destroy>;

using Dims = std::span<const std::int64_t>;

// float32 data of `dims`, `strides` in elements.
DnnDesc desc_of(Dims dims, Dims strides);
// The same, the layout left to oneDNN.
DnnDesc any_layout(Dims dims);
// Scratchpads are Ebb's workspaces, so that they are in the books.
DnnAttributes attributes(DnnPostOps post_ops = {});

// Makes a primitive descriptor by one of oneDNN's create functions.
template <typename Create, typename... Args>
DnnPrimitiveDesc describe(const char* what, Create create, Args... args) {
  dnnl_primitive_desc_t made = nullptr;
  check_dnn(create(&made, dnn().engine, args...), what);
  return DnnPrimitiveDesc(made);
}

class Plan {
 public:
  enum class Role : std::uint8_t { kInput, kOutput };
  struct Argument {
    int id;  // DNNL_ARG_*
    Role role;
    DnnDesc layout;  // as it lies in memory
  };

  Plan(const DnnPrimitiveDesc& desc, std::vector<Argument> arguments, bool alone);

  // What run() needs beside its arguments, in bytes; 64-byte aligned.
  std::size_t workspace_bytes() const noexcept { return workspace_bytes_; }
  // `data`: one pointer an argument, in their order. Inputs are not written.
  void run(std::span<const void* const> data, void* workspace);

 private:
  struct Placed {
    DnnMemory memory;
    std::size_t offset = 0;  // in the workspace
  };
  struct Bound {
    DnnMemory outer;  // the caller's data
    Placed inner;     // the same, reordered; null where the layouts agree
    Placed scratchpad;
    DnnPrimitive reorder;
    Role role = Role::kInput;
  };
  Placed scratchpad_of(const DnnPrimitiveDesc& desc);
  Placed place(const_dnnl_memory_desc_t desc);
  void bind(const DnnPrimitiveDesc& desc, Argument argument);
  void add_reorder(Bound& bound, const_dnnl_memory_desc_t outer, const_dnnl_memory_desc_t inner);
  std::size_t take(std::size_t bytes) noexcept;
  void reorder(Bound& bound);

  DnnPrimitive primitive_;
  std::vector<Bound> bound_;
  std::vector<dnnl_exec_arg_t> arguments_;
  Placed scratchpad_;
  std::size_t workspace_bytes_ = 0;
  bool alone_;
  bool has_run_ = false;
};

}  // namespace ebb::cpu
