#include "backends/cuda/plugin/address_space.hpp"

#include "backends/cuda/plugin/driver.hpp"

namespace ebb::cuda {
namespace {

struct Driver {
  decltype(&cuMemGetAllocationGranularity) granularity =
      driver_function<decltype(cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity");
  decltype(&cuMemAddressReserve) reserve =
      driver_function<decltype(cuMemAddressReserve)>("cuMemAddressReserve");
  decltype(&cuMemAddressFree) unreserve =
      driver_function<decltype(cuMemAddressFree)>("cuMemAddressFree");
  decltype(&cuMemCreate) create = driver_function<decltype(cuMemCreate)>("cuMemCreate");
  decltype(&cuMemRelease) release = driver_function<decltype(cuMemRelease)>("cuMemRelease");
  decltype(&cuMemMap) map = driver_function<decltype(cuMemMap)>("cuMemMap");
  decltype(&cuMemUnmap) unmap = driver_function<decltype(cuMemUnmap)>("cuMemUnmap");
  decltype(&cuMemSetAccess) set_access =
      driver_function<decltype(cuMemSetAccess)>("cuMemSetAccess");
};

const Driver& driver() {
  static const Driver functions;
  return functions;
}

CUdeviceptr address(void* base) noexcept { return reinterpret_cast<CUdeviceptr>(base); }

}  // namespace

AddressSpace::AddressSpace(int ordinal) {
  what_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what_.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = ordinal};
  access_ = {.location = what_.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  std::size_t granule = 0;
  if (driver().granularity(&granule, &what_, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS) {
    throw Failure{EBB_CUDA_MISSING, "the device has no virtual memory management"};
  }
  granule_ = granule;
}

void* AddressSpace::reserve(std::uint64_t bytes) noexcept {
  CUdeviceptr base = 0;
  if (driver().reserve(&base, bytes, granule_, 0, 0) != CUDA_SUCCESS) return nullptr;
  try {
    const std::lock_guard lock(mutex_);
    ranges_.emplace(base, std::vector<bool>(bytes / granule_));
  } catch (...) {
    driver().unreserve(base, bytes);
    return nullptr;
  }
  return reinterpret_cast<void*>(base);
}

void AddressSpace::unreserve(void* base, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto range = ranges_.find(address(base));
  if (range == ranges_.end()) return;
  for (std::size_t i = 0; i < range->second.size(); ++i) {
    if (range->second[i]) driver().unmap(range->first + i * granule_, granule_);
  }
  ranges_.erase(range);
  driver().unreserve(address(base), bytes);
}

// A piece's handle is let go at once: the memory lives as long as it is mapped.
CUresult AddressSpace::map_one(CUdeviceptr at) noexcept {
  CUmemGenericAllocationHandle piece = 0;
  CUresult error = driver().create(&piece, granule_, &what_, 0);
  if (error != CUDA_SUCCESS) return error;
  error = driver().map(at, granule_, 0, piece, 0);
  driver().release(piece);
  return error;
}

// A piece for each granule: the driver takes back whole pieces only.
CUresult AddressSpace::commit(void* base, std::uint64_t bytes) noexcept {
  const CUdeviceptr first = address(base);
  CUresult error = CUDA_SUCCESS;
  std::uint64_t mapped = 0;
  while (mapped < bytes && error == CUDA_SUCCESS) {
    error = map_one(first + mapped);
    if (error == CUDA_SUCCESS) mapped += granule_;
  }
  if (error == CUDA_SUCCESS) error = driver().set_access(first, bytes, &access_, 1);
  if (error != CUDA_SUCCESS) {
    if (mapped != 0) driver().unmap(first, mapped);
    return error;
  }
  mark(first, bytes, true);
  return CUDA_SUCCESS;
}

CUresult AddressSpace::decommit(void* base, std::uint64_t bytes) noexcept {
  mark(address(base), bytes, false);
  return driver().unmap(address(base), bytes);
}

void AddressSpace::mark(CUdeviceptr base, std::uint64_t bytes, bool backed) noexcept {
  const std::lock_guard lock(mutex_);
  auto range = ranges_.upper_bound(base);
  if (range == ranges_.begin()) return;
  --range;
  const std::size_t first = (base - range->first) / granule_;
  for (std::size_t i = 0; i < bytes / granule_; ++i) range->second[first + i] = backed;
}

}  // namespace ebb::cuda
