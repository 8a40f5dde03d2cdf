#include "support/bare_product.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "backends/cpu/team.hpp"

namespace ebb::bench {
namespace {

cpu::DnnDesc matrix(std::int64_t rows, std::int64_t columns, bool transposed = false) {
  return cpu::desc_of(std::array{rows, columns}, transposed ? std::array{std::int64_t{1}, rows}
                                                            : std::array{columns, std::int64_t{1}});
}

cpu::DnnAttributes with_relu() {
  dnnl_post_ops_t made = nullptr;
  cpu::check_dnn(cpu::dnn().post_ops_create(&made), "post-ops");
  cpu::DnnPostOps owner(made);
  cpu::check_dnn(cpu::dnn().post_ops_append_eltwise(made, dnnl_eltwise_relu, 0, 0), "relu");
  return cpu::attributes(std::move(owner));
}

cpu::Plan plan_of(const ProductSpec& s) {
  const cpu::Alone guard(s.alone);
  const cpu::DnnAttributes attr = s.relu ? with_relu() : cpu::attributes();
  cpu::DnnDesc a = matrix(s.rows, s.inner, s.transpose_a);
  cpu::DnnDesc b = matrix(s.inner, s.columns, s.transpose_b);
  cpu::DnnDesc c = matrix(s.rows, s.columns);
  cpu::DnnDesc bias = s.bias ? matrix(1, s.columns) : cpu::DnnDesc();
  const cpu::DnnPrimitiveDesc desc =
      cpu::describe("a product", cpu::dnn().matmul_primitive_desc_create, a.get(), b.get(),
                    bias.get(), c.get(), attr.get());
  std::vector<cpu::Plan::Argument> arguments;
  arguments.push_back({DNNL_ARG_SRC, cpu::Plan::Role::kInput, std::move(a)});
  arguments.push_back({DNNL_ARG_WEIGHTS, cpu::Plan::Role::kInput, std::move(b)});
  arguments.push_back({DNNL_ARG_DST, cpu::Plan::Role::kOutput, std::move(c)});
  if (s.bias) arguments.push_back({DNNL_ARG_BIAS, cpu::Plan::Role::kInput, std::move(bias)});
  return cpu::Plan(desc, std::move(arguments), s.alone);
}

}  // namespace

BareProduct::Memory BareProduct::memory(std::int64_t elements) {
  const auto count = static_cast<std::size_t>(elements + 31) / 16 * 16;
  Memory made(static_cast<float*>(std::aligned_alloc(64, count * sizeof(float))), &std::free);
  std::fill_n(made.get(), count, 0.5F);
  return made;
}

BareProduct::BareProduct(const ProductSpec& spec)
    : plan_(plan_of(spec)),
      a_(memory(spec.rows * spec.inner)),
      b_(memory(spec.inner * spec.columns)),
      c_(memory(spec.rows * spec.columns)),
      bias_(memory(spec.columns)),
      workspace_(memory(static_cast<std::int64_t>(plan_.workspace_bytes() / sizeof(float)))) {}

void BareProduct::run() {
  // A plan without a bias takes the first three.
  const std::array<const void*, 4> data{a_.get(), b_.get(), c_.get(), bias_.get()};
  plan_.run(data, workspace_.get());
}

}  // namespace ebb::bench
