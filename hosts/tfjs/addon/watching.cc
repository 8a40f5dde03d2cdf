// Opening an isolate's world, and the calls made for every tensor.
#include "bridge.hpp"

namespace ebb::node {
namespace {

template <typename Element>
Element* elements(napi_env env, napi_value array, std::size_t* length = nullptr) {
  void* data = nullptr;
  std::size_t count = 0;
  must(napi_get_typedarray_info(env, array, nullptr, &count, &data, nullptr, nullptr));
  napi_ref forever;  // the memory must outlive this isolate's last collection
  must(napi_create_reference(env, array, 1, &forever));
  if (length != nullptr) *length = count;
  return static_cast<Element*>(data);
}

// open(collect, slate, queue, ended, signals)
napi_value open(napi_env env, napi_callback_info info) {
  const Arguments<5> arguments(env, info);
  World& world = arguments.world();
  std::size_t capacity = 0;
  world.slate = elements<double>(env, arguments.values[1]);
  world.queue = elements<double>(env, arguments.values[2]);
  world.ended = elements<std::uint32_t>(env, arguments.values[3], &capacity);
  world.signals = elements<std::uint32_t>(env, arguments.values[4]);
  world.ended_capacity = static_cast<std::uint32_t>(capacity);
  world.see_recording();
  check(env, world.open(arguments.values[0]));
  return nullptr;
}

// A tensor of another runtime.
napi_value watch(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  World& world = arguments.world();
  world.flush();
  check(env, world.adopt(arguments.values[0]));
  return nullptr;
}

// The same without a notice: it was born before anybody watched.
napi_value book(napi_env env, napi_callback_info info) {
  World& world = owner_of<World>(env, info);
  world.flush();
  check(env, world.adopt(nullptr));
  return nullptr;
}

// Data of Ebb's own, or one more tensor over it.
napi_value watch_own(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  World& world = arguments.world();
  world.flush();
  check(env, world.watch_own(arguments.values[0]));
  return nullptr;
}

napi_value flush(napi_env env, napi_callback_info info) {
  owner_of<World>(env, info).flush();
  return nullptr;
}

// What is in a slot, while it can be reached.
napi_value object(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  return arguments.world().object_in(arguments.integer<std::uint32_t>(0));
}

napi_value rebook(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  const World& world = arguments.world();
  check(env,
        ebb_tensor_rebook(world.context(), world.handle_of(arguments.integer<std::uint32_t>(0)),
                          arguments.integer<ebb_device>(1), arguments.integer<std::uint64_t>(2)));
  return nullptr;
}

}  // namespace

void export_watching(napi_env env, World& world, napi_value exports) {
  export_function<open>(env, world, exports, "open");
  export_function<watch>(env, world, exports, "watch");
  export_function<book>(env, world, exports, "book");
  export_function<watch_own>(env, world, exports, "watchOwn");
  export_function<flush>(env, world, exports, "flush");
  export_function<object>(env, world, exports, "object");
  export_function<rebook>(env, world, exports, "rebook");
  must(napi_set_named_property(env, exports, "layout", to_js(env, kLayout)));
}

}  // namespace ebb::node
