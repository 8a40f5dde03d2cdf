// Pointers that are missing, and those that may be: with a count or a size of nothing.
#include <array>

#include "capi/capi_fixture.hpp"

namespace {

// On memory that the program can read; what runs here needs no kernel.
class Arguments : public CapiTest {
 protected:
  void SetUp() override {
    CapiTest::SetUp();
    cpu = open_device(EBB_DEVICE_SYSTEM, "arguments", 0);
  }
  void TearDown() override {
    EXPECT_OK(ebb_context_destroy(context));
    context = 0;
    EXPECT_OK(ebb_device_close(cpu));
    CapiTest::TearDown();
  }
  ebb_handle vector(int64_t elements) {
    ebb_tensor_spec spec = spec_of(0);
    spec.device = cpu;
    spec.dims = &elements;
    ebb_handle made = 0;
    EXPECT_OK(ebb_tensor_create(context, &spec, &made));
    return made;
  }
  ebb_device cpu = 0;
};

TEST_F(Arguments, OfAnOperation) {
  const ebb_handle x = vector(4);
  const std::array<double, 3> shape{2, 2, 2};
  const uint32_t reshape = ebb_op_find("Reshape");
  ebb_op_result result{};
  const auto run = [&](const ebb_handle* inputs, const double* attributes, ebb_op_result* results) {
    return ebb_op_run(context, cpu, reshape, inputs, 1, attributes, shape.size(), results, 1,
                      nullptr);
  };
  EXPECT_STATUS(run(nullptr, shape.data(), &result), EBB_INVALID_ARGUMENT);
  EXPECT_STATUS(run(&x, nullptr, &result), EBB_INVALID_ARGUMENT);
  EXPECT_STATUS(run(&x, shape.data(), nullptr), EBB_INVALID_ARGUMENT);
  EXPECT_OK(run(&x, shape.data(), &result));
  EXPECT_EQ(result.rank, 2u);
  size_t count = 0;
  EXPECT_OK(
      ebb_op_run(context, cpu, reshape, &x, 1, shape.data(), shape.size(), &result, 1, &count));
  EXPECT_EQ(count, 1u);
}

TEST_F(Arguments, OfNothingMayBeNull) {
  const auto message_of = [&](size_t inputs, size_t attributes, size_t results) {
    const ebb_handle x = vector(4);
    const double none = 0;
    ebb_op_result result{};
    static_cast<void>(ebb_op_run(context, cpu, ebb_op_find("Reshape"), inputs == 0 ? nullptr : &x,
                                 inputs, attributes == 0 ? nullptr : &none, attributes,
                                 results == 0 ? nullptr : &result, results, nullptr));
    return std::string(ebb_last_error());
  };
  for (const auto& [inputs, attributes, results] :
       {std::array<size_t, 3>{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}) {
    EXPECT_EQ(message_of(inputs, attributes, results).find("null"), std::string::npos)
        << ebb_last_error();
  }
}

TEST_F(Arguments, OfReads) {
  const ebb_handle x = vector(4), empty = vector(0);
  EXPECT_STATUS(ebb_tensor_read(context, x, nullptr, 4), EBB_INVALID_ARGUMENT);
  EXPECT_OK(ebb_tensor_read(context, empty, nullptr, 0));
  ebb_read read = 0;
  uint64_t bytes = 0;
  ASSERT_OK(ebb_read_begin(context, x, &read, &bytes));
  EXPECT_STATUS(ebb_read_end(read, nullptr, 4), EBB_INVALID_ARGUMENT);
  std::array<char, 4> data{};
  EXPECT_OK(ebb_read_end(read, data.data(), 4));
  ASSERT_OK(ebb_read_begin(context, empty, &read, nullptr));
  EXPECT_OK(ebb_read_end(read, nullptr, 0));
}

// Refused before anything of the list is read.
TEST_F(Arguments, AreNoMoreThanMemoryHolds) {
  const ebb_handle x = vector(4);
  const uint32_t reshape = ebb_op_find("Reshape");
  const double shape = 4;
  ebb_op_result result{};
  ebb_program program = 0;
  ebb_region region = 0;
  auto info = sized<ebb_program_info>();
  for (const size_t many : {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / sizeof(double)}) {
    SCOPED_TRACE(many);
    const auto refused = [&](ebb_status status) {
      EXPECT_STATUS(status, EBB_INVALID_ARGUMENT);
      const std::string message = ebb_last_error();
      EXPECT_NE(message.find(std::to_string(many) + " were given"), std::string::npos) << message;
    };
    refused(ebb_program_begin(context, &x, many, 0, &program));
    refused(ebb_tensors_end(context, &x, many, EBB_ENDED_DISPOSED));
    refused(ebb_region_shortest_lived(context, &x, many, &region));
    refused(ebb_op_run(context, cpu, reshape, &x, many, &shape, 1, &result, 1, nullptr));
    refused(ebb_op_run(context, cpu, reshape, &x, 1, &shape, many, &result, 1, nullptr));
    refused(ebb_op_run(context, cpu, reshape, &x, 1, &shape, 1, &result, many, nullptr));
    ASSERT_OK(ebb_program_begin(context, &x, 1, 0, &program));
    refused(ebb_program_end(program, &x, many, &info));
  }
}

}  // namespace
