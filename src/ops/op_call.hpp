// One call of an operation: its operands, its attributes, and the results as they come to be.
//
// The protocol, from entry to return:
//   1. the operands are resolved under one lock and held, before anything is allocated: the ladder
//      may run in any allocation that follows, and end their tensors, but not take their memory;
//   2. operands that are strided where the operation takes dense ones (the table of meanings says
//      which) are made dense, and stay so;
//   3. the meaning (src/ops, one for each operation) checks what was given, and makes the outputs;
//   4. the kernel (src/backends/<device>) fills them. It gets checked arguments only; what the
//      meaning worked out for it is in params().
// Where an output's shape depends on data, the kernel makes that output. An error on the way ends
// the outputs that were made: a call has all its results or leaves nothing behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

#include "ebb/base/checked.hpp"
#include "ebb/ops/table.hpp"
#include "ebb/tensor/context.hpp"
#include "ops/int_list.hpp"

namespace ebb::ops {

// A result: a tensor of the call's, held until the call is over.
struct Output {
  Handle handle = 0;
  StorageRef memory;
  std::byte* data = nullptr;
  DType dtype = DType::kUnknown;
  Shape shape;
};

// Which inputs of an operation may be strided: a bit each, the last one for all that follow.
enum class Strided : std::uint8_t { kNone = 0, kFirst = 1, kFirstTwo = 3, kAll = 255 };

// A view was asked for of an operand that another thread has made dense meanwhile. The call begins
// anew; that happens once a tensor at most.
struct LayoutChanged {};

// Room for some T's, made one by one: a call uses one or two of each, and setting up the rest would
// cost a small operation a good part of its time.
template <typename T, std::size_t kMost>
class InPlace {
 public:
  InPlace() noexcept {}  // NOLINT: the room is left as it is
  ~InPlace() {
    for (std::size_t i = 0; i < count_; ++i) std::destroy_at(&(*this)[i]);
  }
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

  // Pre: fewer than kMost are there.
  T& add() noexcept { return *::new (place(count_++)) T; }
  T& operator[](std::size_t i) noexcept { return *std::launder(static_cast<T*>(place(i))); }

 private:
  void* place(std::size_t i) noexcept { return &room_[sizeof(T) * i]; }

  alignas(T) std::byte room_[sizeof(T) * kMost];
  std::size_t count_ = 0;
};

// What becomes of the memory of operations that are captured, not done.
class CapturedMemory {
 public:
  std::vector<StorageRef> kept;  // operands, results and workspaces of each call
  // Whoever replays it sees to it that operands of other streams are there (use_on_stream).
  bool ordered_later = false;

  // A tensor that a call asks for: a result, or its workspace.
  virtual MadeTensor make(const Context& context, const TensorSpec& spec) {
    return context.make_held(spec);
  }

 protected:
  ~CapturedMemory() = default;
};

// While this thread captures; otherwise null.
extern constinit thread_local CapturedMemory* captured_memory;

class OpCall {
 public:
  // What the caller chose beside the operation itself.
  struct Place {
    Context context;
    Device& device;
    RegionId region = 0;
    SiteId site = 0;
    StreamId stream = kDefaultStream;
  };

  // `inputs` and `attributes` must outlive the call. Throws where the counts of inputs or
  // attributes are not what the table says, or an input has ended.
  // `room` is how many results the caller can take.
  OpCall(Place place, const OpSpec& spec, std::span<const Handle> inputs,
         std::span<const double> attributes, std::size_t room);
  ~OpCall();
  OpCall(const OpCall&) = delete;
  OpCall& operator=(const OpCall&) = delete;

  const OpSpec& spec() const noexcept { return spec_; }
  Device& device() const noexcept { return place_.device; }
  const Context& context() const noexcept { return place_.context; }
  const Place& place() const noexcept { return place_; }

  // ---- operands
  std::span<const Handle> handles() const noexcept { return handles_; }
  std::size_t inputs() const noexcept { return operands_.size(); }
  // False: an optional input that was left out.
  bool has(std::size_t i) const noexcept { return i < operands_.size() && bool(operands_[i]); }
  const Operand& input(std::size_t i) const noexcept { return operands_[i]; }
  template <typename T>
  const T* in(std::size_t i) const noexcept {
    return reinterpret_cast<const T*>(operands_[i].data);
  }

  // Makes dense what is strided and not in `taken`.
  void make_dense_unless(Strided taken) {
    if (strided_) [[unlikely]]
      make_dense_but(taken);
  }
  // The input is dense from now on, and so is its tensor, unless this is captured.
  void make_dense(std::size_t i) {
    if (captured_memory != nullptr) [[unlikely]]
      return pack_for_replay(i);
    place_.context.make_dense(handles_[i], operands_[i]);
  }
  // Puts a copy of the input, as another dtype, in its place.
  void convert_input(std::size_t i, DType dtype);

