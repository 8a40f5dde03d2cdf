#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "cli/shown_text.hpp"
#include "cli/top.hpp"

namespace ebb::cli {
namespace {

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](unsigned char c) { return (c & 0xC0) != 0x80; }));
}

// At most so many characters of UTF-8.
std::string cut(const std::string& text, std::size_t most) {
  if (characters(text) <= most) return text;
  std::string kept;
  std::size_t count = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80 && ++count >= most) break;
    kept += c;
  }
  return most == 0 ? "" : kept + "~";
}

std::string bar(double part, std::size_t width) {
  const auto full =
      static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * static_cast<double>(width) + 0.5);
  return '[' + std::string(full, '#') + std::string(width - full, '.') + ']';
}

class Picture {
 public:
  explicit Picture(Screen screen) : screen_(screen) {}
  void add(const std::string& line) {
    if (lines_ >= screen_.rows) return;
    text_ += cut(line, screen_.columns) + '\n';
    ++lines_;
  }
  std::size_t left() const { return screen_.rows - std::min(lines_, screen_.rows); }
  std::size_t columns() const { return screen_.columns; }
  std::string take() { return std::move(text_); }

 private:
  const Screen screen_;
  std::string text_;
  std::size_t lines_ = 0;
};

void add_devices(const Analysis& analysis, Picture& picture) {
  const auto& counters = analysis.replay.counters();
  if (counters.empty()) return;
  const std::size_t width = std::min<std::size_t>(30, picture.columns() / 4);
  for (const observe::DeviceCounters& each : counters.back().devices) {
    const auto entry = analysis.replay.devices().find(each.device);
    const std::string name = entry == analysis.replay.devices().end()
                                 ? fmt::format("device {}", each.device)
                                 : shown(entry->second.name);
    const std::uint64_t most =
        each.budget != 0 ? each.budget : std::max<std::uint64_t>(1, each.committed);
    picture.add(fmt::format(
        "{:<10.10} {} {}{} in use, {} committed", name,
        bar(static_cast<double>(each.in_use) / static_cast<double>(most), width),
        format_amount(static_cast<double>(each.in_use)),
        each.budget == 0 ? "" : " of " + format_amount(static_cast<double>(each.budget)),
        format_amount(static_cast<double>(each.committed))));
  }
}

std::string process_line(const Analysis& analysis) {
  const auto& counters = analysis.replay.counters();
  if (counters.empty()) return "";
  const observe::Counters& now = counters.back();
  std::string line = fmt::format("resident {}", format_amount(static_cast<double>(now.resident)));
  if (now.host_heap != observe::kUnknown) {
    line += fmt::format(", host heap {}", format_amount(static_cast<double>(now.host_heap)));
  }
  return line + fmt::format("; {} dropped tensors wait; {} collections took {:.1f} ms",
                            format_count(static_cast<double>(now.orphans)),
                            format_count(static_cast<double>(analysis.replay.collections())),
                            static_cast<double>(analysis.replay.collecting_ns()) / 1e6);
}

std::string state_line(const Analysis& analysis) {
  if (analysis.replay.events() == 0 && analysis.peak == 0) return "no tensors so far";
  if (analysis.too_short()) return "too early to tell growth";
  if (analysis.growing().empty() && !analysis.total.growing) {
    return "flat at " + format_amount(analysis.total.level);
  }
  return fmt::format("GROWING {}", format_rate(std::max(0.0, analysis.total.per_second)));
}

}  // namespace

std::string top_picture(const Analysis& analysis, Screen screen, bool over) {
  Picture picture(screen);
  const observe::Replay& replay = analysis.replay;
  picture.add(fmt::format("ebb top  {} (pid {}), {:.0f} s, {} events{}{}", shown(analysis.program),
                          shown(replay.fact("pid")), analysis.seconds,
                          format_count(static_cast<double>(replay.events())),
                          replay.sampled() ? ", sampled" : "", over ? "  ENDED" : ""));
  picture.add(fmt::format("{}; {} tensors alive, {} made; at most {}", state_line(analysis),
                          format_count(static_cast<double>(analysis.books.live)),
                          format_count(static_cast<double>(analysis.books.created)),
                          format_amount(analysis.peak)));
  add_devices(analysis, picture);
  if (const std::string line = process_line(analysis); !line.empty()) picture.add(line);
  picture.add("");
  picture.add(
      fmt::format("{:>10}{:>10}{:>11}{:>12}  {}", "alive", "tensors", "made", "growth", "place"));
  for (const Place& place : analysis.places) {
    if (picture.left() == 0) break;
    picture.add(fmt::format("{:>10}{:>10}{:>11}{:>12}  {}", format_amount(place.live_bytes),
                            format_count(place.live), format_amount(place.created_bytes),
                            place.growth.growing ? format_rate(place.growth.per_second) : "",
                            shown(place.frames[0].text)));
    if (!place.holder.empty()) {
      picture.add(fmt::format("{:>43}  held by: {}", "", shown(place.holder)));
    }
  }
  return picture.take();
}

}  // namespace ebb::cli
