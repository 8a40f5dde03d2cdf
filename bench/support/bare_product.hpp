// oneDNN's product alone: its primitive made and its memory taken once, nothing around it.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "backends/cpu/dnn_plan.hpp"

namespace ebb::bench {

struct ProductSpec {
  std::int64_t rows, inner, columns;
  // How an operand lies in memory.
  bool transpose_a = false, transpose_b = false;
  bool bias = false, relu = false;
  bool alone = false;  // on the calling thread
};

class BareProduct {
 public:
  explicit BareProduct(const ProductSpec& spec);
  void run();

 private:
  using Memory = std::unique_ptr<float, decltype(&std::free)>;
  static Memory memory(std::int64_t elements);

  cpu::Plan plan_;
  Memory a_, b_, c_, bias_, workspace_;
};

}  // namespace ebb::bench
