// The parts that the report and the snapshot write alike. docs/snapshot.md describes the fields.
#pragma once

#include <string_view>

#include "base/json_writer.hpp"
#include "ebb/memory/device.hpp"
#include "ebb/tensor/context.hpp"

namespace ebb {

std::string_view name_of(DeviceKind kind) noexcept;
std::string_view name_of(BudgetMode mode) noexcept;

// One object each.
void write_reading(JsonWriter& json, const MemoryReading& reading);
void write_device(JsonWriter& json, Device& device);
// An array of objects, a line each.
void write_devices(JsonWriter& json);

}  // namespace ebb
