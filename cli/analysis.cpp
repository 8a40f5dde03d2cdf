#include "cli/analysis.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ebb/base/bytes.hpp"
#include "observe/recording_files.hpp"

namespace ebb::cli {
namespace {

// Growth below this, over the time that is looked at, is not mentioned.
constexpr double kLeastGrowth = 256 << 10;

std::string shapes_of(const observe::SiteBooks& site) {
  const auto most =
      std::ranges::max_element(site.shapes, {}, [](const auto& s) { return s.second; });
  if (most == site.shapes.end()) return "";
  std::string text =
      fmt::format("{} x {}", format_count(static_cast<double>(most->second)), most->first);
  if (site.shapes.size() > 1) text += fmt::format(" and {} other shapes", site.shapes.size() - 1);
  return text;
}

Place place_of(const observe::Replay& replay, std::uint32_t id, const observe::SiteBooks& site) {
  Place place;
  place.site = id;
  place.frames = frames_of(replay.site_text(id));
  place.created = site.created;
  place.created_bytes = site.created_bytes;
  place.live = std::max(0.0, site.live);
  place.live_bytes = std::max(0.0, site.live_bytes);
  place.at_peak = std::max(0.0, site.at_peak);
  place.given_back = site.ended_bytes[static_cast<std::size_t>(Reason::kReclaimed)];
  place.growth = observe::growth_of(site.lows.all(replay.window()), replay.window_width(),
                                    kLeastGrowth, replay.collected());
  place.shapes = shapes_of(site);
  if (const auto held = replay.holders().find(id); held != replay.holders().end()) {
    place.holder = held->second;
  }
  return place;
}

// In a sampled recording what has no site was not looked at.
bool is_shown(const observe::Replay& replay, std::uint32_t site) {
  return !(replay.sampled() && site == 0);
}

}  // namespace

Analysis::Analysis(const std::string& given, observe::ReplayListener* history)
    : path(given), played(std::make_shared<observe::Replay>()), replay(*played) {
  const auto reading = std::const_pointer_cast<observe::Replay>(played);
  reading->listen(history);
  read = observe::read_recording(given, *reading);
  reading->listen(nullptr);
  work_out();
}

Analysis::Analysis(std::shared_ptr<const observe::Replay> given, std::string name,
                   const observe::ReadResult& result)
    : path(std::move(name)), played(std::move(given)), replay(*played), read(result) {
  work_out();
}

void Analysis::work_out() {
  seconds = static_cast<double>(replay.end() - replay.begin()) / 1e9;
  peak = replay.peak();
  program = replay.fact("name");
  for (const auto& [device, each] : replay.books()) books += each;
  total = observe::growth_of(replay.total().all(replay.window()), replay.window_width(),
                             kLeastGrowth, replay.collected());
  for (const auto& [id, site] : replay.sites()) {
    if (is_shown(replay, id)) places.push_back(place_of(replay, id, site));
  }
  if (too_short() || replay.uncertain()) {
    total.growing = false;
    for (Place& place : places) place.growth.growing = false;
  }
  std::ranges::stable_sort(places, [](const Place& a, const Place& b) {
    if (a.growth.growing != b.growth.growing) return a.growth.growing;
    if (a.growth.growing) return a.growth.per_second > b.growth.per_second;
    return a.live_bytes != b.live_bytes ? a.live_bytes > b.live_bytes
                                        : a.created_bytes > b.created_bytes;
  });
}

std::vector<const Place*> Analysis::growing() const {
  std::vector<const Place*> found;
  for (const Place& place : places) {
    if (place.growth.growing) found.push_back(&place);
  }
  return found;
}

double value_of(const Place& place, Value value) {
  switch (value) {
    case Value::kLive:
      return place.live_bytes;
    case Value::kPeak:
      return place.at_peak;
    case Value::kCreated:
      return place.created_bytes;
    case Value::kLeaked:
      return place.growth.growing ? place.live_bytes : 0;
  }
  return 0;
}

std::string format_amount(double bytes) {
  return format_bytes(bytes <= 0 ? 0 : static_cast<std::uint64_t>(std::min(bytes, 1e18)));
}

std::string format_count(double count) {
  const std::string digits = fmt::format("{:.0f}", std::round(std::max(0.0, count)));
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string format_rate(double rate) {
  return fmt::format("{}{}/s", rate < 0 ? "-" : "+", format_amount(std::abs(rate)));
}

}  // namespace ebb::cli
