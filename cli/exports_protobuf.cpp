// pprof's profile.proto and Perfetto's trace.proto: the few fields of them that are needed, by their
// numbers there.
#include <cmath>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "cli/exports.hpp"
#include "cli/shown_text.hpp"

namespace ebb::cli {
namespace {

using protozero::pbf_writer;

std::int64_t whole(double value) {
  return value <= 0 ? 0 : static_cast<std::int64_t>(std::llround(std::min(value, 9e18)));
}

// ---- pprof

class Profile {
 public:
  std::string write(const Analysis& analysis) {
    text("");  // by the format's rule
    constexpr const char* kTypes[][2] = {{"inuse_objects", "count"},
                                         {"inuse_space", "bytes"},
                                         {"alloc_objects", "count"},
                                         {"alloc_space", "bytes"}};
    for (const auto& type : kTypes) put_value_type(1, type[0], type[1]);
    for (const Place& place : analysis.places) put_sample(place);
    const std::string unix_ns = analysis.replay.fact("unix_ns");
    out_.add_int64(9, static_cast<std::int64_t>(std::strtoull(unix_ns.c_str(), nullptr, 10)));
    out_.add_int64(10, static_cast<std::int64_t>(analysis.seconds * 1e9));
    put_value_type(11, "space", "bytes");
    out_.add_int64(14, static_cast<std::int64_t>(text("inuse_space")));
    for (const std::string& each : texts_) out_.add_string(6, each);
    return std::move(data_);
  }

 private:
  std::uint64_t text(const std::string& given) {
    const auto [at, added] = index_.try_emplace(given, texts_.size());
    if (added) texts_.push_back(given);
    return at->second;
  }
  void put_value_type(protozero::pbf_tag_type tag, const char* type, const char* unit) {
    std::string data;
    pbf_writer message(data);
    message.add_int64(1, static_cast<std::int64_t>(text(type)));
    message.add_int64(2, static_cast<std::int64_t>(text(unit)));
    out_.add_message(tag, data);
  }
  void put_sample(const Place& place) {
    std::vector<std::uint64_t> stack;  // innermost first, as here
    for (const Frame& frame : place.frames) stack.push_back(location(frame));
    const std::int64_t values[] = {whole(place.live), whole(place.live_bytes), whole(place.created),
                                   whole(place.created_bytes)};
    std::string data;
    pbf_writer sample(data);
    sample.add_packed_uint64(1, stack.begin(), stack.end());
    sample.add_packed_int64(2, std::begin(values), std::end(values));
    out_.add_message(2, data);
  }
  // A location and a function each, under the same number.
  std::uint64_t location(const Frame& frame) {
    const auto [at, added] = locations_.try_emplace(frame.text, locations_.size() + 1);
    const std::uint64_t id = at->second;
    if (!added) return id;
    const std::uint64_t name = text(shown(frame.function.empty() ? frame.text : frame.function));
    const std::uint64_t file = text(shown(frame.file));
    std::string line_data;
    pbf_writer line(line_data);
    line.add_uint64(1, id);
    line.add_int64(2, frame.line);
    std::string data;
    pbf_writer message(data);
    message.add_uint64(1, id);
    message.add_message(4, line_data);
    out_.add_message(4, data);
    std::string function_data;
    pbf_writer function(function_data);
    function.add_uint64(1, id);
    function.add_int64(2, static_cast<std::int64_t>(name));
    function.add_int64(3, static_cast<std::int64_t>(name));
    function.add_int64(4, static_cast<std::int64_t>(file));
    out_.add_message(5, function_data);
    return id;
  }

  std::string data_;
  pbf_writer out_{data_};
  std::vector<std::string> texts_;
  std::map<std::string, std::uint64_t> index_, locations_;
};

// ---- Perfetto

class Trace {
 public:
  std::string write(const Analysis& analysis) {
    const observe::Replay& replay = analysis.replay;
    const std::uint64_t process =
        track(shown(analysis.program.empty() ? "ebb" : analysis.program), 0, false);
    const std::uint64_t resident = track("resident", process, true);
    const std::uint64_t heap = track("host heap", process, true);
    const std::uint64_t orphans = track("orphans", process, true);
    std::map<std::uint8_t, std::pair<std::uint64_t, std::uint64_t>> devices;
    for (const auto& [index, device] : replay.devices()) {
      devices[index] = {track(shown(device.name) + " in use", process, true),
                        track(shown(device.name) + " committed", process, true)};
    }
    for (const observe::Counters& counters : replay.counters()) {
      value(resident, counters.time, counters.resident);
      if (counters.host_heap != observe::kUnknown) value(heap, counters.time, counters.host_heap);
      value(orphans, counters.time, counters.orphans);
      for (const observe::DeviceCounters& each : counters.devices) {
        const auto found = devices.find(each.device);
        if (found == devices.end()) continue;
        value(found->second.first, counters.time, each.in_use);
        value(found->second.second, counters.time, each.committed);
      }
    }
    for (const observe::Mark& mark : replay.marks()) instant(process, mark.time, shown(mark.text));
    return std::move(data_);
  }

 private:
  static constexpr int kInstant = 3, kCounter = 4;

  std::uint64_t track(const std::string& name, std::uint64_t parent, bool counter) {
    std::string data;
    pbf_writer descriptor(data);
    descriptor.add_uint64(1, ++tracks_);
    descriptor.add_string(2, name);
    if (parent != 0) descriptor.add_uint64(5, parent);
    if (counter) descriptor.add_message(8, std::string());
    std::string packet_data;
    pbf_writer packet(packet_data);
    packet.add_message(60, data);
    put(packet_data);
    return tracks_;
  }
  void value(std::uint64_t track, std::uint64_t time, std::uint64_t bytes) {
    event(track, time, kCounter,
          [&](pbf_writer& e) { e.add_int64(30, static_cast<std::int64_t>(bytes)); });
  }
  void instant(std::uint64_t track, std::uint64_t time, const std::string& name) {
    event(track, time, kInstant, [&](pbf_writer& e) { e.add_string(23, name); });
  }
  template <typename Fill>
  void event(std::uint64_t track, std::uint64_t time, int type, Fill fill) {
    std::string data;
    pbf_writer event(data);
    event.add_enum(9, type);
    event.add_uint64(11, track);
    fill(event);
    std::string packet_data;
    pbf_writer packet(packet_data);
    packet.add_uint64(8, time);
    packet.add_uint32(10, 1);  // one sequence
    packet.add_message(11, data);
    put(packet_data);
  }
  void put(const std::string& packet) { pbf_writer(data_).add_message(1, packet); }

  std::string data_;
  std::uint64_t tracks_ = 0;
};

}  // namespace

std::string to_pprof(const Analysis& analysis) { return Profile().write(analysis); }
std::string to_perfetto(const Analysis& analysis) { return Trace().write(analysis); }

}  // namespace ebb::cli
