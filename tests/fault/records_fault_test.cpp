// A record that was taken for a tensor is given back as a free one where there is none for its data,
// whatever its last tensor has left in it.
#include <vector>

#include "fault/failing_new.hpp"
#include "support/audited.hpp"
#include "support/hosts.hpp"

namespace ebb::fault {
namespace {

constexpr int kMostTries = 2000;  // more than a chunk of records has

TEST(RecordsFault, OfTensorsThatWaitedAreGivenBackAsFree) {
  test::OpenDevice device({.kind = DeviceKind::kForeign, .name = "runtime"});
  const ContextPtr context = Context::create({.name = "records"});
  const auto adopt = [&] { return context->adopt({.device = device.get(), .bytes = 8}); };
  std::vector<StorageRef> held;  // so that the records of data are used up
  held.reserve(2 * kMostTries);
  held.push_back(context->hold(adopt()));  // two each time: a chunk ends between them
  bool failed = false;
  for (int i = 0; i < kMostTries && !failed; ++i) {
    const Handle waits = adopt();
    held.push_back(context->hold(waits));
    Context::orphan(waits);
    EXPECT_EQ(context->memory().orphans, 1u);  // takes the notice: it waits
    context->dispose(waits);
    fail_new_at(1, true);
    try {
      const Handle next = adopt();  // in the record of what waited
      stop_failing_new();
      held.push_back(context->hold(next));
      context->dispose(next);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    stop_failing_new();
    EXPECT_EQ(context->memory().orphans, 0u);
  }
  EXPECT_TRUE(failed) << "there were records for all";
  held.clear();
  EXPECT_NO_THROW(Context::audit());
}

}  // namespace
}  // namespace ebb::fault
