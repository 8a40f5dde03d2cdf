// What training asks of an allocator: parameters, gradients and optimizer state that stay;
// activations that are made going forward and freed going back; gradients and workspaces that come
// and go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ebb::bench {

struct TraceCall {
  std::uint32_t id;   // of the tensor
  std::size_t bytes;  // 0: it is freed
};

struct TrainingTrace {
  std::string name;
  std::vector<TraceCall> calls;
  std::size_t steady_from = 0;  // from this call on nothing is asked for that was not there before
  std::uint32_t tensors = 0;
};

// 784 - 1024 - 1024 - 512 - 10, Adam, batches of 128 and a smaller last one in each epoch.
TrainingTrace mlp_trace();
// Eight convolutions with batch norm and workspaces, momentum, batches of 32 and a last one.
TrainingTrace conv_net_trace();
// A small transformer, sequence lengths growing from 16 to 384 and again.
TrainingTrace growing_lengths_trace();

}  // namespace ebb::bench
