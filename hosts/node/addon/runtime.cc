#include "runtime.hpp"

#include <iterator>

#include "budget.hpp"

namespace ebb::node {

ebb_status Runtime::open() {
  if (is_open()) return EBB_OK;
  if (const auto status = Budget::of_process().open_own(device_name_.c_str(), &device_); status != EBB_OK)
    return status;
  ebb_context_options options{};
  options.size = sizeof options;
  options.name = "node:data";
  options.flags = EBB_CONTEXT_BACKING;
  options.warn = [](void*, const char*) {};  // the host's context says it, with sites
  return ebb_context_create(&options, &context_);
}

void Runtime::close() noexcept {
  if (context_ == 0) return;
  ebb_context_destroy(context_);
  ebb_device_close(device_);
  context_ = 0;
}

void Runtime::share(napi_env env, const napi_value* arrays) {
  double** const members[] = {&head, &inputs_, &attributes_, &results_, &frees_};
  for (std::size_t i = 0; i < std::size(members); ++i) {
    void* data = nullptr;
    std::size_t length = 0;
    napi_get_typedarray_info(env, arrays[i], nullptr, &length, &data, nullptr, nullptr);
    if (kept_[i] != nullptr) napi_delete_reference(env, kept_[i]);
    napi_create_reference(env, arrays[i], 1, &kept_[i]);
    *members[i] = static_cast<double*>(data);
    if (members[i] == &inputs_) handles_.resize(length);
    if (members[i] == &results_) made_.resize(length / kResultSize);
  }
}

void Runtime::end_freed() noexcept {
  const auto count = static_cast<std::size_t>(head[kFrees]);
  for (std::size_t i = 0; i < count; ++i)
    ebb_tensor_dispose(context_, static_cast<ebb_handle>(frees_[i]));
  head[kFrees] = 0;
}

ebb_status Runtime::run() {
  if (head[kFrees] != 0) end_freed();
  const auto inputs = static_cast<std::size_t>(head[kInputs]);
  for (std::size_t i = 0; i < inputs; ++i) handles_[i] = static_cast<ebb_handle>(inputs_[i]);
  std::size_t count = 0;
  const ebb_status status =
      ebb_op_run(context_, device_, static_cast<std::uint32_t>(head[kOp]), handles_.data(), inputs,
                 attributes_, static_cast<std::size_t>(head[kAttributes]), made_.data(),
                 static_cast<std::size_t>(head[kResults]), &count);
  if (status != EBB_OK) return status;
  head[kResults] = static_cast<double>(count);
  double* out = results_;
  for (std::size_t i = 0; i < count; ++i, out += kResultSize) {
    const ebb_op_result& one = made_[i];
    out[0] = static_cast<double>(one.handle);
    out[1] = one.dtype;
    out[2] = one.rank;
    for (std::uint32_t k = 0; k < one.rank; ++k) out[3 + k] = static_cast<double>(one.shape[k]);
  }
  return EBB_OK;
}

}  // namespace ebb::node
