// The blocks that are not events, to bytes and back. Reading throws Error where they make no sense.
#pragma once

#include <map>
#include <string>

#include "observe/format.hpp"
#include "observe/wire.hpp"

namespace ebb::observe {

// Facts about a recording, by name: docs/recording.md lists them.
using Meta = std::map<std::string, std::string, std::less<>>;

void put_meta(WireWriter& out, const Meta& meta);
Meta get_meta(WireReader& in);

void put_device(WireWriter& out, const DeviceEntry& device);
DeviceEntry get_device(WireReader& in);

void put_counters(WireWriter& out, const Counters& counters);
Counters get_counters(WireReader& in);

void put_books(WireWriter& out, const DeviceBooks& books);
DeviceBooks get_books(WireReader& in);

void put_tensor(WireWriter& out, const LiveTensor& tensor);
LiveTensor get_tensor(WireReader& in);

}  // namespace ebb::observe
