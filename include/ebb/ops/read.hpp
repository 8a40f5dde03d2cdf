// A read that nobody waits for: begun, asked whether it is done, and taken. The tensor may end
// meanwhile.
//
//   AsyncRead read(tensor.context(), tensor.handle());
//   while (!read.done()) do_something_else();
//   read.take(bytes);
#pragma once

#include <span>

#include "ebb/tensor/context.hpp"

namespace ebb {

class [[nodiscard]] AsyncRead {
 public:
  // Throws for a name that has ended, and where the device refused.
  AsyncRead(const Context& context, Handle tensor);
  // Waits where it is under way: the device writes into memory of its own until then.
  ~AsyncRead();
  AsyncRead(const AsyncRead&) = delete;
  AsyncRead& operator=(const AsyncRead&) = delete;

  std::uint64_t bytes() const noexcept { return bytes_; }
  // Never blocks. Throws Error(kDevice) where the device was lost.
  bool done();
  // Waits where it is under way. `to` must be as long as the tensor.
  void take(std::span<std::byte> to);

 private:
  Operand operand_;
  std::uint64_t bytes_ = 0;
  std::byte* staging_ = nullptr;  // null: the host can address the memory
  Event event_;
  bool recorded_ = false;
};

}  // namespace ebb
