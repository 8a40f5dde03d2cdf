#include "ebb/ops/run.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "ops/kernels.hpp"
#include "ops/meaning.hpp"

namespace ebb::ops {
namespace {

constinit std::atomic<const KernelTable*> host_kernels{nullptr};

const OpSpec& known(OpId op) {
  const OpSpec* spec = find_op(op);
  if (spec == nullptr) {
    raise(ErrorKind::kInvalidArgument, "[run] {} names no operation of this build's table", op);
  }
  return *spec;
}

void compute(OpCall& call) {
  const KernelTable* kernels = kernels_for(call.device());
  const Kernel kernel = kernels == nullptr ? nullptr : (*kernels)[call.spec().id];
  if (kernel == nullptr) [[unlikely]] {
    raise(ErrorKind::kUnsupported, "[{}] not built: device {} {}", call.spec().name,
          call.device().name(),
          kernels == nullptr ? "has no kernels in this build" : "has no kernel for it");
  }
  kernel(call);
}

// The memory's error names the operation that asked for it: `[Add] ...`.
[[noreturn]] void raise_in_the_name_of(const OpSpec& spec, const OutOfMemory& error) {
  const std::string_view text = error.what();
  const std::size_t end = text.find("] ");
  const std::string_view rest = end == text.npos ? text : text.substr(end + 2);
  throw OutOfMemory(fmt::format("[{}] {}", spec.name, rest));
}

bool is_in_the_name_of(const OpSpec& spec, const Error& error) {
  std::string_view text = error.what();
  if (!text.starts_with('[')) return false;
  text.remove_prefix(1);
  return text.starts_with(spec.name) && text.substr(spec.name.size()).starts_with(']');
}

Operand checked_operand(Context& context, Handle tensor, std::size_t bytes, std::string_view who) {
  Operand operand;
  context.resolve({&tensor, 1}, {&operand, 1}, who);
  if (tensor == 0) raise(ErrorKind::kStaleHandle, "[{}] 0 names no tensor", who);
  const std::uint64_t has = bytes_of(operand.shape, size_of(operand.dtype));
  if (has != bytes) {
    raise(ErrorKind::kInvalidArgument, "[{}] {} bytes were given, the tensor has {}", who, bytes,
          has);
  }
  return operand;
}

}  // namespace

void install_kernels(const KernelTable& table) noexcept {
  host_kernels.store(&table, std::memory_order_release);
}

const KernelTable* kernels_for(const Device& device) noexcept {
  const bool addressable =
      device.kind() == DeviceKind::kSystem || device.kind() == DeviceKind::kCustom;
  return addressable ? host_kernels.load(std::memory_order_acquire) : nullptr;
}

namespace {

std::size_t run_once(const RunPlace& place, const OpSpec& spec, const MeaningTable::Row& row,
                     std::span<const Handle> inputs, std::span<const double> attributes,
                     std::span<OpResult> results) {
  OpCall call({place.context, place.device, place.region, place.site}, spec, inputs, attributes);
  try {
    call.settle(row.strided);
    row.meaning(call);
    if (!call.is_done()) compute(call);
  } catch (const OutOfMemory& error) {
    raise_in_the_name_of(spec, error);
  } catch (const Error& error) {  // a library's below the kernel
    if (is_in_the_name_of(spec, error)) throw;
    throw Error(error.kind(), fmt::format("[{}] {}", spec.name, error.what()));
  }
  if (call.outputs() > results.size()) {
    call.fail("it has {} results, there is room for {}", call.outputs(), results.size());
  }
  for (std::size_t i = 0; i < call.outputs(); ++i) {
    const Output& output = call.output(i);
    results[i] = {output.handle, output.dtype, output.shape};
  }
  call.commit();
  return call.outputs();
}

}  // namespace

std::size_t run(const RunPlace& place, OpId op, std::span<const Handle> inputs,
                std::span<const double> attributes, std::span<OpResult> results) {
  const OpSpec& spec = known(op);
  const MeaningTable::Row& row = meanings()[op];
  if (row.meaning == nullptr) [[unlikely]] {
    raise(ErrorKind::kUnsupported, "[{}] not built: this build does not know what it means",
          spec.name);
  }
  while (true) {
    try {
      return run_once(place, spec, row, inputs, attributes, results);
    } catch (const LayoutChanged&) {
    }
  }
}

void write(Context& context, Handle tensor, std::span<const std::byte> bytes) {
  Operand operand = checked_operand(context, tensor, bytes.size(), "tensor_write");
  context.make_dense(tensor, operand);
  if (!bytes.empty()) std::memcpy(operand.data, bytes.data(), bytes.size());
}

void read(Context& context, Handle tensor, std::span<std::byte> bytes) {
  pack(checked_operand(context, tensor, bytes.size(), "tensor_read"), bytes.data());
}

}  // namespace ebb::ops
