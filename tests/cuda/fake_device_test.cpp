// libebb's half of CUDA without a GPU: over a plug-in that only pretends, and works later.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "backends/cuda/plugin_library.hpp"
#include "cuda/fake_plugin.hpp"
#include "ebb/ebb.hpp"
#include "ebb/ops/functions.hpp"
#include "ebb/ops/run.hpp"
#include "ebb/ops/table.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"

namespace ebb::test {
namespace {

using Floats = std::vector<float>;

class FakeCuda : public testing::Test {
 protected:
  fake::Installed installed_;
};

// ---- what is not there says why

TEST(CudaPlugin, SaysWhyItIsNotThere) {
  ASSERT_EQ(setenv("EBB_CUDA_PLUGIN", "/nowhere/libebb_cuda.so", 1), 0);
  EXPECT_ERROR(Session({.device = "cuda:0"}), kUnsupported, "[device] cuda:0 is not there",
               "/nowhere/libebb_cuda.so", "make cuda");
  ASSERT_EQ(unsetenv("EBB_CUDA_PLUGIN"), 0);
  Session cpu;
  EXPECT_EQ(tensor({1.0f}, {1}).item<float>(), 1.0f);
}

TEST(CudaPlugin, IsOfThisBuildOrRefused) {
  ebb_cuda_table other = fake::table();
  other.params_hash ^= 1;
  EXPECT_ERROR(cuda::check_table(&other, "x.so"), kUnsupported, "x.so", "parameters");
  other = fake::table();
  other.op_table_hash ^= 1;
  EXPECT_ERROR(cuda::check_table(&other, "x.so"), kUnsupported, "operations");
  other = fake::table();
  other.version += 1;
  EXPECT_ERROR(cuda::check_table(&other, "x.so"), kUnsupported, "another version");
  EXPECT_ERROR(cuda::check_table(nullptr, "x.so"), kUnsupported, "another version");
}

// The plug-in that nvcc compiled: it loads everywhere, and says why there is no GPU.
TEST(RealPlugin, LoadsAndIsOfThisBuild) {
  const char* plugin = std::getenv("EBB_TEST_PLUGIN");
  if (plugin == nullptr) GTEST_SKIP() << "EBB_TEST_PLUGIN names no plug-in";
  ASSERT_EQ(setenv("EBB_CUDA_PLUGIN", plugin, 1), 0);
  EXPECT_NO_THROW(cuda::PluginLibrary::table());
  try {
    Session session({.device = "cuda:0"});
    EXPECT_GT(session.device().budget(), 0u);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("[device] cuda:0 is not there: "), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("driver"), std::string::npos) << error.what();
  }
  ASSERT_EQ(unsetenv("EBB_CUDA_PLUGIN"), 0);
  cuda::PluginLibrary::replace(nullptr);
}

TEST_F(FakeCuda, NamesOfGpusAreChecked) {
  EXPECT_ERROR(Session({.device = "cuda:"}), kInvalidArgument, "\"cuda:\"");
  EXPECT_ERROR(Session({.device = "cuda:x"}), kInvalidArgument, "\"cuda:x\"");
  EXPECT_ERROR(Session({.device = "cuda:99"}), kUnsupported, "cuda:99 is not there", "16 GPUs");
}

// ---- operations

TEST_F(FakeCuda, ComputesInOrder) {
  Session session({.device = "cuda:0"});
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const Tensor y = ops::add(x, tensor({10.0f, 20.0f}, {2}));
  EXPECT_EQ(y.to_vector<float>(), (Floats{11, 22, 13, 24}));
  EXPECT_EQ(ops::batch_mat_mul(x, y).to_vector<float>(), (Floats{37, 70, 85, 162}));
  EXPECT_EQ(ops::cast(y, DType::kInt32).to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{11, 22, 13, 24}));
  EXPECT_EQ(ops::fill({3}, 2.5, DType::kFloat32).to_vector<float>(), (Floats{2.5, 2.5, 2.5}));
}

