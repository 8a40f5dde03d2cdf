// What a program being recorded has heard so far.
#pragma once

#include <map>

#include "ebb/program/program.hpp"
#include "grad/known_tensors.hpp"
#include "ops/recorder.hpp"
#include "program/plan.hpp"

namespace ebb::programs {

// A step, or the one that is noted next, that made an operand dense, and it stays so: a sum of it adds up in another order
// from then on.
struct MadeDense {
  std::size_t step;
  Slot slot;
};

class DraftBody final : public ops::Recorder {
 public:
  DraftBody(const Context& context, std::span<const Handle> inputs, ProgramOptions options);
  // Pre: on the thread that made it.
  ~DraftBody();
  DraftBody(const DraftBody&) = delete;
  DraftBody& operator=(const DraftBody&) = delete;

  void input(Handle tensor);
  bool variable(Handle tensor);
  void constant(Handle tensor);
  void replaces(Handle tensor);
  Plan finish(std::span<const Handle> outputs);
  bool of_this_thread() const noexcept { return !linked_ || is_linked_here(); }

  void began(const ops::OpCall& call) override;
  void ended(ops::OpCall& call) override;
  void failed() noexcept override;
  void written(const StorageRef& memory) noexcept override;
  void copied(Handle from, Handle to) override;
  void looked_at(Handle tensor, const Operand& operand) override;
  bool replays() const noexcept override { return true; }

 private:
  enum class Origin : std::uint8_t { kInput, kCaptured, kConstant, kMade };

  void check_open(std::string_view who) const;
  Operand resolved(Handle tensor, std::string_view who) const;
  Slot new_slot(Origin origin, DType dtype, const Shape& shape);
  // kNoSlot where it is not known.
  Slot find(Handle tensor, const Operand& operand);
  void learn(Handle tensor, const gradients::Place& place, Slot slot);
  Slot slot_of(Handle tensor, const Operand& operand);
  Slot capture(Handle tensor, const Operand& operand);
  Slot keep(Handle tensor, const Operand& operand);
  bool is_its_operand(ops::OpCall& call);
  bool can_fold(ops::OpCall& call) const;
  void learn_moved(const ops::OpCall& call);
  bool shares_result(ops::OpCall& call);
  // What the call makes may be other values in another run.
  bool varies(const ops::OpCall& call) const;
  void take_results(ops::OpCall& call, Origin origin);
  void note(const ops::OpCall& call);
  void end() noexcept;

  Context context_;
  ProgramOptions options_;
  bool linked_ = true;
  gradients::KnownTensors known_;
  Plan plan_;  // its steps have no `ended` yet
  std::vector<Origin> origins_;
  std::vector<char> varies_;  // slots whose values may be others in another run
  std::vector<Slot> captured_;
  std::map<std::vector<std::uint64_t>, Slot>
      of_nothing_;  // by operation and attributes, to the bit
  // The call under way: its slots, inputs before results, and where its operands were before it.
  std::vector<Slot> pending_;
  std::vector<const std::byte*> storages_;
  bool hears_ = false;
  std::vector<MadeDense> made_dense_;
};

static_assert(kNoSlot == gradients::kConstantNode);  // what KnownTensors says of others

// Draws random numbers.
bool is_random(ops::OpId op) noexcept;

// Says where slots end and, with `drop`, drops what no output needs, nor the bits of what reads a slot in `dense` after it.
// `captured` are the slots of plan.captured; `dense` is in the order of steps.
void arrange(Plan& plan, std::span<const Slot> captured, bool drop,
             std::span<const MadeDense> dense);

}  // namespace ebb::programs
