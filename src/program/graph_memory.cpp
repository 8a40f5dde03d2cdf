#include "program/graph_memory.hpp"

#include <algorithm>

namespace ebb::programs {
namespace {

// A place is used again for less than it has, but not for so much less that another would be better.
bool suits(std::uint64_t has, std::uint64_t needed) {
  return has >= needed && has - has / 4 <= needed;
}

}  // namespace

Tensor GraphMemory::new_block(std::uint64_t bytes) const {
  return {context_, context_.make({.device = &device_,
                                   .dtype = DType::kUint8,
                                   .shape = Shape{static_cast<std::int64_t>(bytes)},
                                   .stream = stream_})};
}

void GraphMemory::begin(std::span<const std::uint32_t> alternative) {
  first_ = sequence_.empty();
  next_ = 0;
  alternative_.assign(alternative.begin(), alternative.end());
}

void GraphMemory::add_block(std::size_t place) {
  places_[place].blocks.push_back(new_block(places_[place].bytes));
}

std::size_t GraphMemory::place_for(std::uint64_t bytes) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (suits(places_[i].bytes, bytes) && is_free(i, 0)) return i;
  }
  Tensor block = new_block(bytes);
  const std::byte* begin = context_.hold(block.handle()).data().data();
  Place place{.bytes = bytes, .blocks = {}, .begin = begin};
  place.blocks.push_back(std::move(block));
  places_.push_back(std::move(place));
  return places_.size() - 1;
}

MadeTensor GraphMemory::make(const Context& context, const TensorSpec& spec) {
  kept.clear();  // of calls that are over: the places hold their memory
  const std::uint64_t bytes = std::max<std::uint64_t>(bytes_of(spec.shape, size_of(spec.dtype)), 1);
  if (first_) sequence_.push_back(place_for(bytes));
  if (next_ == sequence_.size() || bytes > places_[sequence_[next_]].bytes) {
    raise(ErrorKind::kInternal, "[program_run] its operations ask for other memory than before");
  }
  const std::size_t at = sequence_[next_++];
  const std::uint32_t alternative = at < alternative_.size() ? alternative_[at] : 0;
  MadeTensor made;
  made.handle = context.view(block(at, alternative).handle(), 0, spec);
  made.memory = context.hold(made.handle);
  made.data = made.memory.data().data();
  return made;
}

std::size_t GraphMemory::place_at(const std::byte* begin) const {
  const auto found = std::ranges::find(places_, begin, &Place::begin);
  return static_cast<std::size_t>(found - places_.begin());
}

}  // namespace ebb::programs
