#include "observe/recording_writer.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "ebb/memory/device.hpp"
#include "ebb/memory/site_table.hpp"
#include "observe/sampler.hpp"

namespace ebb::observe {
namespace {

std::string random_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::uint64_t unix_now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::uint64_t(std::chrono::nanoseconds(now).count());
}

}  // namespace

std::uint64_t steady_now() noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::uint64_t(std::chrono::nanoseconds(now).count());
}

RecordingWriter::RecordingWriter(const RecordingOptions& options, LiveSource& source)
    : options_(options),
      source_(source),
      id_(random_id()),
      file_(options.path, options.most_bytes) {
  begin_segment(Because::kBegin);
}

void RecordingWriter::begin_segment(Because because) {
  encoder_ = std::make_unique<EventEncoder>(events_);
  sites_ = 0;
  devices_.assign(kMaxDevices, 0);
  write_meta();
  for (const Counters& counters : history_) {
    WireWriter out;
    put_counters(out, counters);
    file_.write(BlockType::kCounters, out);
  }
  for (const auto& [site, holder] : holders_) write_holder(site);
  write_checkpoint(checkpoint_of(because));
  file_.opening_ends();
}

void RecordingWriter::write_meta() {
  WireWriter out;
  put_meta(out, {{"ebb", EBB_VERSION},
                 {"recording", id_},
                 {"segment", std::to_string(file_.segment())},
                 {"pid", std::to_string(::getpid())},
                 {"name", options_.name},
                 {"mode", std::to_string(static_cast<int>(options_.mode))},
                 {"sample_bytes", std::to_string(options_.sample_bytes)},
                 {"name_bytes", std::to_string(kNameBytes)},
                 {"unix_ns", std::to_string(unix_now())},
                 {"steady_ns", std::to_string(steady_now())}});
  file_.write(BlockType::kMeta, out);
}

void RecordingWriter::add(std::uint32_t thread, const TraceEvent& event) {
  if (events_.bytes().empty()) encoder_->begin_block();
  encoder_->encode(thread, event);
  ++added_;
  if (events_.bytes().size() < file_.block_bytes()) return;
  write_events();
  begin_next_if_full();
}

void RecordingWriter::add(const Counters& counters) {
  flush();
  write_devices_if_changed();
  WireWriter out;
  put_counters(out, counters);
  file_.write(BlockType::kCounters, out);
  if (options_.most_bytes != 0) remember(counters);
}

// Each so many; twice as many whenever there is no more room.
void RecordingWriter::remember(const Counters& counters) {
  if (history_left_ != 0) {
    --history_left_;
    return;
  }
  history_.push_back(counters);
  if (history_.size() == kMostHistory) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < history_.size(); i += 2) history_[kept++] = std::move(history_[i]);
    history_.resize(kept);
    history_step_ *= 2;
  }
  history_left_ = history_step_ - 1;
}

void RecordingWriter::mark(std::uint64_t time, std::string_view text) {
  flush();
  WireWriter out;
  out.number(time);
  out.text(text);
  file_.write(BlockType::kMark, out);
}

void RecordingWriter::holder(std::uint64_t time, std::uint32_t site, std::string_view text) {
  if (holders_.size() >= kMostHolders && !holders_.contains(site)) return;
  flush();
  holders_[site] = {.time = time, .text = std::string(text.substr(0, kMostHolderText))};
  write_holder(site);
}

void RecordingWriter::write_holder(std::uint32_t site) {
  const Holder& holder = holders_[site];
  WireWriter out;
  out.number(holder.time);
  out.number(site);
  out.text(holder.text);
  file_.write(BlockType::kHolder, out);
}

void RecordingWriter::lost(std::uint64_t events) {
  flush();
  WireWriter out;
  out.number(steady_now());
  out.number(events);
  file_.write(BlockType::kLost, out);
}

// It may be as large as all that a segment begins with: then it begins the next.
void RecordingWriter::checkpoint(Because because) {
  write_events();
  const Checkpoint checkpoint = checkpoint_of(because);
  if (file_.has_room(checkpoint.bytes() + file_.block_bytes())) return write_checkpoint(checkpoint);
  file_.rotate();
  begin_segment(because);
}

