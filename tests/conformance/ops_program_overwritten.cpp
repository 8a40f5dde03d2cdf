// Updates of optimizers that come last write over their variables: the same numbers to the bit, and whoever
// has the old values keeps them.
#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "conformance/program_case.hpp"
#include "ebb.h"
#include "ebb/program/record.hpp"

namespace ebb::test {
namespace {

class OverwrittenPrograms : public ProgramCase {
 protected:
  bool overwrites() { return session_.place().device.link() == nullptr; }
  const std::byte* memory_of(const Variable& variable) {
    return context_.hold(variable.value().handle()).data().data();
  }
};

// All that a step changes.
struct World {
  std::vector<Variable> variables;
  std::vector<Variable*> named() {
    std::vector<Variable*> all;
    for (Variable& each : variables) all.push_back(&each);
    return all;
  }
  std::vector<std::vector<std::uint32_t>> all_bits() const {
    std::vector<std::vector<std::uint32_t>> read;
    for (const Variable& each : variables) read.push_back(bits(each.value()));
    return read;
  }
};

struct Optimizer {
  const char* name;
  std::size_t scalars, kept;  // variables before the values, and of each value
  // Of scalars, and value, what is kept and gradient of each; results in the same order, no gradients.
  std::function<Tensors(const Tensors&)> update;
};

Tensors tail(const Tensors& all, std::size_t from) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from), all.end()};
}

const Optimizer kOptimizers[] = {
    {"sgd", 0, 0, [](const Tensors& x) { return ops::sgd_update(scalar(-0.1F), x); }},
    {"momentum", 0, 1,
     [](const Tensors& x) { return ops::momentum_update(scalar(-0.1F), scalar(0.9F), x); }},
    {"adam", 2, 2, [](const Tensors& x) { return ops::adam_update(x[0], x[1], tail(x, 2)); }},
    {"adagrad", 0, 1, [](const Tensors& x) { return ops::adagrad_update(x, 0.1); }},
    {"rmsprop", 0, 2, [](const Tensors& x) { return ops::rms_prop_update(x, 0.1); }},
    {"centered rmsprop", 0, 3,
     [](const Tensors& x) { return ops::rms_prop_update(x, 0.1, {.centered = true}); }},
};

// Two values of 37 and 3x5 elements; the loss comes after the update.
World world_of(const Optimizer& optimizer) {
  World made;
  const auto add = [&](const Tensor& value) { made.variables.emplace_back(value); };
  for (std::size_t i = 0; i < optimizer.scalars; ++i) add(scalar(i == 0 ? 0.9F : 0.999F));
  double seed = 1;
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{37}, {3, 5}}) {
    for (std::size_t k = 0; k <= optimizer.kept; ++k) {
      add(ops::abs(ops::random_uniform(shape, {.low = -2, .high = 2, .seed = seed++})));
    }
  }
  return made;
}

Tensor step(World& world, const Optimizer& optimizer, const Tensor& x) {
  Tensors given;
  const std::size_t each = optimizer.kept + 1;
  Tensor loss = ops::sum(x, {0});
  for (std::size_t i = 0; i < world.variables.size(); ++i) {
    const Tensor& value = world.variables[i].value();
    given.push_back(value);
    if (i < optimizer.scalars || (i - optimizer.scalars) % each != each - 1) continue;
    const Tensor& first = world.variables[i - each + 1].value();
    given.push_back(ops::tanh(first) * ops::sum(x, {0}));
    if (first.shape().rank() == 1) loss = loss + ops::sum(first * first, {0});
  }
  const Tensors made = optimizer.update(given);
  const Tensor after = ops::exp(ops::neg(loss * loss));
  for (std::size_t i = 0; i < made.size(); ++i) world.variables[i].assign(made[i]);
  return after;
}

TEST_F(OverwrittenPrograms, GiveTheSameNumbers) {
  for (const Optimizer& optimizer : kOptimizers) {
    SCOPED_TRACE(optimizer.name);
    World eager = world_of(optimizer), plain = world_of(optimizer), over = world_of(optimizer);
    const auto by = [&](World& world, ProgramOptions options) {
      return record([&](const Tensor& x) { return step(world, optimizer, x); }, world.named(),
                    options);
    };
    auto recorded = by(plain, {}), fast = by(over, {.overwrite = true});
    for (int i = 0; i < 6; ++i) {
      const Tensor x = numbers({4}, 10 + i);
      const std::byte* before = memory_of(over.variables.back());
      const auto expected = bits(step(eager, optimizer, x));
      EXPECT_EQ(bits(recorded(x)), expected) << i;
      EXPECT_EQ(bits(fast(x)), expected) << i;
      EXPECT_EQ(plain.all_bits(), eager.all_bits()) << i;
      EXPECT_EQ(over.all_bits(), eager.all_bits()) << i;
      if (i > 0) {
        EXPECT_EQ(memory_of(over.variables.back()) == before, overwrites()) << i;
      }
    }
  }
}

