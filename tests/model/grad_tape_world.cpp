#include "model/grad_tape_world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ebb::model {
namespace {

constexpr std::size_t kMostTensors = 24, kMostTapes = 5;
constexpr double kLargest = 8;  // of a value: float32 is what it is compared with

constexpr std::array kNames{"Add",    "Sub",  "Multiply", "Neg",
                            "Square", "Tanh", "Floor",    "Transpose"};

bool is_small(const Numbers& values) {
  return std::ranges::all_of(values, [](double each) { return std::abs(each) < kLargest; });
}

// Where a rounding error decides: no program takes the floor so near to a whole number.
bool is_near_step(const Numbers& values) {
  return std::ranges::any_of(values,
                             [](double each) { return std::abs(each - std::round(each)) < 1e-3; });
}

}  // namespace

TapeWorld::TapeWorld(std::uint64_t seed, ebb_device device, std::array<ebb_context, 2> contexts,
                     std::span<Leaked> leaked, std::size_t self)
    : random_(seed), device_(device), contexts_(contexts), leaked_(leaked), self_(self) {}

// ---- the calls

void TapeWorld::step() {
  switch (below(24)) {
    case 0:
    case 1:
    case 2:
      return make();
    case 3:
      return make_view();
    case 4:
      return dispose();
    case 5:
    case 6:
      return open();
    case 7:
    case 8:
    case 9:
    case 10:
      if (!tapes_.empty()) watch(*pick_tape());
      return;
    case 11:
      return below(4) == 0 ? stop() : close();
    case 12:
    case 13:
      return pass();
    case 14:
      return misuse();
    default:
      return operate();
  }
}

Id TapeWorld::pick() {
  if (offered_.empty()) make();
  return offered_[below(offered_.size())];
}

// Mostly what some tape knows, and of that mostly what was made late.
Id TapeWorld::pick_operand() {
  const OpenTape* tape = pick_tape();
  Id id = pick();
  for (std::size_t tries = below(12); tape != nullptr && tries > 0; --tries) {
    if (tensors_[id].live && node_of(*tape, id) != kNoNode) break;
    const std::size_t late = offered_.size() - std::min<std::size_t>(offered_.size(), 8);
    id = below(2) == 0 ? pick() : offered_[late + below(offered_.size() - late)];
  }
  return id;
}

OpenTape* TapeWorld::pick_tape() {
  return tapes_.empty() ? nullptr : &tapes_[below(tapes_.size())];
}

ebb_handle TapeWorld::new_tensor(int context, const Numbers& values) {
  const std::array<int64_t, 2> dims{2, 2};
  ebb_tensor_spec spec{};
  spec.size = sizeof(spec);
  spec.device = device_;
  spec.dtype = EBB_FLOAT32;
  spec.rank = 2;
  spec.dims = dims.data();
  ebb_handle made = 0;
  const auto in = contexts_[static_cast<std::size_t>(context)];
  EXPECT_EQ(ebb_tensor_create(in, &spec, &made), EBB_OK) << ebb_last_error();
  std::array<float, 4> floats{};
  std::ranges::transform(values, floats.begin(), [](double x) { return static_cast<float>(x); });
  EXPECT_EQ(ebb_tensor_write(in, made, floats.data(), sizeof(floats)), EBB_OK) << ebb_last_error();
  return made;
}

void TapeWorld::make() {
  Known made{.place = ++places_, .live = true, .plain = true};
  made.context = below(8) == 0 ? 1 : 0;
  for (double& each : made.values) each = static_cast<double>(below(4096)) / 1024 - 2 + 1e-2;
  for (double& each : made.values) each = static_cast<float>(each);
  made.handle = new_tensor(made.context, made.values);
  offered_.push_back(add(made));
  forget_ended();
}

// A view of the host's: the same tensor to a tape by place, another one to a tape by name.
void TapeWorld::make_view() {
  const Id base = pick();
  if (!tensors_[base].live || !tensors_[base].plain) return;
  const std::array<int64_t, 2> dims{2, 2};
  ebb_tensor_spec spec{};
  spec.size = sizeof(spec);
  spec.dtype = EBB_FLOAT32;
  spec.rank = 2;
  spec.dims = dims.data();
  Known view = tensors_[base];
  const auto in = contexts_[static_cast<std::size_t>(view.context)];
  EXPECT_EQ(ebb_tensor_view(in, tensors_[base].handle, 0, &spec, &view.handle), EBB_OK)
      << ebb_last_error();
  offered_.push_back(add(view));
  forget_ended();
}

