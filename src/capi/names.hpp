// From the names that hosts hold to what they stand for.
#pragma once

#include "capi/guard.hpp"
#include "ebb/memory/device.hpp"
#include "ebb/tensor/context.hpp"

namespace ebb::capi {

inline Context& context_of(ebb_context name) {
  Context* context = Context::find(name);
  if (context == nullptr) [[unlikely]] {
    raise(ErrorKind::kStaleHandle, "[context] {:#x} has ended, or never was", name);
  }
  return *context;
}

inline Device& device_of(ebb_device name) {
  Device* device = Device::find(name);
  if (device == nullptr) [[unlikely]] {
    raise(ErrorKind::kInvalidArgument, "[device] {} names no open device", name);
  }
  return *device;
}

// 0: none.
inline Device* optional_device(ebb_device name) { return name == 0 ? nullptr : &device_of(name); }

}  // namespace ebb::capi
