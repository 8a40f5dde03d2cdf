#include "fuzz/support/ops_machine.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "ebb/base/dtype.hpp"
#include "ebb/base/shape.hpp"
#include "support/cpu_time.hpp"

namespace ebb::fuzz {
namespace {

// Attributes may ask for any size: what does not fit here is refused.
constexpr std::uint64_t kBudget = 4 << 20;
constexpr std::size_t kMostTensors = 24;
constexpr int kMostCalls = 400;
constexpr std::int64_t kMostElements = 1 << 14;  // of an operand: it is filled one by one
constexpr std::size_t kMostResults = 16;

constexpr ebb_dtype kUsual[] = {EBB_FLOAT32, EBB_FLOAT32, EBB_FLOAT32, EBB_INT32, EBB_BOOL};
constexpr float kOddFloats[] = {std::numeric_limits<float>::quiet_NaN(),
                                std::numeric_limits<float>::infinity(),
                                -std::numeric_limits<float>::infinity(),
                                std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::denorm_min(),
                                -0.0f,
                                1e9f,
                                -3e9f};

}  // namespace

OpsMachine::OpsMachine(Input in) : in_(in) {
  ebb_device_options device{};
  device.size = sizeof(device);
  device.kind = EBB_DEVICE_SYSTEM;
  device.name = "fuzz:ops";
  device.budget = kBudget;
  must(ebb_device_open(&device, &device_), "device_open");
  ebb_context_options context{};
  context.size = sizeof(context);
  context.name = "fuzz";
  must(ebb_context_create(&context, &context_), "context_create");
}

void OpsMachine::run() {
  while (calls_ < kMostCalls && !in_.empty()) step();
}

void OpsMachine::finish() {
  must(ebb_context_destroy(context_), "context_destroy");
  for (const OpenTape& tape : tapes_)
    must(ebb_tape_close(tape.name), "closing a tape of an ended context");
  for (const OpenProgram& program : programs_)
    must(ebb_program_free(program.name), "freeing a program of an ended context");
  must(ebb_audit(), "audit at the end");
  ebb_device_info info{};
  info.size = sizeof(info);
  must(ebb_device_describe(device_, &info), "device_describe");
  if (info.in_use != 0) give_up("bytes in use at the end");
  must(ebb_device_close(device_), "device_close");
}

void OpsMachine::step() {
  ++calls_;
  const std::uint8_t which = in_.byte();
  const ops::OpSpec* spec = &ops::kTable[which % ops::kOpCount];
  std::uint32_t id = spec->id;
  const std::uint8_t kind = in_.byte();
  if (kind >= (programs_.empty() ? 0xE0 : 0xA0) && kind < (programs_.empty() ? 0xEC : 0xC0)) {
    return program_step();
  }
  if (kind >= (tapes_.empty() ? 0xEC : 0xC0) && kind < 0xFC) return tape_step();
  if (kind >= 0xFC) {
    id = static_cast<std::uint32_t>(in_.word());
    spec = ops::find_op(static_cast<ops::OpId>(id));
  }
  inputs_.clear();
  attributes_.clear();
  if (spec != nullptr) {
    const std::size_t least = spec->least_inputs;
    const std::size_t most = std::min<std::size_t>(spec->most_inputs, least + 4);
    std::size_t count = least + in_.byte() % (most - least + 1);
    if (in_.byte() >= 0xFC) count = in_.byte() % 8;
    for (std::size_t i = 0; i < count; ++i) inputs_.push_back(operand());
    add_attributes(*spec);
  }
  ebb_op_result results[kMostResults] = {};
  const std::size_t room = in_.byte() < 0xF8 ? kMostResults : in_.byte() % kMostResults;
  std::size_t made = 0;
  std::uint64_t bytes = bytes_of_inputs();
  note_draws(spec);
  const test::CpuTime spent;
  const ebb_status status =
      ebb_op_run(context_, device_, id, inputs_.data(), inputs_.size(), attributes_.data(),
                 attributes_.size(), results, room, &made);
  const double ms = spent.ms();
  if (status != EBB_OK) {
    check_error(spec, status);
    if (made != 0) give_up("results of a call that failed");
  } else {
    ++succeeded_;
    if (spec == nullptr || made > room) give_up("more results than room");
    for (std::size_t i = 0; i < made; ++i) bytes += check_result(results[i]);
  }
  if (bytes < test::kSmallBytes && ms > test::kMostMsOfASmallCall) {
    std::fprintf(stderr, "fuzz: %s took %.0f ms for %llu bytes\n",
                 spec == nullptr ? "none" : std::string(spec->name).c_str(), ms,
                 static_cast<unsigned long long>(bytes));
    give_up("a small call that takes long");
  }
  must(ebb_audit(), "audit after a call");
}

// ---- operands

ebb_handle OpsMachine::operand() {
  const std::uint8_t kind = in_.byte();
  if (kind < (tapes_.empty() ? 0x90 : 0x30) || tensors_.empty()) return make_tensor();
  if (kind < 0x90) return noted_tensor();
  if (kind < 0xA0 && !inputs_.empty()) return inputs_.back();  // one tensor twice
  if (kind < 0xF4) return tensors_[kind % tensors_.size()];
  if (kind < 0xFA) return 0;
  if (kind < 0xFD) return in_.word();
  const ebb_handle ended = tensors_[kind % tensors_.size()];
  must(ebb_tensor_dispose(context_, ended), "tensor_dispose");
  return ended;
}

// Often the shape that was there before: many operations want two that agree.
void OpsMachine::read_shape() {
  if (in_.byte() < 0x60) return;
  shape_.resize(in_.byte() % 16 < 14 ? in_.byte() % 5 : in_.byte() % 7);
  if (!shape_.empty() && in_.byte() >= 0xF0) return read_empty_shape();
  std::int64_t elements = 1;
  for (std::int64_t& dim : shape_) {
    const std::uint8_t kind = in_.byte();
    dim = kind < 0xF0 ? 1 + kind % 5 : kind % 3 == 0 ? 0 : kind % 40;
    if (elements * dim > kMostElements) dim = 1;
    elements *= dim;
  }
}

// A tensor without elements has no memory, so its other extents may be any.
void OpsMachine::read_empty_shape() {
  for (std::int64_t& dim : shape_) {
    const std::uint8_t kind = in_.byte();
    dim = kind < 0x80 ? 1 + kind % 5 : static_cast<std::int64_t>(edge(62));
  }
  shape_[in_.byte() % shape_.size()] = 0;
}

ebb_handle OpsMachine::make_tensor() {
  read_shape();
  const std::uint8_t kind = in_.byte();
  ebb_tensor_spec spec{};
  spec.size = sizeof(spec);
  spec.device = device_;
  spec.dtype = kind < 0xE0 ? kUsual[kind % std::size(kUsual)] : kind % 14;
  spec.rank = static_cast<std::uint32_t>(shape_.size());
  spec.dims = shape_.data();
  ebb_handle made = 0;
  if (ebb_tensor_create(context_, &spec, &made) != EBB_OK) return 0;
  fill(made, static_cast<ebb_dtype>(spec.dtype));
  keep(made);
  return made;
}

void OpsMachine::fill(ebb_handle handle, ebb_dtype dtype) {
  const std::size_t count = Shape(shape_).elements();
  const std::size_t size = size_of(static_cast<DType>(dtype));
  bytes_.assign(count * size, 0);
  const std::uint8_t kind = in_.byte();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t value = kind < 0x40 ? static_cast<std::uint8_t>(i) : in_.byte();
    unsigned char* at = bytes_.data() + i * size;
    if (dtype == EBB_FLOAT32 || dtype == EBB_COMPLEX64) {
      const float number = value >= 0xF0 ? kOddFloats[value % std::size(kOddFloats)]
                                         : static_cast<float>(value % 32) / 4 - 2;
      std::memcpy(at, &number, sizeof(number));
    } else if (dtype == EBB_INT32) {
      std::int32_t number = value % 9 - 2;
      if (value >= 0xF8) number = std::numeric_limits<std::int32_t>::min() + value % 3;
      if (value >= 0xFC) number = std::numeric_limits<std::int32_t>::max() - value % 3;
      std::memcpy(at, &number, sizeof(number));
    } else if (dtype == EBB_BOOL) {
      *at = value & 1;
    } else {
      for (std::size_t j = 0; j < size; ++j) at[j] = in_.byte();
    }
  }
  must(ebb_tensor_write(context_, handle, bytes_.data(), bytes_.size()), "tensor_write");
}

