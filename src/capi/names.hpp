// From the names that hosts hold to what they stand for.
#pragma once

#include "capi/guard.hpp"
#include "ebb/memory/device.hpp"
#include "ebb/tensor/context.hpp"

namespace ebb::capi {

// Whether it is still open is looked at again, under its lock, by what is done with it.
inline Context context_of(ebb_context name) {
  const std::optional<Context> context = Context::find(name);
  if (!context) [[unlikely]] {
    raise(ErrorKind::kStaleHandle, "[context] {:#x} has ended, or never was", name);
  }
  return *context;
}

[[noreturn]] inline void raise_stale_device(ebb_device name) {
  raise(ErrorKind::kStaleHandle, "[device] {} was closed, or never was", name);
}

inline Device& device_of(ebb_device name) {
  Device* device = Device::find(name);
  if (device == nullptr) [[unlikely]]
    raise_stale_device(name);
  return *device;
}

// For a call that makes tensors on a device: finds it by name, and looks again once they are there.
// From then on they keep it open; before, it may have closed and been taken by another.
class NamedDevice {
 public:
  explicit NamedDevice(ebb_device name) : name_(name), device_(device_of(name)) {}
  Device& operator*() const noexcept { return device_; }

  // `undo` ends what was made where it was not on the device that was named.
  template <typename Undo>
  void confirm(Undo&& undo) const {
    if (device_.answers_to(name_) || Device::find(name_) == &device_) [[likely]]
      return;
    undo();
    raise_stale_device(name_);
  }

 private:
  const ebb_device name_;
  Device& device_;
};

// 0: none.
inline Device* optional_device(ebb_device name) { return name == 0 ? nullptr : &device_of(name); }

}  // namespace ebb::capi
