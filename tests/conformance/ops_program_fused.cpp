// Programs in fewer steps: to the bit what the operations give one by one, with less memory at most,
// and with a switch for each.
#include <gtest/gtest.h>

#include <random>

#include "ebb/ebb.hpp"
#include "ops/chain.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

using Tensors = std::vector<Tensor>;

class FusedPrograms : public testing::Test {
 protected:
  static Tensor numbers(const std::vector<std::int64_t>& shape, double seed) {
    return ops::random_uniform(shape, {.low = -2, .high = 2, .seed = seed});
  }
  Tensors run(const Program& program, const Tensors& given) {
    std::vector<Handle> handles;
    for (const Tensor& each : given) handles.push_back(each.handle());
    std::vector<ops::OpResult> results(program.outputs());
    program.run(session_.place(), handles, results);
    Tensors made;
    for (const ops::OpResult& each : results) made.emplace_back(context_, each.handle);
    return made;
  }
  template <typename Function>
  Program recorded(const Tensors& inputs, Function function, ProgramOptions options = {}) {
    std::vector<Handle> handles, outputs;
    for (const Tensor& each : inputs) handles.push_back(each.handle());
    options.captures = false;
    ProgramDraft draft(context_, handles, options);
    const Tensors made = function(inputs);
    for (const Tensor& each : made) outputs.push_back(each.handle());
    return draft.finish(outputs);
  }

  Session session_;
  Context& context_ = session_.context();
};

// As bits: NaN is what it is.
std::vector<std::uint32_t> bits(const Tensor& x) {
  std::vector<std::uint32_t> read(x.shape().elements());
  x.read(std::as_writable_bytes(std::span(read)));
  return read;
}

void expect_same(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape()) << i;
    ASSERT_EQ(bits(a[i]), bits(b[i])) << i;
  }
}

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

TEST_F(FusedPrograms, HaveSwitches) {
  const auto f = [](const Tensors& x) -> Tensors {
    return {ops::exp(x[0] + x[0]), ops::batch_mat_mul(x[0], ops::transpose(x[0], {1, 0}))};
  };
  const Tensors x{numbers({5, 7}, 1)};
  const auto steps = [&](bool fuse, bool absorb) {
    const Program program = recorded(x, f, {.fuse = fuse, .absorb = absorb});
    expect_same(run(program, x), f(x));
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

// ---- bias and activation

void expect_near(const Tensors& a, const Tensors& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].shape(), b[i].shape()) << i;
    const std::vector<float> ours = a[i].to_vector<float>(), theirs = b[i].to_vector<float>();
    for (std::size_t k = 0; k < ours.size(); ++k) ASSERT_NEAR(ours[k], theirs[k], 1e-5) << i;
  }
}

struct Joining {
  const char* name;
  std::function<Tensors(const Tensors&)> function;
  std::size_t steps;  // where all of them are on
};

// x[0] is [3, 4, 4, 5]; x[1] is [5, 6], x[2] [6], x[3] [2, 2, 5, 6], x[4] [3, 3, 5, 1], x[5] [5].
const Joining kJoinings[] = {
    {"product",
     [](const Tensors& x) -> Tensors {
       return {ops::relu(ops::batch_mat_mul(ops::reshape(x[0], {48, 5}), x[1]) + x[2])};
     },
     2},
    {"the bias first, and a slope",
     [](const Tensors& x) -> Tensors {
       return {ops::leaky_relu(x[2] + ops::batch_mat_mul(x[0], x[1]), {.alpha = 0.3})};
     },
     1},
    {"activation alone",
     [](const Tensors& x) -> Tensors { return {ops::sigmoid(ops::batch_mat_mul(x[0], x[1]))}; }, 1},
    {"bias alone",
     [](const Tensors& x) -> Tensors { return {ops::batch_mat_mul(x[0], x[1]) + x[2]}; }, 1},
    {"convolution",
     [](const Tensors& x) -> Tensors {
       const Tensor bias = ops::reshape(x[2], {1, 1, 1, 6});
       return {ops::elu(ops::conv2d(x[0], x[3], {.strides = {2, 2}}) + bias)};
     },
     2},
    {"depthwise",
     [](const Tensors& x) -> Tensors {
       return {ops::relu6(ops::depthwise_conv2d_native(x[0], x[4]) + x[5])};
     },
     1},
    {"one that has a bias",
     [](const Tensors& x) -> Tensors {
       return {ops::relu(ops::fused_mat_mul(ops::reshape(x[0], {48, 5}), x[1], {.bias = x[2]}))};
     },
     2},
    {"not: used twice",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::batch_mat_mul(x[0], x[1]);
       return {ops::sum(y, {0}), ops::relu(y)};
     },
     3},
    {"not: a result",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::batch_mat_mul(x[0], x[1]);
       return {y, ops::relu(y)};
     },
     2},
    {"not: a bias that comes later",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::batch_mat_mul(x[0], x[1]);
       return {y + ops::cumsum(x[2])};
     },
     3},
    {"not: other than along the columns",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::batch_mat_mul(ops::reshape(x[0], {3, 16, 5}), x[1]);
       return {y + ops::reshape(ops::slice(x[2], {0}, {3}), {3, 1, 1})};
     },
     5},
    {"not: activated already",
     [](const Tensors& x) -> Tensors {
       const Tensor y = ops::fused_mat_mul(x[0], x[1], {.activation = ops::Activation::kSigmoid});
       return {y + x[2]};
     },
     2},
    {"not: wider than the product",
     [](const Tensors& x) -> Tensors {
       return {ops::batch_mat_mul(ops::slice(x[1], {0, 0}, {1, 6}), x[1], {.transpose_b = true}) +
               ops::reshape(x[0], {48, 5})};
     },
     4},
};

