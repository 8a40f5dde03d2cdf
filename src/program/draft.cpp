// Hearing what operations do.
#include "program/draft.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "program/fuse.hpp"

namespace ebb::programs {
namespace {

constexpr std::uint64_t kMostFolded = 64 << 10;  // bytes of a result
constexpr std::array kRandom{ops::op_id("RandomUniform"), ops::op_id("RandomNormal"),
                             ops::op_id("Multinomial")};

// Where a tape begins.
bool is_of_shape_alone(const ops::OpCall& call) { return call.spec().id == ops::op_id("OnesLike"); }

}  // namespace

bool is_random(ops::OpId op) noexcept { return std::ranges::find(kRandom, op) != kRandom.end(); }

DraftBody::DraftBody(const Context& context, std::span<const Handle> inputs, ProgramOptions options)
    : context_(context), options_(options) {
  ops::check_not_heard("program_begin");
  for (const Handle each : inputs) input(each);
  link();
}

DraftBody::~DraftBody() { end(); }

void DraftBody::end() noexcept {
  if (!linked_) return;
  linked_ = false;
  unlink();
}

void DraftBody::check_open(std::string_view who) const {
  if (linked_) return;
  raise(ErrorKind::kWrongState, "[{}] the program is done, one that is being recorded is needed",
        who);
}

Operand DraftBody::resolved(Handle tensor, std::string_view who) const {
  Operand operand;
  context_.resolve({&tensor, 1}, {&operand, 1}, who);
  if (!operand) raise(ErrorKind::kStaleHandle, "[{}] 0 names no tensor", who);
  return operand;
}

Slot DraftBody::new_slot(Origin origin, DType dtype, const Shape& shape) {
  const Slot slot = static_cast<Slot>(plan_.likeness.size());
  plan_.likeness.push_back({dtype, shape});
  origins_.push_back(origin);
  varies_.push_back(origin != Origin::kConstant ? 1 : 0);
  return slot;
}

// The same tensor may be given twice: the first speaks for both while recording, but each has its
// place among what a run is given.
void DraftBody::input(Handle tensor) {
  check_open("program_input");
  const Operand operand = resolved(tensor, "program_input");
  const Slot slot = new_slot(Origin::kInput, operand.dtype, operand.shape);
  if (find(tensor, operand) == kNoSlot) learn(tensor, gradients::place_of(operand), slot);
  plan_.given.push_back(slot);
  ++plan_.inputs;
}

bool DraftBody::variable(Handle tensor) {
  const Slot known = find(tensor, resolved(tensor, "program_variable"));
  input(tensor);
  ++options_.variables;
  return known == kNoSlot || origins_[known] != Origin::kConstant;
}

void DraftBody::constant(Handle tensor) {
  check_open("program_constant");
  keep(tensor, resolved(tensor, "program_constant"));
}

void DraftBody::replaces(Handle tensor) {
  check_open("program_replaces");
  if (const Slot slot = known_.find(tensor); slot != kNoSlot) plan_.replaced.push_back(slot);
}

Slot DraftBody::keep(Handle tensor, const Operand& operand) {
  const Slot slot = new_slot(Origin::kConstant, operand.dtype, operand.shape);
  plan_.constants.push_back({slot, Tensor(context_, context_.share(tensor))});
  learn(tensor, gradients::place_of(operand), slot);
  return slot;
}

Slot DraftBody::capture(Handle tensor, const Operand& operand) {
  const Slot slot = new_slot(Origin::kCaptured, operand.dtype, operand.shape);
  captured_.push_back(slot);
  plan_.captured.push_back(tensor);
  learn(tensor, gradients::place_of(operand), slot);
  return slot;
}

Slot DraftBody::slot_of(Handle tensor, const Operand& operand) {
  const Slot known = find(tensor, operand);
  if (known != kNoSlot) return known;
  return options_.captures ? capture(tensor, operand) : keep(tensor, operand);
}

Slot DraftBody::find(Handle tensor, const Operand& operand) {
  return options_.copies ? known_.find(tensor, operand) : known_.find(tensor);
}

void DraftBody::learn(Handle tensor, const gradients::Place& place, Slot slot) {
  known_.learn(tensor, place, slot);
}

// ---- a call

void DraftBody::began(const ops::OpCall& call) {
  if (outer() != nullptr) outer()->began(call);
  pending_.clear();
  storages_.clear();
  hears_ = call.context().id() == context_.id();
  if (!hears_) return;
  if (call.device().link() != nullptr) plan_.queued = true;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    const bool has = call.has(i);
    pending_.push_back(has ? slot_of(call.handles()[i], call.input(i)) : kNoSlot);
    storages_.push_back(has ? call.input(i).memory.data().data() : nullptr);
  }
}

void DraftBody::ended(ops::OpCall& call) {
  if (outer() != nullptr) outer()->ended(call);
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    if (call.output(i).memory) known_.forget_storage(call.output(i).memory.data().data());
  }
  if (!hears_) return;
  learn_moved(call);
  if (options_.drop && is_its_operand(call)) return;
  const bool folds = can_fold(call);
  if (folds && shares_result(call)) return;
  take_results(call, folds ? Origin::kConstant : Origin::kMade);
  if (!folds) note(call);
  pending_.clear();
}

