#include "capi/guard.hpp"

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

namespace ebb::capi {
namespace {

// The thread's message: a pointer, because thread-local space is scarce where libebb is loaded at
// run time. It points at the lease's text or at text that is always there.
constinit thread_local const char* message = "";

// Frees the text at thread exit. Calls that come later (other thread-local destructors) find it
// ended and get the fixed texts.
struct MessageLease {
  ~MessageLease() {
    message = "";
    ended = true;
  }
  std::string text;
  static constinit thread_local bool ended;
};
constinit thread_local bool MessageLease::ended = false;

MessageLease& lease() {
  static thread_local std::unique_ptr<MessageLease> held = std::make_unique<MessageLease>();
  return *held;
}

void keep(const char* text, const char* without_memory) noexcept {
  message = without_memory;
  if (MessageLease::ended) return;
  try {
    lease().text = text;
    message = lease().text.c_str();
  } catch (...) {
    static_cast<void>(text);  // the fixed text stands
  }
}

const char* fixed_text(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::kInvalidArgument:
      return "[ebb] an argument is not valid (no memory for the details)";
    case ErrorKind::kStaleHandle:
      return "[ebb] a name has ended, or never was (no memory for the details)";
    case ErrorKind::kWrongState:
      return "[ebb] not possible now (no memory for the details)";
    case ErrorKind::kOutOfMemory:
      return "[ebb] out of memory (no memory for the details)";
    case ErrorKind::kUnsupported:
      return "[ebb] not supported (no memory for the details)";
    case ErrorKind::kDevice:
      return "[ebb] the device or the system refused (no memory for the details)";
    case ErrorKind::kInternal:
      break;
  }
  return "[ebb] a broken invariant (no memory for the details)";
}

}  // namespace

ebb_status failed() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    keep(error.what(), fixed_text(error.kind()));
    return static_cast<ebb_status>(error.kind());
  } catch (const std::bad_alloc&) {
    message = "[ebb] no system memory for Ebb's own records";
    return EBB_OUT_OF_MEMORY;
  } catch (const std::system_error& error) {  // a thread that cannot be started
    keep(error.what(), fixed_text(ErrorKind::kDevice));
    return EBB_DEVICE_ERROR;
  } catch (const std::length_error&) {  // a count that no memory could hold
    message = "[ebb] more was given than there can be";
    return EBB_INVALID_ARGUMENT;
  } catch (const std::exception& error) {
    keep(error.what(), fixed_text(ErrorKind::kInternal));
    return EBB_INTERNAL;
  } catch (...) {
    message = "[ebb] an exception of unknown type";
    return EBB_INTERNAL;
  }
}

const char* last_error() noexcept { return message; }

}  // namespace ebb::capi
