#include "grad/known_tensors.hpp"

#include <algorithm>

namespace ebb::gradients {
namespace {

// Of the operand that the view is of.
const std::byte* storage_of(const ops::OpCall& call, const ops::Output& view) noexcept {
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (!call.has(i)) continue;
    const std::span<std::byte> memory = call.input(i).memory.data();
    if (view.data >= memory.data() && view.data <= memory.data() + memory.size()) {
      return memory.data();
    }
  }
  return nullptr;
}

}  // namespace

Place place_of(const Operand& operand) noexcept {
  Place place{.storage = operand.memory.data().data(),
              .data = operand.data,
              .dtype = operand.dtype,
              .shape = operand.shape};
  const Strides strides = operand.dense ? dense_strides(operand.shape) : operand.strides;
  std::copy_n(strides.begin(), operand.shape.rank(), place.strides.begin());
  return place;
}

Place place_of_result(const ops::OpCall& call, const ops::Output& made) {
  Place place{.storage = nullptr, .data = made.data, .dtype = made.dtype, .shape = made.shape};
  if (made.memory) {
    place.storage = made.memory.data().data();
    place.strides = dense_strides(made.shape);
  } else {
    place.storage = storage_of(call, made);
    const Strides strides = call.context().describe(made.handle).strides;
    std::copy_n(strides.begin(), made.shape.rank(), place.strides.begin());
  }
  return place;
}

NodeId KnownTensors::find(Handle handle) const noexcept {
  const auto found = names_.find(handle);
  return found == names_.end() ? kConstantNode : found->second;
}

NodeId KnownTensors::find(Handle handle, const Operand& operand) {
  const NodeId named = find(handle);
  if (named != kConstantNode) return named;
  const auto found = places_.find(operand.memory.data().data());
  if (found == places_.end()) return kConstantNode;
  const Place place = place_of(operand);
  // The last first: it is the one that comes after the others on the tape.
  for (auto each = found->second.rbegin(); each != found->second.rend(); ++each) {
    if (each->place != place) continue;
    names_.emplace(handle, each->node);
    return each->node;
  }
  return kConstantNode;
}

void KnownTensors::learn(Handle handle, const Place& place, NodeId node) {
  learn_place(place, node);
  names_.insert_or_assign(handle, node);
}

void KnownTensors::learn_place(const Place& place, NodeId node) {
  places_[place.storage].push_back({place, node});
}

void KnownTensors::forget_storage(const std::byte* storage) noexcept {
  if (const auto found = places_.find(storage); found != places_.end()) found->second.clear();
}

void KnownTensors::clear() noexcept {
  names_.clear();
  places_.clear();
}

}  // namespace ebb::gradients
