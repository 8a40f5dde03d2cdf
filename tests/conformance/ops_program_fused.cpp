// Programs in fewer steps: to the bit what the operations give one by one, with less memory at most,
// and with a switch for each.
#include <gtest/gtest.h>

#include <random>

#include "conformance/program_case.hpp"
#include "ebb/ebb.hpp"
#include "ops/chain.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

using FusedPrograms = ProgramCase;

TEST_F(FusedPrograms, AChainIsOneStep) {
  const auto f = [](const Tensors& x) -> Tensors {
    const Tensor y = ops::tanh(x[0] * x[1] + x[2]);
    return {ops::relu(y * 0.5) - x[0], y};
  };
  const Tensors x{numbers({33, 70}, 1), numbers({70}, 2), numbers({1}, 3)};
  const Program program = recorded(x, f);
  EXPECT_EQ(program.steps(), 6u);
  EXPECT_EQ(program.fused_steps(), 1u);
  const Tensors other{numbers({33, 70}, 4), numbers({70}, 5), numbers({1}, 6)};
  expect_same(run(program, x), f(x));
  expect_same(run(program, other), f(other));
}

// As in layer normalisation. Rows that are short are another matter on the CPU.
TEST_F(FusedPrograms, TakeOneNumberForEachRow) {
  const auto f = [](const Tensors& x) -> Tensors {
    return {ops::relu((x[0] - x[1]) / (x[2] + x[0])) * x[3]};
  };
  for (const std::int64_t row : {3, 64, 1500}) {
    const Tensors x{numbers({5, 3, row}, 1), numbers({5, 3, 1}, 2), numbers({5, 1, 1}, 3),
                    numbers({row}, 4)};
    const Program program = recorded(x, f);
    if (row >= 64 || is_queued()) {
      EXPECT_EQ(program.fused_steps(), 1u) << row;
    }
    expect_same(run(program, x), f(x));
  }
}

// The product of the extents after the first has no int64, though there is no element.
TEST_F(FusedPrograms, TakeHugeExtentsOfWhatIsEmpty) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_GT(ops::sharing_row(Shape{0, 1, 1}, Shape{0, kHuge, kHuge}), 0);
  EXPECT_EQ(ops::sharing_row(Shape{kHuge, 1, 1}, Shape{kHuge, kHuge, 0}), 0);
  EXPECT_TRUE(ops::fits_chain(Shape{0, 1, 1}, Shape{0, kHuge, kHuge}));
}

TEST_F(FusedPrograms, HaveSwitches) {
  const auto f = [](const Tensors& x) -> Tensors {
    return {ops::exp(x[0] + x[0]), ops::batch_mat_mul(x[0], ops::transpose(x[0], {1, 0}))};
  };
  const Tensors x{numbers({5, 7}, 1)};
  const auto steps = [&](bool fuse, bool absorb) {
    const Program program = recorded(x, f, {.fuse = fuse, .absorb = absorb});
    if (is_queued() && absorb) {  // cuBLAS need not add up alike
      EXPECT_EQ(recorded(x, f, {.fuse = fuse, .absorb = true, .join = false}).fused_steps(),
                fuse ? 3u : 4u);
    } else {
      expect_same(run(program, x), f(x));
    }
    return program.fused_steps();
  };
  EXPECT_EQ(steps(false, false), 4u);
  EXPECT_EQ(steps(true, false), 3u);
  EXPECT_EQ(steps(false, true), 3u);
  EXPECT_EQ(steps(true, true), 2u);
}

// What others have made dense, and what only looks transposed, stays as it is.
TEST_F(FusedPrograms, AbsorbTransposesOfProductsAlone) {
  const auto used = [](const Tensors& x) -> Tensors {
    const Tensor turned = ops::transpose(x[0], {0, 2, 1});
    return {ops::softmax(turned), ops::batch_mat_mul(turned, x[0])};
  };
  const auto other = [](const Tensors& x) -> Tensors {
    return {ops::batch_mat_mul(ops::transpose(x[0], {1, 0, 2}), ops::transpose(x[0], {1, 2, 0}))};
  };
  const auto both = [](const Tensors& x) -> Tensors {
    const Tensor turned = ops::transpose(x[0], {0, 2, 1});
    return {ops::batch_mat_mul(turned, turned, {.transpose_b = true}),
            ops::batch_mat_mul(turned, x[0])};
  };
  const Tensors x{numbers({3, 4, 5}, 1)};
  for (const auto& [f, fewer] :
       {std::pair<std::function<Tensors(const Tensors&)>, int>(used, 0), {other, 0}, {both, 1}}) {
    const Program program = recorded(x, f);
    EXPECT_EQ(program.steps() - program.fused_steps(), static_cast<std::size_t>(fewer));
    expect_same(run(program, x), f(x));
  }
}