void OpsMachine::keep(ebb_handle handle) {
  if (tensors_.size() < kMostTensors) {
    tensors_.push_back(handle);
    return;
  }
  ebb_handle& place = tensors_[next_++ % kMostTensors];
  must(ebb_tensor_dispose(context_, std::exchange(place, handle)), "tensor_dispose");
}

// ---- attributes

void OpsMachine::add_attributes(const ops::OpSpec& spec) {
  for (std::size_t i = 0; i < spec.attribute_count(); ++i) add_attribute(spec.attributes[i].type);
  const std::uint8_t kind = in_.byte();
  if (kind >= 0xFC) attributes_.push_back(integer());
  if (kind < 0x04 && !attributes_.empty()) attributes_.pop_back();
}

void OpsMachine::add_attribute(ops::AttributeType type) {
  using enum ops::AttributeType;
  switch (type) {
    case kBoolean:
      attributes_.push_back(in_.byte() < 0xFC ? in_.byte() % 2 : number());
      break;
    case kDType:
      attributes_.push_back(in_.byte() < 0xF0
                                ? static_cast<double>(kUsual[in_.byte() % std::size(kUsual)])
                                : integer());
      break;
    case kIntegers:
    case kNumbers: {
      const std::uint8_t count = in_.byte() % 7;
      attributes_.push_back(in_.byte() < 0xFA ? count : number());
      for (int i = 0; i < count; ++i) {
        attributes_.push_back(type == kIntegers ? integer() : number());
      }
      break;
    }
    case kInteger:
      attributes_.push_back(integer());
      break;
    default:
      attributes_.push_back(number());
  }
}

