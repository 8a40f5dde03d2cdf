#include "ebb/grad/tape.hpp"

#include "ebb/ops/session.hpp"
#include "grad/tape_body.hpp"

namespace ebb {

Tape::Tape() : Tape(TapeOptions{}) {}
Tape::Tape(TapeOptions options) : Tape(Session::current().context(), options) {}
Tape::Tape(const Context& context, TapeOptions options)
    : body_(std::make_unique<gradients::TapeBody>(context, options)) {}
Tape::~Tape() = default;

void Tape::watch(const Tensor& tensor) { body_->watch(tensor); }
void Tape::stop() noexcept { body_->stop(); }
std::size_t Tape::noted() const noexcept { return body_->noted(); }
std::size_t Tape::kept() const noexcept { return body_->kept(); }

std::vector<Tensor> Tape::backward(std::span<const Tensor* const> outputs,
                                   std::span<const Tensor* const> seeds,
                                   std::span<const Tensor* const> wanted) {
  return body_->backward(outputs, seeds, wanted);
}

std::vector<Tensor> Tape::backward(std::initializer_list<Tensor> outputs,
                                   std::initializer_list<Tensor> seeds,
                                   std::initializer_list<Tensor> wanted) {
  const auto pointers = [](std::initializer_list<Tensor> tensors) {
    std::vector<const Tensor*> made;
    for (const Tensor& each : tensors) made.push_back(&each);
    return made;
  };
  return body_->backward(pointers(outputs), pointers(seeds), pointers(wanted));
}

}  // namespace ebb
