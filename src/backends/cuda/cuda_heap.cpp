#include "backends/cuda/cuda_heap.hpp"

#include <charconv>

#include "ebb/base/error.hpp"

namespace ebb::cuda {
namespace {

// Of what is free when the device is opened. The rest is for what CUDA takes beside the pool (the
// code of kernels, its libraries' own memory) and for other processes.
constexpr double kShare = 0.9;
constexpr std::size_t kSpan = std::size_t{64} << 30;

int ordinal_of(const std::string& name) {
  constexpr std::string_view kPrefix = "cuda:";
  int ordinal = -1;
  const char* end = name.data() + name.size();
  if (name.starts_with(kPrefix)) {
    const auto [stop, error] = std::from_chars(name.data() + kPrefix.size(), end, ordinal);
    if (error != std::errc() || stop != end) ordinal = -1;
  }
  if (ordinal < 0) {
    raise(ErrorKind::kInvalidArgument,
          "[device] \"{}\" was given, a GPU is \"cuda:\" and its number", name);
  }
  return ordinal;
}

}  // namespace

CudaHeap::CudaHeap(const ebb_cuda_table& table, const std::string& name)
    : table_(table), name_(name) {
  const int ordinal = ordinal_of(name);
  std::int32_t count = 0;
  if (table_.device_count(&count) != EBB_CUDA_OK) {
    raise(ErrorKind::kUnsupported, "[device] {} is not there: {}", name, table_.last_error());
  }
  if (ordinal >= count) {
    raise(ErrorKind::kUnsupported, "[device] {} is not there: the driver sees {} GPU{}", name,
          count, count == 1 ? "" : "s");
  }
  check(table_.device_open(ordinal, &device_), "device");
  ebb_cuda_device_info info{};
  if (const ebb_cuda_status status = table_.device_describe(device_, &info);
      status != EBB_CUDA_OK) {
    const std::string text = table_.last_error();
    table_.device_close(device_);
    raise(ErrorKind::kDevice, "[device] {}: {}", name, text);
  }
  granule_ = info.granule;
  // arithmetic: less than what is free, in whole granules
  capacity_ =
      static_cast<std::size_t>(static_cast<double>(info.free_bytes) * kShare) / granule_ * granule_;
}

CudaHeap::~CudaHeap() { table_.device_close(device_); }

void CudaHeap::check(ebb_cuda_status status, std::string_view who) const {
  if (status == EBB_CUDA_OK) [[likely]]
    return;
  const char* text = table_.last_error();
  switch (status) {
    case EBB_CUDA_NO_MEMORY:
      throw OutOfMemory(fmt::format("[{}] device {}: {}", who, name_, text));
    case EBB_CUDA_NO_KERNEL:
      raise(ErrorKind::kUnsupported, "[{}] not built: device {}: {}", who, name_, text);
    case EBB_CUDA_BAD_DATA:
      raise(ErrorKind::kInvalidArgument, "[{}] {}", who, text);
    case EBB_CUDA_MISSING:
      raise(ErrorKind::kUnsupported, "[{}] device {}: {}", who, name_, text);
    case EBB_CUDA_LOST:
      raise(ErrorKind::kDevice, "[{}] device {} is lost: {}", who, name_, text);
    default:
      raise(ErrorKind::kDevice, "[{}] device {}: {}", who, name_, text);
  }
}

HeapTraits CudaHeap::traits() const noexcept {
  return {.name = name_,
          .alignment = granule_,
          .granule = granule_,
          .capacity = capacity_,
          .preferred_span = kSpan,
          .synchronous = false};
}

std::byte* CudaHeap::reserve(std::size_t bytes) noexcept {
  return static_cast<std::byte*>(table_.reserve(device_, bytes));
}
void CudaHeap::unreserve(std::byte* base, std::size_t bytes) noexcept {
  table_.unreserve(device_, base, bytes);
}
bool CudaHeap::commit(std::byte* base, std::size_t bytes) noexcept {
  return table_.commit(device_, base, bytes) != 0;
}
void CudaHeap::decommit(std::byte* base, std::size_t bytes) noexcept {
  table_.decommit(device_, base, bytes);
}

StreamId CudaHeap::create_stream() {
  StreamId stream = 0;
  check(table_.create_stream(device_, &stream), "create_stream");
  return stream;
}
void CudaHeap::destroy_stream(StreamId stream) noexcept { table_.destroy_stream(device_, stream); }
Ticket CudaHeap::submitted(StreamId stream) const noexcept {
  return table_.submitted(device_, stream);
}
std::optional<Event> CudaHeap::record(StreamId stream) noexcept {
  Ticket ticket = 0;
  if (table_.record(device_, stream, &ticket) == 0) return std::nullopt;
  return Event{stream, ticket};
}
bool CudaHeap::done(Event event) noexcept {
  return table_.done(device_, event.stream, event.ticket) != 0;
}
void CudaHeap::wait(Event event) noexcept { table_.wait(device_, event.stream, event.ticket); }
void CudaHeap::order(StreamId stream, Event event) noexcept {
  table_.order(device_, stream, event.stream, event.ticket);
}

void CudaHeap::write(StreamId stream, std::byte* to, std::span<const std::byte> from) {
  check(table_.copy_in(device_, stream, to, from.data(), from.size()), "write");
}
void CudaHeap::read(StreamId stream, std::span<std::byte> to, const std::byte* from) {
  check(table_.copy_out(device_, stream, to.data(), from, to.size()), "read");
}
void CudaHeap::copy(StreamId stream, std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes != 0) check(table_.copy_within(device_, stream, to, from, bytes), "copy");
}
void CudaHeap::pack(StreamId stream, std::byte* to, const std::byte* from, std::size_t element,
                    std::span<const std::int64_t> dims, std::span<const std::int64_t> strides) {
  check(table_.pack(device_, stream, to, from, static_cast<std::uint32_t>(element),
                    static_cast<std::uint32_t>(dims.size()), dims.data(), strides.data()),
        "copy");
}
void CudaHeap::begin_read(StreamId stream, std::byte* staging, const std::byte* from,
                          std::size_t bytes) {
  check(table_.copy_out_begin(device_, stream, staging, from, bytes), "read");
}

std::byte* CudaHeap::take_staging(std::size_t bytes) {
  check();
  auto* staging = static_cast<std::byte*>(table_.pinned_allocate(device_, bytes));
  if (staging == nullptr) {
    throw OutOfMemory(fmt::format("[read] {} bytes of pinned host memory are not there", bytes));
  }
  return staging;
}
void CudaHeap::give_staging(std::byte* staging) noexcept { table_.pinned_free(device_, staging); }
std::uint64_t CudaHeap::staging_bytes() const noexcept { return table_.pinned_bytes(device_); }

void CudaHeap::begin_capture(StreamId stream) {
  check(table_.capture_begin(device_, stream), "capture");
  capturing_[stream] = true;
}
void* CudaHeap::end_capture(StreamId stream) {
  ebb_cuda_graph* graph = nullptr;
  capturing_[stream] = false;
  check(table_.capture_end(device_, stream, &graph), "capture");
  return graph;
}
void CudaHeap::replay(void* graph, StreamId stream) {
  check(table_.graph_replay(static_cast<ebb_cuda_graph*>(graph), stream), "replay");
}
void CudaHeap::drop(void* graph) noexcept {
  table_.graph_destroy(static_cast<ebb_cuda_graph*>(graph));
}

void CudaHeap::set_option(const char* name, const char* value) {
  check(table_.set_option(device_, name, value), "device");
}
void CudaHeap::check() const { check(table_.device_state(device_), "device"); }

}  // namespace ebb::cuda
