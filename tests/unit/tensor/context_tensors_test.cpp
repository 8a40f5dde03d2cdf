// Tensors from birth to end: made, viewed, adopted, rebooked, disposed.
#include <vector>

#include "ebb/memory/trace.hpp"
#include "unit/tensor/context_fixture.hpp"

namespace ebb::test {
namespace {

using Tensors = ContextTest;

TEST_F(Tensors, AreMadeAndDescribed) {
  const SiteId site = SiteTable::instance().intern("at main.cpp:3");
  const Handle handle = make({2, 3}, 0, site);
  const TensorInfo info = context->describe(handle);
  EXPECT_EQ(info.device, cpu.get());
  EXPECT_EQ(info.dtype, DType::kFloat32);
  EXPECT_EQ(info.rank, 2u);
  EXPECT_EQ(info.dims[0], 2);
  EXPECT_EQ(info.dims[1], 3);
  EXPECT_EQ(info.bytes, 24u);
  EXPECT_EQ(info.region, context->root());
  EXPECT_EQ(info.site, site);
  EXPECT_FALSE(info.orphaned);
  EXPECT_EQ(books().live, 1u);
  EXPECT_EQ(cpu->in_use(), books().storages.bytes);
}

TEST_F(Tensors, OfNoElementsAreTensorsToo) {
  const Handle handle = make({0, 1 << 30});
  EXPECT_EQ(context->describe(handle).bytes, 0u);
  EXPECT_TRUE(context->dispose(handle));
}

TEST_F(Tensors, NeedADeviceAndASize) {
  EXPECT_ERROR(context->make({}), kInvalidArgument, "[make]", "device");
  EXPECT_ERROR(context->make({.device = wasm.get()}), kInvalidArgument, "wasm", "adopted");
  EXPECT_ERROR(context->adopt({.device = cpu.get()}), kInvalidArgument, "cpu", "made");
  EXPECT_ERROR(context->make({.device = cpu.get(), .dtype = DType::kString}), kInvalidArgument,
               "string", "no fixed size");
  EXPECT_ERROR(context->make({.device = cpu.get(), .stream = kMaxStreams}), kInvalidArgument,
               "stream 64", "below 64");
  EXPECT_ERROR(context->make({.device = cpu.get(), .shape = {std::int64_t{1} << 62}}),
               kInvalidArgument, "too large");
  EXPECT_EQ(books().created, 0u);
}

TEST_F(Tensors, AreDisposedOnce) {
  const Handle handle = make();
  EXPECT_TRUE(context->dispose(handle));
  EXPECT_FALSE(context->dispose(handle));
  EXPECT_EQ(ended(Reason::kDisposed), 1u);
  EXPECT_EQ(cpu->in_use(), 0u);
}

TEST_F(Tensors, NamesThatNeverWereAreNotDisposed) {
  const Handle handle = make();
  for (const Handle never : {Handle{0}, ~Handle{0}, handle + 1, handle + (Handle{2} << 24)}) {
    EXPECT_ERROR(context->dispose(never), kStaleHandle, "[dispose]", "no tensor", "\"main\"");
  }
  EXPECT_EQ(books().live, 1u);
}

TEST_F(Tensors, OfAnotherContextAreUnknown) {
  const ContextPtr other = Context::create({.name = "other"});
  const Handle theirs = other->make({.device = cpu.get()});
  EXPECT_ERROR(context->dispose(theirs), kStaleHandle, "\"main\"");
  EXPECT_ERROR(context->describe(theirs), kStaleHandle, "[describe]");
  EXPECT_TRUE(other->dispose(theirs));
}

TEST_F(Tensors, AStaleUseSaysWhatItWas) {
  const Handle handle = make({4, 5});
  context->dispose(handle);
  EXPECT_ERROR(context->describe(handle), kStaleHandle, "[describe]", "float32 [4,5]", "has ended");
  EXPECT_ERROR(context->hold(handle), kStaleHandle, "[hold]", "float32 [4,5]");
  EXPECT_ERROR(context->view(handle, 0, {}), kStaleHandle, "[view]");
  EXPECT_ERROR(context->rebook(handle, nullptr, 1), kStaleHandle, "[rebook]");
  const Handle next = make({7});  // in the same slot
  EXPECT_ERROR(context->describe(handle), kStaleHandle, "has ended");
  EXPECT_EQ(context->describe(next).dims[0], 7);
}

TEST_F(Tensors, AStaleUseSaysWhereItWasMadeAndEndedWhileTraced) {
  trace::set(true);
  set_ending_site(SiteTable::instance().intern("free.js:9\nmain"));
  const Handle handle = make({3}, 0, SiteTable::instance().intern("model.js:12\nmain"));
  context->dispose(handle);
  set_ending_site(0);
  EXPECT_ERROR(context->describe(handle), kStaleHandle, "float32 [3]", "made at model.js:12",
               "ended at free.js:9", "(disposed)");
  trace::set(false);
  trace::clear();
}

TEST_F(Tensors, AViewKeepsTheStorageAlive) {
  const Handle base = make({16});
  const Handle view = context->view(base, 8, {.shape = {4}});
  const std::uint64_t bytes = cpu->in_use();
  EXPECT_EQ(books().storages.count, 1u);
  EXPECT_EQ(books().live, 2u);
  context->dispose(base);
  EXPECT_EQ(cpu->in_use(), bytes);
  EXPECT_EQ(context->describe(view).bytes, 16u);
  const Handle nested = context->view(view, 4, {.dtype = DType::kUint8, .shape = {12}});
  context->dispose(view);
  EXPECT_EQ(cpu->in_use(), bytes);
  context->dispose(nested);
  EXPECT_EQ(cpu->in_use(), 0u);
}

TEST_F(Tensors, AViewStaysInsideItsBase) {
  const Handle base = make({1});
  ASSERT_GT(context->hold(base).data().size(), 4u);  // the block is larger, and not the tensor's
  EXPECT_ERROR(context->view(base, 0, {.shape = {2}}), kInvalidArgument, "[view] 8 bytes from 0",
               "the tensor has 4");
  EXPECT_ERROR(context->view(base, 4, {.shape = {1}}), kInvalidArgument, "[view]", "4 bytes");
  EXPECT_ERROR(context->view(base, ~std::uint64_t{0}, {.shape = {1}}), kInvalidArgument, "[view]");
  EXPECT_ERROR(context->view(base, 5, {.shape = {0}}), kInvalidArgument, "[view]");
  EXPECT_NO_THROW(context->view(base, 4, {.shape = {0}}));
  EXPECT_ERROR(context->view(adopt(), 0, {}), kInvalidArgument, "another runtime's");
}

TEST_F(Tensors, AViewOfAViewStaysInsideThat) {
  const Handle base = make({16});
  const Handle part = context->view(base, 16, {.shape = {4}});
  EXPECT_ERROR(context->view(part, 0, {.shape = {5}}), kInvalidArgument, "the tensor has 16");
  EXPECT_ERROR(context->view(part, 4, {.shape = {4}}), kInvalidArgument, "16 bytes from 4");
  EXPECT_ERROR(context->view(part, ~std::uint64_t{0} - 8, {}), kInvalidArgument, "[view]");
  const Handle end = context->view(part, 12, {.shape = {1}});
  EXPECT_ERROR(context->view(end, 4, {.shape = {1}}), kInvalidArgument, "[view]");
}

TEST_F(Tensors, AViewStartsWhereItsDtypeMay) {
  const Handle base = make({16});
  EXPECT_ERROR(context->view(base, 2, {.dtype = DType::kInt32, .shape = {1}}), kInvalidArgument,
               "[view] int32 from byte 2", "a multiple of 4");
  EXPECT_ERROR(context->view(base, 4, {.dtype = DType::kFloat64, .shape = {1}}), kInvalidArgument,
               "a multiple of 8");
  EXPECT_NO_THROW(context->view(base, 2, {.dtype = DType::kFloat16, .shape = {1}}));
  const Handle odd = context->view(base, 1, {.dtype = DType::kUint8, .shape = {9}});
  EXPECT_ERROR(context->view(odd, 4, {.dtype = DType::kInt32, .shape = {1}}), kInvalidArgument,
               "from byte 5");
  EXPECT_NO_THROW(context->view(odd, 3, {.dtype = DType::kInt32, .shape = {1}}));
}

TEST_F(Tensors, AnAdoptedOneIsBookedNotHeld) {
  const std::vector<std::int64_t> dims{1, 2, 3, 4, 5, 6, 7, 8};
  const Handle handle = context->adopt({.device = wasm.get(),
                                        .key = 9,
                                        .bytes = 500,
                                        .tag = 77,
                                        .dtype = DType::kString,
                                        .dims = dims,
                                        .watched = false});
  const TensorInfo info = context->describe(handle);
  EXPECT_EQ(info.bytes, 500u);
  EXPECT_EQ(info.key, 9u);
  EXPECT_EQ(info.tag, 77u);
  EXPECT_EQ(info.rank, 8u);  // of which as many as fit are kept
  EXPECT_EQ(info.dims[kMaxRank - 1], 6);
  EXPECT_EQ(wasm->in_use(), 500u);
  EXPECT_EQ(books().unwatched, 1u);
  context->dispose(handle);
  EXPECT_EQ(wasm->in_use(), 0u);
  EXPECT_EQ(books().unwatched, 0u);
  EXPECT_TRUE(host.ends.empty());  // the host disposed of it itself
}

TEST_F(Tensors, ThoseWithTheSameKeyShareAStorage) {
  const Handle a = adopt(100, 5), b = adopt(100, 5), c = adopt(100, 6), d = adopt(100, 0);
  EXPECT_EQ(wasm->in_use(), 300u);
  EXPECT_EQ(books().storages.count, 3u);
  context->dispose(a);
  EXPECT_EQ(wasm->in_use(), 300u);
  context->dispose(b);
  EXPECT_EQ(wasm->in_use(), 200u);
  const Handle again = adopt(40, 5);  // the key is free again, and another size is
  EXPECT_EQ(wasm->in_use(), 240u);
  for (const Handle handle : {c, d, again}) context->dispose(handle);
}

TEST_F(Tensors, TheLastOfAStorageIsSaidToBeTheLast) {
  const RegionId region = context->open();
  adopt(10, 5, region, 1);
  adopt(10, 5, region, 2);
  context->close(region);
  ASSERT_EQ(host.ends.size(), 2u);
  EXPECT_FALSE(host.ends[0].last);
  EXPECT_TRUE(host.ends[1].last);
  EXPECT_EQ(host.ends[1].key, 5u);
  EXPECT_EQ(host.ends[1].device, wasm->id());
  EXPECT_EQ(host.ends[1].reason, Reason::kRegion);
  EXPECT_EQ(host.ends[0].tag + host.ends[1].tag, 3u);
}

TEST_F(Tensors, AreRebookedWhenTheirSizeIsKnown) {
  const Handle handle = adopt(100, 3);
  const Handle shared = adopt(100, 3);
  context->rebook(handle, nullptr, 250);
  EXPECT_EQ(wasm->in_use(), 250u);
  EXPECT_EQ(context->describe(shared).bytes, 250u);
  context->rebook(shared, nullptr, 50);
  EXPECT_EQ(wasm->in_use(), 50u);
  EXPECT_EQ(books().peak_bytes, 250u);
}

TEST_F(Tensors, AreRebookedToAnotherDeviceWithAllThatShare) {
  OpenDevice gpu(DeviceOptions{.kind = DeviceKind::kForeign, .name = "webgl"});
  const Handle a = adopt(100, 3), b = adopt(100, 3);
  const Handle in_the_way = context->adopt({.device = gpu.get(), .key = 3, .bytes = 1});
  EXPECT_ERROR(context->rebook(a, gpu.get(), 80), kInvalidArgument, "key 3", "webgl");
  EXPECT_EQ(wasm->in_use(), 100u);
  context->dispose(in_the_way);
  context->rebook(a, gpu.get(), 80);
  EXPECT_EQ(wasm->in_use(), 0u);
  EXPECT_EQ(gpu->in_use(), 80u);
  EXPECT_EQ(context->describe(b).device, gpu.get());
  EXPECT_EQ(context->memory(wasm.get()).books.created, 0u);
  EXPECT_EQ(context->memory(gpu.get()).books.live, 2u);
  EXPECT_EQ(context->adopt({.device = gpu.get(), .key = 3}) != 0, true);  // found under its key
  EXPECT_EQ(context->memory(gpu.get()).books.storages.count, 1u);
  context.reset();
}

TEST_F(Tensors, OfEbbsOwnAreNotRebooked) {
  EXPECT_ERROR(context->rebook(make(), nullptr, 1), kInvalidArgument, "[rebook]");
  EXPECT_ERROR(context->rebook(adopt(), cpu.get(), 1), kInvalidArgument, "[rebook]");
}

TEST_F(Tensors, ManyKeysComeAndGo) {
  std::vector<Handle> handles;
  for (std::uint64_t key = 1; key <= 5000; ++key) handles.push_back(adopt(1, key));
  EXPECT_EQ(wasm->in_use(), 5000u);
  for (std::uint64_t key = 1; key <= 5000; ++key) handles.push_back(adopt(1, key));
  EXPECT_EQ(wasm->in_use(), 5000u);
  for (const Handle handle : handles) context->dispose(handle);
  EXPECT_EQ(wasm->in_use(), 0u);
  EXPECT_EQ(books().ended[0], 10000u);
}

}  // namespace
}  // namespace ebb::test
