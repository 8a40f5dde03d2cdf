#include "cuda/fake_plugin.hpp"

#include <sys/mman.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/plugin_library.hpp"
#include "ebb/base/dtype.hpp"
#include "ebb/ops/table.hpp"
#include "ops/params/chain.hpp"
#include "ops/params/elementwise.hpp"
#include "ops/params/hash.hpp"
#include "ops/params/products.hpp"

namespace {

using Work = std::function<void()>;
constexpr std::size_t kStreams = 64;
constexpr std::uint64_t kGranule = std::uint64_t{64} << 10;

thread_local std::string error_text;
std::atomic<std::uint64_t> points{0}, target{0}, committed_bytes{0};
std::atomic<bool> later{false}, refuses{false}, loses{false}, held_back{false};
std::mutex pinned_mutex;
std::set<void*> pinned;

ebb_cuda_status fail(ebb_cuda_status status, std::string text) {
  error_text = std::move(text);
  return status;
}
bool fails() noexcept {
  const std::uint64_t point = points.fetch_add(1) + 1;
  const std::uint64_t n = target.load();
  return n != 0 && (point == n || (point > n && later.load()));
}

}  // namespace

// A queue that a thread of its own works through.
struct ebb_cuda_device {
  struct Stream {
    bool exists = false;
    bool works = false;  // has its thread
    bool capturing = false;
    std::uint64_t submitted = 0, finished = 0;
    std::deque<Work> queue;
    std::vector<Work> captured;
    std::vector<std::uint32_t> ops;  // by ticket - 1
  };

  std::mutex mutex;
  std::condition_variable progress;
  std::array<Stream, kStreams> streams;
  std::atomic<bool> lost{false};
  std::string loss;

  ebb_cuda_device() { streams[0].exists = true; }

  void queue(std::uint32_t id, std::uint32_t op, Work work) {
    const std::lock_guard lock(mutex);
    Stream& stream = streams[id];
    if (stream.capturing) {
      stream.captured.push_back(std::move(work));
      return;
    }
    ++stream.submitted;
    stream.ops.push_back(op);
    stream.queue.push_back(std::move(work));
    if (!stream.works) {
      stream.works = true;
      std::thread([this, id] { serve(id); }).detach();
    }
    progress.notify_all();
  }

  void serve(std::uint32_t id) {
    std::unique_lock lock(mutex);
    Stream& stream = streams[id];
    for (;;) {
      while (stream.queue.empty() || held_back.load()) {
        progress.wait_for(lock, std::chrono::milliseconds(1));
      }
      Work work = std::move(stream.queue.front());
      stream.queue.pop_front();
      lock.unlock();
      if (!lost.load()) work();
      lock.lock();
      ++stream.finished;
      progress.notify_all();
    }
  }

  void wait(std::uint32_t id, std::uint64_t ticket) {
    std::unique_lock lock(mutex);
    progress.wait(lock, [&] { return streams[id].finished >= ticket || lost.load(); });
  }

  // Called by a stream's own thread.
  void lose() {
    const std::lock_guard lock(mutex);
    loss = "an illegal memory access was encountered; queued since the last good point:";
    for (const Stream& stream : streams) {
      for (std::uint64_t t = stream.finished; t < stream.submitted; ++t) {
        const ebb::ops::OpSpec* spec =
            ebb::ops::find_op(static_cast<ebb::ops::OpId>(stream.ops[t]));
        loss += " " + std::string(spec == nullptr ? "copy" : spec->name);
      }
    }
    lost.store(true);
    progress.notify_all();
  }
};

struct ebb_cuda_graph {
  ebb_cuda_device* device;
  std::vector<Work> work;
};

namespace {

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

// ---- kernels: what they need is copied, they run after the call has returned

template <typename T>
T* data(const ebb_cuda_tensor& tensor) {
  return static_cast<T*>(tensor.data);
}
std::int64_t elements(const ebb_cuda_tensor& tensor) {
  std::int64_t product = 1;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) product *= tensor.dims[i];
  return product;
}
bool is(const ebb_cuda_tensor& tensor, ebb::DType dtype) {
  return tensor.dtype == static_cast<std::uint32_t>(dtype);
}

void add_axis(const ebb::ops::BinaryWalk& walk, std::size_t axis, const float* a, const float* b,
              float*& out) {
  for (std::int64_t i = 0; i < walk.extent[axis]; ++i) {
    if (axis + 1 == walk.axes) {
      *out++ = *a + *b;
    } else {
      add_axis(walk, axis + 1, a, b, out);
    }
    a += walk.step[0][axis];
    b += walk.step[1][axis];
  }
}

std::optional<Work> add(const ebb_cuda_call& call) {
  if (!is(call.inputs[0], ebb::DType::kFloat32)) return std::nullopt;
  return [a = data<float>(call.inputs[0]), b = data<float>(call.inputs[1]),
          out = data<float>(call.outputs[0]),
          walk = *static_cast<const ebb::ops::BinaryWalk*>(call.params)] {
    float* to = out;
    add_axis(walk, 0, a, b, to);
  };
}

std::optional<Work> fill(const ebb_cuda_call& call) {
  if (!is(call.outputs[0], ebb::DType::kFloat32)) return std::nullopt;
  return [out = data<float>(call.outputs[0]), count = elements(call.outputs[0]),
          value = call.attributes[call.attribute_offsets[1]]] {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(value);
  };
}

