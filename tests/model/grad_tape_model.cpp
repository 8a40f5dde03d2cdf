// What tapes should note, and the gradients they should give.
#include <cmath>
#include <utility>

#include "model/grad_tape_world.hpp"

namespace ebb::model {

std::size_t inputs_of(Op op) { return op <= Op::kMultiply ? 2 : 1; }

Numbers computed(Op op, const Numbers& a, const Numbers& b) {
  Numbers made{};
  for (std::size_t i = 0; i < 4; ++i) {
    switch (op) {
      case Op::kAdd:
        made[i] = a[i] + b[i];
        break;
      case Op::kSub:
        made[i] = a[i] - b[i];
        break;
      case Op::kMultiply:
        made[i] = a[i] * b[i];
        break;
      case Op::kNeg:
        made[i] = -a[i];
        break;
      case Op::kSquare:
        made[i] = a[i] * a[i];
        break;
      case Op::kTanh:
        made[i] = std::tanh(a[i]);
        break;
      case Op::kFloor:
        made[i] = std::floor(a[i]);
        break;
      case Op::kTranspose:
        made[i] = a[i / 2 + 2 * (i % 2)];
        break;
    }
  }
  return made;
}

Id TapeWorld::add(const Known& known) {
  tensors_.push_back(known);
  return tensors_.size() - 1;
}

// Another name over the same memory, which an operation made: tapes by name learn it.
Id TapeWorld::copied(Id of, ebb_handle handle) {
  Known copy = tensors_[of];
  copy.handle = handle;
  copy.plain = false;
  const Id id = add(copy);
  for (OpenTape& tape : tapes_) {
    if (!tape.hears || !tape.by_name) continue;
    if (const int node = node_of(tape, of); node != kNoNode) learn(tape, id, node);
  }
  return id;
}

int TapeWorld::node_of(const OpenTape& tape, Id id) const {
  const auto found = tape.known.find(tape.by_name ? id : tensors_[id].place);
  return found == tape.known.end() || tape.context != tensors_[id].context ? kNoNode
                                                                           : found->second;
}

void TapeWorld::learn(OpenTape& tape, Id id, int node) {
  tape.known.insert_or_assign(tape.by_name ? id : tensors_[id].place, node);
}

Id TapeWorld::apply(Op op, Id a, Id b) {
  const Id made = add({.values = computed(op, tensors_[a].values, tensors_[b].values),
                       .place = ++places_,
                       .handle = 0,
                       .context = tensors_[a].context,
                       .live = true,
                       .plain = op != Op::kTranspose});
  note(op, a, b, made);
  return made;
}

// What tapes keep has a name of its own: a tape by name that learns of the original later does not
// know it. Each tape knows the result before any keeps it.
void TapeWorld::note(Op op, Id a, Id b, Id made) {
  std::vector<std::pair<std::size_t, NotedCall>> noted;
  for (std::size_t i = 0; i < tapes_.size(); ++i) {
    OpenTape& tape = tapes_[i];
    if (!tape.hears || tape.context != tensors_[a].context) continue;
    NotedCall call{.op = op, .from = {node_of(tape, a), kNoNode}};
    if (inputs_of(op) == 2) call.from[1] = node_of(tape, b);
    const bool depends = call.from[0] != kNoNode || call.from[1] != kNoNode;
    if (!tape.noting || !depends || op == Op::kFloor) continue;
    call.to = tape.nodes++;
    noted.emplace_back(i, call);
  }
  for (auto& [i, call] : noted) call.inputs = {copied(a, 0), copied(b, 0)};
  for (auto& [i, call] : noted) learn(tapes_[i], made, call.to);
  for (auto& [i, call] : noted) {
    call.result = copied(made, 0);
    tapes_[i].calls.push_back(call);
  }
}

// By each operand; kNone where there is no operand or its gradient is not asked for.
std::array<Id, 2> TapeWorld::slopes(const NotedCall& call, Id dy) {
  const bool wants[] = {call.from[0] != kNoNode, call.from[1] != kNoNode};
  switch (call.op) {
    case Op::kAdd:
      return {dy, dy};
    case Op::kSub:
      return {dy, wants[1] ? apply(Op::kNeg, dy, dy) : kNone};
    case Op::kMultiply: {
      const Id first = wants[0] ? apply(Op::kMultiply, dy, call.inputs[1]) : kNone;
      return {first, wants[1] ? apply(Op::kMultiply, dy, call.inputs[0]) : kNone};
    }
    case Op::kNeg:
      return {apply(Op::kNeg, dy, dy), kNone};
    case Op::kSquare:
      return {apply(Op::kMultiply, dy, apply(Op::kAdd, call.inputs[0], call.inputs[0])), kNone};
    case Op::kTanh: {
      const Id ones = add({.values = {1, 1, 1, 1},
                           .place = ++places_,
                           .handle = 0,
                           .context = tensors_[dy].context,
                           .live = true});
      const Id rest = apply(Op::kSub, ones, apply(Op::kSquare, call.result, call.result));
      return {apply(Op::kMultiply, dy, rest), kNone};
    }
    case Op::kFloor:
      break;
    case Op::kTranspose:
      return {apply(Op::kTranspose, dy, dy), kNone};
  }
  return {kNone, kNone};
}

// Pre: the tape hears nothing any more. By the wanted; kNone where there is none.
std::vector<Id> TapeWorld::expected_gradients(OpenTape tape, std::span<const Id> outputs,
                                              std::span<const Id> seeds,
                                              std::span<const Id> wanted) {
  std::vector<Id> flow(static_cast<std::size_t>(tape.nodes), kNone);
  const auto flows = [&](int node, Id more) {
    if (node == kNoNode || more == kNone) return;
    Id& sum = flow[static_cast<std::size_t>(node)];
    sum = sum == kNone ? more : apply(Op::kAdd, sum, more);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Known like = tensors_[outputs[i]];
    flows(node_of(tape, outputs[i]), !seeds.empty() ? seeds[i]
                                                    : add({.values = {1, 1, 1, 1},
                                                           .place = ++places_,
                                                           .handle = 0,
                                                           .context = like.context,
                                                           .live = true}));
  }
  for (auto call = tape.calls.rbegin(); call != tape.calls.rend(); ++call) {
    const Id dy = flow[static_cast<std::size_t>(call->to)];
    if (dy == kNone) continue;
    const std::array<Id, 2> each = slopes(*call, dy);
    flows(call->from[0], each[0]);
    flows(call->from[1], each[1]);
  }
  std::vector<Id> gradients;
  for (const Id each : wanted) {
    gradients.push_back(flow[static_cast<std::size_t>(node_of(tape, each))]);
  }
  return gradients;
}

}  // namespace ebb::model
