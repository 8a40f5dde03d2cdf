// What is seen from outside: what devices hold, and the recording (docs/recording.md). One recording a process, whichever isolate
// began it; each reads its mode from `signals`.
#include <algorithm>
#include <atomic>
#include <iterator>

#include "bridge.hpp"
#include "budget.hpp"

namespace ebb::node {
namespace {

// What the process records, for isolates that did not begin it.
std::atomic<std::uint32_t> mode_now{EBB_RECORD_OFF}, sample_bytes_now{0};

void read_mode(ebb_record_info* read) {
  *read = EBB_INIT(ebb_record_info);
  if (ebb_record_read(read) != EBB_OK) return;
  mode_now.store(read->mode, std::memory_order_relaxed);
  sample_bytes_now.store(
      static_cast<std::uint32_t>(std::min<std::uint64_t>(read->sample_bytes, UINT32_MAX)),
      std::memory_order_relaxed);
}

// After a call that may have changed it; what went wrong in that is told already.
napi_value see_mode(World& world) {
  ebb_record_info read;
  read_mode(&read);
  world.see_recording();
  return nullptr;
}

// recordStart(mode, path, name, maxBytes, sampleBytes)
napi_value record_start(napi_env env, napi_callback_info info) {
  const Arguments<5> arguments(env, info);
  const std::string path = arguments.text(1), name = arguments.text(2);
  auto options = EBB_INIT(ebb_record_options);
  options.mode = arguments.integer<std::uint32_t>(0);
  options.path = path.c_str();
  options.name = name.c_str();
  options.max_bytes = arguments.integer<std::uint64_t>(3);
  options.sample_bytes = arguments.integer<std::uint64_t>(4);
  check(env, ebb_record_start(&options));
  return see_mode(arguments.world());
}

napi_value record_mode(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  check(env, ebb_record_set_mode(arguments.integer<std::uint32_t>(0)));
  return see_mode(arguments.world());
}

napi_value record_mark(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  check(env, ebb_record_mark(arguments.text(0).c_str()));
  return nullptr;
}

napi_value record_stop(napi_env env, napi_callback_info info) {
  World& world = owner_of<World>(env, info);
  world.flush();  // what JavaScript has ended must not look alive at the end
  check(env, ebb_record_stop());
  return see_mode(world);
}

napi_value record_host_heap(napi_env env, napi_callback_info info) {
  ebb_record_host_heap(Arguments<1>(env, info).integer<std::uint64_t>(0));
  return nullptr;
}

// recordRead() -> mode, bytes, events, lost, sampleBytes, segments, failed
napi_value record_read(napi_env env, napi_callback_info info) {
  World& world = owner_of<World>(env, info);
  ebb_record_info read;
  read_mode(&read);
  world.see_recording();
  const double values[] = {
      static_cast<double>(read.mode),         static_cast<double>(read.bytes),
      static_cast<double>(read.events),       static_cast<double>(read.lost),
      static_cast<double>(read.sample_bytes), static_cast<double>(read.segments),
      static_cast<double>(read.failed)};
  napi_value result;
  must(napi_create_array_with_length(env, std::size(values), &result));
  for (std::uint32_t i = 0; i < std::size(values); ++i)
    must(napi_set_element(env, result, i, to_js(env, values[i])));
  return result;
}

// recordHolder(site, text)
napi_value record_holder(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  check(env, ebb_record_holder(arguments.integer<std::uint32_t>(0), arguments.text(1).c_str()));
  return nullptr;
}

// What viewers wish, until somebody takes it: bits of ebb_asked.
std::atomic<std::uint32_t> wishes{0};

// liveStart(): viewers may attach to the recording
napi_value live_start(napi_env env, napi_callback_info) {
  auto options = EBB_INIT(ebb_live_options);
  options.asked = [](void*, std::uint32_t what) {
    if (what < 32) wishes.fetch_or(1U << what, std::memory_order_relaxed);
  };
  wishes.store(0, std::memory_order_relaxed);
  check(env, ebb_live_start(&options));
  return nullptr;
}

// liveAsked() -> bit N: somebody wished ebb_asked N
napi_value live_asked(napi_env env, napi_callback_info) {
  return to_js(env, static_cast<double>(wishes.exchange(0, std::memory_order_relaxed)));
}

// devices() -> for each: name, device, budget, in use, committed, peak committed, cached
napi_value devices(napi_env env, napi_callback_info) {
  napi_value result;
  must(napi_create_array(env, &result));
  std::uint32_t count = 0;
  for (const auto& [device, name] : Budget::of_process().devices()) {
    auto info = EBB_INIT(ebb_device_info);
    if (ebb_device_describe(device, &info) != EBB_OK) continue;  // closed meanwhile
    const double values[] = {static_cast<double>(device),
                             static_cast<double>(info.budget),
                             static_cast<double>(info.in_use),
                             static_cast<double>(info.committed),
                             static_cast<double>(info.peak_committed),
                             static_cast<double>(info.cached)};
    napi_value row;
    must(napi_create_array(env, &row));
    must(napi_set_element(env, row, 0, to_js(env, name)));
    for (std::uint32_t i = 0; i < std::size(values); ++i)
      must(napi_set_element(env, row, i + 1, to_js(env, values[i])));
    must(napi_set_element(env, result, count++, row));
  }
  return result;
}

}  // namespace

void World::see_recording() noexcept {
  if (signals == nullptr) return;  // not opened yet
  signals[kRecording] = mode_now.load(std::memory_order_relaxed);
  signals[kSampleBytes] = sample_bytes_now.load(std::memory_order_relaxed);
}

void export_recording(napi_env env, World& world, napi_value exports) {
  export_function<devices>(env, world, exports, "devices");
  export_function<record_start>(env, world, exports, "recordStart");
  export_function<record_mode>(env, world, exports, "recordMode");
  export_function<record_mark>(env, world, exports, "recordMark");
  export_function<record_stop>(env, world, exports, "recordStop");
  export_function<record_host_heap>(env, world, exports, "recordHostHeap");
  export_function<record_read>(env, world, exports, "recordRead");
  export_function<record_holder>(env, world, exports, "recordHolder");
  export_function<live_start>(env, world, exports, "liveStart");
  export_function<live_asked>(env, world, exports, "liveAsked");
}

}  // namespace ebb::node
