// The gradients against PyTorch's (tools/expected/torch_gradients.py), every one of them: over dtypes,
// broadcasting and empty tensors, with operands of their own, as parts of larger ones, and transposed
// in memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "conformance/ops_case.hpp"
#include "ebb/grad/tape.hpp"
#include "ebb/ops/operators.hpp"
#include "grad/backprop.hpp"
#include "support/audited.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Tensors = std::vector<Tensor>;
using Dims = std::vector<std::int64_t>;

enum class Lies : std::uint8_t { kAlone, kWithin, kTransposed };

// The last rows of a larger tensor.
Tensor within(const Tensor& x) {
  const Shape shape = x.shape();
  const Dims dims(shape.dims().begin(), shape.dims().end());
  Dims begin(dims.size());
  begin[0] = dims[0];
  return ops::slice(ops::concat({x, x}, {.axis = 0}), begin, dims);
}

Tensor transposed(const Tensor& x) {
  Dims turned;
  for (std::size_t i = x.shape().rank(); i-- > 0;) turned.push_back(static_cast<std::int64_t>(i));
  const Tensor packed = ops::reverse(ops::reverse(ops::transpose(x, turned), {0}), {0});
  return ops::transpose(packed, turned);
}

Tensor placed(const CaseTensor& given, Lies lies) {
  if (!given.given) return {};
  Tensor x = detail::tensor_of(given.dtype, given.shape, given.data);
  if (given.shape.empty() || given.shape.rank() == 0) return x;
  if (lies == Lies::kWithin) return within(x);
  return lies == Lies::kTransposed && given.shape.rank() > 1 ? transposed(x) : x;
}

std::vector<double> numbers_of(const Tensor& x) {
  if (x.dtype() == DType::kComplex64) {
    std::vector<double> both = numbers_of(ops::real(x));
    for (const double each : numbers_of(ops::imag(x))) both.push_back(each);
    return both;
  }
  return ops::cast(x, DType::kFloat64).to_vector<double>();
}

// A GPU adds up in another order.
double slack() { return Session::current().device().link() == nullptr ? 1 : 4; }

void expect_close(const Tensor& got, const CaseTensor& expected, std::size_t input) {
  const std::vector<double> theirs = numbers_of(placed(expected, Lies::kAlone));
  if (!got && !theirs.empty()) {  // nothing flows to it
    ASSERT_TRUE(std::ranges::all_of(theirs, [](double each) { return each == 0; })) << input;
    return;
  }
  ASSERT_TRUE(got) << "input " << input;
  ASSERT_EQ(got.shape(), expected.shape) << "input " << input;
  ASSERT_EQ(got.dtype(), expected.dtype) << "input " << input;
  const std::vector<double> ours = numbers_of(got);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ASSERT_NEAR(ours[i], theirs[i], expected.absolute * slack())
        << "input " << input << ", element " << i;
  }
}

Tensors differentiable(Tensors results) {
  std::erase_if(results,
                [](const Tensor& each) { return !gradients::is_differentiable(each.dtype()); });
  return results;
}

void check(const OpCase& one, Lies lies) {
  TestSession session;
  const std::size_t count = one.outputs.size();  // of the operation's inputs; then what reaches it
  Tensors inputs, seeds;
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    (i < count ? inputs : seeds).push_back(placed(one.inputs[i], lies));
  }
  Tape tape;
  Tensors wanted;
  for (std::size_t i = 0; i < count; ++i) {
    if (!one.outputs[i].given) continue;
    tape.watch(inputs[i]);
    wanted.push_back(inputs[i]);
  }
  const Tensors results = differentiable(
      ops::apply(ops::find_op(one.op)->id, ops::detail::pointers(inputs), one.attributes));
  const Tensors gradients = tape.backward(
      ops::detail::pointers(results), ops::detail::pointers(seeds), ops::detail::pointers(wanted));
  for (std::size_t i = 0, at = 0; i < count; ++i) {
    if (one.outputs[i].given) expect_close(gradients[at++], one.outputs[i], i);
  }
}

std::string describe(const OpCase& one, Lies lies) {
  std::string text = fmt::format("{} ({}) {}", one.op, static_cast<int>(lies), one.note);
  for (const CaseTensor& each : one.inputs) {
    text +=
        each.given ? fmt::format(" {}{}", name_of(each.dtype), each.shape.to_string()) : " none";
  }
  return text + fmt::format(" attributes [{}]", fmt::join(one.attributes, ","));
}

class GradTorch : public testing::Test {
 public:
  explicit GradTorch(std::vector<OpCase> cases) : cases_(std::move(cases)) {}

  void TestBody() override {
    for (const OpCase& one : cases_) {
      for (const Lies lies : {Lies::kAlone, Lies::kWithin, Lies::kTransposed}) {
        SCOPED_TRACE(describe(one, lies));
        try {
          check(one, lies);
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
        if (HasFailure()) return;  // one is enough to look at
      }
    }
  }

 private:
  const std::vector<OpCase> cases_;
};

// In the tree; beside the tests where those were taken elsewhere.
const std::vector<OpCase>& all_cases() {
  static const std::vector<OpCase> cases =
      read_cases(from_environment("EBB_TORCH_GRADIENTS", EBB_TORCH_GRADIENTS));
  return cases;
}

[[maybe_unused]] const bool registered = [] {
  std::map<std::string, std::vector<OpCase>> by_op;
  for (const OpCase& one : all_cases()) by_op[one.op].push_back(one);
  for (auto& [op, cases] : by_op) {
    testing::RegisterTest("GradTorch", op.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [cases = cases]() -> testing::Test* { return new GradTorch(cases); });
  }
  return true;
}();

TEST(GradTorchCases, AreThereForEveryGradient) {
  std::set<std::string_view> found;
  for (const OpCase& one : all_cases()) found.insert(one.op);
  for (const ops::OpSpec& spec : ops::kTable) {
    const bool has_one = gradients::gradient_of(spec.id)->gradient != nullptr;
    EXPECT_EQ(found.contains(spec.name), has_one) << spec.name;
  }
}

// By the dtype of what reaches their results.
TEST(GradTorchCases, AreManyOfEachDtype) {
  std::map<DType, int> by_dtype;
  for (const OpCase& one : all_cases()) ++by_dtype[one.inputs.back().dtype];
  EXPECT_GT(by_dtype[DType::kFloat32], 400);
  EXPECT_GT(by_dtype[DType::kFloat64], 250);
  EXPECT_GT(by_dtype[DType::kFloat16], 100);
  EXPECT_GT(by_dtype[DType::kBfloat16], 100);
  EXPECT_GT(by_dtype[DType::kComplex64], 60);
}

}  // namespace
}  // namespace ebb::test
