#include "cli/memory_viz.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "cli/frames.hpp"
#include "cli/pickle.hpp"
#include "cli/shown_text.hpp"

namespace ebb::cli {
namespace {

// A pool's memory is not in a recording block by block; what lives side by side is shown as one.
constexpr std::uint64_t kGap = 2u << 20;

// Frames of a site are written once.
class Frames {
 public:
  Frames(PickleWriter& out, const observe::Replay& replay) : out_(out), replay_(replay) {}

  void write(std::uint32_t site) {
    if (const auto found = written_.find(site); found != written_.end()) {
      return out_.again(found->second);
    }
    out_.begin_list();
    for (const Frame& frame : frames_of(replay_.site_text(site))) {
      out_.begin_dict();
      out_.text("filename");
      out_.text(shown(frame.file.empty() ? "??" : frame.file));
      out_.text("line");
      out_.number(frame.line);
      out_.text("name");
      out_.text(shown(frame.function.empty() ? frame.text : frame.function));
      out_.end_dict();
    }
    out_.end_list();
    written_[site] = out_.remember();
  }

 private:
  PickleWriter& out_;
  const observe::Replay& replay_;
  std::map<std::uint32_t, std::uint32_t> written_;
};

}  // namespace

void MemoryViz::on_storage(std::uint64_t time, const observe::StorageChange& change) {
  const Event event{.time = time,
                    .address = change.name,
                    .bytes = change.bytes,
                    .site = change.site,
                    .device = change.device,
                    .lives = change.lives};
  if (change.lives) {
    alive_[change.name] = event;
  } else {
    alive_.erase(change.name);
  }
  if (events_.size() >= 2 * kMostEvents) {
    events_.erase(events_.begin(), events_.begin() + kMostEvents);
  }
  events_.push_back(event);
}

// One snapshot, front to back.
class MemoryViz::Writer {
 public:
  explicit Writer(const observe::Replay& replay) : frames_(out_, replay) {}

  std::string write(const MemoryViz& heard) {
    out_.begin_dict();
    out_.text("segments");
    write_segments(heard);
    out_.text("device_traces");
    write_traces(heard);
    out_.text("allocator_settings");
    out_.begin_dict();
    out_.text("expandable_segments");
    out_.flag(false);
    out_.end_dict();
    out_.end_dict();
    return out_.take();
  }

 private:
  void member(std::string_view name, std::uint64_t value) {
    out_.text(name);
    out_.number(value);
  }

  void write_segments(const MemoryViz& heard) {
    std::vector<Event> alive;
    for (const auto& [name, event] : heard.alive_) alive.push_back(event);
    std::ranges::sort(alive, {}, [](const Event& e) { return std::pair(e.device, e.address); });
    out_.begin_list();
    for (std::span<const Event> left(alive); !left.empty();) {
      std::size_t count = 1;
      while (count < left.size() && follows(left[count - 1], left[count])) ++count;
      write_segment(left.first(count));
      left = left.subspan(count);
    }
    out_.end_list();
  }

  static bool follows(const Event& before, const Event& next) {
    const std::uint64_t end = before.address + before.bytes;
    return next.device == before.device && next.address >= end && next.address - end <= kGap;
  }

  void write_segment(std::span<const Event> events) {
    std::uint64_t used = 0;
    for (const Event& each : events) used += each.bytes;
    out_.begin_dict();
    member("device", events[0].device);
    member("address", events[0].address);
    member("total_size", events.back().address + events.back().bytes - events[0].address);
    for (const char* name : {"allocated_size", "active_size", "requested_size"}) member(name, used);
    member("stream", 0);
    out_.text("segment_type");
    out_.text("large");
    out_.text("is_expandable");
    out_.flag(false);
    out_.text("frames");
    out_.begin_list();
    out_.end_list();
    out_.text("blocks");
    out_.begin_list();
    std::uint64_t at = events[0].address;
    for (const Event& each : events) {
      if (each.address > at) write_block(at, each.address - at, nullptr);
      write_block(each.address, each.bytes, &each);
      at = each.address + each.bytes;
    }
    out_.end_list();
    out_.end_dict();
  }

  // `of` null: nobody's.
  void write_block(std::uint64_t address, std::uint64_t bytes, const Event* of) {
    out_.begin_dict();
    member("address", address);
    member("size", bytes);
    member("requested_size", of == nullptr ? 0 : bytes);
    out_.text("state");
    out_.text(of == nullptr ? "inactive" : "active_allocated");
    out_.text("frames");
    if (of == nullptr) {
      out_.begin_list();
      out_.end_list();
    } else {
      frames_.write(of->site);
    }
    out_.end_dict();
  }

  // By device, from 0 without a gap: the viewer counts on it.
  void write_traces(const MemoryViz& heard) {
    const std::span<const Event> all(heard.events_);
    const std::span<const Event> events = all.last(std::min(all.size(), kMostEvents));
    std::size_t devices = 0;
    for (const Event& each : events) devices = std::max<std::size_t>(devices, each.device + 1u);
    out_.begin_list();
    for (std::size_t device = 0; device < devices; ++device) {
      out_.begin_list();
      for (const Event& each : events) {
        if (each.device != device) continue;
        // Between the two a stream may still be at work; here both are the end.
        if (each.lives) write_action("alloc", each, heard.begin_);
        if (!each.lives) write_action("free_requested", each, heard.begin_);
        if (!each.lives) write_action("free_completed", each, heard.begin_);
      }
      out_.end_list();
    }
    out_.end_list();
  }

  void write_action(std::string_view action, const Event& event, std::uint64_t begin) {
    out_.begin_dict();
    out_.text("action");
    out_.text(action);
    member("addr", event.address);
    member("size", event.bytes);
    member("stream", 0);
    member("time_us", (event.time - begin) / 1000);
    out_.text("frames");
    frames_.write(event.site);
    out_.end_dict();
  }

  PickleWriter out_;
  Frames frames_;
};

std::string MemoryViz::pickle(const observe::Replay& replay) const {
  return Writer(replay).write(*this);
}

}  // namespace ebb::cli
