#include "cuda/fake_plugin.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backends/cuda/plugin_library.hpp"
#include "cuda/fake_device.hpp"
#include "ebb/ops/table.hpp"
#include "ops/params/hash.hpp"

namespace {

using ebb::test::fake::fail;
using ebb::test::fake::fails;
using ebb::test::fake::faults;
using ebb::test::fake::kStreams;
using ebb::test::fake::Work;

constexpr std::uint64_t kGranule = std::uint64_t{64} << 10;

std::atomic<std::uint64_t> committed_bytes{0};
std::mutex pinned_mutex;
std::set<void*> pinned;

ebb_cuda_status lost(ebb_cuda_device* device) { return fail(EBB_CUDA_LOST, device->loss); }

ebb_cuda_status device_count(std::int32_t* count) {
  *count = 16;
  return EBB_CUDA_OK;
}
ebb_cuda_status device_open(std::int32_t, ebb_cuda_device** device) {
  *device = std::make_unique<ebb_cuda_device>().release();
  return EBB_CUDA_OK;
}
void device_close(ebb_cuda_device*) {}  // its threads live as long as the process
ebb_cuda_status device_describe(ebb_cuda_device* device, ebb_cuda_device_info* info) {
  if (device->lost) return lost(device);
  *info = {};
  info->total_bytes = info->free_bytes = std::uint64_t{1} << 30;
  info->granule = kGranule;
  return EBB_CUDA_OK;
}
ebb_cuda_status device_state(ebb_cuda_device* device) {
  return device->lost ? lost(device) : EBB_CUDA_OK;
}

void* reserve(ebb_cuda_device* device, std::uint64_t bytes) {
  if (device->lost || fails()) return nullptr;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* mapped = ::mmap(nullptr, bytes + kGranule, PROT_NONE, kFlags, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto start = reinterpret_cast<std::uintptr_t>(mapped);
  return reinterpret_cast<void*>((start + kGranule - 1) / kGranule * kGranule);
}
void unreserve(ebb_cuda_device*, void* base, std::uint64_t bytes) { ::munmap(base, bytes); }
int commit(ebb_cuda_device* device, void* base, std::uint64_t bytes) {
  if (device->lost || fails()) return 0;
  if (::mprotect(base, bytes, PROT_READ | PROT_WRITE) != 0) return 0;
  committed_bytes += bytes;
  return 1;
}
void decommit(ebb_cuda_device*, void* base, std::uint64_t bytes) {
  ::madvise(base, bytes, MADV_DONTNEED);
  ::mprotect(base, bytes, PROT_NONE);
  committed_bytes -= bytes;
}

ebb_cuda_status create_stream(ebb_cuda_device* device, std::uint32_t* made) {
  if (device->lost) return lost(device);
  const std::lock_guard lock(device->mutex);
  for (std::uint32_t id = 1; id < kStreams; ++id) {
    if (device->streams[id].exists) continue;
    device->streams[id].exists = true;
    *made = id;
    return EBB_CUDA_OK;
  }
  return fail(EBB_CUDA_FAILED, "all streams are taken");
}
std::uint64_t submitted(ebb_cuda_device* device, std::uint32_t stream) {
  const std::lock_guard lock(device->mutex);
  return device->streams[stream].submitted;
}
void wait(ebb_cuda_device* device, std::uint32_t stream, std::uint64_t ticket) {
  device->wait(stream, ticket);
}
void destroy_stream(ebb_cuda_device* device, std::uint32_t stream) {
  device->wait(stream, submitted(device, stream));
  const std::lock_guard lock(device->mutex);
  device->streams[stream].exists = false;
}
int record(ebb_cuda_device* device, std::uint32_t stream, std::uint64_t* ticket) {
  if (device->lost || fails()) return 0;
  *ticket = submitted(device, stream);
  return 1;
}
int done(ebb_cuda_device* device, std::uint32_t stream, std::uint64_t ticket) {
  const std::lock_guard lock(device->mutex);
  return device->lost || device->streams[stream].finished >= ticket ? 1 : 0;
}
void order(ebb_cuda_device* device, std::uint32_t stream, std::uint32_t after,
           std::uint64_t ticket) {
  device->queue(stream, 0, [=] { device->wait(after, ticket); });
}

ebb_cuda_status copy_in(ebb_cuda_device* device, std::uint32_t stream, void* to, const void* host,
                        std::uint64_t bytes) {
  if (device->lost) return lost(device);
  if (fails()) return fail(EBB_CUDA_FAILED, "a copy was refused");
  const auto* from = static_cast<const std::byte*>(host);
  std::vector<std::byte> kept(from, from + bytes);
  if (device->streams[stream].capturing) {
    std::memcpy(to, kept.data(), bytes);
    return EBB_CUDA_OK;
  }
  device->queue(stream, 0,
                [to, kept = std::move(kept)] { std::memcpy(to, kept.data(), kept.size()); });
  return EBB_CUDA_OK;
}
ebb_cuda_status copy_within(ebb_cuda_device* device, std::uint32_t stream, void* to,
                            const void* from, std::uint64_t bytes) {
  if (device->lost) return lost(device);
  if (fails()) return fail(EBB_CUDA_FAILED, "a copy was refused");
  device->queue(stream, 0, [=] { std::memcpy(to, from, bytes); });
  return EBB_CUDA_OK;
}
void pack_axis(std::byte*& to, const std::byte* from, std::uint32_t element,
               const std::int64_t* dims, const std::int64_t* strides, std::uint32_t rank) {
  if (rank == 0) {
    std::memcpy(to, from, element);
    to += element;
    return;
  }
  for (std::int64_t i = 0; i < *dims; ++i) {
    pack_axis(to, from + i * *strides * element, element, dims + 1, strides + 1, rank - 1);
  }
}
ebb_cuda_status pack(ebb_cuda_device* device, std::uint32_t stream, void* to, const void* from,
                     std::uint32_t element, std::uint32_t rank, const std::int64_t* dims,
                     const std::int64_t* strides) {
  if (device->lost) return lost(device);
  if (fails()) return fail(EBB_CUDA_FAILED, "a copy was refused");
  using List = std::vector<std::int64_t>;
  device->queue(stream, 0,
                [=, dims = List(dims, dims + rank), strides = List(strides, strides + rank)] {
                  auto* next = static_cast<std::byte*>(to);
                  pack_axis(next, static_cast<const std::byte*>(from), element, dims.data(),
                            strides.data(), rank);
                });
  return EBB_CUDA_OK;
}
ebb_cuda_status copy_out(ebb_cuda_device* device, std::uint32_t stream, void* host,
                         const void* from, std::uint64_t bytes) {
  if (device->streams[stream].capturing) return fail(EBB_CUDA_FAILED, "the stream captures");
  if (const auto status = copy_within(device, stream, host, from, bytes); status != EBB_CUDA_OK) {
    return status;
  }
  device->wait(stream, submitted(device, stream));
  return device->lost ? lost(device) : EBB_CUDA_OK;
}

void* pinned_allocate(ebb_cuda_device* device, std::uint64_t bytes) {
  if (device->lost || fails()) return nullptr;
  void* made = ::operator new(bytes);
  const std::lock_guard lock(pinned_mutex);
  pinned.insert(made);
  return made;
}
void pinned_free(ebb_cuda_device*, void* data) {
  const std::lock_guard lock(pinned_mutex);
  if (pinned.erase(data) == 1) ::operator delete(data);
}
std::uint64_t pinned_bytes(ebb_cuda_device*) {
  const std::lock_guard lock(pinned_mutex);
  return pinned.size();
}

int has_kernel(std::uint32_t op) { return ebb::test::fake::kernel_of(op) == nullptr ? 0 : 1; }

ebb_cuda_status run(ebb_cuda_call* call) {
  ebb_cuda_device* device = call->device;
  if (device->lost) return lost(device);
  if (fails()) return fail(EBB_CUDA_NO_MEMORY, "no memory for a launch");
  if (faults().refuses.exchange(false)) return fail(EBB_CUDA_FAILED, "a launch was refused");
  std::optional<Work> work = ebb::test::fake::kernel_of(call->op)(*call);
  if (!work) return fail(EBB_CUDA_NO_KERNEL, "this plug-in has no kernel for these dtypes");
  if (faults().loses.exchange(false)) {
    work = [device] { device->lose(); };
  }
  device->queue(call->stream, call->op, std::move(*work));
  return EBB_CUDA_OK;
}

ebb_cuda_status capture_begin(ebb_cuda_device* device, std::uint32_t stream) {
  if (device->lost) return lost(device);
  if (fails()) return fail(EBB_CUDA_FAILED, "a capture was refused");
  device->wait(stream, submitted(device, stream));
  const std::lock_guard lock(device->mutex);
  device->streams[stream].capturing = true;
  return EBB_CUDA_OK;
}
ebb_cuda_status capture_end(ebb_cuda_device* device, std::uint32_t stream, ebb_cuda_graph** graph) {
  const std::lock_guard lock(device->mutex);
  device->streams[stream].capturing = false;
  std::vector<Work> work = std::move(device->streams[stream].captured);
  if (device->lost) return lost(device);
  if (fails()) return fail(EBB_CUDA_FAILED, "the capture was refused at its end");
  *graph = std::make_unique<ebb_cuda_graph>(device, std::move(work)).release();
  return EBB_CUDA_OK;
}
ebb_cuda_status graph_replay(ebb_cuda_graph* graph, std::uint32_t stream) {
  if (graph->device->lost) return lost(graph->device);
  if (fails()) return fail(EBB_CUDA_FAILED, "a replay was refused");
  graph->device->queue(stream, 0, [work = graph->work] {
    for (const Work& each : work) each();
  });
  return EBB_CUDA_OK;
}
void graph_destroy(ebb_cuda_graph* graph) { const std::unique_ptr<ebb_cuda_graph> owned(graph); }
ebb_cuda_status set_option(ebb_cuda_device*, const char*, const char*) { return EBB_CUDA_OK; }

constexpr ebb_cuda_table kTable{
    .size = sizeof(ebb_cuda_table),
    .version = EBB_CUDA_PLUGIN_VERSION,
    .op_table_hash = ebb::ops::table_hash(),
    .params_hash = ebb::ops::kParamsHash,
    .last_error = ebb::test::fake::last_error,
    .device_count = device_count,
    .device_open = device_open,
    .device_close = device_close,
    .device_describe = device_describe,
    .device_state = device_state,
    .reserve = reserve,
    .unreserve = unreserve,
    .commit = commit,
    .decommit = decommit,
    .create_stream = create_stream,
    .destroy_stream = destroy_stream,
    .submitted = submitted,
    .record = record,
    .done = done,
    .wait = wait,
    .order = order,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .copy_out_begin = copy_within,
    .copy_within = copy_within,
    .pack = pack,
    .pinned_allocate = pinned_allocate,
    .pinned_free = pinned_free,
    .pinned_bytes = pinned_bytes,
    .has_kernel = has_kernel,
    .run = run,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .graph_replay = graph_replay,
    .graph_destroy = graph_destroy,
    .set_option = set_option,
};

}  // namespace

namespace ebb::test::fake {

Installed::Installed() { cuda::PluginLibrary::replace(&kTable); }
Installed::~Installed() {
  fail_at(0);
  hold_back(false);
  cuda::PluginLibrary::replace(nullptr);
}

const ebb_cuda_table& table() noexcept { return kTable; }

void fail_at(std::uint64_t n, bool and_later) noexcept {
  faults().target.store(0);
  faults().points.store(0);
  faults().later.store(and_later);
  faults().target.store(n);
}
std::uint64_t fault_points() noexcept { return faults().points.load(); }
void hold_back(bool on) noexcept { faults().held_back.store(on); }
void refuse_next_kernel() noexcept { faults().refuses.store(true); }
void lose_with_next_kernel() noexcept { faults().loses.store(true); }
std::uint64_t committed() noexcept { return committed_bytes.load(); }
std::uint64_t pinned_buffers() noexcept {
  const std::lock_guard lock(pinned_mutex);
  return pinned.size();
}

}  // namespace ebb::test::fake
