// Tensors as C++ values: a step of gradient descent on a line through points.
#include <cstdio>

#include "ebb/ebb.hpp"

int main() {
  ebb::Session session;
  const ebb::Tensor x = ebb::tensor({0.0f, 1.0f, 2.0f, 3.0f}, {4});
  const ebb::Tensor y = 2 * x + 1;
  ebb::Tensor slope = ebb::scalar(0.0f), offset = ebb::scalar(0.0f);
  for (int step = 0; step < 300; ++step) {
    ebb::Scope scope;  // what a step makes ends with it
    const ebb::Tensor error = slope * x + offset - y;
    slope = scope.keep(slope - 0.1 * ebb::ops::mean(error * x, {0}));
    offset = scope.keep(offset - 0.1 * ebb::ops::mean(error, {0}));
  }
  std::printf("y = %.3f x + %.3f\n", slope.item<float>(), offset.item<float>());
}
