// What Ebb throws. One hierarchy; out of memory stands apart because programs answer it differently
// (free something, take a smaller batch) from every other error (a mistake in the program).
//
// Messages read `[who] what was given, what is allowed`.
#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace ebb {

// The kinds of failure. The C ABI's status codes are these values.
enum class ErrorKind : int {
  kInvalidArgument = 1,  // an argument that is never valid
  kStaleHandle = 2,      // a handle or region that has ended, or never was
  kWrongState = 3,       // valid arguments at the wrong time: a capped region, a closed context
  kOutOfMemory = 4,      // the device has no room and the ladder found none
  kUnsupported = 5,      // not there, and said so by name
  kDevice = 6,           // the device or the system refused
  kInternal = 7,         // a broken invariant of Ebb's own
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

class OutOfMemory : public Error {
 public:
  explicit OutOfMemory(const std::string& message) : Error(ErrorKind::kOutOfMemory, message) {}
};

template <typename... Args>
[[noreturn]] void raise(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(kind, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace ebb
