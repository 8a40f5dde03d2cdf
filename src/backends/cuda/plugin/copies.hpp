// Copies between the host and the device, in pieces through pinned buffers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb::cuda {

class DeviceState;

// Queued; `host` may be reused at return. While the stream captures, it is done at once instead,
// beside the stream: a captured graph must not read the host's memory again.
void copy_in(DeviceState& device, std::uint32_t stream, void* to, const void* host,
             std::size_t bytes);
// Returns when it is there.
void copy_out(DeviceState& device, std::uint32_t stream, void* host, const void* from,
              std::size_t bytes);
void copy_out_begin(DeviceState& device, std::uint32_t stream, void* pinned, const void* from,
                    std::size_t bytes);
void copy_within(DeviceState& device, std::uint32_t stream, void* to, const void* from,
                 std::size_t bytes);

}  // namespace ebb::cuda
