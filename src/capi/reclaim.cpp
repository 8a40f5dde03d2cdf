// Reclaim: death notices, safe points, collections.
#include <optional>

#include "capi/names.hpp"
#include "capi/sized.hpp"

static_assert(EBB_CANNOT_COLLECT == ebb::kCannotCollect);

namespace {

using namespace ebb;
using namespace ebb::capi;

// What a drain found, for a caller who may not want to know.
class DrainedOutput {
 public:
  DrainedOutput(ebb_drained* given, const char* what) {
    if (given != nullptr) output_.emplace(given, what);
  }
  void write(const Drained& drained) const noexcept {
    if (!output_) return;
    output_->write({.size = 0,
                    .collected = drained.collections,
                    .tensors = drained.tensors,
                    .bytes = drained.bytes});
  }

 private:
  std::optional<SizedOutput<ebb_drained>> output_;
};

Collection collection_of(std::uint32_t kind) {
  if (kind > EBB_COLLECT_MAJOR) {
    raise(ErrorKind::kInvalidArgument, "[collect] kind {} was given, 0 and 1 are allowed", kind);
  }
  return static_cast<Collection>(kind);
}

}  // namespace

extern "C" {

void ebb_reclaim_set(int on) { set_reclaim(on != 0); }

int ebb_reclaim_get(void) { return reclaiming() ? 1 : 0; }

void ebb_orphan(ebb_handle handle) { Context::orphan(handle); }

ebb_status ebb_safe_point(ebb_context context, ebb_device device, uint64_t upcoming, uint32_t flags,
                          ebb_drained* drained) {
  return guarded([&] {
    const DrainedOutput output(drained, "safe_point");
    if ((flags & ~std::uint32_t{EBB_SAFE_POINT_SCOPED}) != 0) {
      raise(ErrorKind::kInvalidArgument,
            "[safe_point] flags {:#x} were given, bits of {:#x} are allowed", flags,
            std::uint32_t{EBB_SAFE_POINT_SCOPED});
    }
    output.write(context_of(context).safe_point(optional_device(device), upcoming,
                                                (flags & EBB_SAFE_POINT_SCOPED) != 0));
  });
}

ebb_status ebb_idle(ebb_context context, uint32_t* again_ms, ebb_drained* drained) {
  return guarded([&] {
    const DrainedOutput output(drained, "idle");
    uint32_t& again = needed(again_ms, "idle");
    Drained found;
    again = context_of(context).idle(&found);
    output.write(found);
  });
}

ebb_status ebb_walk(ebb_context context, uint64_t list, uint64_t entries, ebb_drained* drained) {
  return guarded([&] {
    const DrainedOutput output(drained, "walk");
    output.write(context_of(context).walk(list, entries));
  });
}

ebb_status ebb_collect(ebb_context context, uint32_t kind, int rationed, ebb_drained* drained) {
  return guarded([&] {
    const DrainedOutput output(drained, "collect");
    output.write(context_of(context).collect(collection_of(kind), rationed != 0));
  });
}

ebb_status ebb_make_room(ebb_context context, ebb_device device, uint64_t bytes,
                         ebb_drained* drained) {
  return guarded([&] {
    const DrainedOutput output(drained, "make_room");
    output.write(context_of(context).make_room(device_of(device), bytes));
  });
}

}  // extern "C"
