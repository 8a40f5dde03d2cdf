// Reading the books: counters, reports, sites, the audit.
#include "bridge.hpp"
#include "runtime.hpp"

namespace ebb::node {
namespace {

struct Column {
  const char* name;
  std::uint64_t ebb_memory::*value;
};

constexpr Column kColumns[] = {
    {"created", &ebb_memory::created},
    {"live", &ebb_memory::live},
    {"disposed", &ebb_memory::disposed},
    {"scoped", &ebb_memory::region_ended},
    {"reclaimed", &ebb_memory::reclaimed},
    {"shutdown", &ebb_memory::shutdown},
    {"unwatched", &ebb_memory::unwatched},
    {"orphans", &ebb_memory::orphans},
    {"peakLive", &ebb_memory::peak_live},
    {"peakOrphans", &ebb_memory::peak_orphans},
    {"createdBytes", &ebb_memory::created_bytes},
    {"liveBytes", &ebb_memory::live_bytes},
    {"disposedBytes", &ebb_memory::disposed_bytes},
    {"scopedBytes", &ebb_memory::region_ended_bytes},
    {"reclaimedBytes", &ebb_memory::reclaimed_bytes},
    {"shutdownBytes", &ebb_memory::shutdown_bytes},
    {"peakBytes", &ebb_memory::peak_live_bytes},
    {"dataBuffers", &ebb_memory::storages},
    {"minorCollections", &ebb_memory::collections_minor},
    {"majorCollections", &ebb_memory::collections_major},
    {"collectNs", &ebb_memory::collect_ns},
    {"collectMaxNs", &ebb_memory::collect_max_ns},
    {"lagLastNs", &ebb_memory::lag_last_ns},
    {"lagMaxNs", &ebb_memory::lag_max_ns},
};

napi_value memory(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  World& world = *arguments.world;
  if (world.is_open()) world.flush();
  ebb_memory books{};
  books.size = sizeof books;
  const ebb_context context = arguments.boolean(0) ? 0 : world.context();
  if (!check(env, ebb_memory_read(context, arguments.integer<ebb_device>(1), &books)))
    return nullptr;
  napi_value result;
  napi_create_object(env, &result);
  for (const Column& column : kColumns) {
    napi_set_named_property(env, result, column.name,
                            to_js(env, static_cast<double>(books.*column.value)));
  }
  return result;
}

// What JavaScript has decided and not yet said: tensors to watch, data of backend `ebb` to end.
void settle(World& world) {
  if (world.is_open()) world.flush();
  if (world.runtime->is_open()) world.runtime->end_freed();
}

napi_value audit(napi_env env, napi_callback_info info) {
  const Arguments<> arguments(env, info);
  settle(*arguments.world);
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
  World& world = *arguments.world;
  settle(world);
  ebb_report_options options{};
  options.size = sizeof options;
  options.top = arguments.integer<std::uint32_t>(0);
  options.json = arguments.boolean(1) ? 1 : 0;
  char* text = nullptr;
  const ebb_context context = arguments.boolean(2) ? 0 : world.context();
  if (!check(env, ebb_report(context, &options, &text))) return nullptr;
  napi_value result = to_js(env, std::string(text));
  ebb_text_free(text);
  return result;
}

napi_value snapshot(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  settle(*arguments.world);
  check(env, ebb_snapshot_write(arguments.text(0).c_str()));
  return nullptr;
}

napi_value version(napi_env env, napi_callback_info) {
  return to_js(env, std::string(ebb_version()));
}

}  // namespace

void export_books(napi_env env, World& world, napi_value exports) {
  export_function(env, world, exports, "memory", memory);
  export_function(env, world, exports, "audit", audit);
  export_function(env, world, exports, "setTrace", set_trace);
  export_function(env, world, exports, "site", site);
  export_function(env, world, exports, "report", report);
  export_function(env, world, exports, "snapshot", snapshot);
  export_function(env, world, exports, "version", version);
}

}  // namespace ebb::node
