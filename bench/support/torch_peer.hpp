// PyTorch in a process of its own, that takes turns with this one.
#pragma once

#include <cstdio>
#include <string>

#include "support/figures.hpp"

namespace ebb::bench {

// The Python that EBB_TORCH_PYTHON names, which is to have PyPI's torch. Where it names none: null,
// and one line says that the rows to PyTorch's are left out.
const char* python_with_torch();

class TorchPeer {
 public:
  // `program`: Python that defines step(). torch is imported and has two threads. Throws
  // std::runtime_error where that Python cannot be started, has no torch or refuses the program.
  TorchPeer(const std::string& python, const std::string& program);
  ~TorchPeer();
  TorchPeer(const TorchPeer&) = delete;
  TorchPeer& operator=(const TorchPeer&) = delete;

  // Microseconds of a step, over so many.
  double step_us(long steps);

 private:
  int child_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

// What PyTorch does eagerly and without gradients, its results new tensors as Ebb's are:
//   {"x = torch.rand(1024)", "torch.softmax, x, 0", 20}
struct TorchWork {
  std::string operands;
  std::string call;  // a function and its arguments
  long times;        // a turn
};

// Adds the row of `ours` (us) to PyTorch's, the best of each: waiting threads of PyTorch's spin, and
// so lose more than ours to whatever else the machine does. Left out where there is no torch.
void add_to_torch(Figures& figures, const std::string& figure, const std::function<void()>& ours,
                  const TorchWork& theirs, double goal);

}  // namespace ebb::bench
