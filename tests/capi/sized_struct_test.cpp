// Structs that carry their size: older callers have shorter ones, newer callers longer ones.
#include <cstddef>
#include <cstring>

#include "capi/capi_fixture.hpp"

namespace {

class CapiSizes : public CapiTest {
 protected:
  static constexpr uint32_t kTooSmall[] = {0, 1, 4, 7, 10};  // or cutting a field
};

TEST_F(CapiSizes, TooSmallIsRefusedEverywhere) {
  for (const uint32_t size : kTooSmall) {
    auto device_options = sized<ebb_device_options>(size);
    device_options.name = "x";
    ebb_device device = 0;
    EXPECT_EQ(ebb_device_open(&device_options, &device), EBB_INVALID_ARGUMENT);
    auto context_options = sized<ebb_context_options>(size);
    ebb_context made = 0;
    EXPECT_EQ(ebb_context_create(&context_options, &made), EBB_INVALID_ARGUMENT);
    ebb_tensor_spec spec = spec_of(1);
    spec.size = size;
    ebb_handle handle = 0;
    EXPECT_EQ(ebb_tensor_create(context, &spec, &handle), EBB_INVALID_ARGUMENT);
    ebb_foreign_spec adopted = foreign_spec(1, 1);
    adopted.size = size;
    EXPECT_EQ(ebb_tensor_adopt(context, &adopted, &handle), EBB_INVALID_ARGUMENT);
    auto report = sized<ebb_report_options>(size);
    char* text = nullptr;
    EXPECT_EQ(ebb_report(context, &report, &text), EBB_INVALID_ARGUMENT);
    EXPECT_EQ(text, nullptr);
  }
}

TEST_F(CapiSizes, TooSmallOutputsAreRefusedBeforeAnythingHappens) {
  ebb_reclaim_set(1);
  const ebb_handle handle = create(1);
  ebb_orphan(handle);
  for (const uint32_t size : kTooSmall) {
    auto drained = sized<ebb_drained>(size);
    EXPECT_EQ(ebb_safe_point(context, 0, 0, 0, &drained), EBB_INVALID_ARGUMENT);
    EXPECT_EQ(ebb_collect(context, EBB_COLLECT_MAJOR, 0, &drained), EBB_INVALID_ARGUMENT);
    EXPECT_EQ(ebb_make_room(context, foreign, 1, &drained), EBB_INVALID_ARGUMENT);
    auto memory = sized<ebb_memory>(size);
    EXPECT_EQ(ebb_memory_read(context, 0, &memory), EBB_INVALID_ARGUMENT);
    auto device_info = sized<ebb_device_info>(size);
    EXPECT_EQ(ebb_device_describe(own, &device_info), EBB_INVALID_ARGUMENT);
    auto tensor_info = sized<ebb_tensor_info>(size);
    EXPECT_EQ(ebb_tensor_describe(context, handle, &tensor_info), EBB_INVALID_ARGUMENT);
  }
  EXPECT_FALSE(stale(handle));
  EXPECT_EQ(host.minor + host.major, 0);
}

TEST_F(CapiSizes, AnOlderInputReadsAsZeroBeyondItsEnd) {
  ebb_tensor_spec spec = spec_of(16, 999);  // a region that never was
  spec.size = offsetof(ebb_tensor_spec, region);
  ebb_handle handle = 0;
  EXPECT_OK(ebb_tensor_create(context, &spec, &handle));
  EXPECT_EQ(describe(handle).bytes, 16u);
  ebb_foreign_spec adopted = foreign_spec(0, 8, 3, 999);
  adopted.size = offsetof(ebb_foreign_spec, dtype);
  EXPECT_OK(ebb_tensor_adopt(context, &adopted, &handle));
  EXPECT_EQ(describe(handle).tag, 3u);
}

TEST_F(CapiSizes, ANewerInputIsReadAsFarAsItIsKnown) {
  struct {
    ebb_foreign_spec known;
    uint64_t unknown[4];
  } newer{.known = foreign_spec(0, 8), .unknown = {1, 2, 3, 4}};
  newer.known.size = sizeof(newer);
  ebb_handle handle = 0;
  EXPECT_OK(ebb_tensor_adopt(context, &newer.known, &handle));
  newer.known.size = UINT32_MAX;  // says more than there is: nothing beyond what is known is read
  EXPECT_OK(ebb_tensor_adopt(context, &newer.known, &handle));
}

TEST_F(CapiSizes, AnOutputIsWrittenToItsSizeOnly) {
  const ebb_handle handle = create(16);
  ebb_tensor_info info;
  std::memset(&info, 0xAB, sizeof(info));
  info.size = offsetof(ebb_tensor_info, bytes);
  EXPECT_OK(ebb_tensor_describe(context, handle, &info));
  EXPECT_EQ(info.size, offsetof(ebb_tensor_info, bytes));
  EXPECT_EQ(info.device, own);
  EXPECT_EQ(info.bytes, 0xABABABABABABABABull);

  struct {
    ebb_memory known;
    uint64_t beyond;
  } newer;
  std::memset(&newer, 0xCD, sizeof(newer));
  newer.known.size = sizeof(newer);
  EXPECT_OK(ebb_memory_read(context, 0, &newer.known));
  EXPECT_EQ(newer.known.size, sizeof(newer));
  EXPECT_EQ(newer.known.live, 1u);
  EXPECT_EQ(newer.beyond, 0xCDCDCDCDCDCDCDCDull);
}

TEST_F(CapiSizes, TheSmallestThatIsTaken) {
  ebb_drained drained;
  std::memset(&drained, 0xEE, sizeof(drained));
  drained.size = 8;
  EXPECT_OK(ebb_safe_point(context, 0, 0, 0, &drained));
  EXPECT_EQ(drained.collected, 0u);
  EXPECT_EQ(drained.tensors, 0xEEEEEEEEEEEEEEEEull);
  auto options = sized<ebb_context_options>(8);
  ebb_context made = 0;
  EXPECT_OK(ebb_context_create(&options, &made));
  EXPECT_OK(ebb_context_destroy(made));
}

}  // namespace
