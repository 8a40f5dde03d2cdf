#include "observe/process_counters.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstring>

#include "ebb/memory/device.hpp"

namespace ebb::observe {

std::uint64_t resident_bytes() noexcept {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  const ssize_t count = ::read(file, text, sizeof text);
  ::close(file);
  if (count <= 0) return 0;
  const char* end = text + count;
  const auto* at = static_cast<const char*>(std::memchr(text, ' ', std::size_t(count)));
  std::uint64_t pages = 0;
  if (at != nullptr) std::from_chars(at + 1, end, pages);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::vector<DeviceCounters> device_counters() {
  std::vector<DeviceCounters> all;
  for (DeviceIndex i = 1; i < kMaxDevices; ++i) {
    const Device* device = Device::at(i);
    if (device == nullptr) continue;
    all.push_back({.device = static_cast<std::uint8_t>(i),
                   .in_use = device->in_use(),
                   .committed = device->committed(),
                   .budget = device->budget()});
  }
  return all;
}

}  // namespace ebb::observe
