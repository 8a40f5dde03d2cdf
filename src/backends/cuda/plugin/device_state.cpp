#include "backends/cuda/plugin/device_state.hpp"

#include <algorithm>

#include "ebb/ops/table.hpp"

namespace ebb::cuda {

DeviceState::DeviceState(int ordinal) : ordinal_(ordinal) {
  check(cudaSetDevice(ordinal), "opening the device");
  check(cudaFree(nullptr), "opening the device");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, ordinal),
        "describing the device");
  addresses_ = std::make_unique<AddressSpace>(ordinal);
  pinned_ = std::make_unique<PinnedPool>();
  check(cudaStreamCreateWithFlags(&streams_[0].stream, cudaStreamNonBlocking), "making a stream");
}

DeviceState::~DeviceState() {
  cudaSetDevice(ordinal_);
  if (!lost()) cudaDeviceSynchronize();
  for (auto& part : owned_parts_) part.reset();
  pinned_.reset();
  for (Stream& each : streams_) {
    for (const Recorded& recorded : each.recorded) cudaEventDestroy(recorded.event);
    if (each.stream != nullptr) cudaStreamDestroy(each.stream);
  }
  for (cudaEvent_t event : events_) cudaEventDestroy(event);
  if (side_ != nullptr) cudaStreamDestroy(side_);
  addresses_.reset();
}

void DeviceState::enter() const {
  static thread_local int entered = -1;
  if (entered == ordinal_) return;
  check(cudaSetDevice(ordinal_), "choosing the device");
  entered = ordinal_;
}

void DeviceState::set_option(std::string_view name, std::string_view value) {
  Math math{};
  if (value == "f32") {
    math = Math::kF32;
  } else if (value == "tf32") {
    math = Math::kTf32;
  } else if (value == "bf16") {
    math = Math::kBf16;
  } else {
    throw Failure{EBB_CUDA_FAILED, std::string(name) + ": " + std::string(value) +
                                       " was given, f32, tf32 and bf16 are allowed"};
  }
  if (name == "matmul_math") {
    matmul_math_.store(math, std::memory_order_relaxed);
  } else if (name == "conv_math") {
    conv_math_.store(math, std::memory_order_relaxed);
  } else {
    throw Failure{EBB_CUDA_FAILED,
                  std::string(name) + " is no option, matmul_math and conv_math are"};
  }
}

std::uint32_t DeviceState::create_stream() {
  const std::lock_guard lock(streams_mutex_);
  const auto free = std::find_if(streams_.begin() + 1, streams_.end(),
                                 [](const Stream& each) { return each.stream == nullptr; });
  if (free == streams_.end()) throw Failure{EBB_CUDA_FAILED, "all 64 streams are taken"};
  check(cudaStreamCreateWithFlags(&free->stream, cudaStreamNonBlocking), "making a stream");
  return static_cast<std::uint32_t>(free - streams_.begin());
}

void DeviceState::destroy_stream(std::uint32_t id) {
  wait(id, submitted(id));
  const std::lock_guard lock(streams_mutex_);
  cudaStreamDestroy(streams_[id].stream);
  streams_[id].stream = nullptr;
}

void DeviceState::note_queued(std::uint32_t id, ops::OpId op) noexcept {
  Stream& stream = streams_[id];
  const std::uint64_t ticket = stream.submitted.fetch_add(1, std::memory_order_acq_rel) + 1;
  stream.ops[ticket % kRing].store(static_cast<std::uint16_t>(op), std::memory_order_relaxed);
}

cudaEvent_t DeviceState::take_event() {
  {
    const std::lock_guard lock(events_mutex_);
    if (!events_.empty()) {
      cudaEvent_t event = events_.back();
      events_.pop_back();
      return event;
    }
  }
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return event;
}

void DeviceState::give_event(cudaEvent_t event) noexcept {
  const std::lock_guard lock(events_mutex_);
  events_.push_back(event);
}

// The ticket is read before the event is queued: work that another thread queues meanwhile may be
// covered, but is never claimed to be.
std::uint64_t DeviceState::record_locked(Stream& stream) {
  const std::uint64_t ticket = stream.submitted.load(std::memory_order_acquire);
  if (ticket == stream.last_recorded) return ticket;
  if (stream.capturing.load(std::memory_order_relaxed)) {
    throw Failure{EBB_CUDA_FAILED, "the stream captures, nothing of it is done meanwhile"};
  }
  cudaEvent_t event = take_event();
  const cudaError_t error = cudaEventRecord(event, stream.stream);
  if (error != cudaSuccess) {
    give_event(event);
    check(error, "recording an event");
  }
  stream.recorded.push_back({ticket, event});
  stream.last_recorded = ticket;
  return ticket;
}

std::uint64_t DeviceState::record(std::uint32_t id) {
  Stream& stream = streams_[id];
  const std::lock_guard lock(stream.mutex);
  return record_locked(stream);
}

void DeviceState::look_locked(Stream& stream) {
  while (!stream.recorded.empty()) {
    const Recorded first = stream.recorded.front();
    const cudaError_t state = cudaEventQuery(first.event);
    if (state == cudaErrorNotReady) return;
    check(state, "work that was queued");
    stream.finished.store(first.ticket, std::memory_order_release);
    stream.recorded.pop_front();
    give_event(first.event);
  }
}

