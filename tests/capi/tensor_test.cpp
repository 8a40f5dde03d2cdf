#include <cstring>
#include <limits>

#include "capi/capi_fixture.hpp"

namespace {

class CapiTensor : public CapiTest {};

TEST_F(CapiTensor, CreateDescribeDispose) {
  const int64_t dims[] = {2, 3, 4};
  ebb_site site = 0;
  ASSERT_OK(ebb_site_intern("f (a.js:1)\ng (b.js:2)", &site));
  const ebb_tensor_spec spec = {sizeof(spec), own, EBB_FLOAT32, 3, dims, 0, site, 0};
  ebb_handle handle = 0;
  ASSERT_OK(ebb_tensor_create(context, &spec, &handle));
  EXPECT_LT(handle, uint64_t{1} << 53);
  const ebb_tensor_info info = describe(handle);
  EXPECT_EQ(info.device, own);
  EXPECT_EQ(info.dtype, static_cast<uint32_t>(EBB_FLOAT32));
  EXPECT_EQ(info.rank, 3u);
  EXPECT_EQ(info.dims[2], 4);
  EXPECT_EQ(info.bytes, 96u);
  EXPECT_EQ(info.site, site);
  EXPECT_EQ(info.orphaned, 0u);
  EXPECT_OK(ebb_tensor_dispose(context, handle));
  EXPECT_OK(ebb_tensor_dispose(context, handle)) << "twice is harmless";
  EXPECT_TRUE(stale(handle));
  EXPECT_NE(std::string(ebb_last_error()).find("[2,3,4]"), std::string::npos) << ebb_last_error();
}

TEST_F(CapiTensor, TheSiteMayBeSaidAfterTheBirth) {
  ebb_site site = 0;
  ASSERT_OK(ebb_site_intern("later.js:1", &site));
  const ebb_handle handle = create(1);
  EXPECT_OK(ebb_tensor_made_at(context, handle, site));
  EXPECT_EQ(describe(handle).site, site);
  EXPECT_OK(ebb_tensor_dispose(context, handle));
  EXPECT_EQ(ebb_tensor_made_at(context, handle, site), EBB_STALE_HANDLE);
}

TEST_F(CapiTensor, StaleForgedZeroAndForeignNames) {
  TestHost other;
  const ebb_context_options options = other.options("other");
  ebb_context second = 0;
  ASSERT_OK(ebb_context_create(&options, &second));
  const ebb_handle elsewhere = create(1);
  const ebb_handle ended = create(1);
  EXPECT_OK(ebb_tensor_dispose(context, ended));
  ebb_handle made = 0;
  ebb_hold hold = 0;
  const ebb_tensor_spec view = spec_of(1);
  for (const ebb_handle name : {uint64_t{0}, elsewhere, elsewhere + 1, ended << 20, UINT64_MAX}) {
    EXPECT_STATUS(ebb_tensor_dispose(second, name), EBB_STALE_HANDLE);
    EXPECT_STATUS(ebb_tensor_view(second, name, 0, &view, &made), EBB_STALE_HANDLE);
    EXPECT_STATUS(ebb_hold_acquire(second, name, &hold), EBB_STALE_HANDLE);
    EXPECT_STATUS(ebb_tensor_rebook(second, name, 0, 1), EBB_STALE_HANDLE);
    EXPECT_STATUS(ebb_region_attach(second, 0, name), EBB_STALE_HANDLE);
  }
  EXPECT_OK(ebb_context_destroy(second));
  EXPECT_FALSE(stale(elsewhere));
}

TEST_F(CapiTensor, AbsurdSpecs) {
  const int64_t huge[] = {INT64_MAX, INT64_MAX, 2, 2, 2, 2, 2};
  const int64_t negative[] = {-1};
  const ebb_tensor_spec good = spec_of(16);
  ebb_handle handle = 0;
  const auto status = [&](const ebb_tensor_spec& spec) {
    return ebb_tensor_create(context, &spec, &handle);
  };
  ebb_tensor_spec spec = good;
  spec.rank = 2;
  spec.dims = huge;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  spec.rank = 7;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  spec.rank = UINT32_MAX;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  spec.dims = nullptr;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  spec = good;
  spec.dims = negative;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  spec = good;
  for (const uint32_t dtype : {0u, 11u, 12u, 255u, 257u, UINT32_MAX}) {
    spec.dtype = dtype;
    EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT) << dtype;
  }
  spec = good;
  spec.stream = 64;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  spec = good;
  spec.device = foreign;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  spec.device = 0;
  EXPECT_EQ(status(spec), EBB_STALE_HANDLE);
  spec = good;
  spec.region = 12345;
  EXPECT_EQ(status(spec), EBB_STALE_HANDLE);
  const int64_t large[] = {int64_t{1} << 61};
  spec = good;
  spec.dims = large;
  EXPECT_EQ(status(spec), EBB_OUT_OF_MEMORY);
  EXPECT_EQ(ebb_tensor_create(context, nullptr, &handle), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_tensor_create(context, &good, nullptr), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(handle, 0u);
}

TEST_F(CapiTensor, EmptyAndScalar) {
  EXPECT_EQ(describe(create(0)).bytes, 0u);
  ebb_tensor_spec spec = spec_of(1);
  spec.rank = 0;
  spec.dims = nullptr;
  ebb_handle scalar = 0;
  EXPECT_OK(ebb_tensor_create(context, &spec, &scalar));
  EXPECT_EQ(describe(scalar).bytes, 1u);
}

TEST_F(CapiTensor, AViewKeepsTheMemory) {
  const ebb_handle base = create(4 * kKilobyte);
  const ebb_tensor_spec spec = spec_of(kKilobyte);
  ebb_handle view = 0, second = 0;
  ASSERT_OK(ebb_tensor_view(context, base, kKilobyte, &spec, &view));
  EXPECT_OK(ebb_tensor_dispose(context, base));
  EXPECT_EQ(read().live, 1u);
  EXPECT_EQ(describe_device(own).in_use, 4 * kKilobyte);
  EXPECT_STATUS(ebb_tensor_view(context, view, 1, &spec, &second), EBB_INVALID_ARGUMENT);
  EXPECT_STATUS(ebb_tensor_view(context, view, UINT64_MAX, &spec, &second), EBB_INVALID_ARGUMENT);
  EXPECT_OK(ebb_tensor_view(context, view, 0, &spec, &second));
  EXPECT_OK(ebb_tensor_dispose(context, view));
  EXPECT_OK(ebb_tensor_dispose(context, second));
  EXPECT_EQ(describe_device(own).in_use, 0u);
}

TEST_F(CapiTensor, AHoldOutlivesItsTensorAndItsContext) {
  const ebb_handle handle = create(kKilobyte);
  ebb_hold hold = 0;
  ASSERT_OK(ebb_hold_acquire(context, handle, &hold));
  EXPECT_OK(ebb_tensor_dispose(context, handle));
  EXPECT_EQ(read().held, 1u);
  EXPECT_EQ(read().held_bytes, kKilobyte);
  EXPECT_OK(ebb_context_destroy(context));
  void* data = nullptr;
  uint64_t bytes = 0;
  ASSERT_OK(ebb_hold_data(context, hold, &data, &bytes));
  ASSERT_GE(bytes, kKilobyte);
  std::memset(data, 1, bytes);
  EXPECT_OK(ebb_audit());
  EXPECT_STATUS(ebb_device_close(own), EBB_WRONG_STATE);
  EXPECT_OK(ebb_hold_release(context, hold));
  EXPECT_OK(ebb_hold_release(context, hold)) << "twice is harmless";
  EXPECT_STATUS(ebb_hold_data(context, hold, &data, &bytes), EBB_STALE_HANDLE);
  EXPECT_EQ(describe_device(own).in_use, 0u);
  context = 0;
}

TEST_F(CapiTensor, BadHolds) {
  const ebb_handle handle = create(kKilobyte);
  ebb_hold hold = 0;
  void* data = nullptr;
  uint64_t bytes = 0;
  EXPECT_EQ(ebb_hold_acquire(context, handle, nullptr), EBB_INVALID_ARGUMENT);
  ASSERT_OK(ebb_hold_acquire(context, handle, &hold));
  EXPECT_EQ(ebb_hold_data(context, hold, nullptr, &bytes), EBB_INVALID_ARGUMENT);
  for (const ebb_hold name : {uint64_t{0}, handle, hold + 1, UINT64_MAX}) {
    EXPECT_STATUS(ebb_hold_data(context, name, &data, &bytes), EBB_STALE_HANDLE);
    EXPECT_STATUS(ebb_hold_release(context, name), EBB_STALE_HANDLE);
  }
  EXPECT_STATUS(ebb_tensor_dispose(context, hold), EBB_STALE_HANDLE) << "a hold is no tensor";
  ebb_orphan(hold);
  EXPECT_EQ(safe_point().tensors, 0u);
  EXPECT_OK(ebb_hold_data(context, hold, &data, &bytes)) << "nor has it a host object";
  EXPECT_OK(ebb_hold_release(context, hold));
}

TEST_F(CapiTensor, ForeignTensorsWithOneKeyShareTheirBytes) {
  const ebb_handle first = adopt(5, 1000, 1), second = adopt(5, 999, 2), alone = adopt(0, 10, 3);
  EXPECT_EQ(describe_device(foreign).in_use, 1010u);
  EXPECT_EQ(describe(second).bytes, 1000u);
  EXPECT_EQ(describe(second).key, 5u);
  EXPECT_EQ(describe(second).tag, 2u);
  EXPECT_OK(ebb_tensor_dispose(context, first));
  EXPECT_EQ(describe_device(foreign).in_use, 1010u);
  EXPECT_OK(ebb_tensor_dispose(context, second));
  EXPECT_OK(ebb_tensor_dispose(context, alone));
  EXPECT_EQ(describe_device(foreign).in_use, 0u);
  EXPECT_TRUE(host.ended.empty()) << "the host disposed of them itself";
}

TEST_F(CapiTensor, LastOfAKeyIsSaid) {
  const ebb_region region = open();
  adopt(9, 100, 1, region);
  adopt(9, 100, 2, region);
  EXPECT_OK(ebb_region_close(context, region));
  ASSERT_EQ(host.ended.size(), 2u);
  EXPECT_EQ(host.ended[0].last + host.ended[1].last, 1u);
  EXPECT_EQ(host.ended[1].last, 1u);
  EXPECT_EQ(host.ended[0].key, 9u);
  EXPECT_EQ(host.ended[0].device, foreign);
}

TEST_F(CapiTensor, AdoptOddThings) {
  ebb_handle handle = 0;
  const auto status = [&](const ebb_foreign_spec& spec) {
    return ebb_tensor_adopt(context, &spec, &handle);
  };
  ebb_foreign_spec spec = foreign_spec(0, 1);
  spec.device = own;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  spec = foreign_spec(0, UINT64_MAX);
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  spec = foreign_spec(0, 1);
  spec.flags = 6;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  EXPECT_STREQ(ebb_last_error(), "[tensor_adopt] flags 0x6 were given, bits of 0x1 are allowed");
  spec = foreign_spec(0, 1);
  spec.dtype = 12;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT);
  spec = foreign_spec(0, 1);
  spec.rank = 1;
  EXPECT_EQ(status(spec), EBB_INVALID_ARGUMENT) << "rank without dims";
  const int64_t dims[] = {1, 2, 3, 4, 5, 6, 7, 8};
  spec.rank = 8;
  spec.dims = dims;
  spec.dtype = EBB_STRING;
  EXPECT_OK(status(spec));
  EXPECT_EQ(describe(handle).rank, 8u) << "dims beyond EBB_MAX_RANK are not kept";
  EXPECT_EQ(describe(handle).dims[5], 6);
  EXPECT_EQ(ebb_tensor_adopt(context, nullptr, &handle), EBB_INVALID_ARGUMENT);
  EXPECT_EQ(ebb_tensor_adopt(context, &spec, nullptr), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiTensor, UnwatchedIsBookedApart) {
  ebb_foreign_spec spec = foreign_spec(0, 10);
  spec.flags = EBB_ADOPT_UNWATCHED;
  ebb_handle handle = 0;
  ASSERT_OK(ebb_tensor_adopt(context, &spec, &handle));
  EXPECT_EQ(read().unwatched, 1u);
  EXPECT_OK(ebb_tensor_dispose(context, handle));
  EXPECT_EQ(read().unwatched, 0u);
}

TEST_F(CapiTensor, RebookedBytesMove) {
  const ebb_device other = open_device(EBB_DEVICE_FOREIGN, "elsewhere", 0);
  const ebb_handle handle = adopt(3, 100), twin = adopt(3, 100);
  EXPECT_OK(ebb_tensor_rebook(context, handle, 0, 150));
  EXPECT_EQ(describe_device(foreign).in_use, 150u);
  EXPECT_OK(ebb_tensor_rebook(context, handle, other, 200));
  EXPECT_EQ(describe_device(foreign).in_use, 0u);
  EXPECT_EQ(describe_device(other).in_use, 200u);
  EXPECT_EQ(describe(twin).device, other);
  EXPECT_STATUS(ebb_tensor_rebook(context, handle, own, 1), EBB_INVALID_ARGUMENT);
  EXPECT_STATUS(ebb_tensor_rebook(context, handle, 30, 1), EBB_STALE_HANDLE);
  EXPECT_STATUS(ebb_tensor_rebook(context, handle, 0, UINT64_MAX), EBB_INVALID_ARGUMENT);
  EXPECT_STATUS(ebb_tensor_rebook(context, create(1), 0, 1), EBB_INVALID_ARGUMENT);
  EXPECT_OK(ebb_audit());
  EXPECT_OK(ebb_tensor_dispose(context, handle));
  EXPECT_OK(ebb_tensor_dispose(context, twin));
  EXPECT_OK(ebb_device_close(other));
}

TEST_F(CapiTensor, EndsInBatchesWithTheirReason) {
  constexpr size_t kEach = 1000;  // several times what is ended under one lock
  for (const uint32_t reason : {EBB_ENDED_DISPOSED, EBB_ENDED_REGION, EBB_ENDED_RECLAIMED}) {
    std::vector<ebb_handle> handles;
    for (size_t i = 0; i < kEach; ++i) {
      handles.push_back(create(256));
      handles.push_back(adopt(0, 100, i));
    }
    EXPECT_OK(ebb_tensors_end(context, handles.data(), handles.size(), reason));
    EXPECT_OK(ebb_tensors_end(context, handles.data(), handles.size(), reason));  // all stale now
  }
  const ebb_memory memory = read();
  EXPECT_EQ(memory.live, 0u);
  EXPECT_EQ(memory.live_bytes, 0u);
  EXPECT_EQ(memory.disposed, 2 * kEach);
  EXPECT_EQ(memory.region_ended, 2 * kEach);
  EXPECT_EQ(memory.reclaimed, 2 * kEach);
  EXPECT_TRUE(host.ended.empty()) << "the host said so itself";
}

TEST_F(CapiTensor, EndsSkipWhatIsNoLiveTensorOfTheContext) {
  const ebb_handle kept = create(256), ended = create(256), queued = create(256);
  ebb_hold hold = 0;
  EXPECT_OK(ebb_hold_acquire(context, kept, &hold));
  EXPECT_OK(ebb_tensor_dispose(context, ended));
  ebb_orphan(queued);
  const ebb_handle given[] = {0, ended, hold, 12345, queued, queued};
  EXPECT_OK(ebb_tensors_end(context, given, 6, EBB_ENDED_REGION));
  EXPECT_EQ(read().live, 1u);
  EXPECT_EQ(read().region_ended, 1u);
  EXPECT_EQ(read().orphans, 0u);
  EXPECT_OK(ebb_hold_release(context, hold));
  EXPECT_OK(ebb_tensors_end(context, nullptr, 0, EBB_ENDED_REGION));
  EXPECT_STATUS(ebb_tensors_end(context, nullptr, 1, EBB_ENDED_REGION), EBB_INVALID_ARGUMENT);
  EXPECT_STATUS(ebb_tensors_end(context, given, 1, EBB_ENDED_SHUTDOWN), EBB_INVALID_ARGUMENT);
  EXPECT_STATUS(ebb_tensors_end(12345, given, 1, EBB_ENDED_REGION), EBB_STALE_HANDLE);
}

}  // namespace
