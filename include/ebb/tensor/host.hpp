// What a context needs of its host, and what the host says of itself.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ebb/memory/device.hpp"
#include "ebb/memory/governor.hpp"
#include "ebb/memory/ledger.hpp"
#include "ebb/memory/names.hpp"

namespace ebb {

// A foreign tensor that Ebb ended: its host now frees it.
struct ForeignEnd {
  Handle handle = 0;  // already stale
  std::uint64_t tag = 0;
  std::uint64_t key = 0;
  DeviceId device = 0;
  Reason reason = Reason::kDisposed;
  bool last = true;  // no other tensor shares the data any more
};

// What a context needs of its host. Called on the thread that called Ebb, with no lock held; it may
// call Ebb again, but not close the context. `end` and `warn` must not throw.
class Host {
 public:
  virtual ~Host() = default;
  virtual bool can_collect() const { return false; }
  // Makes the collector run, now. Nanoseconds it took; 0: Ebb measures; kCannotCollect: it did not.
  virtual std::uint64_t collect(Collection) { return 0; }
  virtual void end(std::span<const ForeignEnd>) {}
  virtual void warn(std::string_view message);
};

struct ContextOptions {
  std::string name{};
  Host* host = nullptr;  // must outlive the context; null: no collector, nothing foreign
  std::unique_ptr<Host> own_host{};  // the same, and gone when the context has closed
  bool minor = true;  // the collector has a minor collection that is cheaper than a major one
  double collect_share = shares::kUsual;
  // The host's collector runs, and foreign tensors end, on the thread that creates the context
  // only. Another that needs memory asks it and waits a little.
  bool bound_to_thread = false;
  // Pacing (ebb/memory/pacing.hpp). A live name is as much pressure as so many bytes.
  std::uint64_t minor_step = 0;
  std::uint64_t major_step = 0;
  std::uint64_t name_bytes = 0;
};

}  // namespace ebb
