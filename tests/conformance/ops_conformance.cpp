// Every operation against what NumPy and SciPy say of it: one test an operation, all its cases.
// Each case runs with operands of their own, with operands that are views in the middle of a larger
// tensor, at an odd element, and with strided ones: transposed, spread out, and backwards.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "backends/cpu/element.hpp"
#include "conformance/ops_case.hpp"
#include "ebb/ops/run.hpp"
#include "support/audited.hpp"
#include "support/hosts.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

enum class Lies : std::uint8_t { kAlone, kShifted, kTransposed, kSpread, kBackwards };
constexpr std::string_view kLies[] = {"", " (shifted)", " (transposed)", " (spread)",
                                      " (backwards)"};

// Where elements lie in a larger tensor.
struct Placement {
  std::int64_t elements = 0, first = 0;
  Strides strides{};
};

Placement placement(const Shape& shape, Lies lies) {
  Placement made{.elements = 1};
  const std::size_t rank = shape.rank();
  for (std::size_t i = 0; i < rank; ++i) {
    // Transposed: the first axis is the densest. Else the last, each with some room around it.
    const std::size_t axis = lies == Lies::kTransposed ? i : rank - 1 - i;
    const std::int64_t dim = shape.dims()[axis];
    const std::int64_t step = made.elements * (lies == Lies::kSpread ? 1 + static_cast<int>(i) : 1);
    made.strides[axis] = lies == Lies::kBackwards ? -step : step;
    if (lies == Lies::kBackwards) made.first += (dim - 1) * step;
    made.elements = step * (lies == Lies::kTransposed ? dim : dim + 1);
  }
  made.elements += ++made.first;
  return made;
}

class World {
 public:
  Handle tensor(const CaseTensor& given) {
    if (!given.given) return 0;
    const Handle made =
        context_->make({.device = cpu_.get(), .dtype = given.dtype, .shape = given.shape});
    ops::write(*context_, made, given.data);
    return made;
  }

  // The same, one element into a larger tensor.
  Handle shifted(const CaseTensor& given) {
    if (!given.given) return 0;
    const auto count = static_cast<std::int64_t>(given.shape.elements());
    const Handle base =
        context_->make({.device = cpu_.get(), .dtype = given.dtype, .shape = {count + 2}});
    const Handle view =
        context_->view(base, size_of(given.dtype), {.dtype = given.dtype, .shape = given.shape});
    ops::write(*context_, view, given.data);
    context_->dispose(base);
    return view;
  }

  // The same, its elements spread over a larger tensor.
  Handle strided(const CaseTensor& given, Lies lies) {
    if (!given.given || given.shape.elements() == 0) return tensor(given);
    const Placement place = placement(given.shape, lies);
    const std::size_t size = size_of(given.dtype);
    std::vector<std::byte> spread(static_cast<std::size_t>(place.elements) * size, std::byte{1});
    for (std::size_t i = 0; i < given.shape.elements(); ++i) {
      std::int64_t at = place.first, rest = static_cast<std::int64_t>(i);
      for (std::size_t axis = given.shape.rank(); axis-- > 0;) {
        at += rest % given.shape.dims()[axis] * place.strides[axis];
        rest /= given.shape.dims()[axis];
      }
      std::memcpy(spread.data() + static_cast<std::size_t>(at) * size, given.data.data() + i * size,
                  size);
    }
    const Handle base = tensor({.dtype = given.dtype, .shape = {place.elements}, .data = spread});
    Operand seen;
    context_->resolve({&base, 1}, {&seen, 1}, "case");
    const Handle view =
        context_->strided_view(base, seen, static_cast<std::uint64_t>(place.first) * size,
                               place.strides, {.dtype = given.dtype, .shape = given.shape});
    context_->dispose(base);
    return view;
  }

  Handle placed(const CaseTensor& given, Lies lies) {
    if (lies == Lies::kAlone) return tensor(given);
    return lies == Lies::kShifted ? shifted(given) : strided(given, lies);
  }

  // A device of its own memory takes dense tensors only.
  std::span<const Lies> layouts() const {
    static constexpr std::array kAll{Lies::kAlone, Lies::kShifted, Lies::kTransposed, Lies::kSpread,
                                     Lies::kBackwards};
    return std::span(kAll).first(cpu_->link() == nullptr ? kAll.size() : 2);
  }

  std::vector<CaseTensor> run(const OpCase& one, Lies lies) {
    std::vector<Handle> inputs;
    for (const CaseTensor& each : one.inputs) inputs.push_back(placed(each, lies));
    std::vector<ops::OpResult> results(std::max<std::size_t>(one.outputs.size(), 16));
    const ops::OpSpec* spec = ops::find_op(one.op);
    if (spec == nullptr) raise(ErrorKind::kInvalidArgument, "[case] no operation {}", one.op);
    const std::size_t count =
        ops::run({*context_, *cpu_}, spec->id, inputs, one.attributes, results);
    std::vector<CaseTensor> read;
    for (std::size_t i = 0; i < count; ++i) read.push_back(take(results[i]));
    for (const Handle each : inputs) {
      if (each != 0) context_->dispose(each);
    }
    EXPECT_EQ(context_->memory().books.live, 0u) << one.op << " left tensors behind";
    return read;
  }

