// The addon: one World for each isolate that loads it.
#include <memory>

#include "bridge.hpp"

namespace ebb::node {
namespace {

// Runs before the isolate finalizes what is left, so no notice can reach a context that is gone.
void on_exit(void* world) { static_cast<World*>(world)->close(); }

void on_unload(napi_env, void* world, void*) {
  std::unique_ptr<World>(static_cast<World*>(world)).reset();
}

napi_value init(napi_env env, napi_value exports) {
  World* world = std::make_unique<World>(env).release();
  napi_set_instance_data(env, world, on_unload, nullptr);
  napi_add_env_cleanup_hook(env, on_exit, world);
  export_watching(env, *world, exports);
  export_reclaim(env, *world, exports);
  export_books(env, *world, exports);
  export_runtime(env, *world, exports);
#ifdef EBB_NODE_PICTURES
  export_pictures(env, *world, exports);
#endif
  return exports;
}

}  // namespace
}  // namespace ebb::node

NAPI_MODULE_INIT() { return ebb::node::init(env, exports); }
