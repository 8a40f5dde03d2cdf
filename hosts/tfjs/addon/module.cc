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
  auto made = std::make_unique<World>(env);
  must(napi_set_instance_data(env, made.get(), on_unload, nullptr));
  World* world = made.release();
  must(napi_add_env_cleanup_hook(env, on_exit, world));
  export_watching(env, *world, exports);
  export_reclaim(env, *world, exports);
  export_books(env, *world, exports);
  export_recording(env, *world, exports);
  export_runtime(env, *world, exports);
#ifdef EBB_NODE_PICTURES
  export_pictures(env, *world, exports);
#endif
#ifdef EBB_NODE_FAULTY
  export_switch(env, *world, exports);
#endif
  return exports;
}

}  // namespace
}  // namespace ebb::node

NAPI_MODULE_INIT() {
  try {
    return ebb::node::init(env, exports);
  } catch (const std::exception& error) {
    napi_throw_error(env, "EBB_INTERNAL", error.what());
    return nullptr;
  }
}
