#include <random>

#include "conformance/grad_case.hpp"
#include "ebb/ops/functions.hpp"

namespace ebb::test {
namespace {

template <typename T>
Tensor tensor_as(const Numbers& numbers, const Shape& shape) {
  return tensor(std::vector<T>(numbers.begin(), numbers.end()), shape);
}

Numbers every_second(const Numbers& numbers, std::size_t first) {
  Numbers half;
  for (std::size_t i = first; i < numbers.size(); i += 2) half.push_back(numbers[i]);
  return half;
}

}  // namespace

std::vector<Numbers> numbers_for(const GradCase& one) {
  std::mt19937_64 random(20261116);
  std::vector<Numbers> all;
  for (const Given& given : one.inputs) {
    Numbers numbers = given.values;
    std::uniform_real_distribution<double> between(given.low, given.high);
    const std::size_t each = given.kind == Given::Kind::kComplex ? 2 : 1;
    while (is_floating(given) && numbers.size() < each * given.shape.elements()) {
      numbers.push_back(between(random));
    }
    all.push_back(std::move(numbers));
  }
  return all;
}

Tensor tensor_for(const Given& given, const Numbers& numbers, DType dtype) {
  switch (given.kind) {
    case Given::Kind::kNone:
      return {};
    case Given::Kind::kInt32:
      return tensor_as<std::int32_t>(numbers, given.shape);
    case Given::Kind::kBool:
      return ops::cast(tensor_as<std::int32_t>(numbers, given.shape), DType::kBool);
    case Given::Kind::kComplex:
      return ops::complex(tensor_as<float>(every_second(numbers, 0), given.shape),
                          tensor_as<float>(every_second(numbers, 1), given.shape));
    default:
      return dtype == DType::kFloat64 ? tensor_as<double>(numbers, given.shape)
                                      : tensor_as<float>(numbers, given.shape);
  }
}

Tensor strided(const Tensor& x) {
  const std::size_t rank = x.shape().rank();
  if (rank < 2 || x.shape().empty()) return x;
  std::vector<std::int64_t> turned;
  for (std::size_t i = rank; i-- > 0;) turned.push_back(static_cast<std::int64_t>(i));
  const Tensor packed = ops::reverse(ops::reverse(ops::transpose(x, turned), {0}), {0});
  return ops::transpose(packed, turned);
}

}  // namespace ebb::test
