// What is no view after all is a copy.
#include "backends/cuda/plugin/kernels/movement.hpp"

namespace ebb::cuda {
namespace {

EBB_CUDA_KERNEL(Slice, move);
EBB_CUDA_KERNEL(Transpose, move);
EBB_CUDA_KERNEL(Real, move);
EBB_CUDA_KERNEL(Imag, move);

}  // namespace
}  // namespace ebb::cuda
