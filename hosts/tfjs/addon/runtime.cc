#include "runtime.hpp"

#include <iterator>

#include "budget.hpp"

namespace ebb::node {

ebb_status Runtime::open() { return Budget::of_process().open_own(device_name_.c_str(), &device_); }

Runtime::~Runtime() {
  tape_close();
  if (device_ != 0) ebb_device_close(device_);
}

void Runtime::share(napi_env env, const napi_value* arrays) {
  double** const members[] = {&head_, &inputs_, &views_, &attributes_, &results_, &small_};
  for (std::size_t i = 0; i < std::size(members); ++i) {
    void* data = nullptr;
    std::size_t length = 0;
    must(napi_get_typedarray_info(env, arrays[i], nullptr, &length, &data, nullptr, nullptr));
    napi_ref kept = nullptr;
    must(napi_create_reference(env, arrays[i], 1, &kept));
    if (kept_[i] != nullptr) napi_delete_reference(env, kept_[i]);
    kept_[i] = kept;
    *members[i] = static_cast<double*>(data);
    if (members[i] == &inputs_) handles_.resize(length);
    if (members[i] == &results_) made_.resize(length / kResultSize);
    if (members[i] == &small_) small_bytes_ = length * sizeof(double);
  }
}

ebb_status Runtime::make_view(const double* given) {
  ebb_handle& input = handles_[static_cast<std::size_t>(given[kHandle])];
  std::int64_t dims[EBB_MAX_RANK] = {};
  ebb_tensor_spec spec{};
  spec.size = sizeof spec;
  spec.dtype = static_cast<std::uint32_t>(given[kResultDtype]);
  spec.rank = static_cast<std::uint32_t>(given[kResultRank]);
  for (std::uint32_t i = 0; i < spec.rank; ++i)
    dims[i] = static_cast<std::int64_t>(given[kSizes + i]);
  spec.dims = dims;
  const bool heard = recorded_ != 0 || tape_ != 0;
  return heard ? reshape(input, spec) : ebb_tensor_view(context(), input, 0, &spec, &input);
}

ebb_status Runtime::take_inputs(std::size_t& inputs, std::size_t& views) {
  world_.flush();
  inputs = static_cast<std::size_t>(head_[kInputs]);
  for (std::size_t i = 0; i < inputs; ++i) handles_[i] = static_cast<ebb_handle>(inputs_[i]);
  const auto wanted = static_cast<std::size_t>(head_[kViews]);
  ebb_status status = EBB_OK;
  for (views = 0; views < wanted && status == EBB_OK;) {
    status = make_view(views_ + views * kResultSize);
    if (status == EBB_OK) ++views;
  }
  return status;
}

void Runtime::drop_views(std::size_t views) {
  for (std::size_t i = 0; i < views; ++i) {
    const auto which = static_cast<std::size_t>(views_[i * kResultSize + kHandle]);
    ebb_tensor_dispose(context(), handles_[which]);
  }
}

ebb_status Runtime::run() {
  std::size_t inputs = 0, views = 0;
  ebb_status status = take_inputs(inputs, views);
  if (status == EBB_OK) status = call(inputs);
  drop_views(views);
  return status;
}

ebb_status Runtime::call(std::size_t inputs) {
  std::size_t count = 0;
  const ebb_status status =
      ebb_op_run(context(), device_, static_cast<std::uint32_t>(head_[kOp]), handles_.data(),
                 inputs, attributes_, static_cast<std::size_t>(head_[kAttributes]), made_.data(),
                 static_cast<std::size_t>(head_[kResults]), &count);
  if (status != EBB_OK) return status;
  head_[kResults] = static_cast<double>(count);
  double* out = results_;
  for (std::size_t i = 0; i < count; ++i, out += kResultSize) {
    const ebb_op_result& one = made_[i];
    out[kHandle] = static_cast<double>(one.handle);
    out[kResultDtype] = one.dtype;
    out[kResultRank] = one.rank;
    for (std::uint32_t k = 0; k < one.rank; ++k)
      out[kSizes + k] = static_cast<double>(one.shape[k]);
  }
  return EBB_OK;
}

}  // namespace ebb::node
