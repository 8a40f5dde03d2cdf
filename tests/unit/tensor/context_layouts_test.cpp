// Strided views: what they say of themselves, and how they become dense.
#include <cstring>
#include <numeric>

#include "ebb/memory/simulated_device.hpp"
#include "ebb/tensor/tensor.hpp"
#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/hosts.hpp"

namespace ebb::test {
namespace {

using Floats = std::vector<float>;

class Layouts : public testing::Test {
 protected:
  // 0, 1, 2, ...
  Handle make(const Shape& shape) {
    MadeTensor made = context_->make_held({.device = cpu_.get(), .shape = shape});
    Floats values(shape.elements());
    std::iota(values.begin(), values.end(), 0.0f);
    if (!values.empty()) std::memcpy(made.data, values.data(), values.size() * sizeof(float));
    return made.handle;
  }
  Operand operand(Handle handle) {
    Operand seen;
    context_->resolve({&handle, 1}, {&seen, 1}, "test");
    return seen;
  }
  Handle view(Handle base, std::uint64_t elements, const Shape& shape, const Strides& strides) {
    return context_->strided_view(base, operand(base), elements * sizeof(float), strides,
                                  {.shape = shape});
  }
  Handle transposed(Handle base, std::int64_t rows, std::int64_t columns) {
    return view(base, 0, {columns, rows}, {1, columns});
  }
  Floats read(Handle handle) {
    const TensorInfo info = context_->describe(handle);
    Floats values(info.bytes / sizeof(float));
    pack(operand(handle), std::as_writable_bytes(std::span(values)).data());
    return values;
  }
  Books books() { return context_->memory().books; }

