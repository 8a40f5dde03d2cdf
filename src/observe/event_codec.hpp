// Events, packed. Writer and reader keep the same state, made of what has passed, and an event says
// only how it differs from what the state expects: a tensor that is born in the slot that came free
// last, over the memory that was there before, of the class that was born last, takes one byte.
//
//   class   what many tensors share: device, dtype, site, bytes. Numbered as they appear
//   slot    the lower part of a handle; its generation rises by two with each birth
//
// Whatever does not fit that scheme (an end whose birth was never seen, a rare kind) is written out.
// The state begins anew with each segment; docs/recording.md describes the bytes.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "observe/format.hpp"
#include "observe/wire.hpp"

namespace ebb::observe {

struct TensorClass {
  std::uint64_t bytes = 0;
  std::uint32_t site = 0;
  std::uint8_t device = 0;
  std::uint8_t dtype = 0;
  friend bool operator==(const TensorClass&, const TensorClass&) = default;
};

// What both sides know.
class CodecState {
 public:
  static constexpr std::uint32_t kMostClasses = 1u << 16;  // births of others are written out

  CodecState() = default;
  CodecState(const CodecState& other);
  CodecState& operator=(const CodecState& other);

  struct Slot {
    std::uint64_t storage = 0;
    std::uint32_t generation = 0;
    std::uint32_t class_index = 0;
    bool live = false;
  };

  Slot& slot(std::uint32_t index);
  std::uint32_t class_of(const TensorClass& wanted) const noexcept;  // classes() if there is none
  const TensorClass& class_at(std::uint32_t index) const noexcept { return classes_[index]; }
  std::uint32_t classes() const noexcept { return static_cast<std::uint32_t>(classes_.size()); }
  void add_class(const TensorClass& added);
  void born(const TraceEvent& event, std::uint32_t class_index);
  void ended(std::uint32_t slot);
  // A tensor of a checkpoint: as if its birth had passed.
  void learn(const TraceEvent& birth);
  // What a copy takes, about.
  std::size_t bytes() const noexcept;

  std::uint32_t last_slot = 0, last_born = 0, last_class = 0;
  std::uint64_t time = 0;
  std::uint32_t thread = 0;
  // The slot that came free last and was not taken since; none if there is not.
  static constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;
  std::uint32_t expected_slot() const noexcept { return free_.empty() ? kNoSlot : free_.back(); }

 private:
  static constexpr std::size_t kPage = 1024;
  static constexpr std::size_t kMostFree = 4096;
  struct Hash {
    std::size_t operator()(const TensorClass& c) const noexcept {
      std::uint64_t h = c.bytes * 0x9E3779B97F4A7C15u;
      h = (h ^ c.site) * 0xC2B2AE3D27D4EB4Fu;
      return h ^ (std::uint64_t{c.device} << 16 | std::uint64_t{c.dtype} << 8);
    }
  };

  using Page = std::array<Slot, kPage>;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<TensorClass> classes_;
  std::unordered_map<TensorClass, std::uint32_t, Hash> class_index_;
  std::vector<std::uint32_t> free_;
};

class EventEncoder {
 public:
  explicit EventEncoder(WireWriter& out) : out_(out) {}

  // Before the first event of a block.
  void begin_block();
  void encode(std::uint32_t thread, const TraceEvent& event);
  void learn(const TraceEvent& birth) { state_.learn(birth); }

 private:
  bool encode_birth(const TraceEvent& event, std::uint64_t ticks);
  bool encode_end(const TraceEvent& event, std::uint64_t ticks);
  void encode_plain(const TraceEvent& event, std::uint64_t ticks);
  void put_class(const TensorClass& wanted, std::uint32_t index);

  WireWriter& out_;
  CodecState state_;
};

struct ThreadEvent {
  std::uint32_t thread = 0;
  TraceEvent event;
};

// Throws Error where the bytes make no sense. A copy goes on from where the first was.
class EventDecoder {
 public:
  void begin_block(WireReader& in);
  // Pre: not in.at_end().
  ThreadEvent decode(WireReader& in);
  void learn(const TraceEvent& birth) { state_.learn(birth); }
  std::size_t bytes() const noexcept { return state_.bytes(); }

 private:
  TraceEvent decode_birth(WireReader& in, std::uint8_t tag);
  TraceEvent decode_end(WireReader& in, std::uint8_t tag);
  TraceEvent decode_plain(WireReader& in, std::uint8_t kind);

  CodecState state_;
};

}  // namespace ebb::observe