TEST_F(FakeCuda, AnOperationItDoesNotHaveSaysSo) {
  Session session({.device = "cuda:0"});
  const Tensor x = tensor({1.0f}, {1});
  EXPECT_ERROR(ops::relu(x), kUnsupported, "[Relu]", "cuda:0");
}

// What the host computes is copied there first; a result that cannot be named is refused before.
TEST_F(FakeCuda, RefusesBeforeItCopiesToTheHost) {
  Session session({.device = "cuda:0"});
  const Context& context = session.context();
  const auto made = [&](DType dtype, Shape shape) {
    return context.make({.device = &session.device(), .dtype = dtype, .shape = shape});
  };
  const std::array inputs{made(DType::kInt32, {2}), made(DType::kFloat32, {1}),
                          made(DType::kInt32, {std::int64_t{1} << 40, 0})};
  const std::array attributes{2.0};
  std::array<ops::OpResult, 4> results;
  const std::uint64_t before = context.memory().books.created;
  EXPECT_ERROR(ops::run({context, session.device(), 0, 0}, ops::op_id("RaggedGather"), inputs,
                        attributes, results),
               kInvalidArgument, "the result has 1099511627776 values");
  EXPECT_EQ(context.memory().books.created, before);
  for (const Handle handle : inputs) context.dispose(handle);
}

// ---- views

constexpr std::int64_t kSide = 64;

Tensor matrix_of_numbers() {
  Floats values(kSide * kSide);
  std::iota(values.begin(), values.end(), 0.0f);
  return tensor(std::span<const float>(values), {kSide, kSide});
}
// Columns [from, from + count) of what matrix_of_numbers() holds.
Floats columns(std::int64_t from, std::int64_t count) {
  Floats values;
  for (std::int64_t i = 0; i < kSide; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      values.push_back(static_cast<float>(i * kSide + from + j));
    }
  }
  return values;
}
std::uint64_t storages(Session& session) {
  return session.context().memory().books.created_storages.count;
}

TEST_F(FakeCuda, PartsOfRowsAreViews) {
  Session session({.device = "cuda:0"});
  const Tensor x = matrix_of_numbers();
  const std::uint64_t before = storages(session);
  const Tensor part = ops::slice(x, {0, 3}, {kSide, 32});
  const Tensor split = ops::reshape(part, {kSide, 4, 8});
  EXPECT_EQ(storages(session), before);
  const Tensor sum = ops::add(part, part);
  EXPECT_EQ(storages(session), before + 1) << "the sum, nothing else";
  Floats twice = columns(3, 32);
  for (float& value : twice) value *= 2;
  EXPECT_EQ(sum.to_vector<float>(), twice);
  EXPECT_EQ(split.to_vector<float>(), columns(3, 32));
  EXPECT_EQ(ops::reshape(part, {-1}).to_vector<float>(), columns(3, 32));
  AsyncRead read(session.context(), ops::slice(x, {0, 8}, {kSide, 16}).handle());
  Floats values(kSide * 16);
  read.take(std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, columns(8, 16));
}

// Where neighbours lie apart a kernel copies, and this plug-in has none.
TEST_F(FakeCuda, TransposesAreCopies) {
  Session session({.device = "cuda:0"});
  EXPECT_ERROR(ops::transpose(matrix_of_numbers(), {1, 0}), kUnsupported, "[Transpose]");
}