// Operands that the call has made dense are in memory that was somebody else's.
void DraftBody::learn_moved(const ops::OpCall& call) {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (!call.has(i) || call.input(i).memory.data().data() == storages_[i]) continue;
    known_.forget_storage(call.input(i).memory.data().data());
    if (call.input(i).dtype != plan_.likeness[pending_[i]].dtype) continue;  // converted
    known_.learn_place(gradients::place_of(call.input(i)), pending_[i]);
    made_dense_.push_back({plan_.steps.size(), pending_[i]});
  }
}

// A view of all of its operand, in the same shape and order, is the operand: TensorFlow.js's layers take the slice of
// the only batch, and gradients are brought into the shape that they have.
bool DraftBody::is_its_operand(ops::OpCall& call) {
  if (call.outputs() != 1 || call.output(0).memory || pending_.empty() || pending_[0] == kNoSlot) {
    return false;
  }
  const gradients::Place place = gradients::place_of_result(call, call.output(0));
  if (place.dtype != plan_.likeness[pending_[0]].dtype ||
      place != gradients::place_of(call.input(0))) {
    return false;
  }
  learn(call.output(0).handle, place, pending_[0]);
  pending_.clear();
  return true;
}

bool DraftBody::varies(const ops::OpCall& call) const {
  if (is_random(call.spec().id)) return true;
  if (is_of_shape_alone(call)) return false;
  return std::any_of(pending_.begin(), pending_.begin() + call.inputs(),
                     [&](Slot slot) { return slot != kNoSlot && varies_[slot] != 0; });
}

bool DraftBody::can_fold(ops::OpCall& call) const {
  if (!options_.fold || is_random(call.spec().id)) return false;
  for (const Slot slot : pending_) {
    if (slot != kNoSlot && origins_[slot] != Origin::kConstant && !is_of_shape_alone(call))
      return false;
  }
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    const ops::Output& made = call.output(i);
    if (bytes_of(made.shape, size_of(made.dtype)) > kMostFolded) return false;
  }
  return true;
}

// What is made of nothing, of the same attributes, is the same: one constant for all of them.
bool DraftBody::shares_result(ops::OpCall& call) {
  if (call.inputs() != 0 || call.outputs() != 1) return false;
  std::vector<std::uint64_t> made_of{call.spec().id};
  for (const double each : call.attributes()) made_of.push_back(std::bit_cast<std::uint64_t>(each));
  const auto [known, is_new] =
      of_nothing_.try_emplace(std::move(made_of), static_cast<Slot>(plan_.likeness.size()));
  if (is_new) return false;
  learn(call.output(0).handle, gradients::place_of_result(call, call.output(0)), known->second);
  pending_.clear();
  return true;
}

void DraftBody::take_results(ops::OpCall& call, Origin origin) {
  const bool varying = varies(call);
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    const ops::Output& made = call.output(i);
    const Slot slot = new_slot(origin, made.dtype, made.shape);
    varies_[slot] = varying ? 1 : 0;
    if (origin == Origin::kConstant) {
      plan_.constants.push_back({slot, Tensor(context_, context_.share(made.handle))});
    }
    learn(made.handle, gradients::place_of_result(call, made), slot);
    pending_.push_back(slot);
  }
}

void DraftBody::note(const ops::OpCall& call) {
  const std::size_t inputs = pending_.size() - call.outputs();
  plan_.steps.push_back(
      {.op = call.spec().id,
       .attributes = append(plan_.attributes, call.attributes()),
       .inputs = append(plan_.slots, std::span<const Slot>(pending_).first(inputs)),
       .results = append(plan_.slots, std::span<const Slot>(pending_).subspan(inputs)),
       .ended = {}});
}

void DraftBody::failed() noexcept {
  if (outer() != nullptr) outer()->failed();
  pending_.clear();
}

void DraftBody::written(const StorageRef& memory) noexcept {
  if (outer() != nullptr) outer()->written(memory);
  known_.forget_storage(memory.data().data());
  of_nothing_.clear();  // it may be one of them
}

void DraftBody::copied(Handle from, Handle to) {
  if (outer() != nullptr) outer()->copied(from, to);
  if (options_.copies) return;  // they are known by their place
  if (const Slot slot = known_.find(from); slot != kNoSlot) known_.learn_name(to, slot);
}

void DraftBody::looked_at(Handle tensor, const Operand& operand) {
  if (outer() != nullptr) outer()->looked_at(tensor, operand);
  if (options_.looks) return;
  const Slot slot = find(tensor, operand);
  if (slot == kNoSlot || varies_[slot] == 0) return;
  raise(ErrorKind::kWrongState,
        "[record] the values of a {} tensor of shape {} were looked at, which may be others in the "
        "next "
        "call: look at them outside (return the tensor), or not at all",
        name_of(operand.dtype), operand.shape.to_string());
}

Plan DraftBody::finish(std::span<const Handle> outputs) {
  check_open("program_end");
  ops::check_not_heard("program_end");
  end();
  for (const Handle each : outputs) {
    plan_.outputs.push_back(slot_of(each, resolved(each, "program_end")));
  }
  if (options_.join) made_dense_.clear();
  arrange(plan_, captured_, options_.drop, made_dense_);
  plan_.graphs = options_.graphs;
  plan_.overwrite = options_.overwrite && !plan_.queued;
  plan_.share = options_.share && options_.join;
  plan_.variables = std::min(options_.variables, plan_.inputs);
  plan_.random =
      std::ranges::any_of(plan_.steps, [](const Step& step) { return is_random(step.op); });
  fuse(plan_, options_);
  return std::move(plan_);
}

}  // namespace ebb::programs