std::optional<Work> cast(const ebb_cuda_call& call) {
  const ebb_cuda_tensor from = call.inputs[0], to = call.outputs[0];
  if (is(from, ebb::DType::kInt32) && is(to, ebb::DType::kFloat32)) {
    return [=] {
      for (std::int64_t i = 0; i < elements(from); ++i)
        data<float>(to)[i] = static_cast<float>(data<std::int32_t>(from)[i]);
    };
  }
  if (is(from, ebb::DType::kFloat32) && is(to, ebb::DType::kInt32)) {
    return [=] {
      for (std::int64_t i = 0; i < elements(from); ++i)
        data<std::int32_t>(to)[i] = static_cast<std::int32_t>(data<float>(from)[i]);
    };
  }
  return std::nullopt;
}

std::optional<Work> multiply(const ebb_cuda_call& call) {
  const auto product = *static_cast<const ebb::ops::Product*>(call.params);
  if (product.rank != 2 || product.transpose_a || product.transpose_b) return std::nullopt;
  if (!is(call.inputs[0], ebb::DType::kFloat32)) return std::nullopt;
  return [a = data<float>(call.inputs[0]), b = data<float>(call.inputs[1]),
          out = data<float>(call.outputs[0]), product] {
    for (std::int64_t i = 0; i < product.rows; ++i) {
      for (std::int64_t j = 0; j < product.columns; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < product.inner; ++k)
          sum += a[i * product.inner + k] * b[k * product.columns + j];
        out[i * product.columns + j] = sum;
      }
    }
  };
}

// Where an input of a chain has what goes with element i of the result.
std::int64_t place_in(const ebb_cuda_tensor& input, const ebb_cuda_tensor& result, std::int64_t i) {
  std::int64_t place = 0;
  for (std::uint32_t axis = result.rank; axis-- > 0; i /= result.dims[axis]) {
    if (axis + input.rank < result.rank) continue;
    const std::uint32_t own = axis + input.rank - result.rank;
    if (input.dims[own] != 1) place += i % result.dims[axis] * input.strides[own];
  }
  return place;
}

// Of sums alone.
std::optional<Work> chain(const ebb_cuda_call& call) {
  const double* words = call.attributes + call.attribute_offsets[0];
  const std::vector<double> code(words + 1, words + 1 + static_cast<std::size_t>(*words));
  for (std::size_t i = 0; i < code.size(); i += ebb::ops::kChainWords) {
    if (code[i] != ebb::ops::op_id("Add") || code[i + 5] > 1) return std::nullopt;
  }
  return [code, inputs = std::vector(call.inputs, call.inputs + call.input_count),
          outputs = std::vector(call.outputs, call.outputs + call.output_count)] {
    for (std::int64_t i = 0; i < elements(outputs[0]); ++i) {
      std::vector<float> known;
      for (const ebb_cuda_tensor& each : inputs) {
        known.push_back(data<float>(each)[place_in(each, outputs[0], i)]);
      }
      std::size_t result = 0;
      for (std::size_t k = 0; k < code.size(); k += ebb::ops::kChainWords) {
        known.push_back(known[static_cast<std::size_t>(code[k + 1])] +
                        known[static_cast<std::size_t>(code[k + 2])]);
        if (code[k + 5] != 0) data<float>(outputs[result++])[i] = known.back();
      }
    }
  };
}

using Prepare = std::optional<Work> (*)(const ebb_cuda_call&);

Prepare kernel_of(std::uint32_t op) {
  if (op == ebb::ops::op_id("Add")) return add;
  if (op == ebb::ops::op_id("Fill")) return fill;
  if (op == ebb::ops::op_id("Cast")) return cast;
  if (op == ebb::ops::op_id("BatchMatMul")) return multiply;
  if (op == ebb::ops::kChain) return chain;
  return nullptr;
}

int has_kernel(std::uint32_t op) { return kernel_of(op) == nullptr ? 0 : 1; }

ebb_cuda_status run(ebb_cuda_call* call) {
  ebb_cuda_device* device = call->device;
  if (device->lost) return lost(device);
  if (fails()) return fail(EBB_CUDA_NO_MEMORY, "no memory for a launch");
  if (refuses.exchange(false)) return fail(EBB_CUDA_FAILED, "a launch was refused");
  std::optional<Work> work = kernel_of(call->op)(*call);
  if (!work) return fail(EBB_CUDA_NO_KERNEL, "this plug-in has no kernel for these dtypes");
  if (loses.exchange(false)) {
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
const char* last_error() { return error_text.c_str(); }

constexpr ebb_cuda_table kTable{
    .size = sizeof(ebb_cuda_table),
    .version = EBB_CUDA_PLUGIN_VERSION,
    .op_table_hash = ebb::ops::table_hash(),
    .params_hash = ebb::ops::kParamsHash,
    .last_error = last_error,
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
  target.store(0);
  points.store(0);
  later.store(and_later);
  target.store(n);
}
std::uint64_t fault_points() noexcept { return points.load(); }
void hold_back(bool on) noexcept { held_back.store(on); }
void refuse_next_kernel() noexcept { refuses.store(true); }
void lose_with_next_kernel() noexcept { loses.store(true); }
std::uint64_t committed() noexcept { return committed_bytes.load(); }
std::uint64_t pinned_buffers() noexcept {
  const std::lock_guard lock(pinned_mutex);
  return pinned.size();
}

}  // namespace ebb::test::fake
