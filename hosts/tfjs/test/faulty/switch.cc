// failAt(n, andLater): the nth call of Node-API from now on fails. failed(): how many have; none does
// from then on.
#include "../../addon/bridge.hpp"

namespace ebb::node {
namespace {

napi_value fail_at(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  faulty::plan = {.at = arguments.integer<std::uint64_t>(0), .and_later = arguments.boolean(1)};
  return nullptr;
}

napi_value failed(napi_env env, napi_callback_info) {
  const auto count = static_cast<double>(faulty::plan.failed);
  faulty::plan = {};
  return to_js(env, count);
}

}  // namespace

void export_switch(napi_env env, World& world, napi_value exports) {
  export_function<fail_at>(env, world, exports, "failAt");
  export_function<failed>(env, world, exports, "failed");
}

}  // namespace ebb::node