  OpenDevice cpu_{{.name = "layouts"}};
  ContextPtr context_ = Context::create({.name = "layouts"});
};

TEST(DenseStrides, OfShapes) {
  EXPECT_EQ(dense_strides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(dense_strides({}), Strides{});
  EXPECT_TRUE(is_dense({2, 3}, {3, 1}));
  EXPECT_FALSE(is_dense({2, 3}, {4, 1}));
  EXPECT_FALSE(is_dense({2, 3}, {1, 2}));
  EXPECT_TRUE(is_dense({1, 3}, {77, 1})) << "an axis of one element";
  EXPECT_TRUE(is_dense({2, 0}, {5, 5})) << "no elements";
  EXPECT_TRUE(is_dense({}, {}));
}

TEST_F(Layouts, AreReadInRowMajorOrder) {
  const Handle base = make({2, 3});
  EXPECT_EQ(read(transposed(base, 2, 3)), (Floats{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(read(view(base, 1, {2, 2}, {3, 1})), (Floats{1, 2, 4, 5}));
  EXPECT_EQ(read(view(base, 5, {6}, {-1})), (Floats{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(read(view(base, 2, {2, 2}, {0, 3})), (Floats{2, 5, 2, 5}));
  EXPECT_EQ(books().storages.count, 1u);
}

TEST_F(Layouts, AreDescribed) {
  const Handle base = make({2, 3});
  const TensorInfo dense = context_->describe(base);
  EXPECT_TRUE(dense.dense);
  EXPECT_EQ(dense.strides, (Strides{3, 1}));
  const TensorInfo strided = context_->describe(transposed(base, 2, 3));
  EXPECT_FALSE(strided.dense);
  EXPECT_EQ(strided.strides, (Strides{1, 3}));
  EXPECT_EQ(strided.bytes, 24u);
  EXPECT_TRUE(context_->describe(view(base, 0, {3}, {1})).dense) << "a run is dense";
}

TEST_F(Layouts, StayInsideTheirBase) {
  const Handle base = make({63});  // its block is larger
  ASSERT_GT(operand(base).memory.data().size(), 63 * sizeof(float));
  EXPECT_NO_THROW(view(base, 0, {2}, {62}));
  EXPECT_ERROR(view(base, 0, {2}, {63}), kInvalidArgument, "[view]", "outside the tensor");
  EXPECT_ERROR(view(base, 0, {2}, {-1}), kInvalidArgument, "[view]");
  EXPECT_ERROR(view(base, 63, {1}, {1}), kInvalidArgument, "[view]");
  EXPECT_NO_THROW(view(base, 63, {0}, {1}));
  const Handle part = view(base, 10, {4, 2}, {8, 2});  // elements 10 to 36
  EXPECT_NO_THROW(view(part, 26, {27}, {-1}));
  EXPECT_ERROR(view(part, 26, {28}, {-1}), kInvalidArgument, "[view]");
  EXPECT_ERROR(view(part, 0, {28}, {1}), kInvalidArgument, "[view]");
}

TEST_F(Layouts, FurtherApartThanBytesCanBeCountedAreRefused) {
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  const Handle base = make({64});
  EXPECT_ERROR(view(base, 0, {2, 1}, {kFar, 1}), kInvalidArgument, "[view]");
  EXPECT_ERROR(view(base, 0, {3, 3}, {kFar / 4, -kFar / 4}), kInvalidArgument, "[view]");
  EXPECT_ERROR(
      context_->strided_view(base, operand(base), ~std::uint64_t{0} - 7, {2}, {.shape = {2}}),
      kInvalidArgument, "[view]");
  EXPECT_ERROR(context_->strided_view(base, operand(base), 2, {2}, {.shape = {2}}),
               kInvalidArgument, "between its elements");
}

TEST_F(Layouts, OfViewsOfViews) {
  const Handle base = make({3, 4});
  const Handle turned = transposed(base, 3, 4);
  const Handle part = view(turned, 1, {3, 2}, {1, 4});  // rows 1 to 3, columns 0 and 1
  EXPECT_EQ(read(part), (Floats{1, 5, 2, 6, 3, 7}));
  const Handle back = view(part, 0, {2, 3}, {4, 1});
  EXPECT_EQ(read(back), (Floats{1, 2, 3, 5, 6, 7}));
  context_->dispose(base);
  context_->dispose(turned);
  EXPECT_EQ(read(back), (Floats{1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(books().storages.count, 1u);
}

TEST_F(Layouts, BecomeDenseForGoodAndLetTheirBaseGo) {
  const Handle base = make({256, 3});
  const Handle turned = transposed(base, 256, 3);
  context_->dispose(base);
  const Floats before = read(turned);
  Operand seen = operand(turned);
  EXPECT_FALSE(seen.dense);
  context_->make_dense(turned, seen);
  EXPECT_TRUE(seen.dense);
  EXPECT_EQ(std::memcmp(seen.data, before.data(), before.size() * sizeof(float)), 0);
  EXPECT_TRUE(context_->describe(turned).dense);
  EXPECT_EQ(read(turned), before);
  EXPECT_EQ(books().storages.count, 1u);
  EXPECT_EQ(books().created_storages.count, 2u);
  EXPECT_EQ(books().held.count, 0u) << "the base has gone";
  EXPECT_NO_THROW(Context::audit());
}

// The record of its data may have been that of a tensor which another stream used.
TEST(LayoutsOnStreams, WhatBecomesDenseIsNobodysOnOtherStreams) {
  OpenDevice device(
      {.kind = DeviceKind::kSimulated, .name = "layouts on streams", .capacity = 4 << 20});
  ContextPtr context = Context::create({.name = "layouts on streams"});
  const StreamId stream = device->heap()->create_stream();
  const auto make = [&] { return context->make({.device = device.get(), .shape = {2, 3}}); };
  const auto resolved = [&](Handle handle) {
    Operand seen;
    context->resolve({&handle, 1}, {&seen, 1}, "test");
    return seen;
  };
  const Handle base = make();
  const Handle turned = context->strided_view(base, resolved(base), 0, {1, 3}, {.shape = {3, 2}});
  const Handle used = make();
  context->hold(used).note_use(stream);
  context->dispose(used);
  device->pool().wait_pending();
  Operand seen = resolved(turned);
  context->make_dense(turned, seen);  // in the record of what was used
  seen = {};
  const Handle other = make();
  StorageRef held = context->hold(other);
  held.note_use(stream);  // takes the note that was given back
  auto& simulated = dynamic_cast<SimulatedDevice&>(*device->heap());
  simulated.submit(stream, {}, 100);
  context->dispose(turned);
  EXPECT_EQ(device->pool().stats().pending, 0u) << "it waits for what another tensor is used for";
  simulated.finish();
  device->pool().wait_pending();
  held.reset();
  context->dispose(other);
  device->pool().wait_pending();
  device->pool().check();
  EXPECT_EQ(device->pool().stats().pending, 0u);
  context.reset();
  EXPECT_EQ(device->in_use(), 0u);
  device->heap()->destroy_stream(stream);
}

TEST_F(Layouts, OthersKeepTheBase) {
  const Handle base = make({2, 3});
  const Handle a = transposed(base, 2, 3), b = transposed(base, 2, 3);
  Operand seen = operand(a), held = operand(a);
  context_->make_dense(a, seen);
  EXPECT_FALSE(context_->describe(b).dense);
  EXPECT_EQ(read(b), read(a));
  EXPECT_FALSE(held.dense) << "whoever resolved it before reads what he saw";
  Floats values(6);
  pack(held, std::as_writable_bytes(std::span(values)).data());
  EXPECT_EQ(values, read(a));
  EXPECT_EQ(books().storages.count, 2u);
}

TEST_F(Layouts, SecondOperandOfATensorTakesWhatTheFirstMade) {
  const Handle a = transposed(make({2, 3}), 2, 3);
  Operand first = operand(a), second = operand(a);
  context_->make_dense(a, first);
  const std::uint64_t made = books().created_storages.count;
  context_->make_dense(a, second);
  EXPECT_EQ(second.data, first.data);
  EXPECT_EQ(books().created_storages.count, made);
}

TEST_F(Layouts, AnOperandWhoseTensorEndedIsMadeDenseAlone) {
  const Handle base = make({2, 3});
  const Handle a = transposed(base, 2, 3);
  Operand seen = operand(a);
  context_->dispose(a);
  context_->dispose(base);
  context_->make_dense(a, seen);
  EXPECT_TRUE(seen.dense);
  float second = 0;
  std::memcpy(&second, seen.data + sizeof(float), sizeof second);
  EXPECT_EQ(second, 3);
  EXPECT_EQ(books().live, 0u);
  EXPECT_EQ(books().held.count, 1u);
  EXPECT_NO_THROW(Context::audit());
  seen = Operand();
  EXPECT_EQ(books().held.count, 0u);
  EXPECT_EQ(cpu_->in_use(), 0u);
}

TEST_F(Layouts, OutOfMemoryLeavesThemAsTheyWere) {
  const Handle a = transposed(make({1 << 10, 1 << 11}), 1 << 10, 1 << 11);
  Operand seen = operand(a);
  cpu_->pool().flush_thread();
  cpu_->pool().trim(~std::size_t{0});
  cpu_->set_budget(cpu_->committed(), BudgetMode::kHard);
  EXPECT_THROW(context_->make_dense(a, seen), OutOfMemory);
  EXPECT_FALSE(seen.dense);
  EXPECT_FALSE(context_->describe(a).dense);
  EXPECT_NO_THROW(Context::audit());
  cpu_->set_budget(0, BudgetMode::kHard);
  context_->make_dense(a, seen);
  EXPECT_TRUE(context_->describe(a).dense);
}

TEST_F(Layouts, OfHeldAndViewedTensorsAreDense) {
  const Handle a = transposed(make({2, 3}), 2, 3), b = transposed(make({2, 3}), 2, 3);
  const Handle hold = context_->hold_by_name(a);
  EXPECT_TRUE(context_->describe(a).dense);
  Floats values(6);
  std::memcpy(values.data(), Context::held_data(hold).data(), 24);
  EXPECT_EQ(values, (Floats{0, 3, 1, 4, 2, 5}));
  Context::release_by_name(hold);
  EXPECT_EQ(read(context_->view(b, 4, {.shape = {5}})), (Floats{3, 1, 4, 2, 5}));
}

TEST_F(Layouts, AViewOfOneMadeDenseSinceIsRefused) {
  const Handle a = transposed(make({2, 3}), 2, 3);
  const Operand seen = operand(a);
  Operand other = operand(a);
  context_->make_dense(a, other);
  EXPECT_EQ(context_->strided_view(a, seen, 0, {3, 1}, {.shape = {2, 3}}), 0u);
}

TEST_F(Layouts, CopiesOfTensorsShareThem) {
  const Tensor a(*context_, transposed(make({2, 3}), 2, 3));
  const Tensor b = a;
  EXPECT_FALSE(context_->describe(b.handle()).dense);
  EXPECT_EQ(b.to_vector<float>(), (Floats{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(books().storages.count, 1u);
}

TEST_F(Layouts, EndWithTheirTensorAndAreUsedAgain) {
  const Handle base = make({2, 3});
  for (int i = 0; i < 1000; ++i) {
    const Handle a = transposed(base, 2, 3);
    Context::orphan(a);
    context_->dispose(a);
  }
  const RegionId region = context_->open();
  context_->attach(region, transposed(base, 2, 3));
  context_->close(region);
  EXPECT_EQ(books().live, 1u);
  EXPECT_NO_THROW(Context::audit());
}

}  // namespace
}  // namespace ebb::test
