#include "observe/replay.hpp"

#include <algorithm>
#include <cstdlib>

#include "ebb/base/dtype.hpp"
#include "observe/sampler.hpp"

namespace ebb::observe {
namespace {

// The books are whatever a file says they are: sums wrap around instead of being refused.
constexpr std::uint32_t kNotSampled = 0;

constexpr std::uint8_t kMajorCollection = 1;
// What a collection found dead has ended by then, usually.
constexpr std::uint64_t kEndsAfterCollection = 20'000'000;  // ns

std::string shape_text(const LiveTensor& tensor) {
  std::string text(name_of(static_cast<DType>(tensor.birth.detail)));
  text += '[';
  for (std::size_t i = 0; i < std::min<std::size_t>(tensor.rank, kMaxRank); ++i) {
    text += (i == 0 ? "" : ",") + std::to_string(tensor.dims[i]);
  }
  return text + ']';
}

}  // namespace

std::string Replay::fact(std::string_view name) const {
  const auto found = meta_.find(name);
  return found == meta_.end() ? std::string() : found->second;
}

Mode Replay::mode() const {
  return static_cast<Mode>(std::strtoul(fact("mode").c_str(), nullptr, 10));
}

const std::string& Replay::site_text(std::uint32_t site) const {
  static const std::string none;
  const auto found = texts_.find(site);
  return found == texts_.end() ? none : found->second;
}

void Replay::on_meta(const Meta& meta) {
  const bool first = meta_.empty();
  std::string unix_ns = fact("unix_ns"), steady_ns = fact("steady_ns");
  meta_ = meta;
  if (!first) {  // the clocks of the beginning
    meta_["unix_ns"] = unix_ns;
    meta_["steady_ns"] = steady_ns;
  }
  sampled_ = mode() == Mode::kSampled;
  without_events_ = mode() == Mode::kCounters;
  sample_bytes_ = std::strtoull(fact("sample_bytes").c_str(), nullptr, 10);
}

void Replay::on_device(const DeviceEntry& device) { devices_[device.device] = device; }

void Replay::on_site(std::uint32_t site, std::string_view text) { texts_[site] = text; }

float Replay::weight_for(std::uint32_t site, std::uint64_t bytes) const {
  if (!sampled_ || site == kNotSampled) return 1;
  return static_cast<float>(weight_of(bytes, sample_bytes_));
}

void Replay::pass(std::uint64_t time) {
  if (!begun_) {
    begun_ = true;
    begin_ = end_ = time;
    if (listener_ != nullptr) listener_->on_begin(time);
  }
  end_ = std::max(end_, time);
  if (!runs()) return;
  for (bool halved = true; halved;) {
    window_ = windows_.at(end_ - stood_still_ns_, halved);
    if (halved) halve();
  }
  if (time >= collecting_until_) return;
  if (collected_.size() <= window_) collected_.resize(window_ + 1);
  collected_[window_] = true;
}

void Replay::halve() {
  total_.halve();
  for (auto& [site, books] : sites_) books.lows.halve();
  std::vector<bool> halves((collected_.size() + 1) / 2);
  for (std::size_t i = 0; i < collected_.size(); ++i)
    if (collected_[i]) halves[i / 2] = true;
  collected_ = std::move(halves);
}

void Replay::on_event(const ThreadEvent& each) {
  const TraceEvent& event = each.event;
  pass(event.time);
  ++events_;
  if (event.kind == kTensorBorn) return born(event, true);
  if (event.kind == kTensorEnded) return ended(event);
  if (event.kind == kStorageBorn) {
    storage_born(event, 0, 1);
  } else if (event.kind == kStorageEnded) {
    storage_ended(event.storage, event.detail, (event.flags & kStillHeld) != 0);
  } else if (event.kind == kStorageRebooked) {
    rebooked(event);
  } else if (event.kind == kTensorRebound) {
    rebound(event);
  } else if (event.kind == kTensorMadeAt) {
    made_at(event);
  } else if (event.kind == kHoldEnded) {
    books_[event.device].held.remove(event.bytes);
  } else if (event.kind == kCollected) {
    ++collections_;
    collecting_ns_ += event.id;
    if (listener_ != nullptr) listener_->on_collection(end_, event.id);
    if (event.detail == kMajorCollection) collecting_until_ = event.time + kEndsAfterCollection;
  }
}

SiteBooks& Replay::site_books(std::uint32_t site) {
  if (site >= BooksAt::kMost) return sites_[site];
  std::vector<SiteBooks*>& at = books_at_.at;
  if (at.size() <= site) at.resize(site + 1);
  if (at[site] == nullptr) at[site] = &sites_[site];
  return *at[site];
}

Replay Replay::from_here() const {
  Replay next;
  next.meta_ = meta_;
  next.sampled_ = sampled_;
  next.without_events_ = without_events_;
  next.sample_bytes_ = sample_bytes_;
  next.tensors_ = tensors_;
  next.storages_ = storages_;
  next.early_ends_ = early_ends_;
  next.windows_ = windows_;
  next.window_ = window_;
  next.live_bytes_ = live_bytes_;
  next.peak_ = peak_;
  next.begun_ = begun_;
  next.uncertain_ = uncertain_;
  next.stands_still_ = stands_still_;
  next.still_since_ = still_since_;
  next.stood_still_ns_ = stood_still_ns_;
  next.program_ended_ = program_ended_;
  next.whole_ = whole_;
  next.events_ = events_;
  next.lost_ = lost_;
  next.begin_ = begin_;
  next.end_ = end_;
  return next;
}

// ---- births and ends

void Replay::born(const TraceEvent& event, bool count) {
  const float weight = weight_for(event.site, event.bytes);
  const Tensor tensor{event.storage, event.site, event.device, weight};
  if (!tensors_.try_emplace(event.id, tensor).second) return;  // a checkpoint had it already
  if (count) {
    Books& books = books_[event.device];
    ++books.created;
    ++books.live;
  }
  SiteBooks& site = site_books(event.site);
  site.live += weight;
  if (count) site.created += weight;
  if ((event.flags & kWithStorage) != 0 || !storages_.contains(event.storage)) {
    if (count) {
      storage_born(event, event.site, weight);
    } else {
      const Storage storage{event.bytes, event.site, event.device, weight};
      storages_[event.storage] = storage;
      add_live(event.storage, storage, 1);
    }
  }
  if (early_ends_.empty()) return;
  if (const auto early = early_ends_.find(event.id); early != early_ends_.end()) {
    const TraceEvent end = early->second;
    early_ends_.erase(early);
    ended(end);
  }
}

void Replay::ended(const TraceEvent& event) {
  const auto found = tensors_.find(event.id);
  if (found == tensors_.end()) {
    early_ends_.emplace(event.id, event);
    return;
  }
  const Tensor tensor = found->second;
  tensors_.erase(found);
  Books& books = books_[tensor.device];
  --books.live;
  ++books.ended[event.detail % kReasons];
  site_books(tensor.site).live -= tensor.weight;
  if ((event.flags & kWithStorage) != 0) {
    storage_ended(tensor.storage, event.detail, (event.flags & kStillHeld) != 0);
  }
}

void Replay::storage_born(const TraceEvent& event, std::uint32_t site, float weight) {
  const Storage storage{event.bytes, site, event.device, weight};
  storages_[event.storage] = storage;
  Books& books = books_[event.device];
  books.created_storages.add(event.bytes);
  books.storages.add(event.bytes);
  const double made = static_cast<double>(event.bytes) * weight;
  site_books(site).created_bytes += made;
  add_live(event.storage, storage, 1, made);
}

void Replay::storage_ended(std::uint64_t name, std::uint8_t reason, bool held) {
  const auto found = storages_.find(name);
  if (found == storages_.end()) return;
  const Storage storage = found->second;
  storages_.erase(found);
  Books& books = books_[storage.device];
  books.storages.remove(storage.bytes);
  books.ended_bytes[reason % kReasons] += storage.bytes;
  if (held) books.held.add(storage.bytes);
  add_live(name, storage, -1);
  site_books(storage.site).ended_bytes[reason % kReasons] +=
      static_cast<double>(storage.bytes) * storage.weight;
}

void Replay::rebooked(const TraceEvent& event) {
  const auto found = storages_.find(event.storage);
  if (found == storages_.end()) return;
  Storage& storage = found->second;
  std::uint64_t tensors = 0;
  if (storage.device != event.device) {
    for (auto& [id, tensor] : tensors_) {
      if (tensor.storage != event.storage) continue;
      tensor.device = event.device;
      ++tensors;
    }
  }
  Books& from = books_[storage.device];
  Books& to = books_[event.device];
  add_live(event.storage, storage, -1);
  from.created_storages.remove(storage.bytes);
  from.storages.remove(storage.bytes);
  from.created -= tensors;
  from.live -= tensors;
  storage.bytes = event.bytes;
  storage.device = event.device;
  to.created_storages.add(event.bytes);
  to.storages.add(event.bytes);
  to.created += tensors;
  to.live += tensors;
  add_live(event.storage, storage, 1);
}

void Replay::rebound(const TraceEvent& event) {
  const auto tensor = tensors_.find(event.id);
  const auto storage = storages_.find(event.storage);
  if (tensor == tensors_.end() || storage == storages_.end()) return;
  tensor->second.storage = event.storage;
  add_live(event.storage, storage->second, -1);
  storage->second.site = tensor->second.site;
  storage->second.weight = tensor->second.weight;
  add_live(event.storage, storage->second, 1);
}

void Replay::made_at(const TraceEvent& event) {
  const auto found = tensors_.find(event.id);
  if (found == tensors_.end()) return;
  Tensor& tensor = found->second;
  const auto storage = storages_.find(tensor.storage);
  const bool moves = storage != storages_.end() && storage->second.site == tensor.site;
  const float weight =
      storage == storages_.end() ? 1 : weight_for(event.site, storage->second.bytes);
  for (const double sign : {-1.0, 1.0}) {
    SiteBooks& books = site_books(tensor.site);
    books.live += sign * tensor.weight;
    books.created += sign * tensor.weight;
    if (moves) {
      const double made =
          sign * static_cast<double>(storage->second.bytes) * storage->second.weight;
      books.created_bytes += made;
      add_live(tensor.storage, storage->second, sign, made);
    }
    if (sign > 0) break;
    tensor.site = event.site;
    tensor.weight = weight;
    if (moves) {
      storage->second.site = event.site;
      storage->second.weight = weight;
    }
  }
}

void Replay::add_live(std::uint64_t name, const Storage& storage, double sign, double made) {
  const double bytes = sign * static_cast<double>(storage.bytes);
  SiteBooks& site = site_books(storage.site);
  site.live_bytes += bytes * storage.weight;
  live_bytes_ += bytes;
  if (runs() && !without_events_) {
    site.lows.set(window_, site.live_bytes);
    total_.set(window_, live_bytes_);
    note_peak();
  }
  if (listener_ == nullptr) return;
  listener_->on_storage(end_, {.name = name,
                               .bytes = storage.bytes,
                               .site = storage.site,
                               .device = storage.device,
                               .weight = storage.weight,
                               .lives = sign > 0,
                               .made = made});
}

// Not at every byte: the copy costs as much as there are sites.
void Replay::note_peak() {
  if (live_bytes_ <= peak_ * 1.01) return;
  peak_ = live_bytes_;
  for (auto& [id, site] : sites_) site.at_peak = site.live_bytes;
}

// ---- the rest

void Replay::on_checkpoint(const Checkpoint& checkpoint) {
  pass(checkpoint.time);
  // Where events go on, they are the better books: tensors are born and end while a checkpoint is made.
  const bool known =
      events_ != 0 && !uncertain_ &&
      (checkpoint.because == Because::kRotated ||
       (checkpoint.because == Because::kStopped && lost_ == 0 && whole_ && agrees(checkpoint)));
  // What was under way when a segment began is in its books or comes as an event, or both.
  if (events_ == 0 && checkpoint.because == Because::kRotated) whole_ = false;
  if (!known) take_over(checkpoint);
  uncertain_ = false;
  note_shapes(checkpoint);
}

bool Replay::agrees(const Checkpoint& checkpoint) const {
  return checkpoint.tensors.size() == tensors_.size() &&
         std::ranges::all_of(checkpoint.tensors, [&](const LiveTensor& tensor) {
           return tensors_.contains(tensor.birth.id);
         });
}

void Replay::take_over(const Checkpoint& checkpoint) {
  std::unordered_set<std::uint64_t> alive;
  for (const LiveTensor& tensor : checkpoint.tensors) alive.insert(tensor.birth.id);
  std::uint64_t gone = 0;
  for (auto it = tensors_.begin(); it != tensors_.end();) {
    if (alive.contains(it->first)) {
      ++it;
      continue;
    }
    site_books(it->second.site).live -= it->second.weight;
    it = tensors_.erase(it);
    ++gone;
  }
  std::unordered_set<std::uint64_t> in_use;
  std::uint64_t came = 0;
  for (const LiveTensor& tensor : checkpoint.tensors) {
    came += tensors_.contains(tensor.birth.id) ? 0 : 1;
    TraceEvent birth = tensor.birth;
    birth.flags = static_cast<std::uint8_t>(birth.flags & ~kWithStorage);
    born(birth, false);
    correct(birth);
    in_use.insert(birth.storage);
  }
  for (auto it = storages_.begin(); it != storages_.end();) {
    if (in_use.contains(it->first)) {
      ++it;
      continue;
    }
    add_live(it->first, it->second, -1);
    it = storages_.erase(it);
  }
  if (!uncertain_ && events_ != 0 && checkpoint.because == Because::kStopped) {
    disagreements_ += gone + came;
  }
  for (const DeviceBooks& each : checkpoint.books) books_[each.device] = each.books;
}

// What became of it may have been lost: rebooked, made dense.
void Replay::correct(const TraceEvent& birth) {
  if (const auto tensor = tensors_.find(birth.id); tensor != tensors_.end()) {
    tensor->second.storage = birth.storage;
    tensor->second.device = birth.device;
  }
  const auto storage = storages_.find(birth.storage);
  if (storage == storages_.end() || storage->second.bytes == birth.bytes) return;
  add_live(birth.storage, storage->second, -1);
  storage->second.bytes = birth.bytes;
  storage->second.device = birth.device;
  add_live(birth.storage, storage->second, 1);
}

void Replay::note_shapes(const Checkpoint& checkpoint) {
  for (auto& [id, site] : sites_) site.shapes.clear();
  for (const LiveTensor& tensor : checkpoint.tensors) {
    ++site_books(tensor.birth.site).shapes[shape_text(tensor)];
  }
}

// A segment begins with those of the segments before it: what is known already is skipped.
void Replay::on_counters(const Counters& counters) {
  if (!counters_.empty() && counters.time <= counters_.back().time) return;
  pass(counters.time);
  counters_.push_back(counters);
  if (!without_events_ || !runs()) return;
  double in_use = 0;
  for (const DeviceCounters& each : counters.devices) in_use += static_cast<double>(each.in_use);
  total_.set(window_, in_use);
  peak_ = std::max(peak_, in_use);
}

void Replay::on_mark(std::uint64_t time, std::string_view text) {
  pass(time);
  marks_.push_back({time, std::string(text)});
  note_state(text);
}

void Replay::note_state(std::string_view mark) {
  if (mark == kProgramEnds) program_ended_ = true;
  if (mark == kStandsStill && !stands_still_) {
    stands_still_ = true;
    still_since_ = end_;
  } else if (mark == kGoesOn && stands_still_) {
    stands_still_ = false;
    stood_still_ns_ += end_ - still_since_;
  }
}

void Replay::on_lost(std::uint64_t time, std::uint64_t events) {
  pass(time);
  lost_ += events;
  uncertain_ = true;
}

void Replay::on_holder(std::uint64_t time, std::uint32_t site, std::string_view text) {
  pass(time);
  holders_[site] = text;
}

}  // namespace ebb::observe
