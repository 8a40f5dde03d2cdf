// Every operation against what NumPy and SciPy say of it: one test an operation, all its cases.
// Each case runs twice: with operands of their own, and with operands that are views in the middle
// of a larger tensor, at an odd element.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "backends/cpu/element.hpp"
#include "conformance/ops_case.hpp"
#include "ebb/ops/run.hpp"
#include "support/audited.hpp"
#include "support/hosts.hpp"
#include "support/test_device.hpp"

namespace ebb::test {
namespace {

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

  std::vector<CaseTensor> run(const OpCase& one, bool shift) {
    std::vector<Handle> inputs;
    for (const CaseTensor& each : one.inputs) {
      inputs.push_back(shift ? shifted(each) : tensor(each));
    }
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

std::string describe(const OpCase& one, bool shift) {
  std::string text = one.op + (shift ? " (shifted)" : "") + " " + one.note;
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
      for (const bool shift : {false, true}) {
        check(world, one, shift);
        if (HasFailure()) return;  // one is enough to look at
      }
    }
  }

 private:
  static void check(World& world, const OpCase& one, bool shift) {
    SCOPED_TRACE(describe(one, shift));
    try {
      const std::vector<CaseTensor> got = world.run(one, shift);
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

}  // namespace
}  // namespace ebb::test
