// The tape: what this thread's operations did with the watched tensors, and the way back.
//
//   Session session;
//   Tensor w = tensor({1.0f, 2.0f}, {2}), x = tensor({3.0f, 4.0f}, {2});
//   Tape tape;
//   tape.watch(w);
//   Tensor loss = ops::sum(w * x, {0});
//   std::vector<Tensor> gradients = tape.backward({loss}, {}, {w});   // {3, 4}
//
// It notes the operations whose operands depend on something watched, and keeps of each what its
// gradient says it needs, until backward() has passed it. Tapes may be nested: an outer one notes
// the operations of an inner one's backward(), which gives second derivatives; ebb/grad/grad.hpp
// does that by itself. A tape hears the thread that opened it, and its own context only; it ends on
// that thread, which is checked.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "ebb/tensor/tensor.hpp"

namespace ebb {

namespace gradients {
class TapeBody;
}

struct TapeOptions {
  // Another name over a tensor's memory is that tensor where it was copied before, too. False: only
  // a copy that is made while the tape is open, so that a constant may be where a watched one is.
  bool copies = true;
  // Gradients are those of TensorFlow.js where it has others: where a function bends (-1 for the
  // absolute value of 0), among equal elements (each maximum gets the whole), in padding, and in what
  // becomes of infinities and NaN.
  bool tensorflow_js = false;
};

class [[nodiscard]] Tape {
 public:
  // In the current session; throws Error(kWrongState) where this thread has none.
  Tape();
  explicit Tape(TapeOptions options);
  // Of a context's operations, wherever the session is.
  explicit Tape(const Context& context, TapeOptions options = {});
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  // Gradients by this tensor can be asked for. Throws Error(kInvalidArgument) where its dtype is
  // not a floating or complex one.
  void watch(const Tensor& tensor);
  // It notes nothing more.
  void stop() noexcept;

  // Once: how the outputs, each weighted by its seed, change with the wanted tensors. Without seeds
  // they are ones. A wanted tensor is a watched one or a noted result; one that the outputs do not
  // depend on has none (a Tensor that is false). Runs in the current session, whose context must be
  // the tape's. Stops the tape; what it kept is released as it is passed, and where it throws.
  //
  // Throws Error(kUnsupported) for an operation on the way that has no gradient.
  std::vector<Tensor> backward(std::span<const Tensor* const> outputs,
                               std::span<const Tensor* const> seeds,
                               std::span<const Tensor* const> wanted);
  std::vector<Tensor> backward(std::initializer_list<Tensor> outputs,
                               std::initializer_list<Tensor> seeds,
                               std::initializer_list<Tensor> wanted);

  // Operations noted so far, and tensors that are kept for them.
  std::size_t noted() const noexcept;
  std::size_t kept() const noexcept;

 private:
  std::unique_ptr<gradients::TapeBody> body_;
};

}  // namespace ebb
