// More runtimes than the CPU's: one for each GPU that a backend computes on, and reads that nobody
// waits for.
#include <memory>

#include "runtime.hpp"

namespace ebb::node {
namespace {

// A runtime's functions find it through the world they belong to; this one has nothing else in use.
void drop(napi_env, void* world, void*) {
  std::unique_ptr<World>(static_cast<World*>(world)).reset();
}

// deviceRuntime(name) -> the runtime's functions, for that device
napi_value device_runtime(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  auto world = std::make_unique<World>(env);
  world->runtime->set_device(arguments.text(0));
  if (!check(env, world->runtime->open())) return nullptr;
  napi_value functions = nullptr;
  napi_create_object(env, &functions);
  export_runtime(env, *world, functions);
  export_reads(env, *world, functions);
  napi_wrap(env, functions, world.release(), drop, nullptr, nullptr);
  return functions;
}

// readBegin(handle) -> the read's name
napi_value read_begin(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  ebb_read read = 0;
  if (!check(env, ebb_read_begin(arguments.world->runtime->context(),
                                 arguments.integer<ebb_handle>(0), &read, nullptr))) {
    return nullptr;
  }
  return to_js(env, static_cast<double>(read));
}

// readPoll(read) -> 1 when it is done
napi_value read_poll(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::uint32_t done = 0;
  if (!check(env, ebb_read_poll(arguments.integer<ebb_read>(0), &done))) return nullptr;
  return to_js(env, done);
}

// readEnd(read, array): fills the array
napi_value read_end(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  const Bytes into = bytes_of(env, arguments.values[1]);
  check(env, ebb_read_end(arguments.integer<ebb_read>(0), into.data, into.size));
  return nullptr;
}

napi_value read_drop(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  check(env, ebb_read_drop(arguments.integer<ebb_read>(0)));
  return nullptr;
}

}  // namespace

void export_devices(napi_env env, World& world, napi_value exports) {
  export_function(env, world, exports, "deviceRuntime", device_runtime);
}

void export_reads(napi_env env, World& world, napi_value exports) {
  export_function(env, world, exports, "readBegin", read_begin);
  export_function(env, world, exports, "readPoll", read_poll);
  export_function(env, world, exports, "readEnd", read_end);
  export_function(env, world, exports, "readDrop", read_drop);
}

}  // namespace ebb::node
