// PyTorch in a process of its own, that takes turns with this one.
#pragma once

#include <cstdio>
#include <string>

namespace ebb::bench {

class TorchPeer {
 public:
  // Throws std::runtime_error where that Python cannot be started or has no torch.
  explicit TorchPeer(const std::string& python);
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

}  // namespace ebb::bench
