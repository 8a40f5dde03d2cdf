// Every gradient against finite differences: in float64 where the device has the operation in it, else in float32
// and more loosely; of operands of their own and of strided ones; and once more by the gradient
// itself, which gives second derivatives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "conformance/grad_case.hpp"
#include "ebb/grad/tape.hpp"
#include "ebb/ops/operators.hpp"
#include "grad/backprop.hpp"
#include "support/audited.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

using Tensors = std::vector<Tensor>;

// What has no gradient of its own gradient.
const std::set<std::string> kFirstOnly{"MaxPool3D", "LRN", "Dilation2D"};

Numbers numbers_of(const Tensor& x) {
  if (x.dtype() == DType::kComplex64) {
    const Numbers re = numbers_of(ops::real(x)), im = numbers_of(ops::imag(x));
    Numbers both;
    for (std::size_t i = 0; i < re.size(); ++i) both.insert(both.end(), {re[i], im[i]});
    return both;
  }
  return ops::cast(x, DType::kFloat64).to_vector<double>();
}

// Neither small nor alike.
double weight(std::size_t i) { return 0.5 + std::cos(1.7 * static_cast<double>(i) + 0.3); }

// Of all elements of all tensors, each with a weight.
double weighted(const Tensors& tensors) {
  double sum = 0;
  std::size_t at = 0;
  for (const Tensor& each : tensors) {
    if (!gradients::is_differentiable(each.dtype())) continue;
    for (const double number : numbers_of(each)) sum += number * weight(at++);
  }
  return sum;
}

Tensor weighted_part(const Tensor& x, std::size_t& at, std::size_t step) {
  Numbers weights;
  for (std::size_t i = 0; i < x.shape().elements(); ++i) weights.push_back(weight(at + i * step));
  const Tensor products =
      ops::cast(x * tensor_for(f(x.shape()), weights, x.dtype()), DType::kFloat64);
  return ops::sum(ops::reshape(products, {-1}), {0});
}

Tensor weighted_tensor(const Tensors& tensors) {
  Tensor sum = ops::fill({}, 0, DType::kFloat64);
  std::size_t at = 0;
  for (const Tensor& each : tensors) {
    if (!gradients::is_differentiable(each.dtype())) continue;
    if (each.dtype() == DType::kComplex64) {
      std::size_t second = at + 1;
      sum = sum + weighted_part(ops::real(each), at, 2) + weighted_part(ops::imag(each), second, 2);
      at += 2 * each.shape().elements();
    } else {
      sum = sum + weighted_part(each, at, 1);
      at += each.shape().elements();
    }
  }
  return sum;
}

class Trial {
 public:
  Trial(const GradCase& one, DType dtype, bool as_strided)
      : one_(one),
        spec_(*ops::find_op(one.op)),
        dtype_(dtype),
        strided_(as_strided),
        numbers_(numbers_for(one)) {}

  // Whether it computes in float64, forward and back; throws where it refuses to.
  bool is_float64() const {
    const Tensors inputs = inputs_now();
    static_cast<void>(first(inputs));
    for (const Tensor& each : run(inputs)) {
      const DType dtype = each.dtype();
      if (gradients::is_differentiable(dtype) && dtype != DType::kFloat64) return false;
    }
    return true;
  }

  void check_first() {
    const Tensors inputs = inputs_now();
    const Tensors gradients = first(inputs);
    compare(gradients, [&] { return weighted(run(inputs_now())); });
  }

  void check_second() {
    const Tensors inputs = inputs_now();
    Tape tape;
    Tensors wanted = watched(tape, inputs);
    Tensor sum = weighted_tensor(first(inputs));
    Tensors second = backward(tape, sum, wanted);
    for (std::size_t i = 0; i < second.size(); ++i) {
      if (!second[i]) second[i] = ops::zeros_like(wanted[i]);
    }
    compare(second, [&] { return weighted(first(inputs_now())); });
  }

 private:
  bool is_precise() const {
    for (const Given& given : one_.inputs) {
      if (given.kind == Given::Kind::kComplex) return false;
    }
    return dtype_ == DType::kFloat64 && !is_added_in_any_order();
  }

  // A GPU adds up this gradient in float32, in an order that is another each time.
  bool is_added_in_any_order() const {
    return one_.op == "ResizeNearestNeighbor" && Session::current().device().link() != nullptr;
  }

