// Included before every source of the addon `ebb_node_faulty`: calls of Node-API that can fail do so
// when test/faults.test.mjs asks for it. Not among them: what frees or reports, which has no way to
// go on, and napi_get_value_double and _bool, which fail for values of another kind only.
#pragma once

#define NAPI_VERSION 2147483647
#include <node_api.h>

#include "../../../../tests/support/fault_plan.hpp"

namespace ebb::node::faulty {

inline thread_local ebb::test::FaultPlan plan;

inline bool fails() noexcept { return plan.fails(); }

}  // namespace ebb::node::faulty

#define EBB_MAY_FAIL(call, ...) \
  (ebb::node::faulty::fails() ? napi_generic_failure : (call)(__VA_ARGS__))
#define napi_add_finalizer(...) EBB_MAY_FAIL(napi_add_finalizer, __VA_ARGS__)
#define napi_call_function(...) EBB_MAY_FAIL(napi_call_function, __VA_ARGS__)
#define napi_create_array_with_length(...) EBB_MAY_FAIL(napi_create_array_with_length, __VA_ARGS__)
#define napi_create_async_work(...) EBB_MAY_FAIL(napi_create_async_work, __VA_ARGS__)
#define napi_create_buffer_copy(...) EBB_MAY_FAIL(napi_create_buffer_copy, __VA_ARGS__)
#define napi_create_double(...) EBB_MAY_FAIL(napi_create_double, __VA_ARGS__)
#define napi_create_external(...) EBB_MAY_FAIL(napi_create_external, __VA_ARGS__)
#define napi_create_function(...) EBB_MAY_FAIL(napi_create_function, __VA_ARGS__)
#define napi_create_object(...) EBB_MAY_FAIL(napi_create_object, __VA_ARGS__)
#define napi_create_promise(...) EBB_MAY_FAIL(napi_create_promise, __VA_ARGS__)
#define napi_create_reference(...) EBB_MAY_FAIL(napi_create_reference, __VA_ARGS__)
#define napi_create_string_utf8(...) EBB_MAY_FAIL(napi_create_string_utf8, __VA_ARGS__)
#define napi_create_uint32(...) EBB_MAY_FAIL(napi_create_uint32, __VA_ARGS__)
#define napi_get_array_length(...) EBB_MAY_FAIL(napi_get_array_length, __VA_ARGS__)
#define napi_get_boolean(...) EBB_MAY_FAIL(napi_get_boolean, __VA_ARGS__)
#define napi_get_cb_info(...) EBB_MAY_FAIL(napi_get_cb_info, __VA_ARGS__)
#define napi_get_element(...) EBB_MAY_FAIL(napi_get_element, __VA_ARGS__)
#define napi_get_reference_value(...) EBB_MAY_FAIL(napi_get_reference_value, __VA_ARGS__)
#define napi_get_typedarray_info(...) EBB_MAY_FAIL(napi_get_typedarray_info, __VA_ARGS__)
#define napi_get_undefined(...) EBB_MAY_FAIL(napi_get_undefined, __VA_ARGS__)
#define napi_get_value_external(...) EBB_MAY_FAIL(napi_get_value_external, __VA_ARGS__)
#define napi_get_value_int64(...) EBB_MAY_FAIL(napi_get_value_int64, __VA_ARGS__)
#define napi_get_value_string_utf8(...) EBB_MAY_FAIL(napi_get_value_string_utf8, __VA_ARGS__)
#define napi_open_handle_scope(...) EBB_MAY_FAIL(napi_open_handle_scope, __VA_ARGS__)
#define napi_queue_async_work(...) EBB_MAY_FAIL(napi_queue_async_work, __VA_ARGS__)
#define napi_set_element(...) EBB_MAY_FAIL(napi_set_element, __VA_ARGS__)
#define napi_set_named_property(...) EBB_MAY_FAIL(napi_set_named_property, __VA_ARGS__)