 private:
  CaseTensor take(const ops::OpResult& result) {
    CaseTensor taken{.dtype = result.dtype, .shape = result.shape};
    taken.data.resize(bytes_of(result.shape, size_of(result.dtype)));
    ops::read(*context_, result.handle, taken.data);
    context_->dispose(result.handle);
    return taken;
  }

  OpenDevice cpu_{device_options("conformance")};
  ContextPtr context_ = Context::create({.name = "conformance"});
};

bool close(double got, double expected, const CaseTensor& tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  if (got == expected) return true;
  return std::abs(got - expected) <= tolerance.absolute + tolerance.relative * std::abs(expected);
}

std::string describe(const OpCase& one, Lies lies) {
  std::string text = one.op + std::string(kLies[static_cast<std::size_t>(lies)]) + " " + one.note;
  for (const CaseTensor& each : one.inputs) {
    text +=
        each.given ? fmt::format(" {}{}", name_of(each.dtype), each.shape.to_string()) : " none";
  }
  return text + fmt::format(" attributes [{}]", fmt::join(one.attributes, ","));
}

testing::AssertionResult matches(const CaseTensor& got, const CaseTensor& expected) {
  if (got.dtype != expected.dtype || got.shape != expected.shape) {
    return testing::AssertionFailure()
           << name_of(got.dtype) << got.shape.to_string() << " in place of "
           << name_of(expected.dtype) << expected.shape.to_string();
  }
  return cpu::visit(got.dtype, [&]<typename T>(cpu::Type<T>) -> testing::AssertionResult {
    for (std::size_t i = 0; i < got.shape.elements(); ++i) {
      T a, b;
      std::memcpy(&a, got.data.data() + i * sizeof(T), sizeof(T));
      std::memcpy(&b, expected.data.data() + i * sizeof(T), sizeof(T));
      const auto x = cpu::convert<cpu::Complex64>(a), y = cpu::convert<cpu::Complex64>(b);
      const bool same =
          cpu::kIsComplex<T>
              ? close(x.real(), y.real(), expected) && close(x.imag(), y.imag(), expected)
              : close(cpu::convert<double>(a), cpu::convert<double>(b), expected);
      if (!same) {
        return testing::AssertionFailure()
               << "element " << i << " is " << x << " in place of " << y;
      }
    }
    return testing::AssertionSuccess();
  });
}

class OpConformance : public testing::Test {
 public:
  explicit OpConformance(std::vector<OpCase> cases) : cases_(std::move(cases)) {}

  void TestBody() override {
    World world;
    for (const OpCase& one : cases_) {
      for (const Lies lies : world.layouts()) {
        check(world, one, lies);
        if (HasFailure()) return;  // one is enough to look at
      }
    }
  }

 private:
  static void check(World& world, const OpCase& one, Lies lies) {
    SCOPED_TRACE(describe(one, lies));
    try {
      const std::vector<CaseTensor> got = world.run(one, lies);
      ASSERT_EQ(got.size(), one.outputs.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_TRUE(matches(got[i], one.outputs[i])) << "output " << i;
      }
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }

  std::vector<OpCase> cases_;
};

[[maybe_unused]] const bool registered = [] {
  std::map<std::string, std::vector<OpCase>> by_op;
  // A list in another folder has names that lie beside it.
  const std::string list_path = from_environment("EBB_EXPECTED_LIST", EBB_EXPECTED_LIST);
  std::ifstream list(list_path);
  for (std::string path; std::getline(list, path);) {
    if (!path.starts_with('/')) path = list_path.substr(0, list_path.rfind('/') + 1) + path;
    for (OpCase& one : read_cases(path)) by_op[one.op].push_back(std::move(one));
  }
  for (auto& [op, cases] : by_op) {
    testing::RegisterTest("OpConformance", op.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [cases = cases]() -> testing::Test* { return new OpConformance(cases); });
  }
  return true;
}();

// But the random ones, which ops_random.cpp has.
TEST(OpCases, AreThereForEveryOperation) {
  std::set<std::string_view> found{"RandomUniform", "RandomNormal", "Multinomial"};
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    if (suite.name() != std::string_view("OpConformance")) continue;
    for (int j = 0; j < suite.total_test_count(); ++j) found.insert(suite.GetTestInfo(j)->name());
  }
  for (const ops::OpSpec& spec : ops::kTable) EXPECT_TRUE(found.contains(spec.name)) << spec.name;
}

}  // namespace
}  // namespace ebb::test
