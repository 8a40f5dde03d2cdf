#include "tensor/books_json.hpp"

namespace ebb {
namespace {

void write_tensors(JsonWriter& json, const MemoryReading& reading) {
  const Books& books = reading.books;
  json.begin_object();
  json.member("created", books.created);
  json.member("live", books.live);
  for (std::size_t i = 0; i < kReasons; ++i) json.member(name_of(Reason(i)), books.ended[i]);
  json.member("unwatched", books.unwatched);
  json.member("orphans", reading.orphans);
  json.member("peak_live", books.peak_live);
  json.member("peak_orphans", reading.peak_orphans);
  json.end_object();
}

void write_bytes(JsonWriter& json, const Books& books) {
  json.begin_object();
  json.member("created", books.created_storages.bytes);
  json.member("live", books.storages.bytes);
  for (std::size_t i = 0; i < kReasons; ++i) json.member(name_of(Reason(i)), books.ended_bytes[i]);
  json.member("held", books.held.bytes);
  json.member("peak_live", books.peak_bytes);
  json.end_object();
}

void write_collections(JsonWriter& json, const MemoryReading& reading) {
  json.begin_object();
  json.member("minor", reading.collections.minor);
  json.member("major", reading.collections.major);
  json.member("total_ns", reading.collections.total_ns);
  json.member("longest_ns", reading.collections.longest_ns);
  json.member("lag_last_ns", reading.lag_last_ns);
  json.member("lag_max_ns", reading.lag_max_ns);
  json.end_object();
}

}  // namespace

std::string_view name_of(DeviceKind kind) noexcept {
  switch (kind) {
    case DeviceKind::kSystem:
      return "system";
    case DeviceKind::kSimulated:
      return "simulated";
    case DeviceKind::kForeign:
      return "foreign";
    case DeviceKind::kCuda:
      return "cuda";
    case DeviceKind::kCustom:
      break;
  }
  return "custom";
}

std::string_view name_of(BudgetMode mode) noexcept {
  return mode == BudgetMode::kHard ? "hard" : "soft";
}

void write_reading(JsonWriter& json, const MemoryReading& reading) {
  json.begin_object();
  json.key("tensors");
  write_tensors(json, reading);
  json.key("bytes");
  write_bytes(json, reading.books);
  json.member("storages", reading.books.storages.count);
  json.member("held", reading.books.held.count);
  json.member("regions", reading.regions);
  json.member("record_bytes", reading.record_bytes);
  json.key("collections");
  write_collections(json, reading);
  json.end_object();
}

void write_device(JsonWriter& json, Device& device) {
  json.begin_object();
  json.member("id", device.id());
  json.member("name", std::string_view(device.name()));
  json.member("kind", name_of(device.kind()));
  json.member("budget", device.budget());
  json.member("mode", name_of(device.mode()));
  json.member("in_use", device.in_use());
  json.member("committed", device.committed());
  json.member("peak_committed", device.peak_committed());
  json.member("record_bytes", device.record_bytes());
  const PoolStats stats = device.foreign() ? PoolStats() : device.pool().stats();
  json.member("cached", stats.cached);
  json.member("largest_free", stats.largest_free);
  json.member("fragmentation", stats.fragmentation());
  json.end_object();
}

void write_devices(JsonWriter& json) {
  json.begin_array();
  for (DeviceIndex i = 1; i < kMaxDevices; ++i) {
    Device* device = Device::at(i);
    if (device == nullptr) continue;
    json.new_line();
    write_device(json, *device);
  }
  json.end_array();
}

}  // namespace ebb
