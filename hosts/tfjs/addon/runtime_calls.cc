// What JavaScript calls of the runtime.
#include <sys/mman.h>

#include "runtime.hpp"

namespace ebb::node {
namespace {

// share(head, inputs, views, attributes, results, small)
napi_value share(napi_env env, napi_callback_info info) {
  const Arguments<kShared> arguments(env, info);
  arguments.owner<Runtime>().share(env, arguments.values);
  return nullptr;
}

napi_value run(napi_env env, napi_callback_info info) {
  check(env, owner_of<Runtime>(env, info).run());
  return nullptr;
}

// A typed array's memory.
struct Bytes {
  void* data = nullptr;
  std::size_t size = 0;
};

Bytes bytes_of(napi_env env, napi_value array) {
  Bytes bytes;
  napi_typedarray_type type = napi_uint8_array;
  std::size_t length = 0;
  must(napi_get_typedarray_info(env, array, &type, &length, &bytes.data, nullptr, nullptr));
  const bool wide = type == napi_float64_array || type == napi_bigint64_array;
  const bool narrow = type == napi_uint8_array || type == napi_int8_array;
  bytes.size = length * (wide ? 8 : narrow ? 1 : 4);
  return bytes;
}

// The sizes in a JavaScript array; false if there are more than the core allows.
bool take_shape(napi_env env, napi_value array, ebb_tensor_spec& spec, std::int64_t* dims) {
  must(napi_get_array_length(env, array, &spec.rank));
  if (spec.rank > EBB_MAX_RANK) {
    const std::string text = "[tensor] Received " + std::to_string(spec.rank) +
                             " axes; allowed: at most " + std::to_string(EBB_MAX_RANK) + ".";
    napi_throw_error(env, "EBB_INVALID_ARGUMENT", text.c_str());
    return false;
  }
  for (std::uint32_t i = 0; i < spec.rank; ++i) {
    napi_value size;
    must(napi_get_element(env, array, i, &size));
    must(napi_get_value_int64(env, size, &dims[i]));
  }
  spec.dims = dims;
  return true;
}

// Names a new tensor to JavaScript, or ends it.
napi_value give(napi_env env, const Runtime& runtime, ebb_handle handle) {
  try {
    return to_js(env, static_cast<double>(handle));
  } catch (const NodeApiFailure&) {
    ebb_tensor_dispose(runtime.context(), handle);
    throw;
  }
}

// Values in the shared array, `bytes` of them.
Bytes small_of(napi_env env, const Runtime& runtime, std::size_t bytes) {
  const Bytes values{.data = runtime.small(bytes), .size = bytes};
  if (values.data == nullptr)
    napi_throw_error(env, "EBB_INVALID_ARGUMENT", "[tensor] So many values are not few.");
  return values;
}

napi_value write_values(napi_env env, const Arguments<3>& arguments, const Bytes& values) {
  const Runtime& runtime = arguments.owner<Runtime>();
  runtime.world().flush();
  std::int64_t dims[EBB_MAX_RANK] = {};
  ebb_tensor_spec spec{};
  spec.size = sizeof spec;
  spec.device = runtime.device();
  spec.dtype = arguments.integer<std::uint32_t>(0);
  if (!take_shape(env, arguments.values[1], spec, dims)) return nullptr;
  ebb_handle handle = 0;
  if (!check(env, ebb_tensor_create(runtime.context(), &spec, &handle))) return nullptr;
  if (!check(env, ebb_tensor_write(runtime.context(), handle, values.data, values.size))) {
    ebb_tensor_dispose(runtime.context(), handle);
    return nullptr;
  }
  return give(env, runtime, handle);
}

// write(dtype, shape, values) -> handle
napi_value write(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  return write_values(env, arguments, bytes_of(env, arguments.values[2]));
}

// writeSmall(dtype, shape, bytes) -> handle
napi_value write_small(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  const Bytes values = small_of(env, arguments.owner<Runtime>(), arguments.integer<std::size_t>(2));
  return values.data == nullptr ? nullptr : write_values(env, arguments, values);
}

// A large array comes fresh from the system. Getting its pages one by one, as they are written,
// takes longer than filling them: they are asked for at once, large ones where they fit.
void populate(const Bytes& into) {
  constexpr std::size_t kWorthIt = 256 << 10, kPage = 4 << 10, kLargePage = 2 << 20;
  if (into.size < kWorthIt) return;
  const auto begin = reinterpret_cast<std::uintptr_t>(into.data);
  const auto advise = [&](std::size_t page, int advice) {
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t last = (begin + into.size) / page * page;
    if (first < last) madvise(reinterpret_cast<void*>(first), last - first, advice);
  };
  advise(kLargePage, MADV_HUGEPAGE);
#ifdef MADV_POPULATE_WRITE
  advise(kPage, MADV_POPULATE_WRITE);  // refused by kernels before 5.14
#endif
}

// read(handle, array): fills the array
napi_value read(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  const Runtime& runtime = arguments.owner<Runtime>();
  const Bytes into = bytes_of(env, arguments.values[1]);
  populate(into);
  check(env,
        ebb_tensor_read(runtime.context(), arguments.integer<ebb_handle>(0), into.data, into.size));
  return nullptr;
}

// readSmall(handle, bytes): fills `small`
napi_value read_small(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  const Runtime& runtime = arguments.owner<Runtime>();
  const Bytes into = small_of(env, runtime, arguments.integer<std::size_t>(1));
  if (into.data != nullptr)
    check(env, ebb_tensor_read(runtime.context(), arguments.integer<ebb_handle>(0), into.data,
                               into.size));
  return nullptr;
}

// readBegin(handle) -> the read's name
napi_value read_begin(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  ebb_read read = 0;
  if (!check(env, ebb_read_begin(arguments.owner<Runtime>().context(),
                                 arguments.integer<ebb_handle>(0), &read, nullptr))) {
    return nullptr;
  }
  try {
    return to_js(env, static_cast<double>(read));
  } catch (const NodeApiFailure&) {
    ebb_read_drop(read);
    throw;
  }
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

// view(handle, dtype, shape) -> the handle of another tensor over the same memory
napi_value view(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  std::int64_t dims[EBB_MAX_RANK] = {};
  ebb_tensor_spec spec{};
  spec.size = sizeof spec;
  spec.dtype = arguments.integer<std::uint32_t>(1);
  if (!take_shape(env, arguments.values[2], spec, dims)) return nullptr;
  const Runtime& runtime = arguments.owner<Runtime>();
  ebb_handle handle = 0;
  if (!check(env, ebb_tensor_view(runtime.context(), arguments.integer<ebb_handle>(0), 0, &spec,
                                  &handle)))
    return nullptr;
  return give(env, runtime, handle);
}

napi_value table_hash(napi_env env, napi_callback_info) {
  return to_js(env, static_cast<double>(ebb_op_table_hash()));
}

// runtime(device) -> the functions of its runtime
napi_value runtime(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  Runtime& runtime = arguments.owner<World>().add_runtime(arguments.text(0));
  if (!check(env, runtime.open())) return nullptr;
  napi_value functions = nullptr;
  must(napi_create_object(env, &functions));
  must(napi_set_named_property(env, functions, "device", to_js(env, runtime.device())));
  export_function<share>(env, runtime, functions, "share");
  export_function<run>(env, runtime, functions, "run");
  export_function<write>(env, runtime, functions, "write");
  export_function<write_small>(env, runtime, functions, "writeSmall");
  export_function<view>(env, runtime, functions, "view");
  export_function<read>(env, runtime, functions, "read");
  export_function<read_small>(env, runtime, functions, "readSmall");
  export_function<read_begin>(env, runtime, functions, "readBegin");
  export_function<read_poll>(env, runtime, functions, "readPoll");
  export_function<read_end>(env, runtime, functions, "readEnd");
  export_function<read_drop>(env, runtime, functions, "readDrop");
  export_programs(env, runtime, functions);
  export_tape(env, runtime, functions);
  return functions;
}

}  // namespace

void export_runtime(napi_env env, World& world, napi_value exports) {
  export_function<runtime>(env, world, exports, "runtime");
  export_function<table_hash>(env, world, exports, "tableHash");
}

}  // namespace ebb::node
