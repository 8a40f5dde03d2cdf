// One isolate's door to Ebb's own tensors on one device: the arrays through which JavaScript calls
// operations. The tensors are the isolate's, in its one context.
//
// An operation is one crossing without arguments or results: both lie in arrays that the two sides
// share, all of doubles (handles are below 2^53).
//
//   head        operation, how many inputs, views, attributes, results (before: at most)
//   inputs      handles; 0 for an optional one that is not there
//   views       inputs that are taken in another shape, for this operation only; for each: which
//               input, dtype, rank, sizes
//   attributes  flat, as ebb_op_run takes them
//   results     for each: handle, dtype, rank, sizes
//   small       values that are written or read, where they are few
//
// What JavaScript has ended goes first, so that the operation finds its memory still in the caches.
#pragma once

#include <cstdint>
#include <vector>

#include "bridge.hpp"

namespace ebb::node {

constexpr std::size_t kShared = 6;

class Runtime {
 public:
  Runtime(World& world, std::string device) : world_(world), device_name_(std::move(device)) {}
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  ebb_status open();
  World& world() const { return world_; }
  ebb_context context() const { return world_.context(); }
  ebb_device device() const { return device_; }
  // The shared array for values of so many bytes; null where it is smaller.
  void* small(std::size_t bytes) const { return bytes <= small_bytes_ ? small_ : nullptr; }

  // The shared arrays; JavaScript brings larger ones when an operation needs them.
  void share(napi_env env, const napi_value* arrays);
  ebb_status run();

  // Recorded programs (programs.cc).
  ebb_status program_begin(std::uint32_t flags, ebb_program* program);
  ebb_status program_end(ebb_program program, ebb_program_info* info);
  ebb_status program_run(ebb_program program, bool partly);
  void program_free(ebb_program program);

  // The tape that gradients are taken from (tape.cc). The shared inputs are watched.
  ebb_status tape_open();
  // The shared inputs are y, what its gradient begins with (0: ones), and the tensors that gradients
  // by are wanted of; the results are their handles, 0 where there is none. Closes the tape.
  ebb_status tape_backward();
  void tape_close();

 private:
  // What JavaScript has ended ends; then the shared inputs, with `views` of them in another shape,
  // which are there also after an error.
  ebb_status take_inputs(std::size_t& inputs, std::size_t& views);
  void drop_views(std::size_t views);
  ebb_status reshape(ebb_handle& input, const ebb_tensor_spec& spec);
  ebb_status make_view(const double* given);
  ebb_status call(std::size_t inputs);

  World& world_;
  const std::string device_name_;
  ebb_device device_ = 0;
  ebb_program recorded_ = 0;  // the one that is being recorded
  ebb_tape tape_ = 0;         // the one that is open
  double* head_ = nullptr;
  double* inputs_ = nullptr;
  double* views_ = nullptr;
  double* attributes_ = nullptr;
  double* results_ = nullptr;
  double* small_ = nullptr;
  std::size_t small_bytes_ = 0;
  napi_ref kept_[kShared] = {};
  std::vector<ebb_handle> handles_;
  std::vector<ebb_op_result> made_;
};

void export_programs(napi_env env, Runtime& runtime, napi_value functions);
void export_tape(napi_env env, Runtime& runtime, napi_value functions);

}  // namespace ebb::node
