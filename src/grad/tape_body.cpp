// Noting what operations do. backward.cpp has the way back.
#include "grad/tape_body.hpp"

#include <algorithm>

namespace ebb::gradients {
namespace {

bool keeps_input(const Keeps& keeps, std::span<const Slot> inputs, std::size_t i) noexcept {
  if (i >= 8 || (keeps.inputs >> i & 1) == 0) return false;
  if (!keeps.crosswise) return true;
  for (std::size_t other = 0; other < inputs.size(); ++other) {
    if (other != i && inputs[other].node != kConstantNode) return true;
  }
  return false;
}

bool keeps_output(const Keeps& keeps, std::size_t i) noexcept {
  return i < 8 && (keeps.outputs >> i & 1) != 0;
}

// For all that `more` pushes need, growing as vectors do.
template <typename T>
void make_room(std::vector<T>& list, std::size_t more) {
  const std::size_t needed = list.size() + more;  // arithmetic: of elements in memory
  if (needed > list.capacity()) list.reserve(std::max(needed, 2 * list.size()));
}

}  // namespace

TapeBody::TapeBody(const Context& context, TapeOptions options)
    : context_(context), options_(options) {
  ops::check_not_heard("tape");
  link();
}

TapeBody::~TapeBody() { end(); }

void TapeBody::end() noexcept {
  if (!linked_) return;
  linked_ = noting_ = false;
  unlink();
}

std::size_t TapeBody::kept() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(slots_, [](const Slot& slot) { return bool(slot.kept); }));
}

// In the root: the scope that the tensor belongs to may end before the tape.
Tensor TapeBody::share(Handle handle) const { return {context_, context_.share(handle)}; }

NodeId TapeBody::find(Handle handle, const Operand& operand) {
  return options_.copies ? known_.find(handle, operand) : known_.find(handle);
}

void TapeBody::watch(const Tensor& tensor) {
  if (!of_this_thread()) raise(ErrorKind::kWrongState, "[watch] the tape is another thread's");
  Operand operand;
  const Handle handle = tensor.handle();
  context_.resolve({&handle, 1}, {&operand, 1}, "watch");
  if (!operand) raise(ErrorKind::kInvalidArgument, "[watch] no tensor was given, one is needed");
  if (!is_differentiable(operand.dtype)) {
    raise(ErrorKind::kInvalidArgument, "[watch] the tensor is {}, a floating dtype is needed",
          name_of(operand.dtype));
  }
  if (find(handle, operand) != kConstantNode) return;
  watched_.push_back(share(handle));
  known_.learn(handle, place_of(operand), nodes_++);
}

// ---- a call

void TapeBody::began(const ops::OpCall& call) {
  if (outer() != nullptr) outer()->began(call);
  pending_.row = nullptr;
  pending_.slots.clear();
  pending_.storages.clear();
  if (known_.empty() || call.context().id() != context_.id()) return;
  make_room(pending_.slots, call.inputs() + 1);  // arithmetic: and most have one result
  make_room(pending_.storages, call.inputs());
  // Of every call, noted or not: it may make an operand dense, which is found by its name then.
  bool watched = false;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    take_input(call, i);
    watched = watched || pending_.slots[i].node != kConstantNode;
  }
  const GradientRow* row = gradient_of(call.spec().id, options_.tensorflow_js);
  if (!watched || !noting_ || row->why == Why::kConstant) return;
  // Before anything is allocated: the tensors may end while the call is under way.
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (call.has(i) && keeps_input(row->keeps, pending_.slots, i)) {
      pending_.slots[i].kept = share(call.handles()[i]);
    }
  }
  pending_.row = row;
}

void TapeBody::take_input(const ops::OpCall& call, std::size_t i) {
  Slot& slot = pending_.slots.emplace_back();
  pending_.storages.push_back(nullptr);
  if (!call.has(i)) return;
  const Operand& operand = call.input(i);
  slot.shape = operand.shape;
  slot.dtype = operand.dtype;
  if (is_differentiable(operand.dtype)) slot.node = find(call.handles()[i], operand);
  pending_.storages.back() = operand.memory.data().data();
}

// The results are learnt before the tapes around this one hear of them, and kept after: so each
// tape knows what a copy is of that another one keeps, whichever is passed first.
void TapeBody::ended(ops::OpCall& call) {
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    if (call.output(i).memory) forget(call.output(i).memory);
  }
  learn_moved(call);
  const std::size_t inputs = pending_.slots.size();
  if (pending_.row != nullptr) {
    for (std::size_t i = 0; i < call.outputs(); ++i) learn_result(call, call.output(i));
  }
  if (outer() != nullptr) outer()->ended(call);
  if (pending_.row == nullptr) return;
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    if (!keeps_output(pending_.row->keeps, i)) continue;
    pending_.slots[inputs + i].kept = share(call.output(i).handle);  // arithmetic: of slots
  }
  note(call, inputs);
  pending_.row = nullptr;
}

// Operands that the call has made dense are in memory that was somebody else's.
void TapeBody::learn_moved(const ops::OpCall& call) {
  for (std::size_t i = 0; i < pending_.slots.size(); ++i) {
    const Slot& slot = pending_.slots[i];
    if (!call.has(i) || call.input(i).memory.data().data() == pending_.storages[i]) continue;
    forget(call.input(i).memory);
    if (slot.node == kConstantNode || call.input(i).dtype != slot.dtype) continue;
    known_.learn_place(place_of(call.input(i)), slot.node);
  }
}

void TapeBody::learn_result(const ops::OpCall& call, const ops::Output& made) {
  Slot& slot = pending_.slots.emplace_back();
  slot.shape = made.shape;
  slot.dtype = made.dtype;
  if (!is_differentiable(made.dtype)) return;
  slot.node = nodes_++;
  known_.learn(made.handle, place_of_result(call, made), slot.node);
}

void TapeBody::note(const ops::OpCall& call, std::size_t inputs) {
  make_room(calls_, 1);
  make_room(attributes_, call.attributes().size());
  make_room(slots_, pending_.slots.size());
  calls_.push_back({.spec = &call.spec(),
                    .row = pending_.row,
                    .attributes = attributes_.size(),
                    .attribute_count = call.attributes().size(),
                    .slots = slots_.size(),
                    .inputs = inputs,
                    .outputs = call.outputs()});
  attributes_.insert(attributes_.end(), call.attributes().begin(), call.attributes().end());
  std::ranges::move(pending_.slots, std::back_inserter(slots_));
  pending_.slots.clear();
}

void TapeBody::failed() noexcept {
  if (outer() != nullptr) outer()->failed();
  pending_.row = nullptr;
  pending_.slots.clear();
}

void TapeBody::written(const StorageRef& memory) noexcept {
  if (outer() != nullptr) outer()->written(memory);
  forget(memory);
}

void TapeBody::copied(Handle from, Handle to) {
  if (outer() != nullptr) outer()->copied(from, to);
  if (options_.copies) return;  // they are known by their place
  if (const NodeId node = known_.find(from); node != kConstantNode) known_.learn_name(to, node);
}

void TapeBody::forget(const StorageRef& memory) noexcept {
  if (!known_.empty()) known_.forget_storage(memory.data().data());
}

}  // namespace ebb::gradients
