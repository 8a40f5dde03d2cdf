// What the fake computes, on threads of its own after the call has returned: each kernel takes a copy of all it needs.
#include "cuda/fake_device.hpp"
#include "ebb/base/dtype.hpp"
#include "ebb/ops/table.hpp"
#include "ops/params/chain.hpp"
#include "ops/params/elementwise.hpp"
#include "ops/params/products.hpp"

namespace ebb::test::fake {

namespace {

template <typename T>
T* data(const ebb_cuda_tensor& tensor) {
  return static_cast<T*>(tensor.data);
}
std::int64_t elements(const ebb_cuda_tensor& tensor) {
  std::int64_t product = 1;
  for (std::uint32_t i = 0; i < tensor.rank; ++i) product *= tensor.dims[i];
  return product;
}
bool is(const ebb_cuda_tensor& tensor, DType dtype) {
  return tensor.dtype == static_cast<std::uint32_t>(dtype);
}

void add_axis(const ops::BinaryLoops& loops, std::size_t axis, const float* a, const float* b,
              float*& out) {
  for (std::int64_t i = 0; i < loops.extent[axis]; ++i) {
    if (axis + 1 == loops.axes) {
      *out++ = *a + *b;
    } else {
      add_axis(loops, axis + 1, a, b, out);
    }
    a += loops.step[0][axis];
    b += loops.step[1][axis];
  }
}

std::optional<Work> add(const ebb_cuda_call& call) {
  if (!is(call.inputs[0], DType::kFloat32)) return std::nullopt;
  return [a = data<float>(call.inputs[0]), b = data<float>(call.inputs[1]),
          out = data<float>(call.outputs[0]),
          loops = *static_cast<const ops::BinaryLoops*>(call.params)] {
    float* to = out;
    add_axis(loops, 0, a, b, to);
  };
}

std::optional<Work> fill(const ebb_cuda_call& call) {
  if (!is(call.outputs[0], DType::kFloat32)) return std::nullopt;
  return [out = data<float>(call.outputs[0]), count = elements(call.outputs[0]),
          value = call.attributes[call.attribute_offsets[1]]] {
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(value);
  };
}

std::optional<Work> cast(const ebb_cuda_call& call) {
  const ebb_cuda_tensor from = call.inputs[0], to = call.outputs[0];
  if (is(from, DType::kInt32) && is(to, DType::kFloat32)) {
    return [=] {
      for (std::int64_t i = 0; i < elements(from); ++i)
        data<float>(to)[i] = static_cast<float>(data<std::int32_t>(from)[i]);
    };
  }
  if (is(from, DType::kFloat32) && is(to, DType::kInt32)) {
    return [=] {
      for (std::int64_t i = 0; i < elements(from); ++i)
        data<std::int32_t>(to)[i] = static_cast<std::int32_t>(data<float>(from)[i]);
    };
  }
  return std::nullopt;
}

// Plain products of two matrices; what is added has the result's own shape.
std::optional<Work> multiply(const ebb_cuda_call& call) {
  const auto product = *static_cast<const ops::Product*>(call.params);
  if (product.rank != 2 || product.transpose_a || product.transpose_b) return std::nullopt;
  if (!is(call.inputs[0], DType::kFloat32)) return std::nullopt;
  const ops::Broadcast& bias = product.epilogue.bias;
  if (product.epilogue.activation != ops::Activation::kLinear ||
      (bias.given && (bias.strides[0] != product.columns || bias.strides[1] != 1))) {
    return std::nullopt;
  }
  return [a = data<float>(call.inputs[0]), b = data<float>(call.inputs[1]),
          addend = bias.given ? data<float>(call.inputs[2]) : nullptr,
          out = data<float>(call.outputs[0]), product] {
    for (std::int64_t i = 0; i < product.rows; ++i) {
      for (std::int64_t j = 0; j < product.columns; ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < product.inner; ++k)
          sum += a[i * product.inner + k] * b[k * product.columns + j];
        const std::int64_t place = i * product.columns + j;
        out[place] = addend == nullptr ? sum : sum + addend[place];
      }
    }
  };
}

// Where an input of a chain has what goes with element i of the result.
std::int64_t place_in(const ebb_cuda_tensor& input, const ebb_cuda_tensor& result, std::int64_t i) {
  std::int64_t place = 0;
  for (std::uint32_t axis = result.rank; axis-- > 0; i /= result.dims[axis]) {
    if (axis + input.rank < result.rank) continue;
    const std::uint32_t own = axis + input.rank - result.rank;
    if (input.dims[own] != 1) place += i % result.dims[axis] * input.strides[own];
  }
  return place;
}

// Of sums alone.
std::optional<Work> chain(const ebb_cuda_call& call) {
  const double* words = call.attributes + call.attribute_offsets[0];
  const std::vector<double> code(words + 1, words + 1 + static_cast<std::size_t>(*words));
  for (std::size_t i = 0; i < code.size(); i += ops::kChainWords) {
    if (code[i] != ops::op_id("Add") || code[i + 5] > 1) return std::nullopt;
  }
  return [code, inputs = std::vector(call.inputs, call.inputs + call.input_count),
          outputs = std::vector(call.outputs, call.outputs + call.output_count)] {
    for (std::int64_t i = 0; i < elements(outputs[0]); ++i) {
      std::vector<float> known;
      for (const ebb_cuda_tensor& each : inputs) {
        known.push_back(data<float>(each)[place_in(each, outputs[0], i)]);
      }
      std::size_t result = 0;
      for (std::size_t k = 0; k < code.size(); k += ops::kChainWords) {
        known.push_back(known[static_cast<std::size_t>(code[k + 1])] +
                        known[static_cast<std::size_t>(code[k + 2])]);
        if (code[k + 5] != 0) data<float>(outputs[result++])[i] = known.back();
      }
    }
  };
}

}  // namespace

Prepare kernel_of(std::uint32_t op) {
  if (op == ops::op_id("Add")) return add;
  if (op == ops::op_id("Fill")) return fill;
  if (op == ops::op_id("Cast")) return cast;
  if (op == ops::op_id("BatchMatMul") || op == ops::op_id("_FusedMatMul")) return multiply;
  if (op == ops::kChain) return chain;
  return nullptr;
}

}  // namespace ebb::test::fake
