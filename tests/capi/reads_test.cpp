// Reads that nobody waits for, tensors that move, and GPUs that are not there.
#include <vector>

#include "capi/capi_fixture.hpp"

namespace {

class CapiReads : public CapiTest {
 protected:
  ebb_handle made(ebb_device device, const std::vector<float>& values) {
    const int64_t dims[] = {static_cast<int64_t>(values.size())};
    auto spec = sized<ebb_tensor_spec>();
    spec.device = device;
    spec.dtype = EBB_FLOAT32;
    spec.rank = 1;
    spec.dims = dims;
    ebb_handle handle = 0;
    EXPECT_OK(ebb_tensor_create(context, &spec, &handle));
    EXPECT_OK(ebb_tensor_write(context, handle, values.data(), values.size() * sizeof(float)));
    return handle;
  }
};

TEST_F(CapiReads, GiveTheValuesOfATensorThatHasEnded) {
  const ebb_handle x = made(own, {1, 2, 3});
  ebb_read read = 0;
  uint64_t bytes = 0;
  ASSERT_OK(ebb_read_begin(context, x, &read, &bytes));
  EXPECT_EQ(bytes, 12u);
  EXPECT_OK(ebb_tensor_dispose(context, x));
  uint32_t done = 0;
  while (done == 0) ASSERT_OK(ebb_read_poll(read, &done));
  std::vector<float> values(3);
  EXPECT_STATUS(ebb_read_end(read, values.data(), 8), EBB_INVALID_ARGUMENT);
  EXPECT_OK(ebb_read_end(read, values.data(), bytes));
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3}));
  EXPECT_STATUS(ebb_read_poll(read, &done), EBB_STALE_HANDLE);
}

TEST_F(CapiReads, AreDropped) {
  const ebb_handle x = made(own, {1});
  ebb_read read = 0;
  ASSERT_OK(ebb_read_begin(context, x, &read, nullptr));
  EXPECT_OK(ebb_read_drop(read));
  EXPECT_OK(ebb_read_drop(read));
  EXPECT_STATUS(ebb_read_end(read, nullptr, 0), EBB_STALE_HANDLE);
  EXPECT_OK(ebb_tensor_dispose(context, x));
  EXPECT_STATUS(ebb_read_begin(context, x, &read, nullptr), EBB_STALE_HANDLE);
  EXPECT_STATUS(ebb_read_begin(context, x, nullptr, nullptr), EBB_INVALID_ARGUMENT);
}

TEST_F(CapiReads, TensorsAreCopiedToAnotherDevice) {
  const ebb_device other = open_device(EBB_DEVICE_SYSTEM, "other", 0);
  const ebb_handle x = made(own, {4, 5});
  ebb_op_result copy{};
  ASSERT_OK(ebb_tensor_copy_to(context, x, other, &copy));
  EXPECT_EQ(copy.dtype, static_cast<uint32_t>(EBB_FLOAT32));
  EXPECT_EQ(copy.rank, 1u);
  EXPECT_EQ(copy.shape[0], 2);
  auto info = sized<ebb_tensor_info>();
  ASSERT_OK(ebb_tensor_describe(context, copy.handle, &info));
  EXPECT_EQ(info.device, other);
  std::vector<float> values(2);
  ASSERT_OK(ebb_tensor_read(context, copy.handle, values.data(), 8));
  EXPECT_EQ(values, (std::vector<float>{4, 5}));
  EXPECT_STATUS(ebb_tensor_copy_to(context, x, foreign, &copy), EBB_INVALID_ARGUMENT);
  EXPECT_OK(ebb_tensor_dispose(context, copy.handle));
  EXPECT_OK(ebb_tensor_dispose(context, x));
  EXPECT_OK(ebb_device_close(other));
}

TEST_F(CapiReads, AGpuThatIsNotThereSaysWhy) {
  auto options = sized<ebb_device_options>();
  options.kind = EBB_DEVICE_CUDA;
  options.name = "cuda:4096";
  ebb_device device = 0;
  EXPECT_STATUS(ebb_device_open(&options, &device), EBB_UNSUPPORTED);
  EXPECT_NE(std::string(ebb_last_error()).find("cuda:4096 is not there: "), std::string::npos)
      << ebb_last_error();
}

}  // namespace