double OpsMachine::integer() {
  const std::uint8_t kind = in_.byte();
  if (kind < 0xC0) return kind % 4;
  if (kind < 0xF0) return kind % 16 - 5;
  if (kind < 0xF4) return number();
  const auto large =
      static_cast<double>(kind < 0xF8 ? std::uint64_t{1} << in_.byte() % 64 : edge(63));
  return kind % 2 == 0 ? large : -large;
}

// At or beside a power of two where some number ends: the signed and unsigned ones of 32 and 64
// bits, and the integers that a double tells apart.
std::uint64_t OpsMachine::edge(unsigned most) {
  static constexpr unsigned kPowers[] = {31, 31, 32, 52, 53, 62, 63};
  const unsigned power = std::min(most, kPowers[in_.byte() % std::size(kPowers)]);
  const std::uint64_t beside = in_.byte() % 5;
  const std::uint64_t around = (std::uint64_t{1} << power) + beside - 2;
  return std::min(around, std::uint64_t{1} << most);
}

double OpsMachine::number() {
  const std::uint8_t kind = in_.byte();
  if (kind < 0xE0) return static_cast<double>(kind % 32) / 8 - 1;
  if (kind < 0xF8) return kOddFloats[kind % std::size(kOddFloats)];
  double any = 0;
  const std::uint64_t word = in_.word();
  std::memcpy(&any, &word, sizeof(any));
  return any;
}

// ---- what came of it

void OpsMachine::check_error(const ops::OpSpec* spec, ebb_status status) const {
  std::string start = "[";
  start += spec == nullptr ? "run" : spec->name;
  start += "] ";
  if (status == EBB_INTERNAL) give_up("an internal error");
  if (std::strncmp(ebb_last_error(), start.c_str(), start.size()) != 0) {
    std::string what = "an error that does not begin with ";
    give_up(what.append(start).c_str());
  }
}

// The bytes of the tensors that it names, as far as they are live.
std::uint64_t OpsMachine::bytes_of_inputs() const {
  std::uint64_t bytes = 0;
  for (const ebb_handle input : inputs_) {
    ebb_tensor_info info{};
    info.size = sizeof(info);
    if (ebb_tensor_describe(context_, input, &info) == EBB_OK) bytes += info.bytes;
  }
  return bytes;
}

// What its elements take.
std::uint64_t OpsMachine::check_result(const ebb_op_result& result) {
  ebb_tensor_info info{};
  info.size = sizeof(info);
  must(ebb_tensor_describe(context_, result.handle, &info), "a result");
  if (info.dtype != result.dtype || info.rank != result.rank) give_up("a result's dtype and rank");
  const std::uint64_t bytes =
      bytes_of(Shape({result.shape, result.rank}), size_of(static_cast<DType>(result.dtype)));
  bytes_.resize(bytes);
  must(ebb_tensor_read(context_, result.handle, bytes_.data(), bytes), "reading a result");
  keep(result.handle);
  return bytes;
}

}  // namespace ebb::fuzz
