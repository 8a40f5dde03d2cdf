#include "observe/lows.hpp"

#include <algorithm>

namespace ebb::observe {

std::uint32_t Windows::at(std::uint64_t time, bool& halved) {
  if (!begun_) {
    begun_ = true;
    begin_ = time;
  }
  halved = false;
  const std::uint64_t since = time > begin_ ? time - begin_ : 0;
  if (since / width_ >= kMost) {
    width_ *= 2;
    halved = true;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(since / width_, kMost));
}

void Lows::reach(std::uint32_t window) {
  if (lows_.size() <= window) lows_.resize(window + 1, now_);
}

void Lows::set(std::uint32_t window, double now) {
  reach(window);
  now_ = now;
  lows_[window] = std::min(lows_[window], now);
}

void Lows::halve() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < lows_.size(); i += 2) {
    lows_[kept++] = i + 1 < lows_.size() ? std::min(lows_[i], lows_[i + 1]) : lows_[i];
  }
  lows_.resize(kept);
}

std::vector<double> Lows::all(std::uint32_t window) const {
  std::vector<double> values = lows_;
  if (values.size() <= window) values.resize(window + 1, now_);
  return values;
}

namespace {

// Fewer say nothing.
constexpr std::size_t kLeastPoints = 6;
// So many are growth also where most windows are like the one before: a leak may be slow.
constexpr double kEnoughRises = 8;

struct Points {
  std::vector<double> x, y;  // windows, and their lows
};

// The windows after the first quarter, those with a collection or all of them.
Points after_start(const std::vector<double>& lows, const std::vector<bool>* collected) {
  Points points;
  for (std::size_t i = lows.size() / 4; i < lows.size(); ++i) {
    if (collected != nullptr && !(i < collected->size() && (*collected)[i])) continue;
    points.x.push_back(static_cast<double>(i));
    points.y.push_back(lows[i]);
  }
  return points;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double each : values) sum += each;
  return sum / static_cast<double>(values.size());
}

}  // namespace

// A straight line through the lows. It is called growth where the line rises by enough, explains
// most of what there is to see, and lows that change are often higher than those before: one step (a
// model that is loaded, a cache that fills) is none.
Growth growth_of(const std::vector<double>& lows, std::uint64_t width_ns, double least,
                 const std::vector<bool>& collected) {
  Growth growth;
  if (lows.empty()) return growth;
  growth.level = lows.back();
  Points points = after_start(lows, &collected);
  if (points.x.size() >= kLeastPoints)
    growth.level = points.y.back();
  else
    points = after_start(lows, nullptr);
  if (points.x.size() < kLeastPoints) return growth;
  const auto& [x, y] = points;
  const double mean_x = mean_of(x), mean_y = mean_of(y);
  double xx = 0, xy = 0, yy = 0;
  double rises = 0, changes = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double dx = x[i] - mean_x, dy = y[i] - mean_y;
    xx += dx * dx;
    xy += dx * dy;
    yy += dy * dy;
    rises += i > 0 && y[i] > y[i - 1] ? 1 : 0;
    changes += i > 0 && y[i] != y[i - 1] ? 1 : 0;
  }
  const double slope = xy / xx, rise = slope * (x.back() - x.front());
  growth.per_second = slope * 1e9 / static_cast<double>(width_ns);
  growth.growing = rise >= least && rise >= mean_y * 0.05 && xy * xy >= 0.75 * xx * yy &&
                   rises >= 0.4 * changes &&
                   rises >= std::min(0.4 * static_cast<double>(y.size() - 1), kEnoughRises);
  return growth;
}

}  // namespace ebb::observe
