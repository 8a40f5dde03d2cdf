// Reading the books: counters, reports, sites, the audit.
#include <cstddef>

#include "bridge.hpp"

namespace ebb::node {
namespace {

napi_value memory(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  World& world = arguments.world();
  world.flush();
  ebb_memory books{};
  books.size = sizeof books;
  const ebb_context context = arguments.boolean(0) ? 0 : world.context();
  if (!check(env, ebb_memory_read(context, arguments.integer<ebb_device>(1), &books)))
    return nullptr;
  // After the head, all counters: src/shared.ts has their names.
  const auto* counters = &books.created;
  constexpr std::size_t kCounters =
      (sizeof books - offsetof(ebb_memory, created)) / sizeof(std::uint64_t);
  napi_value result;
  must(napi_create_array_with_length(env, kCounters, &result));
  for (std::uint32_t i = 0; i < kCounters; ++i)
    must(napi_set_element(env, result, i, to_js(env, static_cast<double>(counters[i]))));
  return result;
}

napi_value audit(napi_env env, napi_callback_info info) {
  owner_of<World>(env, info).flush();
  check(env, ebb_audit());
  return nullptr;
}

napi_value set_trace(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  check(env, ebb_trace_set(arguments.boolean(0) ? EBB_TRACE_SITES : EBB_TRACE_OFF));
  return nullptr;
}

napi_value site(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  ebb_site id = 0;
  if (!check(env, ebb_site_intern(arguments.text(0).c_str(), &id))) return nullptr;
  return to_js(env, id);
}

napi_value report(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  World& world = arguments.world();
  world.flush();
  ebb_report_options options{};
  options.size = sizeof options;
  options.top = arguments.integer<std::uint32_t>(0);
  options.json = arguments.boolean(1) ? 1 : 0;
  char* text = nullptr;
  const ebb_context context = arguments.boolean(2) ? 0 : world.context();
  if (!check(env, ebb_report(context, &options, &text))) return nullptr;
  const std::unique_ptr<char, void (*)(char*)> owned(text, ebb_text_free);
  return to_js(env, std::string(text));
}

napi_value snapshot(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  arguments.world().flush();
  check(env, ebb_snapshot_write(arguments.text(0).c_str()));
  return nullptr;
}

napi_value version(napi_env env, napi_callback_info) {
  return to_js(env, std::string(ebb_version()));
}

}  // namespace

void export_books(napi_env env, World& world, napi_value exports) {
  export_function<memory>(env, world, exports, "memory");
  export_function<audit>(env, world, exports, "audit");
  export_function<set_trace>(env, world, exports, "setTrace");
  export_function<site>(env, world, exports, "site");
  export_function<report>(env, world, exports, "report");
  export_function<snapshot>(env, world, exports, "snapshot");
  export_function<version>(env, world, exports, "version");
}

}  // namespace ebb::node
