// What becomes of a device's books when it closes and the next takes its place.
#include <gtest/gtest.h>

#include <vector>

#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/hosts.hpp"

namespace ebb::test {
namespace {

Device& open_foreign(const char* name) {
  return Device::open({.kind = DeviceKind::kForeign, .name = name});
}

TEST(DeviceBooks, TheNextDeviceBeginsWithCleanOnes) {
  RecordingHost host;
  ContextPtr context = Context::create({.name = "books", .host = &host});
  const std::uint64_t created = context->memory().books.created;
  Device& first = open_foreign("first");
  for (const std::uint64_t bytes : {10, 20, 30})
    context->dispose(context->adopt({.device = &first, .bytes = bytes}));
  EXPECT_EQ(context->memory(&first).books.created, 3u);
  Device::close(first);
  Device& next = open_foreign("next");
  ASSERT_EQ(&next, &first);
  EXPECT_EQ(context->memory(&next).books.created, 0u);
  EXPECT_EQ(context->memory(&next).books.peak_bytes, 0u);
  EXPECT_EQ(context->memory().books.created, created + 3);  // nothing is forgotten
  EXPECT_NO_THROW(Context::audit());
  context.reset();
  EXPECT_EQ(Context::total_memory(&next).books.created, 0u);
  Device::close(next);
}

TEST(DeviceBooks, ThoseOfEndedContextsAreNotInheritedEither) {
  const std::uint64_t before = Context::total_memory().books.created;
  Device& first = open_foreign("first");
  RecordingHost host;
  ContextPtr context = Context::create({.name = "ended", .host = &host});
  context->dispose(context->adopt({.device = &first, .bytes = 10}));
  context.reset();
  EXPECT_EQ(Context::total_memory(&first).books.created, 1u);
  Device::close(first);
  Device& next = open_foreign("next");
  ASSERT_EQ(&next, &first);
  EXPECT_EQ(Context::total_memory(&next).books.created, 0u);
  EXPECT_EQ(Context::total_memory().books.created, before + 1);
  Device::close(next);
}

// Contexts keep some of what ended for what they make next (memory/foreign_credit.hpp).
TEST(DeviceBooks, WhatContextsKeepIsNotInUse) {
  ReclaimOn on;
  Device& device = open_foreign("shared");
  std::vector<ContextPtr> contexts;
  for (int i = 0; i < 4; ++i) {
    contexts.push_back(Context::create({.name = "keeps"}));
    contexts[i]->dispose(contexts[i]->adopt({.device = &device, .bytes = 1000}));
    EXPECT_EQ(device.in_use(), 0u);
  }
  const Handle kept = contexts[0]->adopt({.device = &device, .bytes = 1500});
  EXPECT_EQ(device.in_use(), 1500u);
  device.set_budget(2000, BudgetMode::kHard);
  for (const ContextPtr& context : contexts) {
    EXPECT_NO_THROW(context->safe_point(&device, 500));
    EXPECT_ERROR(context->safe_point(&device, 501), kOutOfMemory, "shared has no room");
  }
  EXPECT_NO_THROW(Context::audit());
  contexts[0]->dispose(kept);
  contexts.pop_back();
  EXPECT_EQ(device.in_use(), 0u);
  Device::close(device);
}

TEST(DeviceBooks, WhatContextsKeepGoesWithTheDevice) {
  ContextPtr context = Context::create({.name = "keeps"});
  Device& first = open_foreign("first");
  context->dispose(context->adopt({.device = &first, .bytes = 1000}));
  Device::close(first);
  Device& next = open_foreign("next");
  ASSERT_EQ(&next, &first);
  EXPECT_EQ(next.peak_committed(), 0u);
  const Handle handle = context->adopt({.device = &next, .bytes = 10});
  EXPECT_EQ(next.in_use(), 10u);
  EXPECT_EQ(next.peak_committed(), 10u);
  context->dispose(handle);
  Device::close(next);
}

TEST(DeviceBooks, ThePeakOfOneContextIsExactWhateverItKeeps) {
  ContextPtr context = Context::create({.name = "keeps"});
  Device& device = open_foreign("peak");
  std::vector<Handle> handles;
  for (const std::uint64_t bytes : {700'000, 600'000, 100}) {
    handles.push_back(context->adopt({.device = &device, .bytes = bytes}));
  }
  EXPECT_EQ(context->end_all(handles, Reason::kDisposed), 3u);
  handles.assign({context->adopt({.device = &device, .bytes = 1'300'050})});
  EXPECT_EQ(device.peak_committed(), 1'300'100u);
  handles.push_back(context->adopt({.device = &device, .bytes = 51}));
  EXPECT_EQ(device.peak_committed(), 1'300'101u);
  EXPECT_EQ(context->end_all(handles, Reason::kDisposed), 2u);
  Device::close(device);
}

TEST(DeviceBooks, ATensorWithoutBytesKeepsItsDeviceOpen) {
  Device& device = open_foreign("of empty tensors");
  RecordingHost host;
  ContextPtr context = Context::create({.name = "empty", .host = &host});
  const Handle empty = context->adopt({.device = &device, .bytes = 0});
  EXPECT_ERROR(Device::close(device), kWrongState, "of empty tensors", "in use");
  EXPECT_EQ(context->describe(empty).device, &device);
  context->dispose(empty);
  Device::close(device);
}

}  // namespace
}  // namespace ebb::test
