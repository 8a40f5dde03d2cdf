// A depthwise convolution and the product of what it gives by a matrix that was packed before (ops/packed.hpp):
// some pixels at a time, which go through both while they are in the cache.
#include <algorithm>

#include "backends/cpu/items.hpp"
#include "backends/cpu/kernels/blocks.hpp"
#include "backends/cpu/kernels/convolutions_depthwise.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/parallel.hpp"
#include "ebb/base/checked.hpp"
#include "ops/packed.hpp"

namespace ebb::cpu {
namespace {

using blocks::Index;
using ops::OpCall;
using ops::PackedSeparable;

class Separable {
 public:
  explicit Separable(OpCall& call)
      : p_(call.params<PackedSeparable>()),
        data_{.data = call.in<float>(0),
              .filter = call.in<float>(1),
              .bias = call.has(3) ? call.in<float>(3) : nullptr,
              .result = nullptr},
        panels_(call.in<float>(2)),
        limits_(*limits_of(p_.depthwise.epilogue.activation)),
        finish_{.bias = call.has(4) ? call.in<float>(4) : nullptr,
                .limits = *limits_of(p_.activation)},
        out_(call.out<float>(0)),
        pixels_(p_.depthwise.windows.batch * p_.depthwise.windows.out[0] *
                p_.depthwise.windows.out[1]),
        channels_(p_.depthwise.in_channels) {}

  void make(OpCall& call) const {
    const double flops = 2.0 * static_cast<double>(pixels_) * static_cast<double>(channels_) *
                         static_cast<double>(p_.columns);
    const Index tiles = (pixels_ + kPixels - 1) / kPixels;
    const Index parts = std::min(blocks::parts_for(flops), tiles);
    const Index room = checked_mul(kPixels, channels_);
    auto* between = call.workspace<float>(static_cast<std::uint64_t>(checked_mul(parts, room)));
    parallel_for(parts, 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const Items own = items_of(tiles, i, parts);
        for (Index tile = own.begin; tile < own.end; ++tile) {
          make_tile(tile * kPixels, between + i * room);
        }
      }
    });
  }

 private:
  static constexpr Index kPixels = blocks::kRows;  // of a tile

  void make_tile(Index first, float* between) const {
    const Index end = std::min(first + kPixels, pixels_);
    DepthwiseOperands operands = data_;
    operands.result = between;
    make_depthwise_pixels(p_.depthwise, operands, first, end, limits_);
    const Index read = data_end(end - 1), more = data_end(std::min(end + kPixels, pixels_) - 1);
    blocks::multiply({.left = {between, channels_, 1},
                      .right = panels_,
                      .out = out_ + first * p_.columns,
                      .out_row = p_.columns,
                      .rows = end - first,
                      .inner = channels_,
                      .columns = p_.columns,
                      .finish = &finish_,
                      .next = data_.data + read,
                      .next_floats = more - read});
  }

  // Where the data ends that the pixels up to this one lie over.
  Index data_end(Index pixel) const {
    const ops::Windows& w = p_.depthwise.windows;
    const Index x = pixel % w.out[1], row = pixel / w.out[1];
    const auto end = [&](std::size_t axis, Index out) {
      return std::clamp<Index>(out * w.stride[axis] + w.reach(axis) - w.before[axis], 1,
                               w.in[axis]);
    };
    const Index down = row / w.out[0] * w.in[0] + end(0, row % w.out[0]) - 1;
    return (down * w.in[1] + end(1, x)) * channels_;
  }

  const PackedSeparable& p_;
  DepthwiseOperands data_;
  const float* panels_;
  Limits limits_;  // of the depthwise convolution
  blocks::Finish finish_;
  float* out_;
  Index pixels_, channels_;
};

void convolve_separably(OpCall& call) { Separable(call).make(call); }

}  // namespace

void add_convolutions_separable(KernelTable& table) {
  table.set(ops::kPackedSeparable, convolve_separably);
}

}  // namespace ebb::cpu