TEST_F(FakeCuda, AViewOutlivesItsTensorOnAnyStream) {
  Session first({.device = "cuda:0", .own_stream = true});
  fake::hold_back(true);
  Tensor part;
  {
    const Tensor x = matrix_of_numbers();
    part = ops::slice(ops::add(x, x), {0, 32}, {kSide, 32});
  }
  Tensor sum;
  {
    Session second({.device = "cuda:0", .own_stream = true});
    const Handle inputs[] = {part.handle(), part.handle()};
    ops::OpResult result;
    const ops::RunPlace place{first.context(), second.device(), 0, 0, second.place().stream};
    ops::run(place, ops::op_id("Add"), inputs, {}, {&result, 1});
    sum = Tensor(first.context(), result.handle);
    fake::hold_back(false);
    Floats fourfold = columns(32, 32);
    for (float& value : fourfold) value *= 4;
    EXPECT_EQ(sum.to_vector<float>(), fourfold);
    sum = Tensor();
  }
}

TEST_F(FakeCuda, NothingWaitsBeforeItIsRead) {
  Session session({.device = "cuda:0"});
  fake::hold_back(true);
  const Tensor sum = ops::add(tensor({1.0f}, {1}), tensor({2.0f}, {1}));
  std::thread later([] { fake::hold_back(false); });
  EXPECT_EQ(sum.item<float>(), 3.0f);
  later.join();
}

TEST_F(FakeCuda, ABudgetIsAShareOfWhatIsFree) {
  Session session({.device = "cuda:0"});
  const std::uint64_t free = std::uint64_t{1} << 30;
  EXPECT_GT(session.device().budget(), free / 2);
  EXPECT_LT(session.device().budget(), free);
  EXPECT_ERROR(ops::fill({1 << 28}, 0, DType::kFloat32), kOutOfMemory, "[Fill]");
}

TEST_F(FakeCuda, MemoryThatEndsWhileTheDeviceWorksIsSafe) {
  Session session({.device = "cuda:0"});
  Tensor total = ops::fill({1000}, 0, DType::kFloat32);
  const Tensor one = ops::fill({1000}, 1, DType::kFloat32);
  for (int i = 0; i < 200; ++i) total = ops::add(total, one);  // each sum ends with the next
  EXPECT_EQ(total.to_vector<float>(), Floats(1000, 200));
}

// ---- moving

TEST_F(FakeCuda, TensorsMoveBetweenDevices) {
  Session session({.device = "cuda:0"});
  Context& context = session.context();
  Device& cpu = Device::open({.name = "moves"});
  const Tensor x = tensor({1.0f, 2.0f}, {2});
  const Tensor there(context, ops::copy_to({context, cpu}, x.handle()).handle);
  const Tensor back(context, ops::copy_to(session.place(), there.handle()).handle);
  const Tensor again(context, ops::copy_to(session.place(), back.handle()).handle);
  EXPECT_EQ(&there.device(), &cpu);
  EXPECT_EQ(there.to_vector<float>(), (Floats{1, 2}));
  EXPECT_EQ(ops::add(again, x).to_vector<float>(), (Floats{2, 4}));
  context.dispose(there.handle());
  Device::close(cpu);
}

TEST_F(FakeCuda, AReadNobodyWaitsFor) {
  Session session({.device = "cuda:0"});
  fake::hold_back(true);
  Tensor x = ops::add(tensor({1.0f}, {1}), tensor({2.0f}, {1}));
  AsyncRead read(session.context(), x.handle());
  x = Tensor();  // ends; the read holds its memory
  EXPECT_FALSE(read.done());
  EXPECT_EQ(session.context().memory().books.held.count, 1u);
  fake::hold_back(false);
  while (!read.done()) std::this_thread::yield();
  float value = 0;
  read.take(std::as_writable_bytes(std::span(&value, 1)));
  EXPECT_EQ(value, 3.0f);
}

TEST_F(FakeCuda, SessionsWithStreamsOfTheirOwnMeet) {
  Session first({.device = "cuda:0", .own_stream = true});
  const Tensor x = ops::fill({100}, 1, DType::kFloat32);
  Floats sum;
  {
    Session second({.device = "cuda:0", .own_stream = true});
    // The other session's tensor, on this one's stream: starts after it was filled.
    const ops::RunPlace place{first.context(), second.device(), 0, 0, second.place().stream};
    EXPECT_NE(place.stream, first.place().stream);
    const std::array<Handle, 2> inputs{x.handle(), x.handle()};
    ops::OpResult result;
    ops::run(place, ops::op_id("Add"), inputs, {}, {&result, 1});
    sum = Tensor(first.context(), result.handle).to_vector<float>();
  }
  EXPECT_EQ(sum, Floats(100, 2));
}

