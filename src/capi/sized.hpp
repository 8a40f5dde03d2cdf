// Structs that carry their size: what an older or newer caller compiled is read and written as far
// as both sides know it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "capi/guard.hpp"

namespace ebb::capi {

// `size` and the field beside it: no caller ever had less.
inline constexpr std::uint32_t kSmallestStruct = 8;

template <typename T>
std::uint32_t checked_size(const T* given, const char* what) {
  const std::uint32_t size = needed(given, what).size;
  if (size >= sizeof(T)) [[likely]]
    return size;
  // A sizeof is a multiple of the alignment; any other size would cut a field, a pointer even.
  if (size < kSmallestStruct || size % alignof(T) != 0) {
    raise(ErrorKind::kInvalidArgument, "[{}] a struct of size {} was given, set it to its sizeof",
          what, size);
  }
  return size;
}

// The caller's struct with the fields it does not know zero.
template <typename T>
T read_sized(const T* given, const char* what) {
  const std::uint32_t size = checked_size(given, what);
  T known;
  if (size >= sizeof(T)) [[likely]] {
    std::memcpy(&known, given, sizeof(T));
  } else {
    std::memset(&known, 0, sizeof(T));
    std::memcpy(&known, given, size);
  }
  return known;
}

// A struct to fill in: checked before anything is done, written when all went well.
template <typename T>
class SizedOutput {
 public:
  SizedOutput(T* given, const char* what) : given_(given), size_(checked_size(given, what)) {}

  void write(T value) const noexcept {
    value.size = size_;
    std::memcpy(given_, &value, std::min<std::size_t>(size_, sizeof(T)));
  }

 private:
  T* given_;
  std::uint32_t size_;
};

}  // namespace ebb::capi