// Batch normalisation is part of the pass over what follows it, to the bit.
TEST_F(FusedPrograms, NormalizeAndActivateInOnePass) {
  const auto f = [](const Tensors& x) -> Tensors {
    const Tensor data = ops::cumsum(x[0]);
    const auto norm = [&](bool offset, bool scale) {
      return ops::fused_batch_norm(data, x[1], ops::square(x[2]),
                                   {.offset = offset ? x[3] : Tensor(),
                                    .scale = scale ? x[4] : Tensor(),
                                    .variance_epsilon = 0.01});
    };
    return {ops::clip_by_value(ops::relu(norm(true, true)), 0, 1), ops::tanh(norm(false, true)),
            norm(true, false) + data, ops::softmax(norm(false, false))};
  };
  const Tensors x{numbers({3, 5, 7}, 1), numbers({7}, 2), numbers({7}, 3), numbers({7}, 4),
                  numbers({7}, 5)};
  const Program program = recorded(x, f);
  // cumsum; square, factors and chain, three times; square, norm and softmax. On a GPU the squares are one chain, and all
  // norms but the last with what follows them another.
  EXPECT_EQ(program.fused_steps(), is_queued() ? 5u : 1u + 3 * 3 + 3);
  expect_same(run(program, x), f(x));
  const Program whole = recorded(x, f, {.fuse = false});
  expect_same(run(whole, x), f(x));
}

// A tape must hear each operation, and gets its gradients.
TEST_F(FusedPrograms, AreRunOneByOneWhereSomebodyListens) {
  const auto f = [](const Tensors& x) -> Tensors { return {ops::tanh(x[0] * x[0] + x[0])}; };
  const Tensors x{numbers({6}, 1)};
  const Program program = recorded(x, f);
  ASSERT_LT(program.fused_steps(), program.steps());
  Tape tape;
  tape.watch(x[0]);
  const Tensors made = run(program, x);
  const Tensors ours = tape.backward({made[0]}, {}, {x[0]});
  const Tensor expected = grad([&](const Tensor& in) { return f({in})[0]; })(x[0]);
  expect_same(ours, {expected});
}

TEST_F(FusedPrograms, HoldNoMoreThanTheStepsDid) {
  const std::int64_t count = 1 << 16;
  // Each operand ends as its result is made: together they would hold twice as much.
  const auto apart = [](const Tensors& x) -> Tensors {
    Tensors parts, made;
    for (int i = 0; i < 4; ++i) parts.push_back(ops::cumsum(x[0]));
    for (int i = 0; i < 4; ++i) made.push_back(ops::exp(parts[static_cast<std::size_t>(i)]));
    return made;
  };
  const auto in_a_row = [](const Tensors& x) -> Tensors {
    Tensor y = x[0];
    for (int i = 0; i < 10; ++i) y = ops::sin(y) + x[0];
    return {y};
  };
  const Tensors x{numbers({count}, 1)};
  for (const auto& f : {std::function<Tensors(const Tensors&)>(apart), {in_a_row}}) {
    std::vector<std::uint64_t> peaks;
    for (const bool fuse : {false, true}) {
      const Program program = recorded(x, f, {.fuse = fuse});
      ContextPtr fresh = Context::create({.name = "peak"});
      const Tensor own = [&] {
        Session inside(ops::RunPlace{*fresh, session_.device()});
        return tensor(x[0].to_vector<float>(), {count});
      }();
      std::vector<ops::OpResult> results(program.outputs());
      program.run({*fresh, session_.device()}, {{own.handle()}}, results);
      peaks.push_back(fresh->memory().books.peak_bytes);
    }
    EXPECT_LE(peaks[1], peaks[0]);
  }
}

