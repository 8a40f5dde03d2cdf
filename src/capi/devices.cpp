// Devices, and what the process may use.
#include "capi/names.hpp"
#include "capi/sized.hpp"
#include "ebb/base/bytes.hpp"
#include "ebb/memory/device_link.hpp"
#include "ebb/memory/memory_limit.hpp"

namespace {

using namespace ebb;
using namespace ebb::capi;

DeviceKind kind_of(std::uint32_t kind) {
  if (kind > EBB_DEVICE_FOREIGN && kind != EBB_DEVICE_CUDA) {
    raise(ErrorKind::kInvalidArgument, "[device] kind {} was given, 0 to {} and {} are allowed",
          kind, static_cast<int>(EBB_DEVICE_FOREIGN), static_cast<int>(EBB_DEVICE_CUDA));
  }
  return static_cast<DeviceKind>(kind);
}

BudgetMode mode_of(std::uint32_t mode) {
  if (mode > EBB_BUDGET_SOFT) {
    raise(ErrorKind::kInvalidArgument, "[device] budget mode {} was given, 0 and 1 are allowed",
          mode);
  }
  return static_cast<BudgetMode>(mode);
}

ebb_device_info describe(Device& device) {
  ebb_device_info info{};
  info.kind = static_cast<std::uint32_t>(device.kind());
  info.budget = device.budget();
  info.mode = static_cast<std::uint32_t>(device.mode());
  info.in_use = device.in_use();
  info.committed = device.committed();
  info.peak_committed = device.peak_committed();
  if (device.foreign()) return info;
  const PoolStats stats = device.pool().stats();
  info.cached = stats.cached;
  info.largest_free = stats.largest_free;
  info.fragmentation = stats.fragmentation();
  info.staging = device.link() == nullptr ? 0 : device.link()->staging_bytes();
  return info;
}

}  // namespace

extern "C" {

ebb_status ebb_device_open(const ebb_device_options* options, ebb_device* device) {
  return guarded([&] {
    const ebb_device_options given = read_sized(options, "device_open");
    ebb_device& opened = needed(device, "device_open");
    opened = Device::open({.kind = kind_of(given.kind),
                           .name = &needed(given.name, "device_open"),
                           .capacity = given.capacity,
                           .budget = given.budget,
                           .mode = mode_of(given.mode),
                           .heap = nullptr})
                 .id();
  });
}

ebb_status ebb_device_close(ebb_device device) {
  return guarded([&] { Device::close(device); });
}

ebb_status ebb_device_set_budget(ebb_device device, uint64_t bytes, uint32_t mode) {
  return guarded(
      [&] { Device::visit(device, [&](Device& open) { open.set_budget(bytes, mode_of(mode)); }); });
}

ebb_status ebb_device_describe(ebb_device device, ebb_device_info* info) {
  return guarded([&] {
    const SizedOutput output(info, "device_describe");
    Device::visit(device, [&](Device& open) { output.write(describe(open)); });
  });
}

ebb_status ebb_device_trim(ebb_device device, uint64_t bytes, uint64_t* trimmed) {
  return guarded([&] {
    Device::visit(device, [&](Device& open) {
      const std::uint64_t given = open.trim(bytes);
      if (trimmed != nullptr) *trimmed = given;
    });
  });
}

ebb_status ebb_memory_limit(uint64_t* bytes) {
  return guarded([&] { needed(bytes, "memory_limit") = memory_limit(); });
}

ebb_status ebb_parse_bytes(const char* text, uint64_t* bytes) {
  return guarded([&] {
    needed(text, "parse_bytes");
    needed(bytes, "parse_bytes") = parse_bytes(text);
  });
}

}  // extern "C"
