// RaggedTensorToTensor. From the outermost rows inwards: for each row of a level, the place in the
// result where it begins, or -1 where the result has no room for it.
#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "backends/cpu/element.hpp"
#include "backends/cpu/kernels/families.hpp"
#include "ops/axes.hpp"
#include "ops/format.hpp"

namespace ebb::cpu {
namespace {

using ops::IntList;
using ops::op_id;
using ops::OpCall;

enum Partition : std::int64_t { kFirstDimSize = 0, kValueRowIds = 1, kRowSplits = 2 };

using Ids = std::span<const std::int32_t>;

// Where the rows of a level begin. Those past the last of `known` have no place.
struct Places {
  std::span<std::int64_t> known;
  std::size_t count = 0;  // of rows

  std::size_t size() const noexcept { return count; }
  std::int64_t operator[](std::size_t row) const noexcept {
    return row < known.size() ? known[row] : -1;
  }
};

class ToDense {
 public:
  explicit ToDense(OpCall& call)
      : call_(call),
        types_(call.integers(ops::attribute_at("RaggedTensorToTensor", "rowPartitionTypes"))) {
    first_ = types_[0] == kFirstDimSize ? 1 : 0;
    levels_ = types_.size() - first_;
    rows_ = first_ == 1 ? partition(0)[0] : static_cast<std::int64_t>(partition(0).size()) - 1;
    call_.check(rows_ >= 0, "the first dimension is {}, 0 and more are allowed", rows_);
    check_default();
    find_shape();
  }

  void write() {
    call_.make(call_.input(1).dtype, Shape(shape_));
    fill_default();
    if (Shape(shape_).elements() == 0) return;
    Places places = first_places();
    for (std::size_t level = 0; level < levels_; ++level) {
      places = type(level) == kRowSplits ? places_by_splits(level, places)
                                         : places_by_ids(level, places);
    }
    copy_values(places);
  }

 private:
  Ids partition(std::size_t i) const noexcept {
    return {call_.in<std::int32_t>(3 + i),
            static_cast<std::size_t>(ops::elements(call_.input(3 + i).shape))};
  }
  Ids level_ids(std::size_t level) const noexcept { return partition(level + first_); }
  std::int64_t type(std::size_t level) const noexcept { return types_[level + first_]; }
  const Shape& values() const noexcept { return call_.input(1).shape; }
  // The shape of one value.
  std::span<const std::int64_t> element() const noexcept { return values().dims().subspan(1); }

  void check_default() const {
    const auto given = call_.input(2).shape.dims();
    bool fits = given.size() <= element().size();
    for (std::size_t i = 0; fits && i < given.size(); ++i) {
      const std::int64_t dim = element()[i + element().size() - given.size()];
      fits = given[i] == 1 || given[i] == dim;
    }
    call_.check(fits, "defaultValue.shape={} and flatValues.shape={} are incompatible",
                call_.input(2).shape, values());
  }

  void find_shape() {
    const std::size_t rank = levels_ + values().rank();
    call_.check(rank <= kMaxRank, "the result has rank {}, at most {} is allowed", rank, kMaxRank);
    const Ids wanted{call_.in<std::int32_t>(0),
                     static_cast<std::size_t>(ops::elements(call_.input(0).shape))};
    const bool open = call_.input(0).shape.rank() == 0;
    call_.check(!open || wanted[0] == -1, "the shape is the scalar {}, -1 or a vector is allowed",
                open ? wanted[0] : 0);
    call_.check(open || wanted.size() == rank,
                "the ragged tensor has rank {} and shape has {} extents: they are incompatible",
                rank, wanted.size());
    for (std::size_t i = 0; i < rank; ++i) shape_.push_back(extent(i, open ? -1 : wanted[i]));
  }

  std::int64_t extent(std::size_t axis, std::int32_t wanted) const {
    call_.check(wanted >= -1, "Dimension {} must be >= -1", wanted);
    if (axis > levels_) {
      const std::int64_t dim = element()[axis - levels_ - 1];
      call_.check(wanted == -1 || wanted == dim,
                  "values have extent {} and shape has {} at axis {}: they are incompatible", dim,
                  wanted, axis);
      return dim;
    }
    if (wanted >= 0) return wanted;
    return axis == 0 ? rows_ : widest(axis - 1);
  }

  // The length of the longest row.
  std::int64_t widest(std::size_t level) const {
    const Ids ids = level_ids(level);
    std::int64_t most = 0, run = 0;
    for (std::size_t i = 1; i < ids.size() && type(level) == kRowSplits; ++i) {
      most = std::max<std::int64_t>(most, std::int64_t{ids[i]} - ids[i - 1]);
    }
    for (std::size_t i = 0; i < ids.size() && type(level) == kValueRowIds; ++i) {
      run = i > 0 && ids[i] == ids[i - 1] ? run + 1 : 1;
      most = std::max(most, run);
    }
    return most;
  }

