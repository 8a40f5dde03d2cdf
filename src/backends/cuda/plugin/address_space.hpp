// Device memory by the driver's virtual memory management: address ranges, and 2 MB pieces of
// memory that come and go under them. The driver's functions are asked for at run time.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace ebb::cuda {

class AddressSpace {
 public:
  // Throws Failure. Pre: the device is the calling thread's.
  explicit AddressSpace(int ordinal);
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  std::uint64_t granule() const noexcept { return granule_; }
  void* reserve(std::uint64_t bytes) noexcept;
  void unreserve(void* base, std::uint64_t bytes) noexcept;
  // CUDA_SUCCESS; otherwise nothing changed.
  CUresult commit(void* base, std::uint64_t bytes) noexcept;
  CUresult decommit(void* base, std::uint64_t bytes) noexcept;

 private:
  // By address; for each granule whether it is backed.
  using Ranges = std::map<CUdeviceptr, std::vector<bool>>;

  CUresult map_one(CUdeviceptr at) noexcept;
  void mark(CUdeviceptr base, std::uint64_t bytes, bool backed) noexcept;

  CUmemAllocationProp what_{};
  CUmemAccessDesc access_{};
  std::uint64_t granule_ = 0;
  std::mutex mutex_;
  Ranges ranges_;  // guarded by mutex_
};

}  // namespace ebb::cuda
