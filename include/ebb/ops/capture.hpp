// Work that is recorded once and replayed: on a GPU a replay costs one launch, however many
// operations it has.
//
//   Session session({.device = "cuda:0"});
//   Tensor x = tensor(first_batch, {32, 784});
//   Capture capture;                 // from here on the session's work is recorded, not done
//   Tensor y = model(x);
//   Replay step = capture.end();
//   step.run();                      // y holds the model of x
//   step.set(x, next_batch);         // new values into x's memory
//   step.run();                      // y holds the model of the next batch
//
// All memory that the recorded work uses is held while the Replay lives; the books show it as held
// where its tensors have ended. Values cannot be read while a stream captures. An operation whose
// result's shape depends on data cannot be captured.
#pragma once

#include <memory>
#include <vector>

#include "ebb/ops/session.hpp"

namespace ebb {

class [[nodiscard]] Replay {
 public:
  Replay(Replay&& other) noexcept;
  Replay& operator=(Replay&&) = delete;
  // Waits for the replays under way.
  ~Replay();

  // Queues the recorded work again.
  void run();
  // The values of `from` into the memory of `place`, before the next run. Throws
  // Error(kInvalidArgument) where shape or dtype differ: what was recorded fits that shape only.
  void set(const Tensor& place, const Tensor& from);
  std::uint64_t held_storages() const noexcept { return held_.size(); }

 private:
  friend class Capture;
  Replay(Device& device, StreamId stream, void* graph, std::vector<StorageRef> held) noexcept
      : device_(&device), stream_(stream), graph_(graph), held_(std::move(held)) {}

  Device* device_;
  StreamId stream_;
  void* graph_;
  std::vector<StorageRef> held_;
};

// Records what the current session queues on this thread. Given up without end(), the recorded work
// is dropped.
class [[nodiscard]] Capture {
 public:
  // Throws Error(kUnsupported) where the session's device has no capture, kWrongState inside
  // another capture.
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Once. Throws Error(kDevice) where something was queued that cannot be captured.
  Replay end();

 private:
  struct Memory;  // of the work so far

  Device& device_;
  StreamId stream_;
  bool open_ = true;
  std::unique_ptr<Memory> memory_;
};

}  // namespace ebb
