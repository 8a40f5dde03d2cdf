// One isolate's door to Ebb's own tensors: a context for the data of backend `ebb`, and the arrays
// through which JavaScript calls operations.
//
// An operation is one crossing without arguments or results: both lie in arrays that the two sides
// share, all of doubles (handles are below 2^53).
//
//   head        operation, how many inputs, views, attributes, results (before: at most) and frees
//   inputs      handles; 0 for an optional one that is not there
//   views       inputs that are taken in another shape, for this operation only; for each: which
//               input, dtype, rank, eight sizes
//   attributes  flat, as ebb_op_run takes them
//   results     for each: handle, dtype, rank, eight sizes
//   frees       handles that JavaScript has let go of; ended before the next operation, so that it
//               finds their memory still in the caches
#pragma once

#include <cstdint>
#include <vector>

#include "bridge.hpp"

namespace ebb::node {

enum Head : std::uint32_t { kOp, kInputs, kViews, kAttributes, kResults, kFrees, kHeadSize };

// Of a result and of a view.
constexpr std::uint32_t kResultSize = 3 + EBB_MAX_RANK;
constexpr std::size_t kShared = 6;

// A typed array's memory.
struct Bytes {
  void* data = nullptr;
  std::size_t size = 0;
};
Bytes bytes_of(napi_env env, napi_value array);

class Runtime {
 public:
  Runtime() = default;
  ~Runtime() { close(); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // Before it is opened: "cpu" otherwise.
  void set_device(std::string name) { device_name_ = std::move(name); }
  ebb_status open();
  void close() noexcept;
  bool is_open() const { return context_ != 0; }
  ebb_context context() const { return context_; }
  ebb_device device() const { return device_; }

  // The shared arrays; JavaScript brings larger ones when an operation needs them.
  void share(napi_env env, const napi_value* arrays);
  ebb_status run();
  void end_freed() noexcept;

  double* head = nullptr;

 private:
  ebb_status make_view(const double* given);
  ebb_status call(std::size_t inputs);

  ebb_context context_ = 0;
  ebb_device device_ = 0;
  std::string device_name_ = "cpu";
  double* inputs_ = nullptr;
  double* views_ = nullptr;
  double* attributes_ = nullptr;
  double* results_ = nullptr;
  double* frees_ = nullptr;
  napi_ref kept_[kShared] = {};
  std::vector<ebb_handle> handles_;
  std::vector<ebb_op_result> made_;
};

}  // namespace ebb::node
