#include "capi/callback_host.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace ebb::capi {
namespace {

// A callback written in C++ must not throw; if it does, the books go on as if it had returned:
// ending cannot fail half-way.
template <typename Callback, typename... Args>
auto shielded(Callback callback, Args&&... args) noexcept {
  using Result = decltype(callback(std::forward<Args>(args)...));
  try {
    return callback(std::forward<Args>(args)...);
  } catch (...) {
    return Result();
  }
}

ebb_ended to_c(const ForeignEnd& end) noexcept {
  return {.handle = end.handle,
          .tag = end.tag,
          .key = end.key,
          .device = end.device,
          .reason = static_cast<std::uint32_t>(end.reason),
          .last = end.last ? 1u : 0u,
          .reserved = 0};
}

}  // namespace

std::uint64_t CallbackHost::collect(Collection kind) {
  return shielded(options_.collect, options_.user, static_cast<ebb_collection>(kind));
}

void CallbackHost::end(std::span<const ForeignEnd> ends) {
  if (options_.end == nullptr) return;
  std::array<ebb_ended, 32> ended;
  while (!ends.empty()) {
    const std::size_t count = std::min(ends.size(), ended.size());
    std::transform(ends.begin(), ends.begin() + static_cast<std::ptrdiff_t>(count), ended.begin(),
                   to_c);
    shielded(options_.end, options_.user, ended.data(), count);
    ends = ends.subspan(count);
  }
}

void CallbackHost::warn(std::string_view message) {
  if (options_.warn == nullptr) return Host::warn(message);
  const std::string text(message);
  shielded(options_.warn, options_.user, text.c_str());
}

}  // namespace ebb::capi
