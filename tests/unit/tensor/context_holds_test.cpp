// Holds: references on memory that outlive tensors, contexts, and the order of things.
#include <thread>

#include "unit/tensor/context_fixture.hpp"

namespace ebb::test {
namespace {

using Holds = ContextTest;

TEST_F(Holds, OutliveTheTensor) {
  const Handle handle = make({256});
  StorageRef held = context->hold(handle);
  ASSERT_GE(held.data().size(), 1024u);
  held.data()[0] = std::byte{42};
  EXPECT_EQ(&held.device(), cpu.get());
  context->dispose(handle);
  EXPECT_EQ(books().held.count, 1u);
  EXPECT_EQ(books().storages.count, 0u);
  EXPECT_EQ(held.data()[0], std::byte{42});
  EXPECT_GT(cpu->in_use(), 0u);
  EXPECT_NO_THROW(Context::audit());
  held.reset();
  EXPECT_FALSE(held);
  EXPECT_EQ(books().held.count, 0u);
  EXPECT_EQ(cpu->in_use(), 0u);
}

TEST_F(Holds, AreMovedNotShared) {
  const Handle handle = make();
  StorageRef a = context->hold(handle);
  StorageRef b = std::move(a);
  EXPECT_FALSE(a);
  EXPECT_TRUE(b);
  b = context->hold(handle);
  a = std::move(b);
  context->dispose(handle);
  EXPECT_EQ(books().held.count, 1u);
  a = StorageRef();
  EXPECT_EQ(books().held.count, 0u);
}

TEST_F(Holds, AllMustBeLetGo) {
  const Handle handle = make();
  StorageRef a = context->hold(handle), b = context->hold(handle);
  context->dispose(handle);
  a.reset();
  EXPECT_GT(cpu->in_use(), 0u);
  b.reset();
  EXPECT_EQ(cpu->in_use(), 0u);
}

TEST_F(Holds, LetGoBeforeTheTensorEndsChangeNothing) {
  const Handle handle = make();
  context->hold(handle).reset();
  EXPECT_EQ(books().storages.count, 1u);
  context->dispose(handle);
  EXPECT_EQ(cpu->in_use(), 0u);
}

TEST_F(Holds, OutliveTheContext) {
  StorageRef held = context->hold(make());
  const std::uint64_t id = context->id();
  context.reset();
  EXPECT_FALSE(Context::find(id).has_value());
  EXPECT_EQ(Context::total_memory().books.held.count, 1u);
  EXPECT_NO_THROW(Context::audit());
  EXPECT_ERROR(Device::close(*cpu), kWrongState, "in use");
  held.reset();
  EXPECT_EQ(Context::total_memory().books.held.count, 0u);
  EXPECT_EQ(cpu->in_use(), 0u);
}

TEST_F(Holds, OfForeignDataKeepItsBytesBooked) {
  const Handle handle = adopt(100, 8);
  StorageRef held = context->hold(handle);
  EXPECT_TRUE(held.data().empty());
  EXPECT_NO_THROW(held.note_use(3));
  context->dispose(handle);
  EXPECT_EQ(wasm->in_use(), 100u);
  const Handle next = adopt(30, 8);  // the key is free, though its data is still held
  EXPECT_EQ(wasm->in_use(), 130u);
  held.reset();
  EXPECT_EQ(wasm->in_use(), 30u);
  context->dispose(next);
}

TEST_F(Holds, ByNameGiveTheViewsBytes) {
  const Handle base = make({16});
  const Handle view = context->view(base, 8, {.shape = {2}});
  const Handle whole = context->hold_by_name(base);
  const Handle part = context->hold_by_name(view);
  EXPECT_EQ(Context::held_data(part).data(), Context::held_data(whole).data() + 8);
  EXPECT_EQ(Context::held_data(part).size(), 8u);
  EXPECT_EQ(Context::held_data(whole).size(), 64u);
  EXPECT_TRUE(Context::release_by_name(whole));
  EXPECT_FALSE(Context::release_by_name(whole));
  EXPECT_ERROR(Context::held_data(whole), kStaleHandle, "released");
  EXPECT_TRUE(Context::release_by_name(part));
  const Handle foreign = context->hold_by_name(adopt());
  EXPECT_TRUE(Context::held_data(foreign).empty());
  EXPECT_TRUE(Context::release_by_name(foreign));
}

TEST_F(Holds, AreNotTensors) {
  const Handle tensor = make();
  const Handle hold = context->hold_by_name(tensor);
  EXPECT_ERROR(context->dispose(hold), kStaleHandle, "no tensor");
  EXPECT_ERROR(context->describe(hold), kStaleHandle, "no tensor");
  EXPECT_ERROR(Context::held_data(tensor), kStaleHandle, "no hold");
  EXPECT_ERROR(Context::release_by_name(0), kStaleHandle, "no hold");
  EXPECT_ERROR(Context::release_by_name(~Handle{0}), kStaleHandle, "no hold");
  EXPECT_EQ(books().live, 1u);
  Context::orphan(hold);  // holds have no host object: a forged notice
  {
    ReclaimOn on;
    context->safe_point();
  }
  EXPECT_EQ(context->memory().orphans, 0u);
  EXPECT_TRUE(Context::release_by_name(hold));
}

TEST_F(Holds, ByNameOutliveTheContextToo) {
  const Handle hold = context->hold_by_name(make());
  context.reset();
  EXPECT_FALSE(Context::held_data(hold).empty());
  EXPECT_TRUE(Context::release_by_name(hold));
  EXPECT_FALSE(Context::release_by_name(hold));
}

TEST_F(Holds, AForgedNoticeAfterTheEndLeavesNothingInTheQueue) {
  const Handle hold = context->hold_by_name(make());
  context.reset();
  Context::orphan(hold);
  EXPECT_TRUE(Context::release_by_name(hold));
  // Whoever takes the slots over sees none of it.
  context = Context::create({.name = "next"});
  std::vector<Handle> handles;
  for (int i = 0; i < 2000; ++i) handles.push_back(adopt(1));
  context->safe_point();
  EXPECT_EQ(context->memory().orphans, 0u);
  for (const Handle handle : handles) EXPECT_TRUE(context->dispose(handle));
}

TEST_F(Holds, AreLetGoOnAnyThread) {
  StorageRef held = context->hold(make());
  context.reset();
  std::thread([&] { held.reset(); }).join();
  EXPECT_EQ(cpu->in_use(), 0u);
}

TEST_F(Holds, NoteTheStreamsThatUseThem) {
  const StreamId stream = cpu->heap()->create_stream();
  const Handle handle = make();
  StorageRef held = context->hold(handle);
  held.note_use(stream);
  held.note_use(stream);
  held.note_use(kDefaultStream);
  context->dispose(handle);
  held.reset();
  EXPECT_EQ(cpu->in_use(), 0u);
  cpu->pool().wait_pending();
  cpu->heap()->destroy_stream(stream);
}

}  // namespace
}  // namespace ebb::test
