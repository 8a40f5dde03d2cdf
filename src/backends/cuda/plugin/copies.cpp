#include "backends/cuda/plugin/copies.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backends/cuda/plugin/device_state.hpp"

namespace ebb::cuda {
namespace {

constexpr std::size_t kPiece = PinnedPool::kLargestPiece;

void refuse_while_capturing(DeviceState& device, std::uint32_t stream) {
  if (!device.capturing(stream)) return;
  throw Failure{
      EBB_CUDA_FAILED,
      "a tensor's values are not there while its stream captures; read them after a replay"};
}

// Goes back to the pool when it is done with, also by an exception.
class Piece {
 public:
  Piece(PinnedPool& pool, std::size_t bytes) : pool_(pool), buffer_(pool.take(bytes)) {}
  ~Piece() {
    if (queued_) {
      pool_.give_when_done(buffer_);
    } else {
      pool_.give(buffer_);
    }
  }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  std::byte* data() const noexcept { return buffer_.data; }
  void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "a copy");
    queued_ = true;
    check(cudaEventRecord(buffer_.event, stream), "recording an event");
  }
  void wait() {
    check(cudaEventSynchronize(buffer_.event), "a copy");
    queued_ = false;
  }

 private:
  PinnedPool& pool_;
  PinnedPool::Buffer buffer_;
  bool queued_ = false;
};

void upload(DeviceState& device, cudaStream_t stream, std::byte* to, const std::byte* host,
            std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += kPiece) {
    const std::size_t count = std::min(kPiece, bytes - at);
    Piece piece(device.pinned(), count);
    std::memcpy(piece.data(), host + at, count);
    piece.copy(to + at, piece.data(), count, stream);
  }
}

}  // namespace

void copy_in(DeviceState& device, std::uint32_t stream, void* to, const void* host,
             std::size_t bytes) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(host);
  if (device.capturing(stream)) {
    upload(device, device.side_stream(), target, source, bytes);
    check(cudaStreamSynchronize(device.side_stream()), "a copy");
    return;
  }
  upload(device, device.stream(stream), target, source, bytes);
  device.note_queued(stream, 0);
}

// Two pieces: one is on its way while the other is copied out of its buffer.
void copy_out(DeviceState& device, std::uint32_t stream, void* host, const void* from,
              std::size_t bytes) {
  refuse_while_capturing(device, stream);
  auto* target = static_cast<std::byte*>(host);
  const auto* source = static_cast<const std::byte*>(from);
  std::optional<Piece> pieces[2];
  const std::size_t count = (bytes + kPiece - 1) / kPiece;
  const auto size = [&](std::size_t i) { return std::min(kPiece, bytes - i * kPiece); };
  for (std::size_t i = 0; i <= count; ++i) {
    if (i < count) {
      Piece& next = pieces[i % 2].emplace(device.pinned(), size(i));
      next.copy(next.data(), source + i * kPiece, size(i), device.stream(stream));
    }
    if (i == 0) continue;
    Piece& last = *pieces[(i - 1) % 2];
    last.wait();
    std::memcpy(target + (i - 1) * kPiece, last.data(), size(i - 1));
  }
}

void copy_out_begin(DeviceState& device, std::uint32_t stream, void* pinned, const void* from,
                    std::size_t bytes) {
  refuse_while_capturing(device, stream);
  check(cudaMemcpyAsync(pinned, from, bytes, cudaMemcpyDefault, device.stream(stream)), "a copy");
  device.note_queued(stream, 0);
}

void copy_within(DeviceState& device, std::uint32_t stream, void* to, const void* from,
                 std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, device.stream(stream)), "a copy");
  device.note_queued(stream, 0);
}

}  // namespace ebb::cuda
