#include "ops/op_call.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ebb/ops/run.hpp"
#include "ops/kernels.hpp"

namespace ebb::ops {
namespace {

std::string allowed_count(std::size_t least, std::size_t most) {
  if (most == kAny) return fmt::format("at least {}", least);
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

// Exact in a double, and in 64 bits with room to add.
bool is_integer(double value) noexcept {
  return std::abs(value) <= 0x1p53 && value == std::trunc(value);
}

bool fits(AttributeType type, double value) noexcept {
  switch (type) {
    case AttributeType::kBoolean:
      return value == 0 || value == 1;
    case AttributeType::kDType:
      return value >= 1 && value < 256 && is_integer(value) &&
             size_of(static_cast<DType>(static_cast<int>(value))) != 0;
    case AttributeType::kInteger:
    case AttributeType::kIntegers:
      return is_integer(value);
    default:
      return true;
  }
}

std::string_view expected(AttributeType type) noexcept {
  switch (type) {
    case AttributeType::kBoolean:
      return "0 or 1";
    case AttributeType::kDType:
      return "a dtype of fixed size";
    default:
      return "an integer of at most 2^53";
  }
}

// For all that a call may leave there, so that keeping it cannot fail.
void make_room(std::vector<StorageRef>& kept, std::size_t inputs) {
  constexpr std::size_t kResults = 128;
  // arithmetic: of vectors in memory; an input, and what it was
  const std::size_t needed = kept.size() + 2 * inputs + kResults;
  if (kept.capacity() < needed) kept.reserve(std::max(needed, 2 * kept.size()));
}

}  // namespace

constinit thread_local CapturedMemory* captured_memory = nullptr;

OpCall::OpCall(Place place, const OpSpec& spec, std::span<const Handle> inputs,
               std::span<const double> attributes, std::size_t room)
    : place_(place), spec_(spec), handles_(inputs), values_(attributes), room_(room) {
  if (place.device.foreign()) {
    fail("device {} is another runtime's, one of Ebb's own is needed", place.device.name());
  }
  if (captured_memory != nullptr) [[unlikely]]
    make_room(captured_memory->kept, inputs.size());
  if (spec.attributes[0].type != AttributeType::kNone || !attributes.empty()) take_attributes();
  take_operands(inputs);
}

OpCall::~OpCall() {
  if (captured_memory != nullptr) [[unlikely]]
    keep_captured();
  for (const MadeTensor& made : workspaces_) place_.context.discard(made.handle);
  if (committed_) return;
  for (std::size_t i = 0; i < output_count_; ++i) {
    if (output(i).handle != 0) place_.context.discard(output(i).handle);
  }
}

// What was queued is not done now: each replay reads and writes this memory again.
void OpCall::keep_captured() noexcept {
  std::vector<StorageRef>& kept = captured_memory->kept;
  const auto keep = [&](StorageRef& memory) {
    if (memory) kept.push_back(std::move(memory));
  };
  for (Operand& operand : operands_) keep(operand.memory);
  for (std::size_t i = 0; i < output_count_; ++i) keep(output(i).memory);
  for (MadeTensor& made : workspaces_) keep(made.memory);
}

void OpCall::take_operands(std::span<const Handle> inputs) {
  if (inputs.size() < spec_.least_inputs ||
      (inputs.size() > spec_.most_inputs && spec_.most_inputs != kAny)) [[unlikely]] {
    fail("{} inputs were given, {} are allowed", inputs.size(),
         allowed_count(spec_.least_inputs, spec_.most_inputs));
  }
  if (inputs.size() > kInline) {
    far_operands_.resize(inputs.size());
    operands_ = far_operands_;
  } else {
    for (std::size_t i = 0; i < inputs.size(); ++i) near_operands_.add();
    operands_ = {&near_operands_[0], inputs.size()};
  }
  strided_ = place_.context.resolve(inputs, operands_, spec_.name);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (operands_[i]) {
      if (&operands_[i].memory.device() != &place_.device) [[unlikely]] {
        fail("input {} is on device {}, the call on {}", i, operands_[i].memory.device().name(),
             place_.device.name());
      }
    } else if (i < spec_.least_inputs || spec_.most_inputs == kAny) [[unlikely]] {
      fail("input {} was left out, it is needed", i);
    }
  }
}

void OpCall::take_attributes() {
  std::size_t at = 0;
  for (std::size_t i = 0; i < kMostAttributes; ++i) {
    const Attribute& attribute = spec_.attributes[i];
    if (attribute.type == AttributeType::kNone) break;
    at_[i] = static_cast<std::uint16_t>(at);
    at = take_attribute(attribute, at);
  }
  if (at != values_.size()) {
    fail("{} attribute values were given, {} are allowed", values_.size(), at);
  }
}

// Checks the attribute that begins at `at`; where the next one begins.
std::size_t OpCall::take_attribute(const Attribute& attribute, std::size_t at) {
  if (at >= values_.size()) fail("attribute {} is missing", attribute.name);
  const bool list =
      attribute.type == AttributeType::kIntegers || attribute.type == AttributeType::kNumbers;
  std::size_t count = 1;
  if (list) {
    const double length = values_[at++];
    if (!(length >= 0 && is_integer(length) &&
          length <= static_cast<double>(values_.size() - at))) {
      fail("attribute {} has {} values, {} follow", attribute.name, length, values_.size() - at);
    }
    count = static_cast<std::size_t>(length);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!fits(attribute.type, values_[at + i])) {
      fail("attribute {} was {}, {} is allowed", attribute.name, values_[at + i],
           expected(attribute.type));
    }
  }
  const std::size_t next = at + count;  // arithmetic: at most values_.size()
  if (next > std::numeric_limits<std::uint16_t>::max()) {
    fail("attribute {} has {} values, fewer are allowed", attribute.name, count);
  }
  return next;
}