bool DeviceState::done(std::uint32_t id, std::uint64_t ticket) {
  Stream& stream = streams_[id];
  if (ticket <= stream.finished.load(std::memory_order_acquire)) return true;
  const std::lock_guard lock(stream.mutex);
  look_locked(stream);
  return ticket <= stream.finished.load(std::memory_order_relaxed);
}

void DeviceState::wait(std::uint32_t id, std::uint64_t ticket) {
  Stream& stream = streams_[id];
  if (ticket <= stream.finished.load(std::memory_order_acquire)) return;
  cudaEvent_t event = nullptr;
  {
    const std::lock_guard lock(stream.mutex);
    if (ticket > stream.last_recorded) record_locked(stream);
    for (const Recorded& each : stream.recorded) {
      if (each.ticket < ticket) continue;
      event = each.event;
      break;
    }
  }
  // Should another thread see it done first and use the event again, this waits for later work.
  if (event != nullptr) check(cudaEventSynchronize(event), "work that was queued");
  const std::lock_guard lock(stream.mutex);
  look_locked(stream);
}

void DeviceState::order(std::uint32_t id, std::uint32_t after, std::uint64_t ticket) {
  Stream& other = streams_[after];
  const std::lock_guard lock(other.mutex);
  if (ticket <= other.finished.load(std::memory_order_relaxed)) return;
  if (ticket > other.last_recorded) record_locked(other);
  for (const Recorded& each : other.recorded) {
    if (each.ticket < ticket) continue;
    check(cudaStreamWaitEvent(streams_[id].stream, each.event, 0), "ordering two streams");
    return;
  }
}

void DeviceState::wait_all() {
  for (std::uint32_t id = 0; id < kMaxStreams; ++id) {
    if (streams_[id].stream != nullptr) wait(id, submitted(id));
  }
}

// All earlier work of the stream is done first, so that memory it used may be filled from another
// stream while this one captures.
void DeviceState::capture_begin(std::uint32_t id) {
  wait(id, submitted(id));
  side_stream();
  check(cudaStreamBeginCapture(streams_[id].stream, cudaStreamCaptureModeRelaxed),
        "beginning a capture");
  streams_[id].capturing.store(true, std::memory_order_relaxed);
}

// Nothing was queued for real: what was numbered meanwhile is done.
cudaGraph_t DeviceState::capture_end(std::uint32_t id) {
  Stream& stream = streams_[id];
  if (!capturing(id)) throw Failure{EBB_CUDA_FAILED, "the stream does not capture"};
  cudaGraph_t graph = nullptr;
  const cudaError_t error = cudaStreamEndCapture(stream.stream, &graph);
  {
    const std::lock_guard lock(stream.mutex);
    stream.last_recorded = stream.submitted.load(std::memory_order_acquire);
    stream.finished.store(stream.last_recorded, std::memory_order_release);
    stream.capturing.store(false, std::memory_order_relaxed);
  }
  check(error, "ending a capture");
  return graph;
}

cudaStream_t DeviceState::side_stream() {
  std::call_once(side_once_, [&] {
    check(cudaStreamCreateWithFlags(&side_, cudaStreamNonBlocking), "making a stream");
  });
  return side_;
}

std::string DeviceState::loss() const {
  const std::lock_guard lock(loss_mutex_);
  return loss_;
}

void DeviceState::lose(std::string_view text) {
  const std::lock_guard lock(loss_mutex_);
  if (lost()) return;
  loss_ = std::string(text) + queued_operations();
  lost_.store(true, std::memory_order_release);
}

// What was queued since the last point that is known to be good.
std::string DeviceState::queued_operations() const {
  std::string text;
  for (const Stream& stream : streams_) {
    const std::uint64_t last = stream.submitted.load(std::memory_order_acquire);
    const std::uint64_t good = stream.finished.load(std::memory_order_acquire);
    const std::uint64_t first = std::max(good, last - std::min<std::uint64_t>(last, kRing)) + 1;
    for (std::uint64_t ticket = first; ticket <= last; ++ticket) {
      const ops::OpSpec* spec =
          ops::find_op(static_cast<ops::OpId>(stream.ops[ticket % kRing].load()));
      text += text.empty() ? "; queued since the last good point: " : ", ";
      text += spec == nullptr ? std::string_view("a copy") : spec->name;
    }
  }
  return text;
}

std::size_t DeviceState::next_slot() {
  static std::atomic<std::size_t> slots{0};
  return slots.fetch_add(1);
}

void* DeviceState::make_part(std::size_t slot, MakePart make) {
  if (slot >= kParts) throw Failure{EBB_CUDA_FAILED, "no room for another library"};
  const std::lock_guard lock(parts_mutex_);
  if (owned_parts_[slot] == nullptr) {
    owned_parts_[slot] = make(*this);
    parts_[slot].store(owned_parts_[slot].get(), std::memory_order_release);
  }
  return owned_parts_[slot].get();
}

}  // namespace ebb::cuda
