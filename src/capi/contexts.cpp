// Contexts, and what concerns the boundary itself.
#include <cstdlib>
#include <memory>

#include "capi/callback_host.hpp"
#include "capi/names.hpp"
#include "capi/sized.hpp"

namespace {

using namespace ebb;
using namespace ebb::capi;

ContextOptions to_options(const ebb_context_options& given) {
  constexpr std::uint32_t kFlags = EBB_CONTEXT_NO_MINOR | EBB_CONTEXT_THREAD;
  if ((given.flags & ~kFlags) != 0) {
    raise(ErrorKind::kInvalidArgument,
          "[context_create] flags {:#x} were given, bits of {:#x} are allowed", given.flags,
          kFlags);
  }
  return {.name = given.name == nullptr ? "" : given.name,
          .own_host = std::make_unique<CallbackHost>(given),
          .minor = (given.flags & EBB_CONTEXT_NO_MINOR) == 0,
          .collect_share = given.collect_share,
          .bound_to_thread = (given.flags & EBB_CONTEXT_THREAD) != 0,
          .minor_step = given.minor_step,
          .major_step = given.major_step,
          .name_bytes = given.name_bytes};
}

}  // namespace

extern "C" {

uint32_t ebb_abi_version(void) { return EBB_ABI_VERSION; }

const char* ebb_version(void) { return EBB_VERSION; }

const char* ebb_last_error(void) { return last_error(); }

void ebb_text_free(char* text) { std::free(text); }

ebb_status ebb_context_create(const ebb_context_options* options, ebb_context* context) {
  return guarded([&] {
    const ebb_context_options given = read_sized(options, "context_create");
    ebb_context& made = needed(context, "context_create");
    made = Context::begin(to_options(given)).id();
  });
}

// Of two threads that end it at once, one does; the other is told that it has ended.
ebb_status ebb_context_destroy(ebb_context context) {
  return guarded([&] {
    if (!context_of(context).close()) {
      raise(ErrorKind::kStaleHandle, "[context_destroy] {:#x} has ended", context);
    }
  });
}

}  // extern "C"
