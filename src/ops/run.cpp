#include "ebb/ops/run.hpp"

#include <algorithm>
#include <atomic>
#include <optional>

#include "ebb/memory/device_link.hpp"
#include "ops/chain.hpp"
#include "ops/kernels.hpp"
#include "ops/meaning.hpp"
#include "ops/recorder.hpp"
#include "ops/update.hpp"
#include "tensor/copies.hpp"
#include "tensor/looks.hpp"

namespace ebb::ops {
namespace {

constinit std::array<std::atomic<const KernelTable*>, kDeviceKinds> tables{};

const OpSpec& known(OpId op) {
  const OpSpec* spec = find_op(op);
  if (spec == nullptr) {
    raise(ErrorKind::kInvalidArgument, "[run] {} names no operation of this build's table", op);
  }
  return *spec;
}

Kernel kernel_of(const OpCall& call) {
  const KernelTable* kernels = kernels_for(call.device());
  const Kernel kernel = kernels == nullptr ? nullptr : (*kernels)[call.spec().id];
  if (kernel == nullptr) [[unlikely]] {
    raise(ErrorKind::kUnsupported, "[{}] not built: device {} {}", call.spec().name,
          call.device().name(),
          kernels == nullptr ? "has no kernels in this build" : "has no kernel for it");
  }
  return kernel;
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

Operand checked_operand(const Context& context, Handle tensor, std::size_t bytes,
                        std::string_view who) {
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

constinit thread_local Recorder* recorder = nullptr;

namespace {
// What `recorder` is while no operation is under way.
constinit thread_local Recorder* innermost = nullptr;

bool is_heard_now() noexcept { return innermost != nullptr && recorder == nullptr; }
}  // namespace

void check_not_heard(std::string_view who) {
  if (!is_heard_now()) return;
  raise(ErrorKind::kWrongState,
        "[{}] inside a callback of an operation that a tape or a program of this thread hears",
        who);
}

bool Recorder::is_linked_here() const noexcept {
  for (const Recorder* each = innermost; each != nullptr; each = each->outer_) {
    if (each == this) return true;
  }
  return false;
}

bool Recorder::any_replays() noexcept {
  for (const Recorder* each = innermost; each != nullptr; each = each->outer_) {
    if (each->replays()) return true;
  }
  return false;
}

void Recorder::link() noexcept {
  EBB_CHECK(!is_heard_now());
  outer_ = innermost;
  recorder = innermost = this;
  copy_hook = [](Handle from, Handle to) {
    innermost->copied(from, to);  // also while a call is under way, which nobody else hears
  };
  look_hook = [](Handle tensor, const Operand& operand) { innermost->looked_at(tensor, operand); };
}

void Recorder::unlink() noexcept {
  EBB_CHECK(is_linked_here() && "a tape or a draft of a program ends on the thread that made it");
  EBB_CHECK(!is_heard_now());
  Recorder** link = &innermost;
  while (*link != this) link = &(*link)->outer_;
  *link = outer_;
  recorder = innermost;
  if (innermost != nullptr) return;
  copy_hook = nullptr;
  look_hook = nullptr;
}

void install_kernels(const KernelTable& table) noexcept {
  install_kernels(DeviceKind::kSystem, table);
  install_kernels(DeviceKind::kCustom, table);
}

void install_kernels(DeviceKind kind, const KernelTable& table) noexcept {
  tables[static_cast<std::size_t>(kind)].store(&table, std::memory_order_release);
}

const KernelTable* kernels_for(const Device& device) noexcept {
  return tables[static_cast<std::size_t>(device.kind())].load(std::memory_order_acquire);
}

namespace {

std::size_t run_once(const RunPlace& place, const OpSpec& spec, const MeaningTable::Row& row,
                     std::span<const Handle> inputs, std::span<const double> attributes,
                     std::span<OpResult> results, Recorder* listener) {
  OpCall call({place.context, place.device, place.region, place.site, place.stream}, spec, inputs,
              attributes, results.size());
  try {
    if (listener != nullptr) [[unlikely]]
      listener->began(call);
    call.make_dense_unless(row.strided);
    row.meaning(call);
    if (!call.is_done() && (row.data == Data::kChecked || !call.made_only_empty())) {
      kernel_of(call)(call);
    }
    call.check_room(call.outputs());
    for (std::size_t i = 0; i < call.outputs(); ++i) {
      const Output& output = call.output(i);
      results[i] = {output.handle, output.dtype, output.shape};
    }
    if (listener != nullptr) [[unlikely]]
      listener->ended(call);
  } catch (const OutOfMemory& error) {
    raise_in_the_name_of(spec, error);
  } catch (const Error& error) {  // a library's below the kernel
    if (is_in_the_name_of(spec, error)) throw;
    throw Error(error.kind(), fmt::format("[{}] {}", spec.name, error.what()));
  }
  call.commit();
  return call.outputs();
}

std::size_t run_until_laid_out(const RunPlace& place, const OpSpec& spec,
                               const MeaningTable::Row& row, std::span<const Handle> inputs,
                               std::span<const double> attributes, std::span<OpResult> results,
                               Recorder* listener) {
  while (true) {
    try {
      return run_once(place, spec, row, inputs, attributes, results, listener);
    } catch (const LayoutChanged&) {
    }
  }
}

std::size_t run_heard(const RunPlace& place, const OpSpec& spec, std::span<const Handle> inputs,
                      std::span<const double> attributes, std::span<OpResult> results) {
  const MeaningTable::Row& row = meanings()[spec.id];
  if (row.meaning == nullptr) [[unlikely]] {
    raise(ErrorKind::kUnsupported, "[{}] not built: this build does not know what it means",
          spec.name);
  }
  Recorder* const listener = recorder;
  if (listener == nullptr) [[likely]]
    return run_until_laid_out(place, spec, row, inputs, attributes, results, nullptr);
  const Unheard inside;
  try {
    return run_until_laid_out(place, spec, row, inputs, attributes, results, listener);
  } catch (...) {
    listener->failed();
    throw;
  }
}

}  // namespace

std::size_t run(const RunPlace& place, OpId op, std::span<const Handle> inputs,
                std::span<const double> attributes, std::span<OpResult> results) {
  return run_heard(place, known(op), inputs, attributes, results);
}

std::size_t run_in_program(const RunPlace& place, OpId op, std::span<const Handle> inputs,
                           std::span<const double> attributes, std::span<OpResult> results) {
  const OpSpec* spec = find_program_op(op);
  return run_heard(place, spec != nullptr ? *spec : known(op), inputs, attributes, results);
}

UpdateInPlace::UpdateInPlace(const RunPlace& place, OpId op, std::span<const Handle> inputs,
                             std::span<const double> attributes, std::span<const char> over,
                             std::span<OpResult> results)
    : call_({place.context, place.device, place.region, place.site, place.stream}, known(op),
            inputs, attributes, results.size()),
      kernel_(kernel_of(call_)) {
  const MeaningTable::Row& row = meanings()[op];
  try {
    call_.write_over(over);
    call_.make_dense_unless(row.strided);
    row.meaning(call_);
    call_.check_room(call_.outputs());
  } catch (const OutOfMemory& error) {
    raise_in_the_name_of(call_.spec(), error);
  }
  count_ = call_.outputs();
  for (std::size_t i = 0; i < count_; ++i) {
    const Output& output = call_.output(i);
    results[i] = {output.handle, output.dtype, output.shape};
  }
  call_.commit();
}

void write(const Context& context, Handle tensor, std::span<const std::byte> bytes) {
  Operand operand = checked_operand(context, tensor, bytes.size(), "tensor_write");
  context.make_dense(tensor, operand);
  write_operand(operand, bytes);
  if (recorder != nullptr) [[unlikely]]
    recorder->written(operand.memory);
}

namespace {

OpResult copy_made(const RunPlace& place, const Operand& from, MadeTensor& made) {
  Operand to;
  to.memory = std::move(made.memory);
  if (recorder != nullptr) [[unlikely]]
    recorder->written(to.memory);
  to.data = made.data;
  to.dtype = from.dtype;
  to.shape = from.shape;
  const std::size_t bytes = bytes_of(from.shape, size_of(from.dtype));
  Device& source = from.memory.device();
  if (&source == &place.device && source.link() != nullptr) {
    use_on_stream(from.memory, place.stream);
    source.link()->copy(place.stream, to.data, from.data, bytes);
  } else if (source.link() == nullptr) {
    write_operand(to, {from.data, bytes});
  } else if (place.device.link() == nullptr) {
    read_operand(from, {to.data, bytes});
  } else {
    std::vector<std::byte> between(bytes);
    read_operand(from, between);
    write_operand(to, between);
  }
  return {made.handle, from.dtype, from.shape};
}

}  // namespace

void use_on_stream(const StorageRef& memory, StreamId stream) {
  if (captured_memory != nullptr && captured_memory->ordered_later) return;
  const StreamId home = memory.home_stream();
  if (home == stream) return;
  memory.note_use(stream);
  Heap& heap = *memory.device().heap();
  if (const std::optional<Event> written = heap.record(home)) {
    heap.order(stream, *written);
  } else {
    heap.wait({home, heap.submitted(home)});
  }
}

OpResult copy_to(const RunPlace& place, Handle tensor) {
  if (place.device.foreign()) {
    raise(ErrorKind::kInvalidArgument, "[tensor_copy] {} is another runtime's device",
          place.device.name());
  }
  Operand from;
  place.context.resolve({&tensor, 1}, {&from, 1}, "tensor_copy");
  if (!from) raise(ErrorKind::kStaleHandle, "[tensor_copy] 0 names no tensor");
  look_at(tensor, from);
  place.context.make_dense(tensor, from);
  MadeTensor made = place.context.make_held({.device = &place.device,
                                             .dtype = from.dtype,
                                             .shape = from.shape,
                                             .region = place.region,
                                             .site = place.site,
                                             .stream = place.stream});
  try {
    return copy_made(place, from, made);
  } catch (...) {
    place.context.discard(made.handle);
    throw;
  }
}

void read(const Context& context, Handle tensor, std::span<std::byte> bytes) {
  Operand operand = checked_operand(context, tensor, bytes.size(), "tensor_read");
  look_at(tensor, operand);
  context.make_readable(tensor, operand);
  read_operand(operand, bytes);
}

}  // namespace ebb::ops