void TapeWorld::operate() {
  const Id a = pick_operand();
  Id b = pick_operand();
  for (int tries = 0; tries < 3 && tensors_[a].context != tensors_[b].context; ++tries) b = pick();
  Op op = static_cast<Op>(below(kNames.size()));
  if (op == Op::kTranspose && !tensors_[a].plain) op = Op::kNeg;
  if (op == Op::kFloor && is_near_step(tensors_[a].values)) op = Op::kNeg;
  if (!is_small(computed(op, tensors_[a].values, tensors_[b].values))) op = Op::kTanh;
  const bool fits =
      tensors_[a].live &&
      (inputs_of(op) == 1 || (tensors_[b].live && tensors_[a].context == tensors_[b].context));
  const std::array inputs{tensors_[a].handle, tensors_[b].handle};
  const std::array<double, 4> transpose{2, 1, 0};
  ebb_op_result result{};
  const ebb_status status =
      ebb_op_run(contexts_[static_cast<std::size_t>(tensors_[a].context)], device_,
                 ebb_op_find(kNames[static_cast<std::size_t>(op)]), inputs.data(), inputs_of(op),
                 transpose.data(), op == Op::kTranspose ? 3 : 0, &result, 1, nullptr);
  EXPECT_EQ(status, fits ? EBB_OK : EBB_STALE_HANDLE) << ebb_last_error();
  if (status != EBB_OK) return;
  const Id made = apply(op, a, b);
  tensors_[made].handle = result.handle;
  offered_.push_back(made);
  ++counts.operations;
  forget_ended();
}

void TapeWorld::dispose() {
  Known& ended = tensors_[pick()];
  ended.live = false;
  EXPECT_EQ(ebb_tensor_dispose(contexts_[static_cast<std::size_t>(ended.context)], ended.handle),
            EBB_OK);
}

// The oldest make way.
void TapeWorld::forget_ended() {
  if (offered_.size() <= kMostTensors) return;
  Known& oldest = tensors_[offered_.front()];
  EXPECT_EQ(ebb_tensor_dispose(contexts_[static_cast<std::size_t>(oldest.context)], oldest.handle),
            EBB_OK);
  oldest.live = false;
  offered_.erase(offered_.begin());
}

void TapeWorld::open() {
  if (tapes_.size() >= kMostTapes) return close();
  OpenTape made;
  made.context = below(8) == 0 ? 1 : 0;
  made.by_name = below(2) == 0;
  ASSERT_EQ(ebb_tape_open_with(contexts_[static_cast<std::size_t>(made.context)],
                               made.by_name ? EBB_TAPE_BY_NAME : 0, &made.name),
            EBB_OK)
      << ebb_last_error();
  leaked_[self_].name.store(made.name, std::memory_order_relaxed);
  tapes_.push_back(made);
  for (std::size_t i = below(6); i > 0; --i) watch(tapes_.back());
}

void TapeWorld::watch(OpenTape& tape) {
  if (tape.spent) return;
  const Id id = pick();
  if (!tensors_[id].plain) return;
  const bool fits = tensors_[id].live && tensors_[id].context == tape.context;
  EXPECT_EQ(ebb_tape_watch(tape.name, tensors_[id].handle), fits ? EBB_OK : EBB_STALE_HANDLE)
      << ebb_last_error();
  if (!fits || node_of(tape, id) != kNoNode) return;
  learn(tape, id, tape.nodes++);
  copied(id, 0);
}

void TapeWorld::stop() {
  OpenTape* tape = pick_tape();
  if (tape == nullptr) return;
  tape->noting = false;
  EXPECT_EQ(ebb_tape_stop(tape->name), EBB_OK);
}

void TapeWorld::close() {
  OpenTape* tape = pick_tape();
  if (tape == nullptr) return;
  EXPECT_EQ(ebb_tape_close(tape->name), EBB_OK);
  closed_.push_back(tape->name);
  tapes_.erase(tapes_.begin() + (tape - tapes_.data()));
}

// Names that are none: closed ones, another thread's, forged ones.
void TapeWorld::misuse() {
  ebb_tape name = random_();
  if (below(3) == 0 && !closed_.empty()) name = closed_[below(closed_.size())];
  const std::size_t other = below(leaked_.size());
  if (below(2) == 0 && other != self_) name = leaked_[other].name.load(std::memory_order_relaxed);
  const ebb_handle any = tensors_[pick()].handle;
  ebb_handle gradient = 7;
  EXPECT_EQ(ebb_tape_watch(name, any), EBB_STALE_HANDLE);
  EXPECT_EQ(ebb_tape_stop(name), EBB_STALE_HANDLE);
  EXPECT_EQ(ebb_tape_backward(name, device_, &any, 1, nullptr, &any, 1, &gradient),
            EBB_STALE_HANDLE);
  EXPECT_EQ(gradient, 7u);
  EXPECT_EQ(ebb_tape_close(name), EBB_OK);
}

