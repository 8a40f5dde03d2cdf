// Devices that are opened, used by name and closed on many threads at once: what is made by a name
// is on the device that had it, and a report shows whole names.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ebb.h"
#include "ebb/memory/device.hpp"
#include "support/audited.hpp"

namespace ebb::test {
namespace {

constexpr std::size_t kUsers = 6;
constexpr int kOpenings = 400;
constexpr auto kRest = std::chrono::microseconds(50);

// Long, so that it is not kept in the string itself, and of one letter, so that a torn one shows.
std::string long_name(int opening) {
  return std::string(30 + std::size_t(opening % 20), char('a' + opening % 26));
}

bool of_one_letter(std::string_view name) {
  return !name.empty() && name.find_first_not_of(name.front()) == std::string_view::npos;
}

class DeviceThreads : public testing::TestWithParam<std::uint32_t> {
 protected:
  ebb_device open(int opening) {
    const std::string name = long_name(opening);
    const ebb_device_options options{.size = sizeof(ebb_device_options),
                                     .kind = GetParam(),
                                     .name = name.c_str(),
                                     .capacity = 64 << 20,
                                     .budget = 0,
                                     .mode = EBB_BUDGET_HARD,
                                     .reserved = 0};
    ebb_device device = 0;
    EXPECT_EQ(ebb_device_open(&options, &device), EBB_OK) << ebb_last_error();
    return device;
  }

  ebb_status make(ebb_context context, ebb_device device, ebb_handle& made) const {
    const std::array<std::int64_t, 1> dims{16};
    if (GetParam() == EBB_DEVICE_FOREIGN) {
      ebb_foreign_spec spec{};
      spec.size = sizeof(spec);
      spec.device = device;
      spec.bytes = 64;
      return ebb_tensor_adopt(context, &spec, &made);
    }
    ebb_tensor_spec spec{};
    spec.size = sizeof(spec);
    spec.device = device;
    spec.dtype = EBB_FLOAT32;
    spec.dims = dims.data();
    spec.rank = 1;
    return ebb_tensor_create(context, &spec, &made);
  }

  // Makes a tensor by whatever name there is, and sees where it came to be.
  void use(ebb_context context, ebb_device device) {
    ebb_handle made = 0;
    const ebb_status status = make(context, device, made);
    if (status != EBB_OK) {
      EXPECT_EQ(status, EBB_STALE_HANDLE) << ebb_last_error();
      return;
    }
    ebb_tensor_info info{};
    info.size = sizeof(info);
    EXPECT_EQ(ebb_tensor_describe(context, made, &info), EBB_OK) << ebb_last_error();
    EXPECT_EQ(info.device, device);
    EXPECT_EQ(ebb_tensor_dispose(context, made), EBB_OK);
  }

  std::atomic<ebb_device> current_{0};
  std::atomic<bool> stop_{false};
};

TEST_P(DeviceThreads, WhatIsMadeByANameIsOnTheDeviceThatHadIt) {
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kUsers; ++t) {
    threads.emplace_back([&] {
      auto options = EBB_INIT(ebb_context_options);
      options.name = "user";
      ebb_context context = 0;
      ASSERT_EQ(ebb_context_create(&options, &context), EBB_OK) << ebb_last_error();
      while (!stop_) {
        use(context, current_);
        // A device closes when nothing of it is in use: that must happen now and then.
        std::this_thread::sleep_for(kRest);
      }
      EXPECT_EQ(ebb_context_destroy(context), EBB_OK);
    });
  }
  threads.emplace_back([&] {
    while (!stop_) {
      for (DeviceIndex i = 1; i < kMaxDevices; ++i) {
        const Device* device = Device::at(i);
        EXPECT_TRUE(device == nullptr || of_one_letter(device->name()));
      }
    }
  });
  for (int opening = 0; opening < kOpenings; ++opening) {
    const ebb_device device = open(opening);
    EXPECT_NE(device, current_);
    current_ = device;
    ebb_status closed = EBB_WRONG_STATE;
    while ((closed = ebb_device_close(device)) == EBB_WRONG_STATE) std::this_thread::yield();
    EXPECT_EQ(closed, EBB_OK) << ebb_last_error();
    EXPECT_EQ(ebb_device_close(device), EBB_STALE_HANDLE);
  }
  stop_ = true;
  for (std::thread& thread : threads) thread.join();
}

INSTANTIATE_TEST_SUITE_P(Kinds, DeviceThreads,
                         testing::Values(EBB_DEVICE_FOREIGN, EBB_DEVICE_SIMULATED),
                         [](const auto& info) {
                           return info.param == EBB_DEVICE_FOREIGN ? "foreign" : "simulated";
                         });

}  // namespace
}  // namespace ebb::test
