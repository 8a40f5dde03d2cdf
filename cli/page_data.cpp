#include <algorithm>
#include <cmath>
#include <map>

#include "base/json_writer.hpp"
#include "cli/block_layout.hpp"
#include "cli/page.hpp"
#include "cli/report.hpp"
#include "cli/shown_text.hpp"
#include "observe/wire.hpp"

namespace ebb::cli {
namespace {

constexpr std::size_t kMostSites = 2000, kMostFrames = 64, kMostPoints = 1500, kMostMarks = 500;

std::string base64(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8 | (i + j < bytes.size() ? bytes[i + j] : 0u);
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j > bytes.size() ? '=' : kDigits[three >> (18 - 6 * j) & 63];
    }
  }
  return text;
}

std::uint64_t whole(double value) {
  return value <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(std::min(value, 9e15)));
}

// Buckets and values, each as how far it is from the one before.
std::string packed(const std::vector<Sparse>& series) {
  observe::WireWriter out;
  std::uint64_t bucket = 0, value = 0;
  for (const Sparse& each : series) {
    out.number(each.bucket - bucket);
    out.difference(whole(each.value), value);
    bucket = each.bucket;
    value = whole(each.value);
  }
  return base64(out.bytes());
}

const std::string kOverview =
    "What devices held, and who lives at the end. Growth, peaks, what was made and blocks are "
    "being read: they come by themselves.";

class DataWriter {
 public:
  DataWriter(JsonWriter& json, const Played& played)
      : json_(json), played_(played), replay_(played.analysis.replay) {}

  void write() {
    json_.begin_object();
    write_facts();
    write_devices();
    write_counters();
    write_marks();
    write_collections();
    json_.member("most", std::string_view(packed(played_.history.most())));
    write_sites();
    write_blocks();
    json_.end_object();
  }

 private:
  double seconds(std::uint64_t time) const {
    return time <= replay_.begin() ? 0 : static_cast<double>(time - replay_.begin()) / 1e9;
  }

  void write_facts() {
    const Analysis& analysis = played_.analysis;
    json_.member("name", std::string_view(shown(analysis.program)));
    json_.member("path", std::string_view(shown(analysis.path)));
    json_.member("pid", std::string_view(shown(replay_.fact("pid"))));
    json_.member("started", std::strtod(replay_.fact("unix_ns").c_str(), nullptr) / 1e6);
    json_.member("seconds", analysis.seconds);
    json_.member("events", replay_.events());
    json_.member("lost", replay_.lost());
    json_.member("ended", analysis.read.ended);
    json_.member("sampled", replay_.sampled());
    json_.member("overview", played_.overview);
    json_.member("verdict", std::string_view(played_.overview ? kOverview : verdict(analysis)));
    json_.member("growing", analysis.total.growing || !analysis.growing().empty());
    json_.member("perSecond", analysis.total.per_second);
    json_.member("level", analysis.total.level);
    json_.member("peak", analysis.peak);
    json_.member("reclaimed",
                 static_cast<double>(
                     analysis.books.ended_bytes[static_cast<std::size_t>(Reason::kReclaimed)]));
    json_.member("created", analysis.books.created);
    json_.member("live", analysis.books.live);
    json_.member("width", static_cast<double>(played_.history.width()) / 1e9);
    json_.member("buckets", std::uint64_t{std::max(1u, played_.history.buckets())});
    json_.member("origin", seconds(played_.history.begin()));
    json_.member("end", seconds(replay_.end()));
  }

  void write_devices() {
    json_.key("devices");
    json_.begin_object();
    for (const auto& [index, device] : replay_.devices()) {
      json_.member(std::to_string(index), std::string_view(shown(device.name)));
    }
    json_.end_object();
  }

  // At most so many points, each the largest of those it stands for.
  void write_counters() {
    const std::vector<observe::Counters>& all = replay_.counters();
    const std::size_t step = std::max<std::size_t>(1, (all.size() + kMostPoints - 1) / kMostPoints);
    const auto series = [&](std::string_view name, auto figure) {
      json_.key(name);
      json_.begin_array();
      for (std::size_t i = 0; i < all.size(); i += step) {
        double most = -1;
        for (std::size_t j = i; j < std::min(all.size(), i + step); ++j) {
          most = std::max(most, static_cast<double>(figure(all[j])));
        }
        json_.value(most);
      }
      json_.end_array();
    };
    json_.key("counters");
    json_.begin_object();
    series("time",
           [&](const observe::Counters& c) { return std::round(seconds(c.time) * 1e4) / 1e4; });
    series("resident", [](const observe::Counters& c) { return double(c.resident); });
    series("heap", [](const observe::Counters& c) {
      return c.host_heap == observe::kUnknown ? -1.0 : double(c.host_heap);
    });
    series("orphans", [](const observe::Counters& c) { return double(c.orphans); });
    json_.key("devices");
    json_.begin_object();
    for (const std::uint8_t device : counted_devices()) {
      const auto of = [device](auto member) {
        return [device, member](const observe::Counters& counters) {
          for (const observe::DeviceCounters& each : counters.devices) {
            if (each.device == device) return double(each.*member);
          }
          return 0.0;
        };
      };
      json_.key(std::to_string(device));
      json_.begin_object();
      series("inUse", of(&observe::DeviceCounters::in_use));
      series("committed", of(&observe::DeviceCounters::committed));
      series("budget", of(&observe::DeviceCounters::budget));
      json_.end_object();
    }
    json_.end_object();
    json_.end_object();
  }

