// Hosts and devices for tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ebb/tensor/context.hpp"

namespace ebb::test {

// A device for the length of a test.
class OpenDevice {
 public:
  explicit OpenDevice(DeviceOptions options) : device_(Device::open(std::move(options))) {}
  ~OpenDevice() { Device::close(device_); }
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;
  Device& operator*() const { return device_; }
  Device* operator->() const { return &device_; }
  Device* get() const { return &device_; }

 private:
  Device& device_;
};

// Reclaim on for the length of a test.
struct ReclaimOn {
  ReclaimOn() { set_reclaim(true); }
  ~ReclaimOn() { set_reclaim(false); }
};

// Writes down what Ebb told it; collects with `on_collect`, if that is set.
struct RecordingHost : Host {
  std::function<std::uint64_t(Collection)> on_collect;
  std::function<void(std::span<const ForeignEnd>)> on_end;
  std::vector<ForeignEnd> ends;
  std::vector<std::string> warnings;
  std::vector<Collection> collections;

  bool can_collect() const override { return on_collect != nullptr; }
  std::uint64_t collect(Collection kind) override {
    collections.push_back(kind);
    return on_collect(kind);
  }
  void end(std::span<const ForeignEnd> ended) override {
    ends.insert(ends.end(), ended.begin(), ended.end());
    if (on_end) on_end(ended);
  }
  void warn(std::string_view message) override { warnings.emplace_back(message); }
};

}  // namespace ebb::test
