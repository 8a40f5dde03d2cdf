// Strided copies and fills, for every kernel that moves data.
#pragma once

#include "backends/cuda/plugin/kernel.hpp"
#include "backends/cuda/plugin/kernels/loops.cuh"
#include "ebb/base/dtype.hpp"
#include "ops/params/movement.hpp"

namespace ebb::cuda {

// Operand 0 is the source, operand 1 the target.
void copy(cudaStream_t stream, const Plan<2>& plan, std::size_t element_size, const void* from,
          void* to);
// The same, of the plan that a meaning has made.
void copy(cudaStream_t stream, const ops::CopyPlan& plan, std::size_t element_size,
          const void* from, void* to);

// `rows` runs of `run` elements, from every `from_step` to every `to_step` elements.
void copy_runs(cudaStream_t stream, std::size_t element_size, std::int64_t rows, std::int64_t run,
               const void* from, std::int64_t from_step, void* to, std::int64_t to_step);

// Elements that lie as the strides say, in row-major order, one after the other.
void pack(cudaStream_t stream, std::size_t element_size, std::span<const std::int64_t> dims,
          const std::int64_t* strides, const void* from, void* to);
// A tensor's.
void pack(cudaStream_t stream, const ebb_cuda_tensor& from, void* to);

// `count` elements become `value`, converted. Pre: `to` is where a block of memory begins.
void fill(cudaStream_t stream, DType dtype, void* to, std::int64_t count, double value);

}  // namespace ebb::cuda
