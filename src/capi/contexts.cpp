// Contexts, and what concerns the boundary itself.
#include <cstdlib>
#include <memory>

#include "capi/callback_host.hpp"
#include "capi/names.hpp"
#include "capi/sized.hpp"

namespace {

using namespace ebb;
using namespace ebb::capi;

ContextOptions to_options(const ebb_context_options& given, Host& host) {
  constexpr std::uint32_t kFlags = EBB_CONTEXT_NO_MINOR | EBB_CONTEXT_BACKING;
  if ((given.flags & ~kFlags) != 0) {
    raise(ErrorKind::kInvalidArgument,
          "[context_create] flags {:#x} were given, bits of {:#x} are allowed", given.flags,
          kFlags);
  }
  return {.name = given.name == nullptr ? "" : given.name,
          .host = &host,
          .minor = (given.flags & EBB_CONTEXT_NO_MINOR) == 0,
          .collect_share = given.collect_share,
          .backing = (given.flags & EBB_CONTEXT_BACKING) != 0};
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
    auto host = std::make_unique<CallbackHost>(given);
    // From here on the name owns both; ebb_context_destroy ends them.
    made = Context::create(to_options(given, *host)).release()->id();
    static_cast<void>(host.release());
  });
}

ebb_status ebb_context_destroy(ebb_context context) {
  return guarded([&] {
    Context& ending = context_of(context);
    auto* host = dynamic_cast<CallbackHost*>(ending.host());
    if (host == nullptr) {
      raise(ErrorKind::kWrongState, "[context_destroy] {:#x} was made in C++ and ends there",
            context);
    }
    // When close returns, nothing calls the host any more. Of two threads that end it at once, one
    // gets true.
    if (ending.close()) std::unique_ptr<CallbackHost>(host).reset();
  });
}

}  // extern "C"
