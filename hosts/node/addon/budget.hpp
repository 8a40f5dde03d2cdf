// The one budget of the process: what the user chose, for every device that any isolate has opened
// or will open.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "ebb.h"

namespace ebb::node {

class Budget {
 public:
  static Budget& of_process() {
    static Budget budget;
    return budget;
  }

  // 0: the user has not chosen one.
  std::uint64_t bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

  ebb_status set(std::uint64_t bytes, bool strict) {
    const std::lock_guard lock(mutex_);
    bytes_ = bytes;
    mode_ = strict ? EBB_BUDGET_HARD : EBB_BUDGET_SOFT;
    for (const ebb_device device : devices_) {
      if (const auto status = ebb_device_set_budget(device, bytes_, mode_); status != EBB_OK)
        return status;
    }
    for (const ebb_device device : own_) {
      if (const auto status = ebb_device_set_budget(device, hard_bytes(), EBB_BUDGET_HARD);
          status != EBB_OK)
        return status;
    }
    if (hard_bytes() == 0) return EBB_OK;
    for (const ebb_device device : gpus_) {
      if (const auto status = ebb_device_set_budget(device, hard_bytes(), EBB_BUDGET_HARD);
          status != EBB_OK)
        return status;
    }
    return EBB_OK;
  }

  // Ebb's own memory, beneath a foreign device that carries the soft budget: a limit only where the
  // user wants a strict one.
  ebb_status open_own(const char* name, ebb_device* device) {
    const std::lock_guard lock(mutex_);
    ebb_device_options options{};
    options.size = sizeof options;
    options.kind = is_gpu(name) ? EBB_DEVICE_CUDA : EBB_DEVICE_SYSTEM;
    options.name = name;
    options.budget = hard_bytes();
    options.mode = EBB_BUDGET_HARD;
    const ebb_status status = ebb_device_open(&options, device);
    // A GPU keeps its share of what is free where the user wants no strict limit.
    if (status == EBB_OK && !is_gpu(name)) own_.insert(*device);
    if (status == EBB_OK && is_gpu(name)) gpus_.insert(*device);
    return status;
  }

  // Cached memory of Ebb's own devices goes back to the system: up to `bytes`; `*trimmed` says how
  // much it was.
  ebb_status trim(std::uint64_t bytes, std::uint64_t* trimmed) {
    const std::lock_guard lock(mutex_);
    *trimmed = 0;
    for (const auto* devices : {&own_, &gpus_}) {
      for (const ebb_device device : *devices) {
        std::uint64_t here = 0;
        if (const auto status = ebb_device_trim(device, bytes - *trimmed, &here); status != EBB_OK)
          return status;
        *trimmed += std::min(here, bytes - *trimmed);
      }
    }
    return EBB_OK;
  }

  // The least of the GPUs' budgets; 0 while none is open.
  ebb_status of_gpus(std::uint64_t* bytes) {
    const std::lock_guard lock(mutex_);
    *bytes = 0;
    for (const ebb_device device : gpus_) {
      ebb_device_info info{};
      info.size = sizeof info;
      if (const auto status = ebb_device_describe(device, &info); status != EBB_OK) return status;
      *bytes = *bytes == 0 ? info.budget : std::min(*bytes, info.budget);
    }
    return EBB_OK;
  }

  ebb_status open(const std::string& name, std::uint64_t otherwise, ebb_device* device) {
    const std::lock_guard lock(mutex_);
    ebb_device_options options{};
    options.size = sizeof options;
    options.kind = EBB_DEVICE_FOREIGN;
    options.name = name.c_str();
    options.budget = bytes_ != 0 ? bytes_ : otherwise;
    options.mode = mode_;
    const ebb_status status = ebb_device_open(&options, device);
    if (status == EBB_OK) devices_.insert(*device);
    return status;
  }

 private:
  static bool is_gpu(std::string_view name) { return name.substr(0, 5) == "cuda:"; }
  std::uint64_t hard_bytes() const { return mode_ == EBB_BUDGET_HARD ? bytes_ : 0; }

  std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  std::uint32_t mode_ = EBB_BUDGET_SOFT;
  std::set<ebb_device> devices_;
  std::set<ebb_device> own_;
  std::set<ebb_device> gpus_;
};

}  // namespace ebb::node
