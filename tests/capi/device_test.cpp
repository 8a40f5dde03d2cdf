#include "capi/capi_fixture.hpp"

namespace {

class CapiDevice : public CapiTest {};

TEST_F(CapiDevice, OpeningAgainFindsIt) {
  const ebb_device again = open_device(EBB_DEVICE_SIMULATED, "sim", 64 * kMegabyte);
  EXPECT_EQ(again, own);
  EXPECT_OK(ebb_device_close(again));
  EXPECT_EQ(describe_device(own).kind, static_cast<uint32_t>(EBB_DEVICE_SIMULATED));
}

TEST_F(CapiDevice, AnotherKindUnderTheSameNameIsRefused) {
  const ebb_device_options options = {sizeof(options), EBB_DEVICE_SYSTEM, "sim", 0, 0, 0, 0};
  ebb_device device = 77;
  EXPECT_STATUS(ebb_device_open(&options, &device), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(device, 77u) << "outputs are written on success only";
}

TEST_F(CapiDevice, BadOptions) {
  ebb_device device = 0;
  const auto status = [&](ebb_device_options options) {
    return ebb_device_open(&options, &device);
  };
  const ebb_device_options good = {sizeof(good), EBB_DEVICE_SYSTEM, "bad", 0, 0, 0, 0};
  ebb_device_options options = good;
  options.kind = 3;
  EXPECT_EQ(status(options), EBB_INVALID_ARGUMENT);
  options = good;
  options.name = nullptr;
  EXPECT_EQ(status(options), EBB_INVALID_ARGUMENT);
  options.name = "";
  EXPECT_EQ(status(options), EBB_INVALID_ARGUMENT);
  options = good;
  options.mode = 2;
  EXPECT_EQ(status(options), EBB_INVALID_ARGUMENT);
  options = good;
  options.kind = EBB_DEVICE_SIMULATED;
  EXPECT_EQ(status(options), EBB_INVALID_ARGUMENT) << "no capacity";
  options.capacity = UINT64_MAX;
  EXPECT_EQ(status(options), EBB_INVALID_ARGUMENT) << "absurd capacity";
  EXPECT_EQ(ebb_device_open(nullptr, &device), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_device_open(&good, nullptr), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiDevice, UnknownDevices) {
  auto info = sized<ebb_device_info>();
  for (const ebb_device unknown : {0u, 31u, 32u, UINT32_MAX}) {
    EXPECT_EQ(ebb_device_close(unknown), EBB_STALE_HANDLE);
    EXPECT_EQ(ebb_device_set_budget(unknown, 1, 0), EBB_STALE_HANDLE);
    EXPECT_EQ(ebb_device_describe(unknown, &info), EBB_STALE_HANDLE);
    EXPECT_EQ(ebb_device_trim(unknown, 1, nullptr), EBB_STALE_HANDLE);
  }
  EXPECT_EQ(ebb_device_describe(own, nullptr), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiDevice, IsNotClosedWhileInUse) {
  const ebb_handle handle = create(kKilobyte);
  EXPECT_STATUS(ebb_device_close(own), EBB_WRONG_STATE);
  EXPECT_OK(ebb_tensor_dispose(context, handle));
}

TEST_F(CapiDevice, MoreCapacitiesThanDevices) {
  for (uint64_t i = 1; i <= 100; ++i) {
    const ebb_device device = open_device(EBB_DEVICE_SIMULATED, "other", i * kMegabyte);
    EXPECT_OK(ebb_device_close(device));
  }
}

TEST_F(CapiDevice, CapacityLimitsWhateverTheBudget) {
  EXPECT_OK(ebb_device_set_budget(own, 1024 * kMegabyte, EBB_BUDGET_HARD));
  const ebb_tensor_spec spec = spec_of(65 * kMegabyte);
  ebb_handle handle = 0;
  EXPECT_STATUS(ebb_tensor_create(context, &spec, &handle), EBB_OUT_OF_MEMORY);
  EXPECT_EQ(handle, 0u);
}

TEST_F(CapiDevice, DescribesMemory) {
  const ebb_handle handle = create(kMegabyte);
  ebb_device_info info = describe_device(own);
  EXPECT_EQ(info.in_use, kMegabyte);
  EXPECT_GE(info.committed, kMegabyte);
  EXPECT_OK(ebb_tensor_dispose(context, handle));
  info = describe_device(own);
  EXPECT_EQ(info.in_use, 0u);
  EXPECT_GE(info.cached, kMegabyte);
  uint64_t trimmed = 0;
  EXPECT_OK(ebb_device_trim(own, UINT64_MAX, &trimmed));
  EXPECT_GE(trimmed, kMegabyte);
  EXPECT_LT(describe_device(own).committed, info.committed);
}

TEST_F(CapiDevice, ForeignHasNothingToTrim) {
  const ebb_handle handle = adopt(0, 4096);
  EXPECT_EQ(describe_device(foreign).in_use, 4096u);
  EXPECT_EQ(describe_device(foreign).committed, 4096u);
  uint64_t trimmed = 1;
  EXPECT_OK(ebb_device_trim(foreign, UINT64_MAX, &trimmed));
  EXPECT_EQ(trimmed, 0u);
  EXPECT_OK(ebb_tensor_dispose(context, handle));
}

TEST_F(CapiDevice, SetBudget) {
  EXPECT_OK(ebb_device_set_budget(own, 8 * kMegabyte, EBB_BUDGET_SOFT));
  EXPECT_EQ(describe_device(own).budget, 8 * kMegabyte);
  EXPECT_EQ(describe_device(own).mode, static_cast<uint32_t>(EBB_BUDGET_SOFT));
  EXPECT_STATUS(ebb_device_set_budget(own, 1, 9), EBB_INVALID_ARGUMENT);
}

TEST(CapiLimit, OfTheProcess) {
  uint64_t bytes = 0;
  EXPECT_OK(ebb_memory_limit(&bytes));
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(ebb_memory_limit(nullptr), EBB_INVALID_ARGUMENT);
}

TEST(CapiLimit, AmountsAsPeopleWriteThem) {
  uint64_t bytes = 0;
  EXPECT_OK(ebb_parse_bytes("1.5g", &bytes));
  EXPECT_EQ(bytes, uint64_t{3} << 29);
  EXPECT_EQ(ebb_parse_bytes("much", &bytes), EBB_INVALID_ARGUMENT);
  EXPECT_NE(std::string(ebb_last_error()).find("much"), std::string::npos);
  EXPECT_EQ(ebb_parse_bytes(nullptr, &bytes), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_parse_bytes("1", nullptr), EBB_INVALID_ARGUMENT);
}

}  // namespace
