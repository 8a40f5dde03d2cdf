#include "ebb/nn/data.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ebb/io/idx.hpp"
#include "ebb/io/npy.hpp"
#include "ebb/ops/functions/indexing.hpp"
#include "ebb/ops/session.hpp"

namespace ebb::nn {
namespace {

std::int64_t first_extent(const Tensor& x) {
  const Shape shape = x.shape();
  if (shape.rank() == 0) {
    raise(ErrorKind::kInvalidArgument, "[nn::Batches] a scalar was given, examples are needed");
  }
  return shape.dims()[0];
}

std::size_t checked_count(const Tensor& x, const Tensor& y, const BatchOptions& options) {
  const std::int64_t count = first_extent(x);
  if (count != first_extent(y) || count > std::numeric_limits<std::int32_t>::max()) {
    raise(ErrorKind::kInvalidArgument,
          "[nn::Batches] x of shape {} and y of shape {} were given, as many of both are allowed",
          x.shape().to_string(), y.shape().to_string());
  }
  if (options.size < 1) {
    raise(ErrorKind::kInvalidArgument, "[nn::Batches] a size of {} was given, 1 or more is allowed",
          options.size);
  }
  return static_cast<std::size_t>(count);
}

}  // namespace

Tensor load_array(const std::filesystem::path& path) {
  return path.extension() == ".npy" ? io::load_npy(path) : io::load_idx(path);
}

Batches::Batches(Tensor x, Tensor y, const BatchOptions& options)
    : x_(std::move(x)),
      y_(std::move(y)),
      options_(options),
      random_(options.seed),
      order_(checked_count(x_, y_, options)) {
  std::iota(order_.begin(), order_.end(), 0);
  begin_epoch();
}

void Batches::begin_epoch() {
  at_ = 0;
  if (options_.shuffle) std::ranges::shuffle(order_, random_);
}

std::int64_t Batches::per_epoch() const noexcept {
  const std::int64_t whole = examples() / options_.size;
  return whole + (!options_.drop_last && examples() % options_.size != 0 ? 1 : 0);
}

std::optional<Batch> Batches::next() {
  const std::size_t left = order_.size() - at_;
  const std::size_t count = std::min(left, static_cast<std::size_t>(options_.size));
  if (count == 0 || (options_.drop_last && count < static_cast<std::size_t>(options_.size))) {
    begin_epoch();
    return std::nullopt;
  }
  const Tensor rows = tensor(std::span<const std::int32_t>(order_).subspan(at_, count),
                             {static_cast<std::int64_t>(count)});
  Batch batch{ops::gather_v2(x_, rows), ops::gather_v2(y_, rows)};
  at_ += count;
  return batch;
}

}  // namespace ebb::nn
