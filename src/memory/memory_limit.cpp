#include "ebb/memory/memory_limit.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace ebb {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

std::uint64_t physical() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? std::uint64_t(pages) * std::uint64_t(size) : kNone;
}

std::uint64_t address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNone;
  return limit.rlim_cur;
}

// A file with one number; "max" and whatever else is not a number is no limit.
std::uint64_t read_limit(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t bytes = 0;
  return in >> bytes ? bytes : kNone;
}

// The least limit of a group and the groups above it.
std::uint64_t group_limit(const fs::path& mount, const std::string& group, const char* file) {
  std::uint64_t least = kNone;
  for (fs::path at = fs::path(group).relative_path();; at = at.parent_path()) {
    least = std::min(least, read_limit(mount / at / file));
    if (at.empty()) return least;
  }
}

std::uint64_t cgroup() {
  std::uint64_t least = kNone;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/path" or "7:memory:/path"
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, group_limit("/sys/fs/cgroup", group, "memory.max"));
    } else if (controllers.find("memory") != std::string::npos) {
      least = std::min(least, group_limit("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes"));
    }
  }
  return least;
}

}  // namespace

std::uint64_t memory_limit() { return std::min({physical(), address_space(), cgroup()}); }

}  // namespace ebb