void RecordingWriter::set_mode(Mode mode) {
  write_events();
  options_.mode = mode;
  write_meta();
}

void RecordingWriter::flush() {
  write_events();
  begin_next_if_full();
}

// Pre: no events wait: they are packed as this segment's.
void RecordingWriter::begin_next_if_full() {
  if (!file_.full()) return;
  file_.rotate();
  begin_segment(Because::kRotated);
}

void RecordingWriter::end() {
  write_events();
  file_.write(BlockType::kEnd, WireWriter());
}

void RecordingWriter::write_events() {
  if (events_.bytes().empty()) return;
  write_new_sites();
  write_devices_if_changed();
  file_.write(BlockType::kEvents, events_);
  events_.clear();
}

void RecordingWriter::write_new_sites() {
  const auto& table = SiteTable::instance();
  const auto known = static_cast<std::uint32_t>(table.size());
  while (sites_ < known) {
    WireWriter out;
    for (; sites_ < known && out.bytes().size() < file_.block_bytes(); ++sites_) {
      out.number(sites_ + 1);
      out.text(table.text(sites_ + 1));
    }
    file_.write(BlockType::kSites, out);
  }
}

// A device that another takes the place of has no tensors left, so that nobody is counted wrongly.
void RecordingWriter::write_devices_if_changed() {
  WireWriter out;
  for (DeviceIndex i = 1; i < kMaxDevices; ++i) {
    const Device* device = Device::at(i);
    const DeviceId id = device == nullptr ? 0 : device->id();
    if (id == 0 || id == devices_[i]) continue;
    devices_[i] = id;
    put_device(out, {.device = static_cast<std::uint8_t>(i),
                     .kind = static_cast<std::uint8_t>(device->kind()),
                     .name = device->name()});
  }
  if (!out.bytes().empty()) file_.write(BlockType::kDevices, out);
}

void RecordingWriter::write_books(WireWriter& out) {
  std::vector<DeviceBooks> all;
  for (DeviceIndex i = 1; i < kMaxDevices; ++i) {
    if (Device::at(i) == nullptr) continue;
    const auto index = static_cast<std::uint8_t>(i);
    all.push_back({.device = index, .books = source_.books(index)});
  }
  out.number(all.size());
  for (const DeviceBooks& books : all) put_books(out, books);
}

std::uint64_t RecordingWriter::Checkpoint::bytes() const {
  std::uint64_t sum = 0;
  for (const WireWriter& block : blocks) sum += kBlockHeader + block.bytes().size();
  return sum;
}

// Tensors that are born or end while it is made are in it or not; their events come after it.
RecordingWriter::Checkpoint RecordingWriter::checkpoint_of(Because because) {
  Checkpoint checkpoint;
  source_.for_each_live([&](const LiveTensor& tensor) { checkpoint.tensors.push_back(tensor); });
  const std::vector<LiveTensor>& tensors = checkpoint.tensors;
  const std::uint64_t now = steady_now();
  std::size_t next = 0;
  do {
    const std::size_t count = std::min(tensors.size() - next, kTensorsInBlock);
    WireWriter& out = checkpoint.blocks.emplace_back();
    out.byte(static_cast<std::uint8_t>(because));
    out.number(now);
    out.byte(next + count < tensors.size() ? 1 : 0);  // more follows
    if (next == 0) {
      write_books(out);
    } else {
      out.number(0);
    }
    out.number(count);
    for (const std::size_t end = next + count; next < end; ++next) put_tensor(out, tensors[next]);
  } while (next < tensors.size());
  return checkpoint;
}

void RecordingWriter::write_checkpoint(const Checkpoint& checkpoint) {
  write_new_sites();
  write_devices_if_changed();
  for (const WireWriter& block : checkpoint.blocks) file_.write(BlockType::kCheckpoint, block);
  for (const LiveTensor& tensor : checkpoint.tensors) encoder_->learn(tensor.birth);
}

}  // namespace ebb::observe
