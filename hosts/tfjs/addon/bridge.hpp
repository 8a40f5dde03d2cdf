// What every exported function needs: arguments, results, errors with a name.
#pragma once

#include <cmath>
#include <exception>
#include <new>
#include <string>

#include "world.hpp"

namespace ebb::node {

// The arguments of one call, and what its function belongs to: an isolate's world, or a runtime.
template <std::size_t N = 1>
struct Arguments {
  Arguments(napi_env env, napi_callback_info info) : env(env) {
    std::size_t count = N;
    must(napi_get_cb_info(env, info, &count, values, nullptr, &data));
  }
  template <typename Owner>
  Owner& owner() const {
    return *static_cast<Owner*>(data);
  }
  World& world() const { return owner<World>(); }
  double number(std::size_t i) const {
    double value = 0;
    napi_get_value_double(env, values[i], &value);
    return value;
  }
  template <typename Integer>
  Integer integer(std::size_t i) const {
    const double value = number(i);
    return value > 0 ? static_cast<Integer>(value) : Integer{0};
  }
  bool boolean(std::size_t i) const {
    bool value = false;
    napi_get_value_bool(env, values[i], &value);
    return value;
  }
  std::string text(std::size_t i) const {
    std::size_t length = 0;
    if (napi_get_value_string_utf8(env, values[i], nullptr, 0, &length) != napi_ok) return {};
    std::string value(length, '\0');
    must(napi_get_value_string_utf8(env, values[i], value.data(), length + 1, &length));
    return value;
  }
  napi_env env;
  void* data = nullptr;
  napi_value values[N];
};

// For a call without arguments: its owner alone.
template <typename Owner>
Owner& owner_of(napi_env env, napi_callback_info info) {
  void* data = nullptr;
  must(napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &data));
  return *static_cast<Owner*>(data);
}

inline napi_value to_js(napi_env env, double value) {
  napi_value result;
  must(napi_create_double(env, value, &result));
  return result;
}

inline napi_value to_js(napi_env env, const std::string& value) {
  napi_value result;
  must(napi_create_string_utf8(env, value.data(), value.size(), &result));
  return result;
}

inline const char* name_of(ebb_status status) {
  switch (status) {
    case EBB_INVALID_ARGUMENT:
      return "EBB_INVALID_ARGUMENT";
    case EBB_STALE_HANDLE:
      return "EBB_STALE_HANDLE";
    case EBB_WRONG_STATE:
      return "EBB_WRONG_STATE";
    case EBB_OUT_OF_MEMORY:
      return "EBB_OUT_OF_MEMORY";
    case EBB_UNSUPPORTED:
      return "EBB_UNSUPPORTED";
    case EBB_DEVICE_ERROR:
      return "EBB_DEVICE_ERROR";
    default:
      return "EBB_INTERNAL";
  }
}

// True if all is well; otherwise a JavaScript error with the core's message is pending.
inline bool check(napi_env env, ebb_status status) {
  if (status == EBB_OK) return true;
  napi_throw_error(env, name_of(status), ebb_last_error());
  return false;
}

void export_watching(napi_env env, World& world, napi_value exports);
void export_reclaim(napi_env env, World& world, napi_value exports);
void export_books(napi_env env, World& world, napi_value exports);
void export_recording(napi_env env, World& world, napi_value exports);
void export_runtime(napi_env env, World& world, napi_value exports);
void export_pictures(napi_env env, World& world, napi_value exports);
void export_switch(napi_env env, World& world, napi_value exports);  // of the tests' addon

// What JavaScript calls: nothing that is thrown here leaves it, and a JavaScript error is pending
// instead. One that is pending already (a worker that is being terminated) is left alone.
template <napi_callback function>
napi_value guarded(napi_env env, napi_callback_info info) noexcept {
  const auto fail = [env](const char* code, const char* message) {
    bool pending = false;
    if (napi_is_exception_pending(env, &pending) == napi_ok && !pending)
      napi_throw_error(env, code, message);
    return nullptr;
  };
  try {
    return function(env, info);
  } catch (const std::bad_alloc&) {
    return fail("EBB_OUT_OF_MEMORY", "[ebb] There is no system memory left.");
  } catch (const std::exception& error) {
    return fail("EBB_INTERNAL", error.what());
  }
}

template <napi_callback function, typename Owner>
void export_function(napi_env env, Owner& owner, napi_value exports, const char* name) {
  napi_value value;
  must(napi_create_function(env, name, NAPI_AUTO_LENGTH, guarded<function>, &owner, &value));
  must(napi_set_named_property(env, exports, name, value));
}

}  // namespace ebb::node
