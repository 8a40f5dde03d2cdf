// A fixture that gives every test its own context and devices, and holds the books against the law
// when the test is over.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ebb.h"

// Checks a status and shows the message where it is another.
#define EXPECT_STATUS(call, status) EXPECT_EQ((call), (status)) << ebb_last_error()
#define EXPECT_OK(call) EXPECT_STATUS(call, EBB_OK)
#define ASSERT_OK(call) ASSERT_EQ((call), EBB_OK) << ebb_last_error()

// A struct of zeroes that says how large it is.
template <typename T>
T sized(uint32_t size = sizeof(T)) {
  T made{};
  made.size = size;
  return made;
}

// What a host sees of its callbacks, and what it does in them.
struct TestHost {
  std::vector<ebb_ended> ended;
  std::vector<std::string> warnings;
  std::vector<ebb_handle> garbage;  // noticed by the next collection
  int minor = 0, major = 0;
  uint64_t cost = 1000;  // nanoseconds, or EBB_CANNOT_COLLECT
  std::function<void()> in_collect, in_end, in_warn;

  static uint64_t on_collect(void* user, ebb_collection kind) {
    auto& host = *static_cast<TestHost*>(user);
    ++(kind == EBB_COLLECT_MINOR ? host.minor : host.major);
    for (const ebb_handle handle : host.garbage) ebb_orphan(handle);
    host.garbage.clear();
    if (host.in_collect) host.in_collect();
    return host.cost;
  }
  static void on_end(void* user, const ebb_ended* ended, size_t count) {
    auto& host = *static_cast<TestHost*>(user);
    host.ended.insert(host.ended.end(), ended, ended + count);
    if (host.in_end) host.in_end();
  }
  static void on_warn(void* user, const char* message) {
    auto& host = *static_cast<TestHost*>(user);
    host.warnings.emplace_back(message);
    if (host.in_warn) host.in_warn();
  }
  ebb_context_options options(const char* name) {
    auto given = sized<ebb_context_options>();
    given.name = name;
    given.user = this;
    given.collect = &on_collect;
    given.end = &on_end;
    given.warn = &on_warn;
    return given;
  }
};

class CapiTest : public testing::Test {
 protected:
  static constexpr uint64_t kKilobyte = 1024, kMegabyte = 1024 * kKilobyte;

  void SetUp() override {
    ebb_reclaim_set(0);
    const ebb_context_options options = host.options("test");
    ASSERT_OK(ebb_context_create(&options, &context));
    own = open_device(EBB_DEVICE_SIMULATED, "sim", 64 * kMegabyte);
    foreign = open_device(EBB_DEVICE_FOREIGN, "runtime", 0);
  }

  void TearDown() override {
    host.in_collect = host.in_end = host.in_warn = nullptr;
    EXPECT_OK(ebb_audit());
    if (context != 0) {
      EXPECT_OK(ebb_context_destroy(context));
    }
    EXPECT_OK(ebb_audit());
    EXPECT_OK(ebb_device_close(own));
    EXPECT_OK(ebb_device_close(foreign));
    EXPECT_OK(ebb_trace_set(EBB_TRACE_OFF));
    ebb_reclaim_set(0);
  }

  static ebb_device open_device(uint32_t kind, const char* name, uint64_t capacity,
                                uint64_t budget = 0, uint32_t mode = EBB_BUDGET_HARD) {
    const ebb_device_options options = {sizeof(options), kind, name, capacity, budget, mode, 0};
    ebb_device device = 0;
    EXPECT_OK(ebb_device_open(&options, &device));
    return device;
  }

  ebb_tensor_spec spec_of(uint64_t bytes, ebb_region region = 0, ebb_site site = 0) {
    dim = static_cast<int64_t>(bytes);
    return {sizeof(ebb_tensor_spec), own, EBB_UINT8, 1, &dim, region, site, 0};
  }
  ebb_handle create(uint64_t bytes, ebb_region region = 0, ebb_site site = 0) {
    const ebb_tensor_spec spec = spec_of(bytes, region, site);
    ebb_handle handle = 0;
    EXPECT_OK(ebb_tensor_create(context, &spec, &handle));
    return handle;
  }
  ebb_foreign_spec foreign_spec(uint64_t key, uint64_t bytes, uint64_t tag = 0,
                                ebb_region region = 0) {
    auto spec = sized<ebb_foreign_spec>();
    spec.device = foreign;
    spec.key = key;
    spec.bytes = bytes;
    spec.tag = tag;
    spec.region = region;
    return spec;
  }
  ebb_handle adopt(uint64_t key, uint64_t bytes, uint64_t tag = 0, ebb_region region = 0) {
    const ebb_foreign_spec spec = foreign_spec(key, bytes, tag, region);
    ebb_handle handle = 0;
    EXPECT_OK(ebb_tensor_adopt(context, &spec, &handle));
    return handle;
  }
  ebb_region open(ebb_region parent = 0, const char* name = nullptr) {
    ebb_region region = 0;
    EXPECT_OK(ebb_region_open(context, parent, name, &region));
    return region;
  }
  ebb_memory read(ebb_device device = 0) {
    auto memory = sized<ebb_memory>();
    EXPECT_OK(ebb_memory_read(context, device, &memory));
    return memory;
  }
  ebb_device_info describe_device(ebb_device device) {
    auto info = sized<ebb_device_info>();
    EXPECT_OK(ebb_device_describe(device, &info));
    return info;
  }
  ebb_tensor_info describe(ebb_handle handle) {
    auto info = sized<ebb_tensor_info>();
    EXPECT_OK(ebb_tensor_describe(context, handle, &info));
    return info;
  }
  bool stale(ebb_handle handle) {
    auto info = sized<ebb_tensor_info>();
    return ebb_tensor_describe(context, handle, &info) == EBB_STALE_HANDLE;
  }
  ebb_drained safe_point(ebb_device device = 0, uint64_t upcoming = 0) {
    auto drained = sized<ebb_drained>();
    EXPECT_OK(ebb_safe_point(context, device, upcoming, 0, &drained));
    return drained;
  }

  TestHost host;
  ebb_context context = 0;
  ebb_device own = 0, foreign = 0;
  int64_t dim = 0;
};

// A context on the CPU, whose operations run.
class CapiOpsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto device = sized<ebb_device_options>();
    device.name = "capi ops";
    ASSERT_OK(ebb_device_open(&device, &device_));
    const auto context = sized<ebb_context_options>();
    ASSERT_OK(ebb_context_create(&context, &context_));
  }
  void TearDown() override {
    EXPECT_OK(ebb_context_destroy(context_));
    EXPECT_OK(ebb_device_close(device_));
    EXPECT_OK(ebb_audit());
  }

  ebb_handle vector(const std::vector<float>& values) {
    const int64_t dim = static_cast<int64_t>(values.size());
    auto spec = sized<ebb_tensor_spec>();
    spec.device = device_;
    spec.dtype = EBB_FLOAT32;
    spec.rank = 1;
    spec.dims = &dim;
    ebb_handle handle = 0;
    EXPECT_OK(ebb_tensor_create(context_, &spec, &handle));
    EXPECT_OK(ebb_tensor_write(context_, handle, values.data(), values.size() * 4));
    return handle;
  }

  ebb_device device_ = 0;
  ebb_context context_ = 0;
};
