// Opening an isolate's world, and the calls made for every tensor.
#include "bridge.hpp"

namespace ebb::node {
namespace {

template <typename Element>
Element* elements(napi_env env, napi_value array, std::size_t* length = nullptr) {
  void* data = nullptr;
  std::size_t count = 0;
  napi_get_typedarray_info(env, array, nullptr, &count, &data, nullptr, nullptr);
  napi_ref forever;  // the memory must outlive this isolate's last collection
  napi_create_reference(env, array, 1, &forever);
  if (length != nullptr) *length = count;
  return static_cast<Element*>(data);
}

napi_value open(napi_env env, napi_callback_info info) {
  const Arguments<5> arguments(env, info);
  World& world = *arguments.world;
  if (world.is_open()) return nullptr;
  std::size_t capacity = 0;
  world.slate = elements<double>(env, arguments.values[1]);
  world.queue = elements<std::uint32_t>(env, arguments.values[2]);
  world.ended = elements<std::uint32_t>(env, arguments.values[3], &capacity);
  world.signals = elements<std::uint32_t>(env, arguments.values[4]);
  world.ended_capacity = static_cast<std::uint32_t>(capacity);
  check(env, world.open(arguments.values[0]));
  return nullptr;
}

napi_value watch(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  World& world = *arguments.world;
  world.flush();
  check(env, world.watch(arguments.values[0]));
  return nullptr;
}

napi_value book(napi_env env, napi_callback_info info) {
  const Arguments<> arguments(env, info);
  World& world = *arguments.world;
  world.flush();
  check(env, world.watch(nullptr));
  return nullptr;
}

napi_value flush(napi_env env, napi_callback_info info) {
  const Arguments<> arguments(env, info);
  arguments.world->flush();
  return nullptr;
}

napi_value tensor(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  return arguments.world->tensor_of(arguments.integer<std::uint32_t>(0));
}

napi_value rebook(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  const World& world = *arguments.world;
  check(env,
        ebb_tensor_rebook(world.context(), world.handle_of(arguments.integer<std::uint32_t>(0)),
                          arguments.integer<ebb_device>(1), arguments.integer<std::uint64_t>(2)));
  return nullptr;
}

// Our notice and a bare one, for the benchmark that compares them.
napi_value attach(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  World& world = *arguments.world;
  world.attach(static_cast<std::uint32_t>(world.slate[kSlot]), arguments.values[0]);
  return nullptr;
}

napi_value bare_finalizer(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  napi_add_finalizer(
      env, arguments.values[0], nullptr, [](node_api_basic_env, void*, void*) {}, nullptr, nullptr);
  return nullptr;
}

napi_value layout(napi_env env) {
  napi_value object;
  napi_create_object(env, &object);
  const struct {
    const char* name;
    std::uint32_t value;
  } fields[] = {{"slot", kSlot},      {"key", kKey},         {"bytes", kBytes},
                {"device", kDevice},  {"dtype", kDtype},     {"site", kSite},
                {"rank", kRank},      {"dims", kDims},       {"queued", kQueued},
                {"size", kSlateSize}, {"signals", kSignals}, {"axes", EBB_MAX_RANK}};
  for (const auto& field : fields) {
    napi_set_named_property(env, object, field.name, to_js(env, field.value));
  }
  return object;
}

}  // namespace

void export_watching(napi_env env, World& world, napi_value exports) {
  export_function(env, world, exports, "open", open);
  export_function(env, world, exports, "watch", watch);
  export_function(env, world, exports, "book", book);
  export_function(env, world, exports, "flush", flush);
  export_function(env, world, exports, "tensor", tensor);
  export_function(env, world, exports, "rebook", rebook);
  export_function(env, world, exports, "attach", attach);
  export_function(env, world, exports, "bareFinalizer", bare_finalizer);
  napi_set_named_property(env, exports, "layout", layout(env));
}

}  // namespace ebb::node
