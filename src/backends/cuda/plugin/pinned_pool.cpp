#include "backends/cuda/plugin/pinned_pool.hpp"

#include <algorithm>
#include <bit>

#include "backends/cuda/plugin/kernel.hpp"

namespace ebb::cuda {
namespace {

constexpr std::size_t kSmallest = std::size_t{64} << 10;

std::size_t size_class(std::size_t bytes) noexcept {
  return std::bit_ceil(std::max(bytes, kSmallest));
}

}  // namespace

PinnedPool::~PinnedPool() {
  for (auto* list : {&free_, &under_way_}) {
    for (const Buffer& buffer : *list) {
      cudaEventDestroy(buffer.event);
      cudaFreeHost(buffer.data);
    }
  }
  for (const auto& [bytes, data] : kept_) cudaFreeHost(data);
  for (const auto& [data, bytes] : handed_out_) cudaFreeHost(data);
}

bool PinnedPool::settle_locked() {
  const auto begin = under_way_.begin();
  auto end = begin;
  while (end != under_way_.end() && cudaEventQuery(end->event) == cudaSuccess) {
    under_way_bytes_ -= end->bytes;
    free_.push_back(*end++);
  }
  under_way_.erase(begin, end);
  return under_way_bytes_ < kMostUnderWay;
}

bool PinnedPool::fitting_locked(std::size_t bytes, Buffer& found) {
  for (auto it = free_.rbegin(); it != free_.rend(); ++it) {
    if (it->bytes != bytes) continue;
    found = *it;
    free_.erase(std::next(it).base());
    return true;
  }
  return false;
}

PinnedPool::Buffer PinnedPool::take(std::size_t bytes) {
  bytes = size_class(bytes);
  Buffer buffer;
  cudaEvent_t oldest = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (fitting_locked(bytes, buffer)) return buffer;
    if (!settle_locked()) oldest = under_way_.front().event;
    if (fitting_locked(bytes, buffer)) return buffer;
  }
  if (oldest != nullptr) {
    check(cudaEventSynchronize(oldest), "an earlier copy");
    const std::lock_guard lock(mutex_);
    settle_locked();
    if (fitting_locked(bytes, buffer)) return buffer;
  }
  buffer.bytes = bytes;
  void* data = nullptr;
  check(cudaMallocHost(&data, bytes), "pinned host memory for a copy");
  buffer.data = static_cast<std::byte*>(data);
  const cudaError_t error = cudaEventCreateWithFlags(&buffer.event, cudaEventDisableTiming);
  if (error != cudaSuccess) {
    cudaFreeHost(data);
    check(error, "making an event");
  }
  const std::lock_guard lock(mutex_);
  committed_ += bytes;
  return buffer;
}

void PinnedPool::give_when_done(Buffer buffer) noexcept {
  const std::lock_guard lock(mutex_);
  under_way_.push_back(buffer);
  under_way_bytes_ += buffer.bytes;
}

void PinnedPool::give(Buffer buffer) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(buffer);
}

void* PinnedPool::allocate(std::size_t bytes) noexcept {
  bytes = size_class(bytes);
  std::byte* data = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (const auto kept = kept_.find(bytes); kept != kept_.end()) {
      data = kept->second;
      kept_.erase(kept);
      kept_bytes_ -= bytes;
      handed_out_.emplace(data, bytes);
      return data;
    }
  }
  void* made = nullptr;
  if (cudaMallocHost(&made, bytes) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  const std::lock_guard lock(mutex_);
  committed_ += bytes;
  handed_out_.emplace(static_cast<std::byte*>(made), bytes);
  return made;
}

void PinnedPool::free(void* data) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = handed_out_.find(static_cast<std::byte*>(data));
  if (found == handed_out_.end()) return;
  const std::size_t bytes = found->second;
  handed_out_.erase(found);
  if (kept_bytes_ + bytes <= kMostKept) {
    kept_.emplace(bytes, static_cast<std::byte*>(data));
    kept_bytes_ += bytes;
  } else {
    cudaFreeHost(data);
    committed_ -= bytes;
  }
}

bool PinnedPool::contains(const void* data, std::size_t bytes) const noexcept {
  auto* start = static_cast<std::byte*>(const_cast<void*>(data));
  const std::lock_guard lock(mutex_);
  auto after = handed_out_.upper_bound(start);
  if (after == handed_out_.begin()) return false;
  --after;
  return start + bytes <= after->first + after->second;
}

std::uint64_t PinnedPool::committed() const noexcept {
  const std::lock_guard lock(mutex_);
  return committed_;
}

}  // namespace ebb::cuda
