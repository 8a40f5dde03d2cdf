// Devices, budgets, safe points: whatever may make the core end tensors. Each of these calls
// returns how many slots it left in `ended`; a full array means that there are more (`takeEnded`).
#include "bridge.hpp"
#include "budget.hpp"

namespace ebb::node {
namespace {

napi_value give_ended(napi_env env, World& world, ebb_status status) {
  if (!check(env, status)) return nullptr;
  return to_js(env, world.take_ended());
}

napi_value reclaim(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  ebb_reclaim_set(arguments.boolean(0) ? 1 : 0);
  return nullptr;
}

napi_value reclaiming(napi_env env, napi_callback_info) {
  napi_value on;
  must(napi_get_boolean(env, ebb_reclaim_get() != 0, &on));
  return on;
}

napi_value device(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  ebb_device device = 0;
  if (!check(env, Budget::of_process().open(arguments.text(0), arguments.integer<std::uint64_t>(1),
                                            &device))) {
    return nullptr;
  }
  return to_js(env, device);
}

// limitOwn(device, budget): that of Ebb's own memory where the user has chosen none
napi_value limit_own(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  check(env, Budget::of_process().limit_own(arguments.integer<ebb_device>(0),
                                            arguments.integer<std::uint64_t>(1)));
  return nullptr;
}

napi_value set_budget(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  check(env, Budget::of_process().set(arguments.integer<std::uint64_t>(0), arguments.boolean(1)));
  return nullptr;
}

napi_value budget(napi_env env, napi_callback_info) {
  return to_js(env, static_cast<double>(Budget::of_process().bytes()));
}

napi_value gpu_budget(napi_env env, napi_callback_info) {
  std::uint64_t bytes = 0;
  if (!check(env, Budget::of_process().of_gpus(&bytes))) return nullptr;
  return to_js(env, static_cast<double>(bytes));
}

// trim(bytes) -> the bytes that went back to the system
napi_value trim(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::uint64_t trimmed = 0;
  if (!check(env, Budget::of_process().trim(arguments.integer<std::uint64_t>(0), &trimmed)))
    return nullptr;
  return to_js(env, static_cast<double>(trimmed));
}

// safePoint(device, upcoming, scoped)
napi_value safe_point(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  World& world = arguments.world();
  world.flush();
  world.see_recording();
  return give_ended(env, world,
                    ebb_safe_point(world.context(), arguments.integer<ebb_device>(0),
                                   arguments.integer<std::uint64_t>(1),
                                   arguments.boolean(2) ? EBB_SAFE_POINT_SCOPED : 0, nullptr));
}

// idle() -> slots in `ended`; the slate says when to look again
napi_value idle(napi_env env, napi_callback_info info) {
  World& world = owner_of<World>(env, info);
  world.flush();
  world.see_recording();
  std::uint32_t again = 0;
  const ebb_status status = ebb_idle(world.context(), &again, nullptr);
  world.slate[kAgainMs] = again;
  return give_ended(env, world, status);
}

napi_value collect(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  World& world = arguments.world();
  world.flush();
  const auto kind = arguments.boolean(0) ? EBB_COLLECT_MAJOR : EBB_COLLECT_MINOR;
  return give_ended(env, world,
                    ebb_collect(world.context(), kind, arguments.boolean(1) ? 1 : 0, nullptr));
}

napi_value make_room(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  World& world = arguments.world();
  world.flush();
  return give_ended(env, world,
                    ebb_make_room(world.context(), arguments.integer<ebb_device>(0),
                                  arguments.integer<std::uint64_t>(1), nullptr));
}

napi_value take_ended(napi_env env, napi_callback_info info) {
  return to_js(env, owner_of<World>(env, info).take_ended());
}

napi_value take_warning(napi_env env, napi_callback_info info) {
  return to_js(env, owner_of<World>(env, info).take_warning());
}

napi_value memory_limit(napi_env env, napi_callback_info) {
  std::uint64_t bytes = 0;
  if (!check(env, ebb_memory_limit(&bytes))) return nullptr;
  return to_js(env, static_cast<double>(bytes));
}

napi_value parse_bytes(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::uint64_t bytes = 0;
  if (!check(env, ebb_parse_bytes(arguments.text(0).c_str(), &bytes))) return nullptr;
  return to_js(env, static_cast<double>(bytes));
}

}  // namespace

void export_reclaim(napi_env env, World& world, napi_value exports) {
  export_function<reclaim>(env, world, exports, "reclaim");
  export_function<reclaiming>(env, world, exports, "reclaiming");
  export_function<device>(env, world, exports, "device");
  export_function<limit_own>(env, world, exports, "limitOwn");
  export_function<set_budget>(env, world, exports, "setBudget");
  export_function<budget>(env, world, exports, "budget");
  export_function<gpu_budget>(env, world, exports, "gpuBudget");
  export_function<trim>(env, world, exports, "trim");
  export_function<safe_point>(env, world, exports, "safePoint");
  export_function<idle>(env, world, exports, "idle");
  export_function<collect>(env, world, exports, "collect");
  export_function<make_room>(env, world, exports, "makeRoom");
  export_function<take_ended>(env, world, exports, "takeEnded");
  export_function<take_warning>(env, world, exports, "takeWarning");
  export_function<memory_limit>(env, world, exports, "memoryLimit");
  export_function<parse_bytes>(env, world, exports, "parseBytes");
}

}  // namespace ebb::node
