#include "cli/memory_viz.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "cli/frames.hpp"
#include "cli/pickle.hpp"
#include "cli/shown_text.hpp"

namespace ebb::cli {
namespace {

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
      out_.item();
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
  const StorageEvent event{.time = time,
                           .name = change.name,
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
  Writer(const observe::Replay& replay, std::span<const StorageEvent> events,
         std::span<const StorageEvent> alive, std::uint64_t begin)
      : events_(events), memory_(events, alive), begin_(begin), frames_(out_, replay) {}

  std::string write() {
    out_.begin_dict();
    out_.text("segments");
    out_.begin_list();
    for (const TracedSegment& segment : memory_.segments()) write_segment(segment);
    out_.end_list();
    out_.text("device_traces");
    write_traces();
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

  void write_segment(const TracedSegment& segment) {
    std::uint64_t used = 0;
    for (const Block& each : segment.alive) used += TracedMemory::size_of(each.bytes);
    out_.item();
    out_.begin_dict();
    member("device", segment.device);
    member("address", segment.begin);
    member("total_size", segment.end - segment.begin);
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
    write_blocks(segment);
    out_.end_dict();
  }

  // Side by side from the beginning of the segment to its end: the viewer counts on it.
  void write_blocks(const TracedSegment& segment) {
    out_.begin_list();
    std::uint64_t at = segment.begin;
    for (const Block& each : segment.alive) {
      if (each.name > at) write_block(at, each.name - at, nullptr);
      write_block(each.name, TracedMemory::size_of(each.bytes), &each);
      at = each.name + TracedMemory::size_of(each.bytes);
    }
    if (segment.end > at) write_block(at, segment.end - at, nullptr);
    out_.end_list();
  }

  // `of` null: nobody's.
  void write_block(std::uint64_t address, std::uint64_t bytes, const Block* of) {
    out_.item();
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
  void write_traces() {
    std::size_t devices = 0;
    for (const StorageEvent& each : events_) {
      devices = std::max<std::size_t>(devices, each.device + 1u);
    }
    out_.begin_list();
    for (std::size_t device = 0; device < devices; ++device) {
      out_.item();
      out_.begin_list();
      for (std::size_t i = 0; i < events_.size(); ++i) {
        if (events_[i].device == device) write_event(i);
      }
      out_.end_list();
    }
    out_.end_list();
  }

  // Between the two a stream may still be at work; here both are the end.
  void write_event(std::size_t index) {
    if (events_[index].lives) return write_action("alloc", index);
    write_action("free_requested", index);
    write_action("free_completed", index);
  }

  void write_action(std::string_view action, std::size_t index) {
    const StorageEvent& event = events_[index];
    out_.item();
    out_.begin_dict();
    out_.text("action");
    out_.text(action);
    member("addr", memory_.address_of(index));
    member("size", TracedMemory::size_of(event.bytes));
    member("stream", 0);
    member("time_us", (event.time - begin_) / 1000);
    out_.text("frames");
    frames_.write(event.site);
    out_.end_dict();
  }

  std::span<const StorageEvent> events_;
  TracedMemory memory_;
  std::uint64_t begin_;
  PickleWriter out_;
  Frames frames_;
};

std::string MemoryViz::pickle(const observe::Replay& replay) const {
  std::vector<StorageEvent> alive;
  for (const auto& [name, event] : alive_) alive.push_back(event);
  const std::span<const StorageEvent> all(events_);
  return Writer(replay, all.last(std::min(all.size(), kMostEvents)), alive, begin_).write();
}

}  // namespace ebb::cli
