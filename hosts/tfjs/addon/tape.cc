// The native tape: what JavaScript calls. One is open at a time, and it hears everything that the
// isolate's thread does.
#include "runtime.hpp"

namespace ebb::node {

ebb_status Runtime::tape_open() {
  tape_close();
  std::size_t inputs = 0, views = 0;
  ebb_status status = take_inputs(inputs, views);
  constexpr uint32_t kFlags = EBB_TAPE_BY_NAME | EBB_TAPE_OF_TENSORFLOW_JS;
  if (status == EBB_OK) status = ebb_tape_open_with(context(), kFlags, &tape_);
  for (std::size_t i = 0; i < inputs && status == EBB_OK; ++i)
    status = ebb_tape_watch(tape_, handles_[i]);
  drop_views(views);
  if (status != EBB_OK) tape_close();
  return status;
}

ebb_status Runtime::tape_backward() {
  std::size_t inputs = 0, views = 0;
  ebb_status status = take_inputs(inputs, views);
  if (status == EBB_OK) {
    const std::size_t wanted = inputs - 2;
    const ebb_handle* seeds = handles_[1] == 0 ? nullptr : &handles_[1];
    std::vector<ebb_handle> gradients(wanted);
    status = ebb_tape_backward(tape_, device_, handles_.data(), 1, seeds, handles_.data() + 2,
                               wanted, gradients.data());
    for (std::size_t i = 0; i < wanted && status == EBB_OK; ++i)
      results_[i * kResultSize + kHandle] = static_cast<double>(gradients[i]);
  }
  drop_views(views);
  tape_close();
  return status;
}

void Runtime::tape_close() {
  if (tape_ != 0) ebb_tape_close(tape_);
  tape_ = 0;
}

namespace {

napi_value tape_open(napi_env env, napi_callback_info info) {
  check(env, owner_of<Runtime>(env, info).tape_open());
  return nullptr;
}

napi_value tape_backward(napi_env env, napi_callback_info info) {
  check(env, owner_of<Runtime>(env, info).tape_backward());
  return nullptr;
}

napi_value tape_close(napi_env env, napi_callback_info info) {
  owner_of<Runtime>(env, info).tape_close();
  return nullptr;
}

}  // namespace

void export_tape(napi_env env, Runtime& runtime, napi_value functions) {
  export_function<tape_open>(env, runtime, functions, "tapeOpen");
  export_function<tape_backward>(env, runtime, functions, "tapeBackward");
  export_function<tape_close>(env, runtime, functions, "tapeClose");
}

}  // namespace ebb::node
