// The memory of a plan's graphs.
#pragma once

#include "ebb/tensor/tensor.hpp"
#include "ops/op_call.hpp"

namespace ebb::programs {

// Results and workspaces of a captured run lie in places, which later calls of the run use again once
// nobody uses them, as a pool would do it. All graphs of a plan use the same places; one that holds
// an output has several blocks, so that a run can write one while a tensor is over another.
class GraphMemory final : public ops::CapturedMemory {
 public:
  GraphMemory(const Context& context, Device& device, StreamId stream)
      : context_(context), device_(device), stream_(stream) {
    ordered_later = true;
  }

  // Before each capture. Blocks by place; those of the first capture come to be in it.
  void begin(std::span<const std::uint32_t> alternative);
  MadeTensor make(const Context& context, const TensorSpec& spec) override;

  std::size_t places() const noexcept { return places_.size(); }
  // Of the block that begins there, or places().
  std::size_t place_at(const std::byte* begin) const;
  const Tensor& block(std::size_t place, std::uint32_t alternative) const {
    return places_[place].blocks[alternative];
  }
  std::size_t blocks(std::size_t place) const noexcept { return places_[place].blocks.size(); }
  bool is_free(std::size_t place, std::uint32_t alternative) const {
    return context_.is_alone(block(place, alternative).handle());
  }
  void add_block(std::size_t place);

 private:
  struct Place {
    std::uint64_t bytes;
    std::vector<Tensor> blocks;
    const std::byte* begin;  // of the first one
  };

  Tensor new_block(std::uint64_t bytes) const;
  std::size_t place_for(std::uint64_t bytes);

  Context context_;
  Device& device_;
  StreamId stream_;
  std::vector<Place> places_;
  std::vector<std::size_t> sequence_;  // places, in the order in which a run asks for memory
  std::vector<std::uint32_t> alternative_;
  std::size_t next_ = 0;
  bool first_ = true;
};

}  // namespace ebb::programs
