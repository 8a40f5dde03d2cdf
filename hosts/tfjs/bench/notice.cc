// For the benchmark alone: the addon's weak notice without its booking, and a bare one beside it.
#include <memory>
#include <utility>

#include "../addon/bridge.hpp"

namespace ebb::node {
namespace {

napi_value attach(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  World& world = arguments.world();
  world.attach(static_cast<std::uint32_t>(world.slate[kSlot]), arguments.values[0]);
  return nullptr;
}

napi_value bare_finalizer(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  napi_add_finalizer(
      env, arguments.values[0], nullptr, [](node_api_basic_env, void*, void*) {}, nullptr, nullptr);
  return nullptr;
}

// What the benchmark's program needs to know of addon/shared.hpp.
void export_places(napi_env env, napi_value exports) {
  static constexpr std::pair<const char*, std::uint32_t> kPlaces[] = {
      {"slot", kSlot},           {"key", kKey},
      {"bytes", kBytes},         {"device", kDevice},
      {"slateSize", kSlateSize}, {"signalCount", kSignalCount}};
  napi_value places;
  must(napi_create_object(env, &places));
  for (const auto& [name, place] : kPlaces) {
    must(napi_set_named_property(env, places, name, to_js(env, place)));
  }
  must(napi_set_named_property(env, exports, "places", places));
}

}  // namespace
}  // namespace ebb::node

NAPI_MODULE_INIT() {
  using namespace ebb::node;
  World* world = std::make_unique<World>(env).release();
  const auto drop = [](napi_env, void* data, void*) {
    std::unique_ptr<World>(static_cast<World*>(data)).reset();
  };
  napi_set_instance_data(env, world, drop, nullptr);
  export_watching(env, *world, exports);
  export_reclaim(env, *world, exports);
  export_places(env, exports);
  export_function<attach>(env, *world, exports, "attach");
  export_function<bare_finalizer>(env, *world, exports, "bareFinalizer");
  return exports;
}
