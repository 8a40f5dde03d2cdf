#include "ebb/ops/read.hpp"

#include <cstring>

#include "ebb/memory/device_link.hpp"
#include "tensor/looks.hpp"

namespace ebb {

AsyncRead::AsyncRead(const Context& context, Handle tensor) {
  context.resolve({&tensor, 1}, {&operand_, 1}, "read");
  if (!operand_) raise(ErrorKind::kStaleHandle, "[read] 0 names no tensor");
  look_at(tensor, operand_);
  bytes_ = bytes_of(operand_.shape, size_of(operand_.dtype));
  Device& device = operand_.memory.device();
  if (device.link() == nullptr || bytes_ == 0) return;
  context.make_readable(tensor, operand_);
  const StreamId stream = operand_.memory.home_stream();
  staging_ = device.link()->take_staging(bytes_);
  try {
    device.link()->begin_read(stream, staging_, operand_.data, bytes_);
  } catch (...) {
    device.link()->give_staging(staging_);
    throw;
  }
  event_ = {stream, device.heap()->submitted(stream)};
  recorded_ = device.heap()->record(stream).has_value();
}

AsyncRead::~AsyncRead() {
  if (staging_ == nullptr) return;
  operand_.memory.device().heap()->wait(event_);
  operand_.memory.device().link()->give_staging(staging_);
}

bool AsyncRead::done() {
  if (staging_ == nullptr) return true;
  Device& device = operand_.memory.device();
  if (!recorded_) recorded_ = device.heap()->record(event_.stream).has_value();
  const bool finished = device.heap()->done(event_);
  device.link()->check();
  return finished;
}

void AsyncRead::take(std::span<std::byte> to) {
  if (to.size() != bytes_) {
    raise(ErrorKind::kInvalidArgument, "[read] {} bytes were given, the tensor has {}", to.size(),
          bytes_);
  }
  if (staging_ == nullptr) return read_operand(operand_, to);
  Device& device = operand_.memory.device();
  device.heap()->wait(event_);
  device.link()->check();
  std::memcpy(to.data(), staging_, bytes_);
}

}  // namespace ebb
