// An OpCall as the plug-in sees it.
#pragma once

#include <array>
#include <exception>
#include <list>

#include "backends/cuda/cuda_heap.hpp"
#include "ops/op_call.hpp"

namespace ebb::cuda {

class PackedCall {
 public:
  // `call` must outlive it.
  PackedCall(ops::OpCall& call, CudaHeap& heap);
  PackedCall(const PackedCall&) = delete;
  PackedCall& operator=(const PackedCall&) = delete;

  // Queues the work. Gives EBB_CUDA_OK or EBB_CUDA_NO_KERNEL; throws for everything else.
  ebb_cuda_status run();

 private:
  static constexpr std::size_t kNear = 4;

  static ebb_cuda_tensor* make(ebb_cuda_call* call, std::uint32_t dtype, std::uint32_t rank,
                               const std::int64_t* dims);
  static void* workspace(ebb_cuda_call* call, std::uint64_t bytes);
  static constexpr ebb_cuda_services kServices{.make = make, .workspace = workspace};

  void pack_inputs();
  void pack_outputs();

  ops::OpCall& call_;
  CudaHeap& heap_;
  ebb_cuda_call packed_;
  std::array<ebb_cuda_tensor, kNear> near_inputs_;
  std::array<ebb_cuda_tensor, kNear> near_outputs_;
  std::vector<ebb_cuda_tensor> far_inputs_;
  std::vector<ebb_cuda_tensor> far_outputs_;
  std::list<ebb_cuda_tensor> late_outputs_;  // those whose shape the data decides
  std::exception_ptr error_;                 // of a service; nothing throws through the plug-in
};

}  // namespace ebb::cuda