TEST_F(OverwrittenPrograms, LeaveOldValuesToWhoHasThem) {
  const Optimizer& adam = kOptimizers[2];
  World world = world_of(adam);
  auto fast = record([&](const Tensor& x) { return step(world, adam, x); }, world.named(),
                     {.overwrite = true});
  for (int i = 0; i < 4; ++i) {
    const Tensor x = numbers({4}, 10 + i);
    const Tensor copy = world.variables[2].value();
    const Tensor part = ops::slice(world.variables[3].value(), {2}, {9});
    const StorageRef held = context_.hold(world.variables[4].value().handle());
    const auto copied = bits(copy), sliced = bits(part);
    const bool readable = !is_queued();  // by the host, as it lies
    const std::vector<std::byte> bytes =
        readable ? std::vector(held.data().begin(), held.data().end()) : std::vector<std::byte>();
    static_cast<void>(fast(x));
    EXPECT_EQ(bits(copy), copied);
    EXPECT_EQ(bits(part), sliced);
    if (readable) {
      EXPECT_TRUE(std::ranges::equal(held.data(), bytes));
    }
    EXPECT_NE(bits(world.variables[2].value()), copied);
  }
}

// What a step needs, or gives back, as it was is not written over.
TEST_F(OverwrittenPrograms, LeaveWhatIsNeededAsItWas) {
  for (const int which : {0, 1, 2}) {
    SCOPED_TRACE(which);
    Variable a(numbers({8}, 1)), b(numbers({8}, 1));
    const auto f = [which](Variable& v) {
      return [which, &v](const Tensor& x) -> Tensors {
        const Tensor old = v.value();
        const Tensor gradient = which == 0 ? old : old * x;
        const Tensor made = ops::sgd_update(scalar(-0.1F), {old, gradient})[0];
        v.assign(made);
        if (which == 1) return {old};
        return {made * 2.0};
      };
    };
    auto fast = record(f(a), {&a}, {.overwrite = true});
    for (int i = 0; i < 4; ++i) {
      const Tensor x = numbers({8}, 20 + i);
      const Tensors got = fast(x), expected = f(b)(x);
      expect_same(got, expected);
      EXPECT_EQ(bits(a.value()), bits(b.value()));
    }
  }
}

// A variable that the function reads and does not assign to is as it was, whoever gets its update.
TEST_F(OverwrittenPrograms, LeaveVariablesThatAreNotAssignedTo) {
  for (const bool assigns : {false, true}) {
    SCOPED_TRACE(assigns);
    Variable now(numbers({8}, 1)), next(numbers({8}, 2));
    const auto before = bits(now.value());
    const auto f = [&](const Tensor& x) {
      const Tensor made = ops::sgd_update(scalar(-0.1F), {now.value(), x})[0];
      if (assigns) next.assign(made);
      return made;
    };
    auto fast = record(f, {&now, &next}, {.overwrite = true});
    const Tensor x = numbers({8}, 20);
    const auto expected = bits(f(x));
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(bits(fast(x)), expected) << i;
      EXPECT_EQ(bits(now.value()), before) << i;
    }
  }
}

// Through the C ABI nothing is replaced of which nobody said so.
TEST_F(OverwrittenPrograms, OfTheCAbiAreWhatItsCallerReplaces) {
  const ebb_device device = session_.device().id();
  for (const bool replaces : {false, true}) {
    SCOPED_TRACE(replaces);
    const Tensor x = numbers({8}, 1), made_with = numbers({8}, 2), rate = scalar(-0.1F);
    const ebb_handle input = x.handle();
    ebb_program program = 0;
    ASSERT_EQ(ebb_program_begin(context_.id(), &input, 1,
                                EBB_PROGRAM_BY_NAME | EBB_PROGRAM_OVERWRITING, &program),
              EBB_OK);
    ops::OpResult updated;
    ops::run(session_.place(), ops::op_id("SgdUpdate"),
             {{rate.handle(), made_with.handle(), x.handle()}}, {}, {&updated, 1});
    const Tensor made(context_, updated.handle);
    const ebb_handle output = made.handle();
    if (replaces) {
      EXPECT_EQ(ebb_program_replaces(program, made_with.handle()), EBB_OK);
    }
    EXPECT_EQ(ebb_program_replaces(program, 0), EBB_OK);  // of none
    ebb_program_info info{};
    info.size = sizeof info;
    ASSERT_EQ(ebb_program_end(program, &output, 1, &info), EBB_OK);
    EXPECT_EQ(ebb_program_replaces(program, made_with.handle()), EBB_WRONG_STATE);
    ASSERT_EQ(info.captured, 2u);
    std::array<ebb_handle, 2> captured{};
    ASSERT_EQ(ebb_program_captured(program, captured.data(), captured.size()), EBB_OK);
    const Tensor value = ops::abs(made_with);
    const auto before = bits(value);
    std::array<ebb_handle, 3> given{input};
    for (std::size_t i = 0; i < captured.size(); ++i) {
      const bool is_value = captured[i] == made_with.handle();
      given[i + 1] = is_value ? value.handle() : rate.handle();
    }
    ebb_op_result result;
    ASSERT_EQ(ebb_program_run(program, device, given.data(), given.size(), &result, 1), EBB_OK)
        << ebb_last_error();
    const Tensor next(context_, result.handle);
    EXPECT_EQ(bits(value) == before, !(replaces && overwrites()));
    EXPECT_NE(bits(next), before);
    EXPECT_EQ(ebb_program_free(program), EBB_OK);
    EXPECT_EQ(ebb_program_replaces(program, input), EBB_STALE_HANDLE);
  }
}

}  // namespace
}  // namespace ebb::test
