// What JavaScript calls of the runtime.
#include "runtime.hpp"

namespace ebb::node {
namespace {

Runtime& runtime_of(const World* world) { return *world->runtime; }

napi_value open_runtime(napi_env env, napi_callback_info info) {
  const Arguments<5> arguments(env, info);
  Runtime& runtime = runtime_of(arguments.world);
  if (check(env, runtime.open())) runtime.share(env, arguments.values);
  return nullptr;
}

napi_value run(napi_env env, napi_callback_info info) {
  const Arguments<> arguments(env, info);
  check(env, runtime_of(arguments.world).run());
  return nullptr;
}

napi_value end_freed(napi_env env, napi_callback_info info) {
  const Arguments<> arguments(env, info);
  runtime_of(arguments.world).end_freed();
  return nullptr;
}

// The sizes in a JavaScript array; false if there are more than the core allows.
bool take_shape(napi_env env, napi_value array, ebb_tensor_spec& spec, std::int64_t* dims) {
  napi_get_array_length(env, array, &spec.rank);
  if (spec.rank > EBB_MAX_RANK) {
    const std::string text = "[tensor] Received " + std::to_string(spec.rank) +
                             " axes; allowed: at most " + std::to_string(EBB_MAX_RANK) + ".";
    napi_throw_error(env, "EBB_INVALID_ARGUMENT", text.c_str());
    return false;
  }
  for (std::uint32_t i = 0; i < spec.rank; ++i) {
    napi_value size;
    napi_get_element(env, array, i, &size);
    napi_get_value_int64(env, size, &dims[i]);
  }
  spec.dims = dims;
  return true;
}

// write(dtype, shape, values) -> handle
napi_value write(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  Runtime& runtime = runtime_of(arguments.world);
  runtime.end_freed();
  std::int64_t dims[EBB_MAX_RANK] = {};
  ebb_tensor_spec spec{};
  spec.size = sizeof spec;
  spec.device = runtime.device();
  spec.dtype = arguments.integer<std::uint32_t>(0);
  if (!take_shape(env, arguments.values[1], spec, dims)) return nullptr;
  ebb_handle handle = 0;
  if (!check(env, ebb_tensor_create(runtime.context(), &spec, &handle))) return nullptr;
  const Bytes values = bytes_of(env, arguments.values[2]);
  if (!check(env, ebb_tensor_write(runtime.context(), handle, values.data, values.size))) {
    ebb_tensor_dispose(runtime.context(), handle);
    return nullptr;
  }
  return to_js(env, static_cast<double>(handle));
}

// view(handle, shape) -> handle
napi_value view(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  Runtime& runtime = runtime_of(arguments.world);
  const auto base = arguments.integer<ebb_handle>(0);
  ebb_tensor_info described{};
  described.size = sizeof described;
  if (!check(env, ebb_tensor_describe(runtime.context(), base, &described))) return nullptr;
  std::int64_t dims[EBB_MAX_RANK] = {};
  ebb_tensor_spec spec{};
  spec.size = sizeof spec;
  spec.dtype = described.dtype;
  if (!take_shape(env, arguments.values[1], spec, dims)) return nullptr;
  ebb_handle handle = 0;
  if (!check(env, ebb_tensor_view(runtime.context(), base, 0, &spec, &handle))) return nullptr;
  return to_js(env, static_cast<double>(handle));
}

// read(handle, array): fills the array
napi_value read(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  Runtime& runtime = runtime_of(arguments.world);
  const Bytes into = bytes_of(env, arguments.values[1]);
  check(env,
        ebb_tensor_read(runtime.context(), arguments.integer<ebb_handle>(0), into.data, into.size));
  return nullptr;
}

napi_value table_hash(napi_env env, napi_callback_info) {
  return to_js(env, static_cast<double>(ebb_op_table_hash()));
}

napi_value device_of_runtime(napi_env env, napi_callback_info info) {
  const Arguments<> arguments(env, info);
  return to_js(env, runtime_of(arguments.world).device());
}

}  // namespace

Bytes bytes_of(napi_env env, napi_value array) {
  Bytes bytes;
  napi_typedarray_type type = napi_uint8_array;
  std::size_t length = 0;
  napi_get_typedarray_info(env, array, &type, &length, &bytes.data, nullptr, nullptr);
  const bool wide = type == napi_float64_array || type == napi_bigint64_array;
  const bool narrow = type == napi_uint8_array || type == napi_int8_array;
  bytes.size = length * (wide ? 8 : narrow ? 1 : 4);
  return bytes;
}

void export_runtime(napi_env env, World& world, napi_value exports) {
  export_function(env, world, exports, "openRuntime", open_runtime);
  export_function(env, world, exports, "run", run);
  export_function(env, world, exports, "endFreed", end_freed);
  export_function(env, world, exports, "write", write);
  export_function(env, world, exports, "read", read);
  export_function(env, world, exports, "view", view);
  export_function(env, world, exports, "tableHash", table_hash);
  export_function(env, world, exports, "runtimeDevice", device_of_runtime);
}

}  // namespace ebb::node