void TapeWorld::pass() {
  OpenTape* tape = pick_tape();
  if (tape == nullptr) return;
  if (tape->spent && below(4) != 0) tape = pick_tape();
  std::vector<Id> outputs(below(4)), wanted(below(4)), seeds(below(2) == 0 ? outputs.size() : 0);
  std::ranges::generate(outputs, [&] { return pick_operand(); });
  std::ranges::generate(seeds, [&] { return pick(); });
  std::ranges::generate(wanted, [&] { return pick(); });
  // Mostly what makes sense.
  for (Id& each : wanted) {
    for (int tries = 0; tries < 8 && node_of(*tape, each) == kNoNode; ++tries) each = pick();
  }
  const auto is_here = [&](Id id) {
    return tensors_[id].live && tensors_[id].context == tape->context;
  };
  const auto is_node = [&](Id id) { return node_of(*tape, id) != kNoNode; };
  // Two transposes of one tensor are the same to a tape by place.
  if (std::ranges::any_of(wanted, [&](Id id) { return !tensors_[id].plain; })) return;
  const bool all_here = std::ranges::all_of(outputs, is_here) &&
                        std::ranges::all_of(seeds, is_here) && std::ranges::all_of(wanted, is_here);
  const bool fits = !tape->spent && all_here && std::ranges::all_of(wanted, is_node);
  const auto handles = [&](std::span<const Id> ids) {
    std::vector<ebb_handle> made;
    for (const Id each : ids) made.push_back(tensors_[each].handle);
    return made;
  };
  const std::vector<ebb_handle> from = handles(outputs), by = handles(seeds), to = handles(wanted);
  std::vector<ebb_handle> gradients(wanted.size() + 1, 7);
  const ebb_status status =
      ebb_tape_backward(tape->name, device_, from.data(), from.size(),
                        by.empty() ? nullptr : by.data(), to.data(), to.size(), gradients.data());
  if (!fits) {
    ++counts.refused;
    EXPECT_NE(status, EBB_OK);
    EXPECT_TRUE(std::ranges::all_of(gradients, [](ebb_handle each) { return each == 7; }));
    return;
  }
  ASSERT_EQ(status, EBB_OK) << ebb_last_error();
  ++counts.passed;
  tape->spent = true;
  tape->hears = false;
  const std::vector<Id> expected = expected_gradients(*tape, outputs, seeds, wanted);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(gradients[i] == 0, expected[i] == kNone) << "wanted " << i;
    if (gradients[i] == 0) {
      ++counts.none;
      continue;
    }
    compare(expected[i], gradients[i]);
    const Id made = copied(expected[i], gradients[i]);
    const bool second = std::ranges::any_of(
        tapes_, [&](const OpenTape& each) { return node_of(each, made) != kNoNode; });
    counts.second += second ? 1 : 0;
    ++counts.gradients;
    tensors_[made].live = true;
    if (is_small(tensors_[made].values)) {
      offered_.push_back(made);
      forget_ended();
    } else {
      EXPECT_EQ(ebb_tensor_dispose(contexts_[static_cast<std::size_t>(tensors_[made].context)],
                                   gradients[i]),
                EBB_OK);
    }
  }
  EXPECT_EQ(gradients.back(), 7u);
}

void TapeWorld::compare(Id expected, ebb_handle given) {
  const Known& known = tensors_[expected];
  std::array<float, 4> values{};
  ASSERT_EQ(ebb_tensor_read(contexts_[static_cast<std::size_t>(known.context)], given,
                            values.data(), sizeof(values)),
            EBB_OK)
      << ebb_last_error();
  double largest = 1;
  for (const double each : known.values) largest = std::max(largest, std::abs(each));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(values[i], known.values[i], 1e-2 * largest);
  }
}

void TapeWorld::finish() {
  while (!tapes_.empty()) close();
  for (const Id each : offered_) {
    const Known& known = tensors_[each];
    EXPECT_EQ(ebb_tensor_dispose(contexts_[static_cast<std::size_t>(known.context)], known.handle),
              EBB_OK);
  }
  offered_.clear();
  tensors_.clear();
  closed_.clear();
}

}  // namespace ebb::model
