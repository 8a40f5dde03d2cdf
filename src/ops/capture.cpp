#include "ebb/ops/capture.hpp"

#include "ebb/memory/device_link.hpp"
#include "ops/format.hpp"
#include "ops/kernels.hpp"

namespace ebb {
namespace {

Operand operand_of(const Tensor& tensor) {
  Operand operand;
  const Handle handle = tensor.handle();
  if (handle == 0)
    raise(ErrorKind::kInvalidArgument, "[replay] no tensor was given, one is needed");
  tensor.context().resolve({&handle, 1}, {&operand, 1}, "replay");
  return operand;
}

}  // namespace

struct Capture::Memory final : ops::CapturedMemory {};

Capture::Capture()
    : device_(Session::current().device()),
      stream_(Session::current().place().stream),
      memory_(std::make_unique<Memory>()) {
  if (device_.link() == nullptr) {
    raise(ErrorKind::kUnsupported, "[capture] device {} does its work at once, a GPU is needed",
          device_.name());
  }
  if (ops::captured_memory != nullptr) {
    raise(ErrorKind::kWrongState, "[capture] this thread captures already");
  }
  device_.link()->begin_capture(stream_);
  ops::captured_memory = memory_.get();
}

Capture::~Capture() {
  if (!open_) return;
  try {
    static_cast<void>(end());
  } catch (const Error&) {  // given up, and so is what was wrong with it
  }
}

Replay Capture::end() {
  if (!open_) raise(ErrorKind::kWrongState, "[capture] it has ended already");
  open_ = false;
  ops::captured_memory = nullptr;
  return {device_, stream_, device_.link()->end_capture(stream_), std::move(memory_->kept)};
}

Replay::Replay(Replay&& other) noexcept
    : device_(other.device_),
      stream_(other.stream_),
      graph_(std::exchange(other.graph_, nullptr)),
      held_(std::move(other.held_)) {}

Replay::~Replay() {
  if (graph_ == nullptr) return;
  Heap& heap = *device_->heap();
  heap.wait({stream_, heap.submitted(stream_)});
  device_->link()->drop(graph_);
}

void Replay::run() { device_->link()->replay(graph_, stream_); }

void Replay::set(const Tensor& place, const Tensor& from) {
  const Operand to = operand_of(place);
  Operand values = operand_of(from);
  if (!(to.shape == values.shape) || to.dtype != values.dtype) {
    raise(ErrorKind::kInvalidArgument,
          "[replay] {} of shape {} was given, the recorded work takes {} of shape {}: capture it "
          "again for another",
          name_of(values.dtype), values.shape.to_string(), name_of(to.dtype), to.shape.to_string());
  }
  if (&to.memory.device() != device_) {
    raise(ErrorKind::kInvalidArgument, "[replay] the tensor is on device {}, the work on {}",
          to.memory.device().name(), device_->name());
  }
  if (!to.dense) {
    raise(ErrorKind::kInvalidArgument,
          "[replay] the place is a view of a part of a tensor, a whole one is needed");
  }
  from.context().make_readable(from.handle(), values);
  const std::size_t bytes = bytes_of(to.shape, size_of(to.dtype));
  Device& source = values.memory.device();
  if (&source == device_) {
    ops::use_on_stream(values.memory, stream_);
    device_->link()->copy(stream_, to.data, values.data, bytes);
  } else {
    std::vector<std::byte> between(bytes);
    read_operand(values, between);
    device_->link()->write(stream_, to.data, between);
  }
}

}  // namespace ebb