// ---- capture

TEST_F(FakeCuda, CapturesOnceAndReplays) {
  Session session({.device = "cuda:1"});
  const Tensor x = tensor({1.0f, 2.0f}, {2});
  std::optional<Replay> step;
  Tensor y;
  {
    Capture capture;
    y = ops::add(ops::add(x, x), tensor({100.0f}, {1}));
    EXPECT_ERROR(y.to_vector<float>(), kDevice, "captures");
    EXPECT_ERROR(Capture(), kWrongState, "captures already");
    step.emplace(capture.end());
  }
  EXPECT_GT(session.context().memory().books.held.count, 0u);  // the sum between, the constant
  step->run();
  EXPECT_EQ(y.to_vector<float>(), (Floats{102, 104}));
  step->set(x, tensor({5.0f, 6.0f}, {2}));
  step->run();
  EXPECT_EQ(y.to_vector<float>(), (Floats{110, 112}));
  EXPECT_ERROR(step->set(x, tensor({1.0f}, {1})), kInvalidArgument, "[1]", "[2]", "again");
  step.reset();
  EXPECT_EQ(session.context().memory().books.held.count, 0u);
}

// A product needs its operands dense: the copy belongs to the replay, the view stays a view.
TEST_F(FakeCuda, ReplaysCopyTheViewsTheyNeedDense) {
  Session session({.device = "cuda:1"});
  const Tensor x = matrix_of_numbers();
  const Tensor part = ops::slice(x, {0, 32}, {kSide, 32});
  const Tensor ones = ops::fill({32, 1}, 1, DType::kFloat32);
  std::optional<Replay> step;
  Tensor sums, flat;
  {
    Capture capture;
    sums = ops::batch_mat_mul(part, ones);
    flat = ops::reshape(part, {-1});
    EXPECT_ERROR(part.to_vector<float>(), kWrongState, "[copy]", "captures");
    step.emplace(capture.end());
  }
  EXPECT_EQ(part.to_vector<float>(), columns(32, 32)) << "before the first replay";
  step->run();
  EXPECT_EQ(flat.to_vector<float>(), columns(32, 32));
  Floats expected(kSide);
  for (std::int64_t i = 0; i < kSide; ++i) {
    const Floats all = columns(32, 32);
    expected[static_cast<std::size_t>(i)] =
        std::accumulate(all.begin() + i * 32, all.begin() + (i + 1) * 32, 0.0f);
  }
  EXPECT_EQ(sums.to_vector<float>(), expected);
  step->set(x, ops::fill({kSide, kSide}, 2, DType::kFloat32));
  step->run();
  EXPECT_EQ(sums.to_vector<float>(), Floats(kSide, 64));
  EXPECT_ERROR(step->set(ops::slice(x, {0, 8}, {kSide, 32}), part), kInvalidArgument, "[replay]",
               "whole");
}

TEST_F(FakeCuda, AHostsDeviceCapturesNothing) {
  Session session;
  EXPECT_ERROR(Capture(), kUnsupported, "[capture]", "cpu");
}

TEST_F(FakeCuda, ACaptureGivenUpLeavesNothing) {
  Session session({.device = "cuda:1"});
  {
    Capture capture;
    const Tensor captured = ops::fill({4}, 1, DType::kFloat32);
  }
  EXPECT_EQ(session.context().memory().books.held.count, 0u);
  EXPECT_EQ(ops::fill({1}, 7, DType::kFloat32).item<float>(), 7.0f);
}

// ---- faults

