#include "cli/recording_index.hpp"

#include <algorithm>

namespace ebb::cli {
namespace {

// Of tables with a node each.
constexpr std::size_t kBytesOfTensor = 64, kBytesOfStorage = 64 + sizeof(Block) + 32;

std::size_t bytes_of(const observe::ReadingPlace& place, const observe::Replay& replay,
                     const History& history) {
  return place.decoder.bytes() + replay.live_tensors() * kBytesOfTensor +
         history.living() * kBytesOfStorage + history.sites().size() * sizeof(SiteHistory);
}

}  // namespace

void RecordingIndex::offer(const observe::ReadingPlace& place, const observe::Replay& replay,
                           const History& history) {
  const std::size_t bytes = bytes_of(place, replay, history);
  const std::uint64_t read = place.file == last_file_ ? place.offset - last_offset_ : place.offset;
  if (read < std::max<std::uint64_t>(step_, bytes / 4)) return;
  last_file_ = place.file;
  last_offset_ = place.offset;
  auto kept = std::make_shared<const IndexedPlace>(
      IndexedPlace{.time = replay.end(),
                   .bytes = bytes,
                   .place = place,
                   .living = replay.from_here(),
                   .history = history.continued({}, replay.begin())});
  const std::lock_guard guard(mutex_);
  places_.push_back(std::move(kept));
  bytes_ += bytes;
  while (bytes_ > most_bytes_ && !places_.empty()) thin_out();
}

// The second, the fourth and so on stay: those that step_ apart are kept from now on.
void RecordingIndex::thin_out() {
  std::vector<std::shared_ptr<const IndexedPlace>> stay;
  for (std::size_t i = 1; i < places_.size(); i += 2) stay.push_back(places_[i]);
  places_ = std::move(stay);
  bytes_ = 0;
  for (const auto& each : places_) bytes_ += each->bytes;
  step_ *= 2;
}

std::shared_ptr<const IndexedPlace> RecordingIndex::before(std::uint64_t time) const {
  const std::lock_guard guard(mutex_);
  const auto after =
      std::ranges::lower_bound(places_, time, {}, [](const auto& each) { return each->time; });
  return after == places_.begin() ? nullptr : *std::prev(after);
}

std::size_t RecordingIndex::places() const {
  const std::lock_guard guard(mutex_);
  return places_.size();
}

}  // namespace ebb::cli
