// Depthwise convolutions and the products that follow them, as one step each: what lies between them is as large as
// what they read and write, and never has to leave the cache.
#include <algorithm>
#include <array>

#include "ebb/base/checked.hpp"
#include "ops/packed.hpp"
#include "program/fuse.hpp"
#include "program/step_reader.hpp"

namespace ebb::programs {
namespace {

using ops::Activation;

constexpr std::size_t kNoStep = ~std::size_t{0};
// What is smaller stays in the cache anyway.
constexpr std::uint64_t kLeastBytes = 1 << 20;
// The team shares rows of such a product, never columns, for which each thread would have to convolve: so
// each thread reads all of the matrix.
constexpr std::int64_t kRowsForEachColumn = 2;
// A matrix that is read for each few pixels has to stay in the cache beside them.
constexpr std::uint64_t kMostPanelBytes = 256 << 10;

class SeparableJoiner : StepReader {
 public:
  SeparableJoiner(Plan& plan, std::vector<Step>& steps)
      : StepReader(plan),
        steps_(steps),
        last_(last_uses(plan, steps)),
        held_(held_by(plan, steps)) {}

  void join() {
    std::vector<bool> gone(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      const std::size_t product = goes_into(i);
      if (product == kNoStep) continue;
      steps_[product] = joined(steps_[i], steps_[product]);
      gone[i] = true;
    }
    std::vector<Step> left;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (!gone[i]) left.push_back(steps_[i]);
    }
    steps_ = std::move(left);
  }

 private:
  Activation activation_after(const Step& product) const {
    return static_cast<Activation>(attributes_of(product)[1]);
  }

  // The product that the depthwise convolution at `i` can be one step with.
  std::size_t goes_into(std::size_t i) const {
    if (!suits(steps_[i])) return kNoStep;
    const Slot between = result_of(steps_[i]);
    const std::size_t at = only_user(between, i);
    if (at == kNoStep || steps_[at].op != ops::kPackedProduct) return kNoStep;
    const Step& product = steps_[at];
    const Slot result = result_of(product);
    const std::int64_t columns = shape_of(result).dims().back();
    const std::int64_t rows = static_cast<std::int64_t>(shape_of(result).elements()) / columns;
    const bool is_worth_it = bytes_in(plan_, between) >= kLeastBytes &&
                             bytes_in(plan_, input_of(product, 1)) <= kMostPanelBytes &&
                             rows >= kRowsForEachColumn * columns;
    const bool holds_no_more = checked_add(held_.before[i], bytes_in(plan_, result)) <= held_.most;
    return is_worth_it && holds_no_more && input_of(product, 0) == between &&
                   ops::is_limiting(activation_after(product)) &&
                   is_numbers(input_of(product, 2), columns)
               ? at
               : kNoStep;
  }

  // Right after its maker, but for views of something else.
  std::size_t only_user(Slot slot, std::size_t maker) const {
    for (std::size_t i = maker + 1; i < steps_.size(); ++i) {
      if (last_[slot] == i) return i;
      if (!is_view(steps_[i].op) ||
          std::ranges::count(plan_.slots_in(steps_[i].inputs), slot) != 0) {
        return kNoStep;
      }
    }
    return kNoStep;
  }

  // One filter for each channel, which are last.
  bool suits(const Step& step) const {
    if (!is_depthwise(step.op) || is_channels_first(step)) return false;
    const auto filter = shape_of(input_of(step, 1)).dims();
    return filter[3] == 1 && filter[0] <= ops::kMostSeparableTaps / filter[1] &&
           is_numbers(input_of(step, 2), filter[2]) && input_of(step, 3) == kNoSlot &&
           ops::is_limiting(activation_of(step));
  }

  // A bias that the step may be given: none, or one number for each of so many.
  bool is_numbers(Slot slot, std::int64_t count) const {
    return slot == kNoSlot || ops::is_list_of(shape_of(slot), count);
  }

  Step joined(const Step& depthwise, const Step& product) {
    const auto before = attributes_of(depthwise);
    std::vector<double> attributes(before.begin(), before.end() - (is_fused(depthwise.op) ? 2 : 0));
    attributes.insert(attributes.end(),
                      {static_cast<double>(activation_of(depthwise)), attributes_of(product)[0],
                       static_cast<double>(activation_after(product))});
    const std::array inputs{input_of(depthwise, 0), input_of(depthwise, 1), input_of(product, 1),
                            input_of(depthwise, 2), input_of(product, 2)};
    return {.op = ops::kPackedSeparable,
            .attributes = append<double>(plan_.attributes, attributes),
            .inputs = append<Slot>(plan_.slots, inputs),
            .results = product.results,
            .ended = {}};
  }

  std::vector<Step>& steps_;
  const std::vector<std::size_t> last_;
  const Held held_;
};

}  // namespace

void join_separable(Plan& plan, std::vector<Step>& steps) { SeparableJoiner(plan, steps).join(); }

}  // namespace ebb::programs