  // ---- attributes, by their position in the table
  bool boolean(std::size_t i) const noexcept { return values_[at_[i]] != 0; }
  std::int64_t integer(std::size_t i) const noexcept {
    return static_cast<std::int64_t>(values_[at_[i]]);
  }
  double number(std::size_t i) const noexcept { return values_[at_[i]]; }
  DType dtype(std::size_t i) const noexcept { return static_cast<DType>(integer(i)); }
  std::span<const double> numbers(std::size_t i) const noexcept {
    return values_.subspan(at_[i] + 1u, static_cast<std::size_t>(values_[at_[i]]));
  }
  // All of them, flat as they came, and where each begins.
  std::span<const double> attributes() const noexcept { return values_; }
  const std::uint16_t* attribute_offsets() const noexcept { return at_.data(); }
  IntList integers(std::size_t i) const;
  // integers(i) as extents: throws for a negative one.
  Shape shape(std::size_t i) const;

  // ---- results
  std::size_t outputs() const noexcept { return output_count_; }
  Output& output(std::size_t i) noexcept { return i < kInline ? near_[i] : far_[i - kInline]; }
  template <typename T>
  T* out(std::size_t i) noexcept {
    return reinterpret_cast<T*>(output(i).data);
  }
  // Throws where the caller cannot take so many results. To be asked before outputs are made whose
  // number is in the arguments.
  void check_room(std::uint64_t count) const {
    check(count <= room_, "it has {} results, there is room for {}", count, room_);
  }
  // The outputs have been made, and none has an element.
  bool made_only_empty() noexcept {
    for (std::size_t i = 0; i < output_count_; ++i) {
      if (!output(i).shape.empty()) return false;
    }
    return output_count_ > 0;
  }
  // The next output, its content unspecified.
  Output& make(DType dtype, const Shape& shape);
  // The next output: an input's elements, dense, in another shape.
  Output& make_packed(std::size_t input, const Shape& shape);
  // The next output, which takes an input's place: over its memory where the caller of the operation
  // allowed that (write_over), and then the input's elements are gone once the kernel has run.
  Output& make_instead(std::size_t input);
  // By input: whether a result may be over its memory. Must outlive the call.
  void write_over(std::span<const char> over) noexcept { over_ = over; }
  // The next output, over the memory of an input. Strides are in elements of `dtype`.
  Output& view(std::size_t input, std::uint64_t byte_offset, DType dtype, const Shape& shape,
               const Strides& strides);
  // Memory for the length of the call, in the books like any tensor's.
  std::byte* workspace(std::uint64_t bytes);
  template <typename T>
  T* workspace(std::uint64_t count) {
    return reinterpret_cast<T*>(workspace(checked_mul(count, sizeof(T))));
  }
  // The results are the caller's from now on.
  void commit() noexcept { committed_ = true; }

  // ---- between the meaning and its kernel
  template <typename T>
  T& params() noexcept {
    static_assert(sizeof(T) <= kParamBytes && std::is_trivially_destructible_v<T>);
    return *std::launder(reinterpret_cast<T*>(params_));
  }
  template <typename T>
  T& params(const T& value) noexcept {
    static_assert(sizeof(T) <= kParamBytes && std::is_trivially_destructible_v<T>);
    return *::new (static_cast<void*>(params_)) T(value);
  }
  // Those bytes, for a kernel of another compiler.
  std::span<const std::byte> raw_params() const noexcept { return params_; }
  // The meaning has done it all (a view): no kernel runs.
  void done() noexcept { done_ = true; }
  bool is_done() const noexcept { return done_; }

  // ---- `[Name] ...`
  template <typename... Args>
  [[noreturn, gnu::cold]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    raise(ErrorKind::kInvalidArgument, "[{}] {}", spec_.name,
          fmt::format(format, std::forward<Args>(args)...));
  }
  template <typename... Args>
  void check(bool holds, fmt::format_string<Args...> format, Args&&... args) const {
    static_assert(
        !(std::is_same_v<std::remove_cvref_t<Args>, std::string> || ...),
        "a text is made whether the check holds or not: give what it is made of (ops/format.hpp)");
    if (!holds) [[unlikely]]
      fail(format, std::forward<Args>(args)...);
  }
  [[noreturn, gnu::cold]] void fail_dtype(std::size_t input, std::string_view allowed) const;

 private:
  static constexpr std::size_t kInline = 4;
  static constexpr std::size_t kParamBytes = 768;

  void take_operands(std::span<const Handle> inputs);
  void make_dense_but(Strided taken);
  void pack_for_replay(std::size_t i);
  void pack_to(std::size_t i, std::byte* to);
  void keep_captured() noexcept;
  MadeTensor new_tensor(DType dtype, const Shape& shape) const;
  void take_attributes();
  std::size_t take_attribute(const Attribute& attribute, std::size_t at);
  Output& next_output();

  Place place_;
  const OpSpec& spec_;
  std::span<const Handle> handles_;
  std::span<const double> values_;
  std::span<Operand> operands_;
  std::span<const char> over_;
  std::size_t room_;
  std::size_t output_count_ = 0;
  bool strided_ = false;  // some operands were, when they were resolved
  bool committed_ = false;
  bool done_ = false;
  std::array<std::uint16_t, kMostAttributes> at_;
  InPlace<Operand, kInline> near_operands_;
  InPlace<Output, kInline> near_;
  std::vector<Operand> far_operands_;
  std::vector<Output> far_;
  std::vector<MadeTensor> workspaces_;  // ended with the call
  alignas(64) std::byte params_[kParamBytes];
};

}  // namespace ebb::ops