  Tensors inputs_now() const {
    Tensors inputs;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      inputs.push_back(tensor_for(one_.inputs[i], numbers_[i], dtype_));
      if (strided_ && inputs[i]) inputs[i] = strided(inputs[i]);
    }
    return inputs;
  }

  Tensors run(const Tensors& inputs) const {
    return ops::apply(spec_.id, ops::detail::pointers(inputs), one_.attributes);
  }

  Tensors watched(Tape& tape, const Tensors& inputs) const {
    Tensors wanted;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!is_floating(one_.inputs[i])) continue;
      tape.watch(inputs[i]);
      wanted.push_back(inputs[i]);
    }
    return wanted;
  }

  static Tensors backward(Tape& tape, const Tensor& output, const Tensors& wanted) {
    return tape.backward(ops::detail::pointers(output), {}, ops::detail::pointers(wanted));
  }

  Tensors first(const Tensors& inputs) const {
    Tape tape;
    const Tensors wanted = watched(tape, inputs);
    Tensors gradients = backward(tape, weighted_tensor(run(inputs)), wanted);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i]) gradients[i] = ops::zeros_like(wanted[i]);
    }
    return gradients;
  }

  template <typename Value>
  void compare(const Tensors& gradients, Value value) {
    const double step = is_precise() ? 1e-5 : 2e-3, tolerance = is_precise() ? 2e-6 : 2e-2;
    std::size_t at = 0;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (!is_floating(one_.inputs[i])) continue;
      const Tensor& gradient = gradients[at++];
      ASSERT_EQ(gradient.shape(), one_.inputs[i].shape) << "input " << i;
      const Numbers given = numbers_of(gradient);
      for (std::size_t k = 0; k < given.size(); ++k) {
        const double here = numbers_[i][k];
        numbers_[i][k] = here + step;
        const double above = value();
        numbers_[i][k] = here - step;
        const double below = value();
        numbers_[i][k] = here;
        const double expected = (above - below) / (2 * step);
        ASSERT_NEAR(given[k], expected, tolerance * (1 + std::abs(expected)))
            << "input " << i << ", element " << k;
      }
    }
  }

  const GradCase& one_;
  const ops::OpSpec& spec_;
  DType dtype_;
  bool strided_;
  std::vector<Numbers> numbers_;
};

std::string describe(const GradCase& one, DType dtype, bool strided) {
  std::string text = fmt::format("{} {}{}", one.op, name_of(dtype), strided ? " (strided)" : "");
  for (const Given& each : one.inputs) text += " " + each.shape.to_string();
  return text + fmt::format(" attributes [{}]", fmt::join(one.attributes, ","));
}

class GradConformance : public testing::Test {
 public:
  explicit GradConformance(std::vector<GradCase> cases) : cases_(std::move(cases)) {}

  void TestBody() override {
    for (const GradCase& one : cases_) {
      const DType dtype = takes_float64(one) ? DType::kFloat64 : DType::kFloat32;
      for (const bool strided : {false, true}) {
        SCOPED_TRACE(describe(one, dtype, strided));
        check(one, dtype, strided);
        if (HasFailure()) return;
      }
    }
    Context::audit();
  }

 private:
  static bool takes_float64(const GradCase& one) {
    const TestSession session;
    try {
      return Trial(one, DType::kFloat64, false).is_float64();
    } catch (const Error&) {
      return false;
    }
  }

  static void check(const GradCase& one, DType dtype, bool strided) {
    TestSession session;
    try {
      Trial(one, dtype, strided).check_first();
      if (!kFirstOnly.contains(one.op)) Trial(one, dtype, strided).check_second();
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
    EXPECT_EQ(session.context().memory().books.live, 0u) << "tensors were left behind";
  }

  std::vector<GradCase> cases_;
};

[[maybe_unused]] const bool registered = [] {
  std::map<std::string, std::vector<GradCase>> by_op;
  for (const GradCase& one : grad_cases()) by_op[one.op].push_back(one);
  for (auto& [op, cases] : by_op) {
    testing::RegisterTest(
        "GradConformance", op.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [cases = cases]() -> testing::Test* { return new GradConformance(cases); });
  }
  return true;
}();

TEST(GradCases, AreThereForEveryGradient) {
  std::set<std::string_view> found;
  for (const GradCase& one : grad_cases()) found.insert(one.op);
  for (const ops::OpSpec& spec : ops::kTable) {
    const gradients::GradientRow* row = gradients::gradient_of(spec.id);
    ASSERT_NE(row, nullptr) << spec.name;
    EXPECT_EQ(row->op, spec.name);
    EXPECT_EQ(row->gradient != nullptr, row->why == gradients::Why::kHasOne) << spec.name;
    EXPECT_EQ(found.contains(spec.name), row->gradient != nullptr) << spec.name;
  }
}

}  // namespace
}  // namespace ebb::test
