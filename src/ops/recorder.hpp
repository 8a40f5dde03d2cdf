// Who hears of the operations of a thread: tapes (src/grad), and programs being recorded
// (src/program). They are a chain, innermost first, and each tells the one around it.
//
// The protocol: `began` once the operands are resolved and held, before anything is made; `ended`
// once the results are there, `failed` in place of it where the call failed. The first two may
// throw: then the call fails, and leaves nothing behind. An operation that another one runs inside of
// it (a conversion, or whatever a callback of the host does) is not heard of, and the chain stays as
// it is until the call has ended: check_not_heard(). Where nobody listens, a call costs one load of a
// thread-local pointer more.
#pragma once

#include "ops/op_call.hpp"

namespace ebb::ops {

class Recorder {
 public:
  // Again for the same call where the first attempt met another layout (LayoutChanged).
  virtual void began(const OpCall& call) = 0;
  virtual void ended(OpCall& call) = 0;
  virtual void failed() noexcept = 0;
  // That memory has got values which no operation of this thread made.
  virtual void written(const StorageRef& memory) noexcept = 0;
  // A tensor has got a second name. May throw: then it has not.
  virtual void copied(Handle from, Handle to) = 0;
  // The host is about to get its values, or a copy that no operation makes. May throw: then it does not.
  virtual void looked_at(Handle tensor, const Operand& operand) {
    if (outer_ != nullptr) outer_->looked_at(tensor, operand);
  }

  // What it hears is run again later, with the same attributes.
  virtual bool replays() const noexcept { return false; }

  // Of the thread that this is called on.
  bool is_linked_here() const noexcept;
  static bool any_replays() noexcept;

 protected:
  ~Recorder() = default;

  // Becomes the innermost one of this thread. Pre: check_not_heard().
  void link() noexcept;
  // Pre: on the thread that linked it; check_not_heard().
  void unlink() noexcept;
  Recorder* outer() const noexcept { return outer_; }

 private:
  Recorder* outer_ = nullptr;
};

// This thread's; null: nobody listens.
extern constinit thread_local Recorder* recorder;

// Throws Error(kWrongState) inside a call that is heard, that is in a callback of the host's.
void check_not_heard(std::string_view who);

// Nobody listens while it lives.
class Unheard {
 public:
  Unheard() noexcept : listener_(std::exchange(recorder, nullptr)) {}
  ~Unheard() { recorder = listener_; }
  Unheard(const Unheard&) = delete;
  Unheard& operator=(const Unheard&) = delete;

 private:
  Recorder* listener_;
};

}  // namespace ebb::ops