TEST_F(FusedPrograms, JoinBiasAndActivation) {
  const Tensors x{numbers({3, 4, 4, 5}, 1), numbers({5, 6}, 2),       numbers({6}, 3),
                  numbers({2, 2, 5, 6}, 4), numbers({3, 3, 5, 1}, 5), numbers({5}, 6)};
  for (const Joining& each : kJoinings) {
    SCOPED_TRACE(each.name);
    const Program program = recorded(x, each.function);
    EXPECT_EQ(program.fused_steps(), each.steps);
    expect_near(run(program, x), each.function(x));
    expect_same(run(recorded(x, each.function, {.join = false}), x), each.function(x));
  }
}

// x[0] is [6, 4, 5], x[1] [6, 4, 7]: what a recurrent network's weights get of its steps.
Tensor sum_of_products(const Tensors& x, std::int64_t terms) {
  Tensor sum;
  for (std::int64_t i = 0; i < terms; ++i) {
    const Tensor a = ops::tanh(ops::reshape(ops::slice(x[0], {i, 0, 0}, {1, 4, 5}), {4, 5}));
    const Tensor b = ops::reshape(ops::slice(x[1], {i, 0, 0}, {1, 4, 7}), {4, 7});
    const Tensor product = ops::batch_mat_mul(a, b, {.transpose_a = true});
    sum = i == 0 ? product : sum + product;
  }
  return sum;
}

TEST_F(FusedPrograms, SumsOfProductsAreOneProduct) {
  // The last is for something that holds more than all factors.
  const Tensors x{numbers({6, 4, 5}, 1), numbers({6, 4, 7}, 2), numbers({64, 64}, 3)};
  const auto six = [](const Tensors& in) -> Tensors {
    return {ops::sum(ops::cumsum(in[2]), {0, 1}), sum_of_products(in, 6)};
  };
  const Program program = recorded(x, six);
  EXPECT_EQ(program.steps(), 2u + 6 * 6 + 5);
  EXPECT_EQ(program.fused_steps(), 2u + 6 * 5 + 3);
  expect_near(run(program, x), six(x));
  expect_same(run(recorded(x, six, {.join = false}), x), six(x));
  // Not of a few, and not where a part is needed.
  const auto two = [](const Tensors& in) -> Tensors { return {sum_of_products(in, 2)}; };
  const Program few = recorded(x, two);
  EXPECT_EQ(few.fused_steps(), few.steps());
  const auto with_a_part = [](const Tensors& in) -> Tensors {
    const Tensor part = sum_of_products(in, 3);
    return {part + ops::batch_mat_mul(ops::reshape(in[0], {24, 5}), ops::reshape(in[1], {24, 7}),
                                      {.transpose_a = true}),
            part};
  };
  const Program parts = recorded(x, with_a_part);
  EXPECT_EQ(parts.fused_steps(), parts.steps());
  expect_same(run(parts, x), with_a_part(x));
}

// The factors are kept until the last is there; where that is more than the sums, they stay.
TEST_F(FusedPrograms, SumsOfProductsHoldNoMore) {
  const auto f = [](const Tensors& x) -> Tensors {
    Tensor sum;
    for (int i = 0; i < 6; ++i) {
      const Tensor a = ops::cumsum(x[0]), product = ops::batch_mat_mul(a, a, {.transpose_a = true});
      sum = i == 0 ? product : sum + product;
    }
    return {sum};
  };
  const Tensors x{numbers({400, 10}, 1)};
  const Program program = recorded(x, f);
  EXPECT_EQ(program.fused_steps(), program.steps());
  expect_same(run(program, x), f(x));
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

// Whoever forges a code gets an error.
TEST_F(FusedPrograms, RefuseCodesThatAreNone) {
  const Tensor x = numbers({4}, 1), y = numbers({3}, 2), whole = tensor({1, 2}, {2});
  const double add = ops::op_id("Add"), relu = ops::op_id("Relu"), sum = ops::op_id("Sum");
  const auto run_code = [&](std::vector<double> code, std::vector<Handle> inputs) {
    code.insert(code.begin(), static_cast<double>(code.size()));
    std::array<ops::OpResult, 16> results;
    const std::size_t count = ops::run(session_.place(), ops::kChain, inputs, code, results);
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
  EXPECT_ERROR(run_code({relu, 0, -1, 0, 0, 1}, std::vector<Handle>(17, x.handle())),
               kInvalidArgument, "17 inputs");
}

}  // namespace
}  // namespace ebb::test