void work_on(const char* device) {
  Session session({.device = device, .own_stream = true});
  const Tensor x = tensor({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  Tensor y = ops::batch_mat_mul(x, ops::add(x, x));
  AsyncRead read(session.context(), y.handle());
  Floats values(4);
  read.take(std::as_writable_bytes(std::span(values)));
  EXPECT_EQ(values, (Floats{14, 20, 30, 44}));
  const Tensor part = ops::slice(matrix_of_numbers(), {0, 8}, {kSide, 32});
  EXPECT_EQ(part.to_vector<float>(), columns(8, 32));
  std::optional<Replay> step;
  {
    Capture capture;
    y = ops::add(x, x);
    step.emplace(capture.end());
  }
  step->run();
  EXPECT_EQ(y.to_vector<float>(), (Floats{2, 4, 6, 8}));
}

// Fails each fault point of that work in turn; how many of them were an error.
std::uint64_t fail_everywhere(Device& device, bool and_later) {
  for (std::uint64_t n = 1, refused = 0;; ++n) {
    device.pool().trim(SIZE_MAX);
    fake::fail_at(n, and_later);
    try {
      work_on(device.name().c_str());
    } catch (const Error& error) {
      const bool said =
          error.kind() == ErrorKind::kOutOfMemory || error.kind() == ErrorKind::kDevice;
      EXPECT_TRUE(said) << error.what();
      ++refused;
    }
    const bool reached = fake::fault_points() >= n;
    fake::fail_at(0);
    device.pool().wait_pending();
    EXPECT_EQ(device.in_use(), 0u) << "after fault " << n;
    EXPECT_EQ(fake::pinned_buffers(), 0u) << "after fault " << n;
    Context::audit();
    if (!reached) return refused;
  }
}

TEST_F(FakeCuda, FailsAtEveryPointWithoutALeak) {
  Device& device = Device::open({.kind = DeviceKind::kCuda, .name = "cuda:2"});
  work_on("cuda:2");
  // Two writes, three kernels, the staging and the copy of a read, a view made dense and read,
  // beginning and end of a capture, a replay, a read. What is committed or recorded is tried again,
  // or done without.
  EXPECT_EQ(fail_everywhere(device, false), 13u);
  // Where it goes on failing, doing without does not help.
  EXPECT_GT(fail_everywhere(device, true), 13u);
  work_on("cuda:2");
  Device::close(device);
}

TEST_F(FakeCuda, AKernelThatFailsIsNamed) {
  Session session({.device = "cuda:0"});
  const Tensor x = tensor({1.0f}, {1});
  fake::refuse_next_kernel();
  EXPECT_ERROR(ops::add(x, x), kDevice, "[Add]", "cuda:0", "refused");
  EXPECT_EQ(session.context().memory().books.live, 1u);
  EXPECT_EQ(ops::add(x, x).item<float>(), 2.0f);
}

TEST_F(FakeCuda, ALostDeviceSaysSoForEver) {
  Session session({.device = "cuda:3"});
  const Tensor x = tensor({1.0f}, {1});
  EXPECT_EQ(ops::add(x, x).item<float>(), 2.0f);
  fake::lose_with_next_kernel();
  const Tensor lost = ops::add(x, x);
  EXPECT_ERROR(lost.item<float>(), kDevice, "cuda:3 is lost", "illegal memory access", "Add");
  EXPECT_ERROR(ops::add(x, x), kDevice, "[Add]", "cuda:3 is lost", "illegal memory access");
  EXPECT_ERROR(tensor({1.0f}, {1}), kDevice, "cuda:3 is lost");
  EXPECT_ERROR(AsyncRead(session.context(), x.handle()), kDevice, "cuda:3 is lost");
  EXPECT_ERROR(Capture(), kDevice, "cuda:3 is lost");

  Session cpu({.device = "after the loss"});
  EXPECT_EQ(tensor({4.0f}, {1}).item<float>(), 4.0f);
}

}  // namespace
}  // namespace ebb::test
