#include "backends/cuda/plugin/kernels/math_mode.hpp"

#include <array>
#include <atomic>

namespace ebb::cuda {
namespace {

constexpr int kMostDevices = 64;
std::array<std::array<std::atomic<MathMode>, 2>, kMostDevices> modes{};  // kFloat32 all

}  // namespace

MathMode math_mode(int ordinal, MathUse use) noexcept {
  if (ordinal < 0 || ordinal >= kMostDevices) return MathMode::kFloat32;
  return modes[static_cast<std::size_t>(ordinal)][static_cast<std::size_t>(use)].load(
      std::memory_order_relaxed);
}

bool set_math_mode(int ordinal, std::string_view name, std::string_view value) noexcept {
  if (ordinal < 0 || ordinal >= kMostDevices) return false;
  const bool products = name == "matmul_math";
  if (!products && name != "conv_math") return false;
  MathMode mode = MathMode::kFloat32;
  if (value == "tf32") {
    mode = MathMode::kTf32;
  } else if (value == "bf16") {
    mode = MathMode::kBf16;
  } else if (value != "f32") {
    return false;
  }
  modes[static_cast<std::size_t>(ordinal)][products ? 0 : 1].store(mode, std::memory_order_relaxed);
  return true;
}

}  // namespace ebb::cuda
