#include "cli/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "base/json_writer.hpp"
#include "cli/shown_text.hpp"
#include "ebb/base/error.hpp"

namespace ebb::cli {
namespace {

class Lines {
 public:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// So many places that grow are told one by one; the table has the others.
constexpr std::size_t kMostGrowing = 20;

std::string_view mode_text(observe::Mode mode) {
  if (mode == observe::Mode::kCounters) return "counters";
  return mode == observe::Mode::kSampled ? "sampled" : "full";
}

double reclaimed(const Analysis& analysis) {
  return static_cast<double>(
      analysis.books.ended_bytes[static_cast<std::size_t>(Reason::kReclaimed)]);
}

std::string head(const Analysis& analysis) {
  const observe::Replay& replay = analysis.replay;
  const std::string name = analysis.program.empty() ? analysis.path : analysis.program;
  return fmt::format("ebb: {}, {:.1f} s, {} events{}", shown(name), analysis.seconds,
                     format_count(static_cast<double>(replay.events())),
                     replay.sampled() ? "; sampled: figures by place are estimates" : "");
}

std::string what_is_missing(const Analysis& analysis) {
  std::string text;
  const observe::Replay& replay = analysis.replay;
  if (!analysis.read.ended) {
    text += "It was not ended: the process was killed, or still runs. It is read up to there.\n";
  }
  if (replay.lost() != 0) {
    text += fmt::format("{} events were lost; who lives was taken from the books after it{}.\n",
                        format_count(static_cast<double>(replay.lost())),
                        replay.uncertain() ? ", which the end of this recording lacks: no place is "
                                             "said to grow"
                                           : "");
  }
  return text;
}

std::string grows(const Place& place) {
  std::string text = fmt::format("growing {}: {}", format_rate(place.growth.per_second),
                                 shown(place.frames[0].text));
  if (!place.shapes.empty()) text += ", " + place.shapes;
  if (!place.holder.empty()) text += "\n    held by: " + shown(place.holder);
  return text;
}

void devices(const Analysis& analysis, Lines& lines) {
  if (analysis.replay.counters().empty()) return;
  std::map<std::uint8_t, observe::DeviceCounters> now;
  std::map<std::uint8_t, std::uint64_t> most;
  for (const observe::Counters& counters : analysis.replay.counters()) {
    for (const observe::DeviceCounters& each : counters.devices) {
      now[each.device] = each;
      most[each.device] = std::max(most[each.device], each.committed);
    }
  }
  lines.add("\n{:<24}{:>11}{:>11}{:>11}{:>11}", "device", "in use", "committed", "most", "budget");
  for (const auto& [index, each] : now) {
    const auto entry = analysis.replay.devices().find(index);
    const std::string name =
        entry == analysis.replay.devices().end() ? "?" : shown(entry->second.name);
    lines.add("{:<24}{:>11}{:>11}{:>11}{:>11}", name, format_amount(double(each.in_use)),
              format_amount(double(each.committed)), format_amount(double(most[index])),
              each.budget == 0 ? "none" : format_amount(double(each.budget)));
  }
}

void table(const Analysis& analysis, std::size_t top, Lines& lines) {
  if (analysis.places.empty()) return;
  lines.add("\n{:>10}{:>10}{:>11}{:>12}  {}", "alive", "tensors", "made", "growth", "place");
  for (std::size_t i = 0; i < std::min(top, analysis.places.size()); ++i) {
    const Place& place = analysis.places[i];
    lines.add("{:>10}{:>10}{:>11}{:>12}  {}", format_amount(place.live_bytes),
              format_count(place.live), format_amount(place.created_bytes),
              place.growth.growing ? format_rate(place.growth.per_second) : "",
              shown(place.frames[0].text));
  }
  if (analysis.places.size() > top) {
    lines.add("{:>43}  and {} more", "", analysis.places.size() - top);
  }
}

}  // namespace

std::string verdict(const Analysis& analysis) {
  const std::string back = fmt::format("{} given back", format_amount(reclaimed(analysis)));
  const double level = analysis.total.level;
  if (analysis.replay.events() == 0 && analysis.peak == 0) return "no tensors were recorded\n";
  if (analysis.too_short()) {
    return fmt::format("{} at the end ({}). Too short to tell growth: {:.2f} s of at least 1 s\n",
                       format_amount(level), back, analysis.seconds);
  }
  const auto growing = analysis.growing();
  std::string text = analysis.total.growing || !growing.empty()
                         ? fmt::format("growing {}, {} now ({})",
                                       format_rate(std::max(0.0, analysis.total.per_second)),
                                       format_amount(level), back)
                         : fmt::format("flat at {} ({})", format_amount(level), back);
  text += '\n';
  const std::size_t told = std::min(growing.size(), kMostGrowing);
  for (std::size_t i = 0; i < told; ++i) text += "  " + grows(*growing[i]) + '\n';
  if (growing.size() > told) {
    text += fmt::format("  and {} more places grow\n", format_count(double(growing.size() - told)));
  }
  if (analysis.total.growing && growing.empty()) {
    text += analysis.replay.mode() == observe::Mode::kFull
                ? "  no place stands out: it grows at many, at each by little\n"
                : "  no place stands out: record in mode full to see every one\n";
  }
  return text;
}

std::string report_text(const Analysis& analysis, std::size_t top) {
  Lines lines;
  lines.add("{}", head(analysis));
  std::string text = lines.take() + what_is_missing(analysis) + verdict(analysis);
  table(analysis, top, lines);
  devices(analysis, lines);
  lines.add("\n{} at most; {} collections took {:.1f} ms", format_amount(analysis.peak),
            analysis.replay.collections(),
            static_cast<double>(analysis.replay.collecting_ns()) / 1e6);
  return text + lines.take();
}

std::string why_text(const Analysis& analysis, const std::string& part) {
  const auto asked = [&](const Place& place) {
    if (part.empty()) return place.growth.growing || !place.holder.empty();
    return std::ranges::any_of(place.frames, [&](const Frame& frame) {
      return frame.text.find(part) != std::string::npos;
    });
  };
  std::string text;
  for (const Place& place : analysis.places) {
    if (!asked(place)) continue;
    text += fmt::format(
        "{}: {} alive\n  {}\n", shown(place.frames[0].text), format_amount(place.live_bytes),
        !place.holder.empty() ? "held by: " + shown(place.holder)
        : place.growth.growing
            ? "nobody has found out: running code or native code has them, or the heap "
              "has more than 1 GB and the program was not started with --why"
            : "nobody looked: it does not grow");
  }
  if (!text.empty()) return text;
  if (part.empty()) return "nothing grows, and so nobody looked\n";
  raise(ErrorKind::kInvalidArgument,
        "[why] no place has {} in it; `ebb report` lists those that there are", part);
}

std::string report_json(const Analysis& analysis, std::size_t top) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("format", "ebb-report");
  json.member("version", 1u);
  json.member("program", std::string_view(analysis.program));
  json.member("seconds", analysis.seconds);
  json.member("events", analysis.replay.events());
  json.member("lost", analysis.replay.lost());
  json.member("ended", analysis.read.ended);
  json.member("program_ended", analysis.replay.program_ended());
  json.member("sampled", analysis.replay.sampled());
  json.member("mode", mode_text(analysis.replay.mode()));
  json.member("growing", analysis.total.growing || !analysis.growing().empty());
  json.member("growth_per_second", analysis.total.per_second);
  json.member("level", analysis.total.level);
  json.member("peak", analysis.peak);
  json.member("reclaimed", reclaimed(analysis));
  json.member("created", analysis.books.created);
  json.member("live", analysis.books.live);
  json.key("places");
  json.begin_array();
  for (std::size_t i = 0; i < std::min(top, analysis.places.size()); ++i) {
    const Place& place = analysis.places[i];
    json.begin_object();
    json.key("frames");
    json.begin_array();
    for (const Frame& frame : place.frames) json.value(std::string_view(frame.text));
    json.end_array();
    json.member("file", std::string_view(place.frames[0].file));
    json.member("line", place.frames[0].line);
    json.member("created", place.created);
    json.member("created_bytes", place.created_bytes);
    json.member("live", place.live);
    json.member("live_bytes", place.live_bytes);
    json.member("peak_bytes", place.at_peak);
    json.member("growing", place.growth.growing);
    json.member("growth_per_second", place.growth.growing ? place.growth.per_second : 0.0);
    json.member("shapes", std::string_view(place.shapes));
    if (!place.holder.empty()) json.member("holder", std::string_view(place.holder));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return text + '\n';
}

// Places are the same where their text is: numbers of sites are a process's own.
std::string diff_text(const Analysis& before, const Analysis& after, std::size_t top) {
  struct Change {
    const Place* old = nullptr;
    const Place* now = nullptr;
    double by() const {
      return (now == nullptr ? 0 : now->live_bytes) - (old == nullptr ? 0 : old->live_bytes);
    }
  };
  std::map<std::string, Change> changes;
  for (const Place& place : before.places)
    changes[before.replay.site_text(place.site)].old = &place;
  for (const Place& place : after.places) changes[after.replay.site_text(place.site)].now = &place;
  std::vector<Change> sorted;
  for (const auto& [text, change] : changes) {
    if (change.by() != 0) sorted.push_back(change);
  }
  std::ranges::stable_sort(sorted, std::ranges::greater(),
                           [](const Change& change) { return std::abs(change.by()); });
  Lines lines;
  lines.add("before: {}", head(before));
  lines.add("after:  {}", head(after));
  lines.add("most {} -> {}, at the end {} -> {}", format_amount(before.peak),
            format_amount(after.peak), format_amount(before.total.level),
            format_amount(after.total.level));
  lines.add("\n{:>11}{:>11}{:>11}  {}", "change", "before", "after", "place");
  for (std::size_t i = 0; i < std::min(top, sorted.size()); ++i) {
    const Change& change = sorted[i];
    const Place& shown_place = change.now == nullptr ? *change.old : *change.now;
    lines.add("{:>11}{:>11}{:>11}  {}",
              (change.by() < 0 ? "-" : "+") + format_amount(std::abs(change.by())),
              format_amount(change.old == nullptr ? 0 : change.old->live_bytes),
              format_amount(change.now == nullptr ? 0 : change.now->live_bytes),
              shown(shown_place.frames[0].text));
  }
  if (sorted.empty()) lines.add("no place holds more or less than before");
  return lines.take();
}

}  // namespace ebb::cli