// Programs from seeds: operands of all shapes that a chain takes, and of some that it does not.
TEST_F(FusedPrograms, GiveTheSameBitsWhateverTheyAre) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const auto f = [&](const Tensors& given) -> Tensors {
      std::mt19937 random(seed);
      const auto pick = [&](std::size_t count) {
        return static_cast<std::size_t>(random() % count);
      };
      Tensors known = given;
      for (int i = 0; i < 24; ++i) {
        const Tensor a = known[pick(known.size())], b = known[pick(known.size())];
        switch (pick(14)) {
          case 0:
            known.push_back(ops::add(a, b));
            break;
          case 1:
            known.push_back(ops::sub(a, b));
            break;
          case 2:
            known.push_back(ops::multiply(a, b));
            break;
          case 3:
            known.push_back(ops::real_div(a, b));
            break;
          case 4:
            known.push_back(ops::maximum(a, b));
            break;
          case 5:
            known.push_back(ops::tanh(a));
            break;
          case 6:
            known.push_back(ops::sigmoid(a));
            break;
          case 7:
            known.push_back(ops::relu(a));
            break;
          case 8:
            known.push_back(ops::clip_by_value(a, -0.5, std::numeric_limits<double>::infinity()));
            break;
          case 9:
            known.push_back(ops::leaky_relu(a, {.alpha = 0.1}));
            break;
          case 10:
            known.push_back(ops::log(a));
            break;
          case 11:
            known.push_back(ops::sum(a, {-1}, {.keep_dims = true}));
            break;
          case 12:
            known.push_back(a * 0.25 + 1.0);
            break;
          default:
            known.push_back(ops::step(a) * b);
            break;
        }
      }
      Tensors outputs{known.back()};
      for (int i = 0; i < 3; ++i) outputs.push_back(known[given.size() + pick(24)]);
      return outputs;
    };
    const std::int64_t wide = seed % 3 == 0 ? 5000 : 37;
    const Tensors x{numbers({4, wide}, seed + 1.0), numbers({4, wide}, seed + 2.0),
                    numbers({wide}, seed + 3.0), numbers({1}, seed + 4.0),
                    numbers({4, 1}, seed + 5.0)};
    const Program program = recorded(x, f);
    const Tensors once = f(x);
    expect_same(run(program, x), once);
    if (HasFailure()) return;
  }
}

// They are for programs: nobody can ask for them by number.
TEST_F(FusedPrograms, OperationsOfProgramsAreNotInTheTable) {
  const Tensor x = numbers({4}, 1);
  const std::array<Handle, 2> inputs{x.handle(), x.handle()};
  std::array<ops::OpResult, 1> results;
  for (const ops::OpId op : {ops::kChain, ops::kNormFactors}) {
    EXPECT_ERROR(ops::run(session_.place(), op, inputs, {}, results), kInvalidArgument,
                 "names no operation");
  }
}

// Whoever forges a code gets an error.
TEST_F(FusedPrograms, RefuseCodesThatAreNone) {
  const Tensor x = numbers({4}, 1), y = numbers({3}, 2), whole = tensor({1, 2}, {2});
  const double add = ops::op_id("Add"), relu = ops::op_id("Relu"), sum = ops::op_id("Sum");
  const auto run_code = [&](std::vector<double> code, std::vector<Handle> inputs) {
    code.insert(code.begin(), static_cast<double>(code.size()));
    std::array<ops::OpResult, 16> results;
    const std::size_t count =
        ops::run_in_program(session_.place(), ops::kChain, inputs, code, results);
    for (std::size_t i = 0; i < count; ++i) context_.dispose(results[i].handle);
    return count;
  };
  EXPECT_EQ(run_code({relu, 0, -1, 0, 0, 1}, {x.handle()}), 1u);
  const std::vector<std::vector<double>> codes{
      {},
      {relu, 0, -1, 0, 0},
      {relu, 1, -1, 0, 0, 1},
      {relu, -1, -1, 0, 0, 1},
      {relu, 0, 0, 0, 0, 1},
      {add, 0, -1, 0, 0, 1},
      {add, 0, 1, 0, 0, 1},
      {sum, 0, -1, 0, 0, 1},
      {1e18, 0, -1, 0, 0, 1},
      {relu, std::nan(""), -1, 0, 0, 1},
      {relu, 0, -1, 0, 0, 1, add, 0, 2, 0, 0, 1},
  };
  for (const auto& code : codes) {
    EXPECT_ERROR(run_code(code, {x.handle()}), kInvalidArgument, "[ElementwiseChain]");
  }
  EXPECT_ERROR(run_code({add, 0, 1, 0, 0, 1}, {x.handle(), y.handle()}), kInvalidArgument, "[3]");
  EXPECT_ERROR(run_code({relu, 0, -1, 0, 0, 1}, {whole.handle()}), kInvalidArgument, "float32");
  const std::size_t most = is_queued() ? ops::kMostDeviceChainInputs : ops::kMostChainInputs;
  EXPECT_ERROR(run_code({relu, 0, -1, 0, 0, 1}, std::vector<Handle>(most + 1, x.handle())),
               kInvalidArgument, std::to_string(most + 1) + " inputs");
  const double select = ops::op_id("Select"), greater = ops::op_id("Greater");
  const std::vector<double> choice{greater, 0, 0, 0, 0, 0, select, 1, 0, 0, 0, 1};
  if (is_queued()) {
    EXPECT_EQ(run_code(choice, {x.handle()}), 1u);
    EXPECT_ERROR(run_code({greater, 0, 0, 0, 0, 1}, {x.handle()}), kInvalidArgument, "a number");
    EXPECT_ERROR(run_code({select, 0, 0, 1, 0, 1}, {x.handle()}), kInvalidArgument, "known before");
  } else {
    EXPECT_ERROR(run_code(choice, {x.handle()}), kInvalidArgument, "elementwise one");
  }
}

}  // namespace
}  // namespace ebb::test