IntList OpCall::integers(std::size_t i) const {
  const std::span<const double> values = numbers(i);
  if (values.size() > IntList::kMost) {
    fail("attribute {} has {} values, at most {} are allowed", spec_.attributes[i].name,
         values.size(), IntList::kMost);
  }
  IntList list;
  for (const double value : values) list.push_back(static_cast<std::int64_t>(value));
  return list;
}

Shape OpCall::shape(std::size_t i) const {
  const IntList dims = integers(i);
  if (dims.size() > kMaxRank)
    fail("rank {} was given, at most {} is allowed", dims.size(), kMaxRank);
  for (const std::int64_t dim : dims) {
    if (dim < 0) {
      fail("shape {} was given, extents of at least 0 are allowed", dims_to_string(dims));
    }
  }
  return Shape(dims);
}

Output& OpCall::next_output() {
  if (output_count_ < kInline) {
    ++output_count_;
    return near_.add();
  }
  far_.emplace_back();
  return output(output_count_++);
}

MadeTensor OpCall::new_tensor(DType dtype, const Shape& shape) const {
  const TensorSpec spec{.device = &place_.device,
                        .dtype = dtype,
                        .shape = shape,
                        .region = place_.region,
                        .site = place_.site,
                        .stream = place_.stream};
  if (captured_memory != nullptr) [[unlikely]]
    return captured_memory->make(place_.context, spec);
  return place_.context.make_held(spec);
}

Output& OpCall::make(DType dtype, const Shape& shape) {
  Output& made = next_output();
  MadeTensor tensor = new_tensor(dtype, shape);
  made.handle = tensor.handle;
  made.memory = std::move(tensor.memory);
  made.data = tensor.data;
  made.dtype = dtype;
  made.shape = shape;
  return made;
}

Output& OpCall::make_instead(std::size_t input) {
  const Operand& operand = operands_[input];
  if (over_.empty() || over_[input] == 0) return make(operand.dtype, operand.shape);
  Output& made = next_output();
  made.handle = place_.context.share(handles_[input], place_.region);
  made.data = operand.data;
  made.dtype = operand.dtype;
  made.shape = operand.shape;
  return made;
}

Output& OpCall::view(std::size_t input, std::uint64_t byte_offset, DType dtype, const Shape& shape,
                     const Strides& strides) {
  Output& made = next_output();
  made.handle = place_.context.strided_view(handles_[input], operands_[input], byte_offset, strides,
                                            {.device = &place_.device,
                                             .dtype = dtype,
                                             .shape = shape,
                                             .region = place_.region,
                                             .site = place_.site});
  if (made.handle == 0) throw LayoutChanged();
  made.data = operands_[input].data + byte_offset;
  made.dtype = dtype;
  made.shape = shape;
  return made;
}

void OpCall::make_dense_but(Strided taken) {
  constexpr std::size_t kLastBit = 7;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const unsigned bit = 1u << std::min(i, kLastBit);
    if (!operands_[i].dense && (static_cast<unsigned>(taken) & bit) == 0) make_dense(i);
  }
}

// The copy is made when the work is replayed, so it is this call's alone: the tensor, which may be
// older than the capture, stays as it is.
void OpCall::pack_for_replay(std::size_t i) {
  Operand& operand = operands_[i];
  if (operand.dense) return;
  std::byte* packed = workspace(bytes_of(operand.shape, size_of(operand.dtype)));
  pack_to(i, packed);
  captured_memory->kept.push_back(std::move(operand.memory));
  operand.memory = std::move(workspaces_.back().memory);
  operand.data = packed;
  operand.dense = true;
}

void OpCall::pack_to(std::size_t i, std::byte* to) {
  const Operand& operand = operands_[i];
  DeviceLink* link = place_.device.link();
  if (link == nullptr) return pack(operand, to);
  use_on_stream(operand.memory, place_.stream);
  pack_on(*link, place_.stream, operand, to);
}

Output& OpCall::make_packed(std::size_t input, const Shape& shape) {
  Output& made = make(operands_[input].dtype, shape);
  pack_to(input, made.data);
  return made;
}

std::byte* OpCall::workspace(std::uint64_t bytes) {
  workspaces_.reserve(workspaces_.size() + 1);
  workspaces_.push_back(new_tensor(DType::kUint8, Shape{static_cast<std::int64_t>(bytes)}));
  return workspaces_.back().data;
}

void OpCall::convert_input(std::size_t i, DType dtype) {
  if (operands_[i].dtype == dtype) return;
  workspaces_.reserve(workspaces_.size() + 1);
  const double attribute = static_cast<double>(dtype);
  OpResult converted;
  run({place_.context, place_.device, place_.region, place_.site, place_.stream}, op_id("Cast"),
      handles_.subspan(i, 1), {&attribute, 1}, {&converted, 1});
  workspaces_.push_back({.handle = converted.handle, .memory = {}, .data = nullptr});
  operands_[i] = Operand();  // what it held is let go before resolve() takes the lock
  place_.context.resolve({&converted.handle, 1}, operands_.subspan(i, 1), spec_.name);
}

void OpCall::fail_dtype(std::size_t input, std::string_view allowed) const {
  fail("input {} has dtype {}, {} is allowed", input, name_of(operands_[input].dtype), allowed);
}

}  // namespace ebb::ops
