// Examples from files, handed out in batches.
//
//   nn::Batches batches(nn::load_array("train-images-idx3-ubyte"),
//                       nn::load_array("train-labels-idx1-ubyte"), {.size = 64});
//   while (std::optional<nn::Batch> batch = batches.next()) {   // until the epoch is over
//     Tensor x = ops::cast(batch->x, DType::kFloat32) / 255;
//   }
#pragma once

#include <filesystem>
#include <optional>
#include <random>
#include <vector>

#include "ebb/tensor/tensor.hpp"

namespace ebb::nn {

// A .npy file, or any other name an IDX file.
Tensor load_array(const std::filesystem::path& path);

struct Batch {
  Tensor x, y;
};

struct BatchOptions {
  std::int64_t size = 32;
  bool shuffle = true;     // in another order each epoch
  bool drop_last = false;  // what is left at the end and fills no batch
  std::uint64_t seed = 1;  // of the order
};

class Batches {
 public:
  // Examples along the first axis of both, of any dtypes. Throws Error(kInvalidArgument) where they
  // are not as many, or a batch has none.
  Batches(Tensor x, Tensor y, const BatchOptions& options = {});

  // None once an epoch is over; the call after that begins the next one.
  std::optional<Batch> next();
  std::int64_t examples() const noexcept { return static_cast<std::int64_t>(order_.size()); }
  std::int64_t per_epoch() const noexcept;

 private:
  void begin_epoch();

  const Tensor x_, y_;
  const BatchOptions options_;
  std::mt19937_64 random_;
  std::vector<std::int32_t> order_;
  std::size_t at_ = 0;
};

}  // namespace ebb::nn
