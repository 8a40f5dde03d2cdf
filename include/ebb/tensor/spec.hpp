// Tensors as they are asked for, and as they are seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ebb/base/dtype.hpp"
#include "ebb/base/shape.hpp"
#include "ebb/memory/device.hpp"
#include "ebb/memory/names.hpp"
#include "ebb/tensor/layout.hpp"
#include "ebb/tensor/storage.hpp"

namespace ebb {

struct TensorSpec {
  Device* device = nullptr;
  DType dtype = DType::kFloat32;
  Shape shape{};
  RegionId region = 0;  // 0: the root
  SiteId site = 0;
  StreamId stream = kDefaultStream;
};

// A tensor as an operation sees it: its memory stays, whatever becomes of the tensor meanwhile.
struct Operand {
  StorageRef memory;
  std::byte* data = nullptr;  // of the first element
  DType dtype = DType::kUnknown;
  bool dense = true;       // in row-major order; else as the strides say
  std::uint32_t uses = 0;  // strided: how often it has been resolved, this time too
  Shape shape;
  Strides strides;  // set where it is not dense

  explicit operator bool() const noexcept { return data != nullptr; }
};

// Its values to the host, dense and in row-major order, and back; `bytes` are the operand's. What
// is on a device with a link, or written, is dense.
void read_operand(const Operand& operand, std::span<std::byte> bytes);
void write_operand(const Operand& operand, std::span<const std::byte> bytes);

struct MadeTensor {
  Handle handle = 0;
  StorageRef memory;
  std::byte* data = nullptr;
};

struct ForeignSpec {
  Device* device = nullptr;
  std::uint64_t key = 0;  // tensors with the same key share one storage; 0: with none
  std::uint64_t bytes = 0;
  std::uint64_t tag = 0;
  DType dtype = DType::kUnknown;
  std::span<const std::int64_t> dims{};
  RegionId region = 0;
  SiteId site = 0;
  bool watched = true;
};

struct TensorInfo {
  Device* device = nullptr;
  DType dtype = DType::kUnknown;
  std::uint8_t rank = 0;
  std::array<std::int64_t, kMaxRank> dims{};
  bool dense = true;  // Ebb's own; foreign: not known, said to be
  Strides strides{};  // Ebb's own
  std::uint64_t bytes = 0;
  std::uint64_t key = 0;
  std::uint64_t tag = 0;
  RegionId region = 0;
  SiteId site = 0;
  bool orphaned = false;
};

}  // namespace ebb
