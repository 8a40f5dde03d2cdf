#include "ebb/memory/ledger.hpp"

#include <numeric>

namespace ebb {

std::string_view name_of(Reason reason) noexcept {
  constexpr std::array<std::string_view, kReasons> kNames{"disposed", "region", "reclaimed",
                                                          "shutdown"};
  return kNames[static_cast<std::size_t>(reason) % kReasons];
}

Books& Books::operator+=(const Books& other) noexcept {
  created += other.created;
  live += other.live;
  unwatched += other.unwatched;
  created_storages += other.created_storages;
  storages += other.storages;
  held += other.held;
  for (std::size_t i = 0; i < kReasons; ++i) {
    ended[i] += other.ended[i];
    ended_bytes[i] += other.ended_bytes[i];
  }
  // Peaks of different books need not coincide in time: this is the most it can have been.
  peak_live += other.peak_live;
  peak_bytes += other.peak_bytes;
  return *this;
}

bool Books::balanced() const noexcept {
  const auto sum = [](const auto& parts) {
    return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0});
  };
  return created == live + sum(ended) &&
         created_storages.bytes == storages.bytes + sum(ended_bytes);
}

void Ledger::moved_to(Ledger& other, std::uint64_t tensors, std::uint64_t unwatched,
                      std::uint64_t bytes) noexcept {
  books_.created -= tensors;
  books_.live -= tensors;
  books_.unwatched -= unwatched;
  books_.created_storages.remove(bytes);
  books_.storages.remove(bytes);
  Books& to = other.books_;
  to.created += tensors;
  to.live += tensors;
  to.unwatched += unwatched;
  to.created_storages.add(bytes);
  to.storages.add(bytes);
  to.peak_live = std::max(to.peak_live, to.live);
  to.peak_bytes = std::max(to.peak_bytes, to.storages.bytes);
}

}  // namespace ebb
