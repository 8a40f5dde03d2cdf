// Operations: one generic entry, and the table behind it.
#include <algorithm>

#include "capi/names.hpp"
#include "ebb/ops/run.hpp"

namespace {

using namespace ebb;
using namespace ebb::capi;

constexpr std::size_t kNearResults = 4;

void copy_result(const ops::OpResult& from, ebb_op_result& to) noexcept {
  to.handle = from.handle;
  to.dtype = static_cast<std::uint32_t>(from.dtype);
  to.rank = static_cast<std::uint32_t>(from.shape.rank());
  std::ranges::copy(from.shape.dims(), to.shape);
}

std::span<const std::byte> bytes_at(const void* data, std::uint64_t bytes, const char* who) {
  if (bytes == 0) return {};
  return {&needed(static_cast<const std::byte*>(data), who), bytes};
}

}  // namespace

extern "C" {

uint32_t ebb_op_find(const char* name) {
  const ops::OpSpec* spec = name == nullptr ? nullptr : ops::find_op(name);
  return spec == nullptr ? 0 : spec->id;
}

uint64_t ebb_op_table_hash(void) {
  constexpr std::uint64_t kHash = ops::table_hash();
  return kHash;
}

ebb_status ebb_op_run(ebb_context context, ebb_device device, uint32_t op, const ebb_handle* inputs,
                      size_t input_count, const double* attributes, size_t attribute_count,
                      ebb_op_result* results, size_t result_capacity, size_t* result_count) {
  return guarded([&] {
    const std::span<const ebb_handle> operands = listed(inputs, input_count, "op_run");
    const std::span<const double> words = listed(attributes, attribute_count, "op_run");
    const std::span<ebb_op_result> room = listed(results, result_capacity, "op_run");
    std::array<ops::OpResult, kNearResults> near;
    std::vector<ops::OpResult> far(room.size() > kNearResults ? room.size() : 0);
    const std::span<ops::OpResult> made =
        far.empty() ? std::span(near).first(room.size()) : std::span(far);
    const NamedDevice named(device);
    const Context maker = context_of(context);
    const std::size_t count =
        ops::run({.context = maker, .device = *named}, op, operands, words, made);
    named.confirm([&] {
      for (const ops::OpResult& each : made.first(count)) maker.discard(each.handle);
    });
    for (std::size_t i = 0; i < count; ++i) copy_result(made[i], room[i]);
    if (result_count != nullptr) *result_count = count;
  });
}

ebb_status ebb_tensor_write(ebb_context context, ebb_handle handle, const void* data,
                            uint64_t bytes) {
  return guarded(
      [&] { ops::write(context_of(context), handle, bytes_at(data, bytes, "tensor_write")); });
}

ebb_status ebb_tensor_read(ebb_context context, ebb_handle handle, void* data, uint64_t bytes) {
  return guarded([&] {
    if (bytes != 0) needed(static_cast<std::byte*>(data), "tensor_read");
    ops::read(context_of(context), handle, {static_cast<std::byte*>(data), bytes});
  });
}

}  // extern "C"
