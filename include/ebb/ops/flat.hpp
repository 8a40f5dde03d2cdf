// Attributes in the form in which operations take them: flat numbers, a list after its length.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "ebb/tensor/tensor.hpp"

namespace ebb::ops::detail {

class Flat {
 public:
  template <typename... Attributes>
  explicit Flat(const Attributes&... attributes) {
    (add(attributes), ...);
  }
  std::span<const double> values() const noexcept { return values_; }

 private:
  void add(bool value) { values_.push_back(value ? 1 : 0); }
  void add(double value) { values_.push_back(value); }
  void add(std::int64_t value) { values_.push_back(static_cast<double>(value)); }
  template <typename T>
  requires std::is_enum_v<T>
  void add(T value) { values_.push_back(static_cast<double>(value)); }
  template <typename T>
  void add(const std::vector<T>& list) {
    values_.push_back(static_cast<double>(list.size()));
    for (const T& each : list) values_.push_back(static_cast<double>(each));
  }

  std::vector<double> values_;
};

inline void add_pointers(std::vector<const Tensor*>& to, const Tensor& tensor) {
  to.push_back(&tensor);
}
inline void add_pointers(std::vector<const Tensor*>& to, const std::vector<Tensor>& tensors) {
  for (const Tensor& each : tensors) to.push_back(&each);
}
// Of tensors and lists of them, in order.
template <typename... Inputs>
std::vector<const Tensor*> pointers(const Inputs&... inputs) {
  std::vector<const Tensor*> result;
  (add_pointers(result, inputs), ...);
  return result;
}

}  // namespace ebb::ops::detail