  // How many places the rows of a level are apart in the result.
  std::int64_t step(std::size_t axis) const noexcept {
    std::int64_t product = 1;
    for (std::size_t i = axis + 1; i <= levels_; ++i) product *= shape_[i];
    return product;
  }

  Places make_places(std::int64_t count) {
    const auto size = static_cast<std::size_t>(count);
    return {{call_.workspace<std::int64_t>(size), size}, size};
  }

  Places first_places() {
    Places places = make_places(std::min(rows_, shape_[0]));
    std::int64_t next = 0;
    for (std::int64_t& place : places.known) place = std::exchange(next, next + step(0));
    places.count = static_cast<std::size_t>(rows_);
    return places;
  }

  Places places_by_splits(std::size_t level, Places parents) {
    const Ids splits = level_ids(level);
    call_.check(splits.size() - 1 <= parents.size(),
                "Row partition size is greater than output size: {} > {}", splits.size() - 1,
                parents.size());
    call_.check(
        splits[0] == 0 && std::ranges::is_sorted(splits),
        "Invalid row split size: splits of level {} begin at {}, 0 and ascending are allowed",
        level, splits[0]);
    const Places places = make_places(splits.back());
    for (std::size_t row = 0; row + 1 < splits.size(); ++row) {
      for (std::int32_t i = splits[row]; i < splits[row + 1]; ++i) {
        places.known[static_cast<std::size_t>(i)] = place(parents[row], i - splits[row], level);
      }
    }
    return places;
  }

  Places places_by_ids(std::size_t level, Places parents) {
    const Ids ids = level_ids(level);
    const Places places = make_places(static_cast<std::int64_t>(ids.size()));
    std::int64_t column = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      call_.check(ids[i] >= 0 && static_cast<std::size_t>(ids[i]) < parents.size(),
                  "Got currentValueRowId={}, which is not less than {}", ids[i], parents.size());
      column = i > 0 && ids[i] == ids[i - 1] ? column + 1 : 0;
      places.known[i] = place(parents[static_cast<std::size_t>(ids[i])], column, level);
    }
    return places;
  }

  std::int64_t place(std::int64_t parent, std::int64_t column, std::size_t level) const noexcept {
    const std::size_t axis = level + 1;
    return parent < 0 || column >= shape_[axis] ? -1 : parent + column * step(axis);
  }

  std::size_t value_bytes() const noexcept {
    return static_cast<std::size_t>(ops::extent(values(), 1, values().rank())) *
           size_of(call_.input(1).dtype);
  }

  // The default value, broadcast to one value, then repeated.
  void fill_default() {
    const ops::Output& out = call_.output(0);
    const Shape& shape = call_.input(2).shape;
    visit_size(out.dtype, [&]<typename T>(Type<T>) {
      const T* from = call_.in<T>(2);
      T* to = call_.out<T>(0);
      const std::int64_t count = ops::elements(out.shape);
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[default_offset(i, shape)];
    });
  }

  std::int64_t default_offset(std::int64_t flat, const Shape& given) const noexcept {
    if (given.rank() == 0) return 0;
    std::int64_t offset = 0, stride = 1;
    for (std::size_t i = 0; i < given.rank(); ++i) {
      const std::int64_t dim = element()[element().size() - 1 - i];
      const std::int64_t own = given.dims()[given.rank() - 1 - i];
      if (own != 1) offset += flat % dim * stride;
      flat /= dim;
      stride *= own;
    }
    return offset;
  }

  void copy_values(Places places) {
    call_.check(static_cast<std::int64_t>(places.size()) <= values().dims()[0],
                "the row partitions have {} values, {} were given", places.size(),
                values().dims()[0]);
    const std::size_t bytes = value_bytes();
    for (std::size_t i = 0; i < places.known.size(); ++i) {
      if (places[i] < 0) continue;
      std::memcpy(call_.output(0).data + static_cast<std::size_t>(places[i]) * bytes,
                  call_.input(1).data + i * bytes, bytes);
    }
  }

  OpCall& call_;
  IntList types_;
  std::size_t first_ = 0;   // 1: partition 0 is the number of rows
  std::size_t levels_ = 0;  // ragged axes
  std::int64_t rows_ = 0;
  IntList shape_;
};

void to_dense(OpCall& call) { ToDense(call).write(); }

}  // namespace

void add_ragged_to_dense(KernelTable& kernels) {
  kernels.set(op_id("RaggedTensorToTensor"), to_dense);
}

}  // namespace ebb::cpu
