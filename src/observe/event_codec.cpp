#include "observe/event_codec.hpp"

#include <algorithm>

#include "memory/slot_table.hpp"

namespace ebb::observe {
namespace {

// The first byte of an event. What it has is in the lower two bits.
enum Tag : std::uint8_t {
  kPlain = 0,  // a byte with the kind follows, then all fields
  kBirth = 1,
  kEnd = 2,
  kThread = 3,  // the thread's number: the events after it are that thread's
  kHas = 3,
  kLater = 4,  // the time has moved: microseconds follow
  // births
  kOtherSlot = 8,
  kOtherGeneration = 16,
  kOtherStorage = 32,
  kOtherClass = 64,
  kSharesStorage = 128,
  // ends; bits 3 and 4 are the reason
  kReasonShift = 3,
  kEndsStorage = 32,
  kHeldOn = 64,
  kNotLastBorn = 128,
};

constexpr std::uint64_t kTick = 1000;  // ns
constexpr std::uint64_t kNextGeneration = 2;

TensorClass class_of(const TraceEvent& event) {
  return {.bytes = event.bytes, .site = event.site, .device = event.device, .dtype = event.detail};
}

constexpr std::uint8_t if_set(bool set, Tag tag) {
  return set ? static_cast<std::uint8_t>(tag) : std::uint8_t{0};
}

std::uint64_t name_of(std::uint64_t generation, std::uint32_t slot) {
  return generation << kSlotIndexBits | slot;
}

}  // namespace

// ---- state

CodecState::CodecState(const CodecState& other) { *this = other; }

CodecState& CodecState::operator=(const CodecState& other) {
  if (this == &other) return *this;
  last_slot = other.last_slot;
  last_born = other.last_born;
  last_class = other.last_class;
  time = other.time;
  thread = other.thread;
  classes_ = other.classes_;
  class_index_ = other.class_index_;
  free_ = other.free_;
  pages_.clear();
  for (const std::unique_ptr<Page>& page : other.pages_) {
    pages_.push_back(page == nullptr ? nullptr : std::make_unique<Page>(*page));
  }
  return *this;
}

std::size_t CodecState::bytes() const noexcept {
  constexpr std::size_t kBytesOfClass = 2 * sizeof(TensorClass) + 32;  // in list and table
  return pages_.size() * sizeof(Page) + classes_.size() * kBytesOfClass;
}

CodecState::Slot& CodecState::slot(std::uint32_t index) {
  const std::size_t page = index / kPage;
  if (page >= pages_.size()) pages_.resize(page + 1);
  if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
  return (*pages_[page])[index % kPage];
}

std::uint32_t CodecState::class_of(const TensorClass& wanted) const noexcept {
  const auto found = class_index_.find(wanted);
  return found == class_index_.end() ? classes() : found->second;
}

void CodecState::add_class(const TensorClass& added) {
  class_index_.emplace(added, classes());
  classes_.push_back(added);
}

void CodecState::born(const TraceEvent& event, std::uint32_t class_index) {
  const std::uint32_t index = index_of(event.id);
  Slot& at = slot(index);
  at = {.storage = event.storage,
        .generation = static_cast<std::uint32_t>(generation_of(event.id)),
        .class_index = class_index,
        .live = true};
  if (expected_slot() == index) {
    free_.pop_back();
  } else {
    free_.clear();
  }
  last_slot = last_born = index;
  last_class = class_index;
}

void CodecState::ended(std::uint32_t index) {
  slot(index).live = false;
  last_slot = index;
  if (free_.size() == kMostFree) free_.clear();
  free_.push_back(index);
}

void CodecState::learn(const TraceEvent& birth) {
  const TensorClass wanted = observe::class_of(birth);
  const std::uint32_t index = class_of(wanted);
  if (index == classes()) {
    if (index == kMostClasses) return;
    add_class(wanted);
  }
  born(birth, index);
}

// ---- encoder

void EventEncoder::begin_block() {
  out_.number(state_.time);
  out_.number(state_.thread);
}

void EventEncoder::encode(std::uint32_t thread, const TraceEvent& event) {
  if (thread != state_.thread) {
    out_.byte(kThread);
    out_.number(thread);
    state_.thread = thread;
  }
  // Threads' clocks are read now and then, so that one may lag behind another: it is not shown.
  const std::uint64_t now = std::max(state_.time, event.time);
  const std::uint64_t ticks = (now - state_.time) / kTick;
  state_.time += ticks * kTick;
  if (event.kind == kTensorBorn && encode_birth(event, ticks)) return;
  if (event.kind == kTensorEnded && encode_end(event, ticks)) return;
  encode_plain(event, ticks);
}

bool EventEncoder::encode_birth(const TraceEvent& event, std::uint64_t ticks) {
  const TensorClass wanted = class_of(event);
  std::uint32_t index = state_.class_of(wanted);
  if (index == CodecState::kMostClasses) return false;
  const std::uint32_t slot_index = index_of(event.id);
  const CodecState::Slot slot = state_.slot(slot_index);
  const std::uint64_t generation = generation_of(event.id);
  const bool other_slot = slot_index != state_.expected_slot();
  const bool other_generation = generation != slot.generation + kNextGeneration;
  const bool other_class = index != state_.last_class || index == state_.classes();
  out_.byte(static_cast<std::uint8_t>(
      kBirth | if_set(ticks != 0, kLater) | if_set(other_slot, kOtherSlot) |
      if_set(other_generation, kOtherGeneration) |
      if_set(event.storage != slot.storage, kOtherStorage) | if_set(other_class, kOtherClass) |
      if_set((event.flags & kWithStorage) == 0, kSharesStorage)));
  if (ticks != 0) out_.number(ticks);
  if (other_slot) out_.difference(slot_index, state_.last_slot);
  if (other_generation) out_.difference(generation, slot.generation);
  if (event.storage != slot.storage) out_.difference(event.storage, slot.storage);
  if (other_class) put_class(wanted, index);
  state_.born(event, index);
  return true;
}

void EventEncoder::put_class(const TensorClass& wanted, std::uint32_t index) {
  out_.number(index);
  if (index != state_.classes()) return;
  out_.number(wanted.bytes);
  out_.number(wanted.site);
  out_.byte(wanted.device);
  out_.byte(wanted.dtype);
  state_.add_class(wanted);
}

// Only an end that its birth says all about.
bool EventEncoder::encode_end(const TraceEvent& event, std::uint64_t ticks) {
  const std::uint32_t slot_index = index_of(event.id);
  const CodecState::Slot& slot = state_.slot(slot_index);
  if (!slot.live || slot.generation != generation_of(event.id)) return false;
  const TensorClass& known = state_.class_at(slot.class_index);
  if (event.site != 0 || event.detail >= kReasons || event.storage != slot.storage ||
      event.bytes != known.bytes || event.device != known.device ||
      (event.flags & ~(kWithStorage | kStillHeld)) != 0) {
    return false;
  }
  const bool elsewhere = slot_index != state_.last_born;
  out_.byte(static_cast<std::uint8_t>(
      kEnd | if_set(ticks != 0, kLater) | event.detail << kReasonShift |
      if_set((event.flags & kWithStorage) != 0, kEndsStorage) |
      if_set((event.flags & kStillHeld) != 0, kHeldOn) | if_set(elsewhere, kNotLastBorn)));
  if (ticks != 0) out_.number(ticks);
  if (elsewhere) out_.difference(slot_index, state_.last_slot);
  state_.ended(slot_index);
  return true;
}

void EventEncoder::encode_plain(const TraceEvent& event, std::uint64_t ticks) {
  out_.byte(static_cast<std::uint8_t>(kPlain | if_set(ticks != 0, kLater)));
  if (ticks != 0) out_.number(ticks);
  out_.byte(static_cast<std::uint8_t>(event.kind));
  out_.number(event.id);
  out_.number(event.bytes);
  out_.number(event.storage);
  out_.number(event.site);
  out_.byte(event.detail);
  out_.byte(event.device);
  out_.byte(event.flags);
}

// ---- decoder

void EventDecoder::begin_block(WireReader& in) {
  state_.time = in.number();
  state_.thread = static_cast<std::uint32_t>(in.number(0xFFFFFFFF));
}

ThreadEvent EventDecoder::decode(WireReader& in) {
  std::uint8_t tag = in.byte();
  while ((tag & kHas) == kThread) {
    state_.thread = static_cast<std::uint32_t>(in.number(0xFFFFFFFF));
    tag = in.byte();
  }
  if ((tag & kLater) != 0) state_.time += in.number() * kTick;
  TraceEvent event;
  if ((tag & kHas) == kBirth) {
    event = decode_birth(in, tag);
  } else if ((tag & kHas) == kEnd) {
    event = decode_end(in, tag);
  } else {
    event = decode_plain(in, in.byte());
  }
  event.time = state_.time;
  return {state_.thread, event};
}

TraceEvent EventDecoder::decode_birth(WireReader& in, std::uint8_t tag) {
  std::uint32_t slot_index = state_.expected_slot();
  if ((tag & kOtherSlot) != 0) {
    slot_index = static_cast<std::uint32_t>(in.difference(state_.last_slot) & kSlotIndexMask);
  } else if (slot_index == CodecState::kNoSlot) {
    WireReader::refuse("a birth names no slot");
  }
  const CodecState::Slot slot = state_.slot(slot_index);
  std::uint64_t generation = slot.generation + kNextGeneration;
  if ((tag & kOtherGeneration) != 0) generation = in.difference(slot.generation);
  generation &= kLastGeneration;
  const std::uint64_t storage =
      (tag & kOtherStorage) != 0 ? in.difference(slot.storage) : slot.storage;
  std::uint32_t index = state_.last_class;
  if ((tag & kOtherClass) != 0) {
    index = static_cast<std::uint32_t>(in.number(state_.classes()));
    if (index == state_.classes()) {
      if (index == CodecState::kMostClasses) WireReader::refuse("there are too many classes");
      TensorClass added;
      added.bytes = in.number();
      added.site = static_cast<std::uint32_t>(in.number(0xFFFFFFFF));
      added.device = in.byte();
      added.dtype = in.byte();
      state_.add_class(added);
    }
  } else if (index >= state_.classes()) {
    WireReader::refuse("a birth names no class");
  }
  const TensorClass& of = state_.class_at(index);
  const TraceEvent event{
      .id = name_of(generation, slot_index),
      .bytes = of.bytes,
      .storage = storage,
      .site = of.site,
      .kind = kTensorBorn,
      .detail = of.dtype,
      .device = of.device,
      .flags = static_cast<std::uint8_t>(tag & kSharesStorage ? 0 : kWithStorage)};
  state_.born(event, index);
  return event;
}

TraceEvent EventDecoder::decode_end(WireReader& in, std::uint8_t tag) {
  std::uint32_t slot_index = state_.last_born;
  if ((tag & kNotLastBorn) != 0) {
    slot_index = static_cast<std::uint32_t>(in.difference(state_.last_slot) & kSlotIndexMask);
  }
  const CodecState::Slot slot = state_.slot(slot_index);
  if (!slot.live) WireReader::refuse("a tensor ends that was never born");
  const TensorClass& of = state_.class_at(slot.class_index);
  state_.ended(slot_index);
  return {.id = name_of(slot.generation, slot_index),
          .bytes = of.bytes,
          .storage = slot.storage,
          .kind = kTensorEnded,
          .detail = static_cast<std::uint8_t>(tag >> kReasonShift & 3),
          .device = of.device,
          .flags = static_cast<std::uint8_t>((tag & kEndsStorage ? kWithStorage : 0) |
                                             (tag & kHeldOn ? kStillHeld : 0))};
}

TraceEvent EventDecoder::decode_plain(WireReader& in, std::uint8_t kind) {
  TraceEvent event;
  event.kind = EventKind(kind);
  event.id = in.number();
  event.bytes = in.number();
  event.storage = in.number();
  event.site = static_cast<std::uint32_t>(in.number(0xFFFFFFFF));
  event.detail = in.byte();
  event.device = in.byte();
  event.flags = in.byte();
  return event;
}

}  // namespace ebb::observe
