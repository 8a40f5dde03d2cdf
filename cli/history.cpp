#include "cli/history.hpp"

#include <algorithm>
#include <utility>

namespace ebb::cli {
namespace {

// The entry of the bucket, which is the last; `before`: what it begins with.
double& entry(std::vector<Sparse>& series, std::uint32_t bucket, double before) {
  if (series.empty() || series.back().bucket != bucket) series.push_back({bucket, before});
  return series.back().value;
}

// Two buckets become one.
template <typename Merge>
void halve_series(std::vector<Sparse>& series, Merge merge) {
  std::size_t kept = 0;
  for (const Sparse& each : series) {
    const std::uint32_t bucket = each.bucket / 2;
    if (kept != 0 && series[kept - 1].bucket == bucket) {
      series[kept - 1].value = merge(series[kept - 1].value, each.value);
    } else {
      series[kept++] = {bucket, each.value};
    }
  }
  series.resize(kept);
}

double area(const Block& block) {
  return static_cast<double>(block.bytes) * static_cast<double>(block.end - block.begin);
}

}  // namespace

void History::on_begin(std::uint64_t time) {
  static constexpr double kMost = 1e9;  // seconds
  const auto ns = [](double seconds) {
    return static_cast<std::uint64_t>(std::clamp(seconds, 0.0, kMost) * 1e9);
  };
  begin_ = time + ns(span_.from);
  if (span_.to <= span_.from) return;
  end_ = time + ns(span_.to);
  width_ = (end_ - begin_) / kBuckets + 1;
}

History History::continued(const Span& span, std::uint64_t begin) const {
  History later(span);
  later.on_begin(begin);
  later.live_ = live_;
  later.open_ = open_;
  if (!most_.empty()) later.most_.push_back({0, live_});
  for (const auto& [id, site] : sites_) {
    SiteHistory& next = later.sites_[id];
    next.live = site.live;
    if (!site.live_at.empty()) next.live_at.push_back({0, site.live});
  }
  return later;
}

std::uint32_t History::bucket_of(std::uint64_t time) {
  time = std::clamp(time, begin_, end_);
  while ((time - begin_) / width_ >= kBuckets) halve();
  return static_cast<std::uint32_t>((time - begin_) / width_);
}

void History::halve() {
  width_ *= 2;
  const auto later = [](double, double second) { return second; };
  const auto sum = [](double first, double second) { return first + second; };
  const auto larger = [](double first, double second) { return std::max(first, second); };
  halve_series(most_, larger);
  for (auto& [id, site] : sites_) {
    halve_series(site.live_at, later);
    halve_series(site.made_in, sum);
  }
  std::size_t kept = 0;
  for (const Collections& each : collections_) {
    const std::uint32_t bucket = each.bucket / 2;
    if (kept != 0 && collections_[kept - 1].bucket == bucket) {
      collections_[kept - 1].count += each.count;
      collections_[kept - 1].ns += each.ns;
    } else {
      collections_[kept++] = {bucket, each.count, each.ns};
    }
  }
  collections_.resize(kept);
}

void History::on_storage(std::uint64_t time, const observe::StorageChange& change) {
  if (time > end_) return;
  const std::uint32_t bucket = bucket_of(time);
  const double bytes = static_cast<double>(change.bytes) * (change.lives ? 1 : -1);
  SiteHistory& site = sites_[change.site];
  site.live = std::max(0.0, site.live + bytes * change.weight);
  entry(site.live_at, bucket, 0) = site.live;
  if (change.made != 0 && time >= begin_) entry(site.made_in, bucket, 0) += change.made;
  double& most = entry(most_, bucket, live_);
  live_ = std::max(0.0, live_ + bytes);
  most = time < begin_ ? live_ : std::max(most, live_);
  close(time, change.name, false);
  if (!change.lives) return;
  open_[change.name] = {.name = change.name,
                        .bytes = change.bytes,
                        .begin = time,
                        .end = time,
                        .site = change.site,
                        .device = change.device};
}

void History::close(std::uint64_t time, std::uint64_t name, bool alive) {
  const auto found = open_.find(name);
  if (found == open_.end()) return;
  found->second.end = time;
  found->second.alive = alive;
  if (time >= begin_) {
    ++all_blocks_;
    blocks_.push_back(found->second);
  }
  open_.erase(found);
  if (blocks_.size() >= 4 * kMostBlocks) keep_largest(kMostBlocks);
}

void History::keep_largest(std::size_t count) {
  if (blocks_.size() <= count) return;
  std::ranges::nth_element(blocks_, blocks_.begin() + static_cast<std::ptrdiff_t>(count),
                           std::ranges::greater(), area);
  blocks_.resize(count);
}

void History::on_collection(std::uint64_t time, std::uint64_t ns) {
  if (time < begin_ || time > end_) return;
  const std::uint32_t bucket = bucket_of(time);
  if (collections_.empty() || collections_.back().bucket != bucket) {
    collections_.push_back({bucket, 0, 0});
  }
  ++collections_.back().count;
  collections_.back().ns += ns;
}

void History::finish(std::uint64_t time) {
  const std::uint32_t bucket = bucket_of(time);
  entry(most_, bucket, live_);
  while (!open_.empty()) close(time, open_.begin()->first, true);
  keep_largest(kMostBlocks);
  std::ranges::sort(blocks_, {}, [](const Block& b) { return std::pair(b.begin, b.name); });
}

}  // namespace ebb::cli
