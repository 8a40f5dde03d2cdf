// The one budget of the process: what the user chose, for every device that any isolate has opened
// or will open.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
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
    for (const auto* devices : {&foreign_, &own_, &gpus_}) {
      if (devices == &gpus_ && bytes == 0) continue;  // a GPU keeps its share of what is free
      const std::uint64_t here = devices == &foreign_ ? bytes_ : usable(bytes_);
      for (const ebb_device device : *devices) {
        if (const auto status = ebb_device_set_budget(device, here, mode_); status != EBB_OK)
          return status;
      }
    }
    return EBB_OK;
  }

  // Ebb's own memory. Where the user has chosen no budget, a GPU takes its share of what is free,
  // which is all it may take.
  ebb_status open_own(const char* name, ebb_device* device) {
    const std::lock_guard lock(mutex_);
    const bool gpu = std::string_view(name).starts_with("cuda:");
    ebb_device_options options{};
    options.size = sizeof options;
    options.kind = gpu ? EBB_DEVICE_CUDA : EBB_DEVICE_SYSTEM;
    options.name = name;
    options.budget = usable(bytes_);
    options.mode = bytes_ == 0 && gpu ? std::uint32_t{EBB_BUDGET_HARD} : mode_;
    const ebb_status status = ebb_device_open(&options, device);
    if (status != EBB_OK) return status;
    (gpu ? gpus_ : own_).insert(*device);
    names_[*device] = name;
    return EBB_OK;
  }

  // The budget of Ebb's own memory, a GPU's apart, where the user has chosen none.
  ebb_status limit_own(ebb_device device, std::uint64_t otherwise) {
    const std::lock_guard lock(mutex_);
    if (bytes_ != 0 || !own_.contains(device)) return EBB_OK;
    return ebb_device_set_budget(device, otherwise, mode_);
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
    if (status != EBB_OK) return status;
    foreign_.insert(*device);
    names_[*device] = name;
    return EBB_OK;
  }

  // Every device that was opened here, by its name.
  std::map<ebb_device, std::string> devices() {
    const std::lock_guard lock(mutex_);
    return names_;
  }

 private:
  // Ebb's own memory comes in pieces of this size, and a budget below it is none.
  static constexpr std::uint64_t kGranule = 2 << 20;
  static std::uint64_t usable(std::uint64_t bytes) {
    return bytes == 0 ? 0 : std::max(bytes, kGranule);
  }

  std::mutex mutex_;
  std::uint64_t bytes_ = 0;
  std::uint32_t mode_ = EBB_BUDGET_SOFT;
  std::set<ebb_device> foreign_, own_, gpus_;
  std::map<ebb_device, std::string> names_;
};

}  // namespace ebb::node