  std::vector<std::uint8_t> counted_devices() const {
    std::map<std::uint8_t, bool> found;
    for (const observe::Counters& counters : replay_.counters()) {
      for (const observe::DeviceCounters& each : counters.devices) found[each.device] = true;
    }
    std::vector<std::uint8_t> devices;
    for (const auto& [device, there] : found) devices.push_back(device);
    return devices;
  }

  void write_marks() {
    json_.key("marks");
    json_.begin_array();
    const std::vector<observe::Mark>& marks = replay_.marks();
    for (std::size_t i = 0; i < std::min(marks.size(), kMostMarks); ++i) {
      json_.begin_array();
      json_.value(seconds(marks[i].time));
      json_.value(std::string_view(shown(marks[i].text)));
      json_.end_array();
    }
    json_.end_array();
  }

  void write_collections() {
    json_.key("collections");
    json_.begin_array();
    for (const Collections& each : played_.history.collections()) {
      json_.begin_array();
      json_.value(std::uint64_t{each.bucket});
      json_.value(each.count);
      json_.value(static_cast<double>(each.ns) / 1e6);
      json_.end_array();
    }
    json_.end_array();
  }

  // Those that matter most to some view; the others together are the last.
  std::vector<const Place*> choose_sites() {
    std::vector<const Place*> chosen;
    for (const Place& place : played_.analysis.places) chosen.push_back(&place);
    if (chosen.size() > kMostSites) {
      std::ranges::stable_sort(chosen, std::ranges::greater(), [](const Place* place) {
        return std::pair(place->growth.growing,
                         std::max(place->at_peak, place->live_bytes) + place->created_bytes / 1000);
      });
      chosen.resize(kMostSites);
    }
    return chosen;
  }

  void write_sites() {
    const std::vector<const Place*> chosen = choose_sites();
    std::map<std::string, std::uint64_t> frames;
    std::vector<std::string> texts;
    json_.key("sites");
    json_.begin_array();
    for (const Place* place : chosen) {
      site_index_.emplace(place->site, site_index_.size());
      write_site(*place, frames, texts);
    }
    json_.end_array();
    json_.key("frames");
    json_.begin_array();
    for (const std::string& text : texts) json_.value(std::string_view(text));
    json_.end_array();
    json_.member("otherSites", std::uint64_t{played_.analysis.places.size() - chosen.size()});
  }

  void write_site(const Place& place, std::map<std::string, std::uint64_t>& frames,
                  std::vector<std::string>& texts) {
    json_.new_line();
    json_.begin_object();
    json_.key("frames");
    json_.begin_array();
    for (std::size_t i = 0; i < std::min(place.frames.size(), kMostFrames); ++i) {
      const std::string text = shown(place.frames[i].text);
      const auto [at, added] = frames.try_emplace(text, texts.size());
      if (added) texts.push_back(text);
      json_.value(at->second);
    }
    json_.end_array();
    json_.member("created", place.created);
    json_.member("made", place.created_bytes);
    json_.member("tensors", place.live);
    json_.member("now", place.live_bytes);
    json_.member("peak", place.at_peak);
    json_.member("back", place.given_back);
    json_.member("growing", place.growth.growing);
    json_.member("perSecond", place.growth.growing ? place.growth.per_second : 0.0);
    json_.member("shapes", std::string_view(shown(place.shapes)));
    if (!place.holder.empty()) json_.member("holder", std::string_view(shown(place.holder)));
    if (const auto found = played_.history.sites().find(place.site);
        found != played_.history.sites().end()) {
      json_.member("liveAt", std::string_view(packed(found->second.live_at)));
      json_.member("madeIn", std::string_view(packed(found->second.made_in)));
    }
    json_.end_object();
  }

  void write_blocks() {
    json_.member("allBlocks", played_.history.all_blocks());
    json_.key("blocks");
    json_.begin_array();
    for (const BlockLayout& layout : laid_out(played_.history.blocks())) {
      json_.begin_object();
      json_.member("device", std::uint64_t{layout.device});
      json_.member("byAddress", layout.by_address);
      json_.member("extent", static_cast<double>(layout.extent));
      json_.key("regions");
      json_.begin_array();
      for (const std::uint64_t offset : layout.regions) json_.value(static_cast<double>(offset));
      json_.end_array();
      json_.member("count", std::uint64_t{layout.blocks.size()});
      json_.member("data", std::string_view(base64(packed_blocks(layout))));
      json_.end_object();
    }
    json_.end_array();
  }

  // Of each: birth after the one before (us), life + 1 (us; 0: alive), offset against the one
  // before, bytes, site + 1 (0: one that is not listed).
  std::vector<std::uint8_t> packed_blocks(const BlockLayout& layout) const {
    observe::WireWriter out;
    std::uint64_t time = 0, offset = 0;
    for (const PlacedBlock& each : layout.blocks) {
      const std::uint64_t birth = (each.block.begin - replay_.begin()) / 1000;
      out.number(birth - time);
      out.number(each.block.alive ? 0 : (each.block.end - each.block.begin) / 1000 + 1);
      out.difference(each.offset, offset);
      out.number(each.block.bytes);
      const auto site = site_index_.find(each.block.site);
      out.number(site == site_index_.end() ? 0 : site->second + 1);
      time = birth;
      offset = each.offset;
    }
    return out.bytes();
  }

  JsonWriter& json_;
  const Played& played_;
  const observe::Replay& replay_;
  std::map<std::uint32_t, std::uint64_t> site_index_;
};

}  // namespace

std::string page_data(const std::vector<const Played*>& recordings, bool live) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("version", 1u);
  json.member("live", live);
  json.key("recordings");
  json.begin_array();
  for (const Played* each : recordings) DataWriter(json, *each).write();
  json.end_array();
  json.end_object();
  return text;
}

}  // namespace ebb::cli
