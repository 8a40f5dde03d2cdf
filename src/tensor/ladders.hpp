// What the rungs of the governor's ladder do: on Ebb's own memory, and on another runtime's.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "ebb/memory/device_link.hpp"
#include "tensor/context_body.hpp"

namespace ebb {

inline constexpr auto kPeerWait = std::chrono::milliseconds(100);
inline constexpr auto kLongestNap = std::chrono::microseconds(1000);

// Looks again and again, less often each time, until `done` or until the wait is over.
template <typename Done>
bool poll_until(std::chrono::steady_clock::time_point end, Done&& done) {
  // arithmetic: of times
  for (auto nap = std::chrono::microseconds(20); !done(); nap = std::min(2 * nap, kLongestNap)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(nap);
  }
  return true;
}

// Room in one of Ebb's own pools.
class ContextBody::OwnLadder final : public Ladder {
 public:
  OwnLadder(ContextBody& context, ContextId id, Device& device, std::uint64_t bytes,
            StreamId stream)
      : context_(context), id_(id), device_(device), bytes_(bytes), stream_(stream) {}

  bool fits() override {
    if (!block) block = device_.pool().allocate(bytes_, stream_);
    return static_cast<bool>(block);
  }
  // What another thread is giving back counts too.
  std::uint64_t drain() override {
    const std::uint64_t bytes = context_.drain(id_, Scope::kOwn).bytes;
    poll_until(std::chrono::steady_clock::now() + kPeerWait,
               [&] { return context_.drains_are_done() || fits(); });
    return bytes;
  }
  std::uint64_t collect(Collection kind) override {
    return capturing() ? kCannotCollect : context_.run_collector(kind);
  }
  std::uint64_t live() override { return context_.pressure_.load(std::memory_order_relaxed); }
  void ask_others() override { asked_ = context_.ask_others(&device_); }
  void wait_pending() override {
    if (capturing()) return;
    device_.pool().wait_pending();
    if (asked_) poll_until(std::chrono::steady_clock::now() + kPeerWait, [&] { return fits(); });
  }
  std::uint64_t needs() override { return device_.in_use() + device_.record_bytes() + bytes_; }
  std::uint64_t ceiling() override { return device_.ceiling(); }
  void set_ceiling(std::uint64_t bytes) override { device_.set_ceiling(bytes); }

  bool capturing() const noexcept {
    return device_.link() != nullptr && device_.link()->captures(stream_);
  }

  Block block;

 private:
  ContextBody& context_;
  const ContextId id_;
  Device& device_;
  const std::uint64_t bytes_;
  const StreamId stream_;
  bool asked_ = false;
};

// A record for one more tensor: a name, and room for it in the budget of whose device pays for it.
class ContextBody::RecordLadder final : public Ladder {
 public:
  RecordLadder(ContextBody& context, ContextId id, const NoRecord& missing)
      : context_(context),
        id_(id),
        payer_(missing.payer),
        for_layout_(context.layouts_.lacks(missing)) {}

  bool fits() override {
    if (reserve()) return true;
    trim();
    return reserve();
  }
  std::uint64_t drain() override { return context_.drain(id_, Scope::kOwn).bytes; }
  // The host may be inside a kernel when it has a foreign tensor adopted, and collects later.
  std::uint64_t collect(Collection kind) override {
    return payer_->foreign() ? kCannotCollect : context_.run_collector(kind);
  }
  std::uint64_t live() override { return context_.pressure_.load(std::memory_order_relaxed); }
  void ask_others() override { asked_ = context_.ask_others(nullptr); }
  void wait_pending() override {
    if (asked_) poll_until(std::chrono::steady_clock::now() + kPeerWait, [&] { return fits(); });
  }
  std::uint64_t needs() override { return payer_->in_use() + payer_->record_bytes(); }
  std::uint64_t ceiling() override { return payer_->ceiling(); }
  void set_ceiling(std::uint64_t bytes) override { payer_->set_ceiling(bytes); }

 private:
  // Taken, not only seen: the block that the call makes before its record would take the same room,
  // be trimmed for the record, and so on for ever.
  bool reserve() const {
    const Lock lock(context_.lock_);
    return context_.handles_.reserve(payer_) && context_.storages_.reserve(payer_) &&
           (!for_layout_ || context_.layouts_.reserve(payer_));
  }
  // What the pool only caches makes way, no more than is lacking.
  void trim() const {
    if (payer_->kind() != DeviceKind::kSystem || payer_->limit() == 0) return;
    const std::uint64_t needed =
        payer_->committed() + payer_->record_bytes() + payer_->heap()->traits().granule;
    if (needed > payer_->limit()) payer_->trim(needed - payer_->limit());
  }

  ContextBody& context_;
  const ContextId id_;
  Device* const payer_;
  const bool for_layout_;
  bool asked_ = false;
};

// Room in another runtime's memory: as booked under its limit, or, where `wanted` is set, as much
// as that given back. Without a device: collections that no request asks for.
class ContextBody::ForeignLadder final : public Ladder {
 public:
  ForeignLadder(ContextBody& context, ContextId id, Device* device = nullptr,
                std::uint64_t upcoming = 0, std::uint64_t wanted = 0)
      : context_(context), id_(id), device_(device), upcoming_(upcoming), wanted_(wanted) {}

  bool fits() override {
    if (wanted_ != 0) return drained.bytes >= wanted_;
    return device_ != nullptr && !device_->over_limit(upcoming_);
  }
  std::uint64_t drain() override {
    const Drained more = context_.drain(id_, Scope::kAll);
    drained += more;
    return more.bytes;
  }
  std::uint64_t collect(Collection kind) override {
    const std::uint64_t cost = context_.run_collector(kind);
    if (cost != kCannotCollect) ++drained.collections;
    return cost;
  }
  std::uint64_t live() override {
    return context_.pressure_.load(std::memory_order_relaxed) + upcoming_;
  }
  void ask_others() override {
    if (device_ != nullptr) context_.ask_others(device_);
  }
  std::uint64_t needs() override { return device_->in_use() + upcoming_; }
  std::uint64_t ceiling() override { return device_ == nullptr ? 0 : device_->ceiling(); }
  void set_ceiling(std::uint64_t bytes) override { device_->set_ceiling(bytes); }

  Drained drained;

 private:
  ContextBody& context_;
  const ContextId id_;
  Device* device_;
  const std::uint64_t upcoming_;
  const std::uint64_t wanted_;
};

}  // namespace ebb
