// What becomes of a device's books when it closes and the next takes its place.
#include <gtest/gtest.h>

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
