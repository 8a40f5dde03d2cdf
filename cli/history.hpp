// What became of memory over the time of a recording, at the detail a picture can show: however long
// it is, time is cut into a few hundred buckets, and of the blocks those are kept that fill most of
// the picture (bytes times time).
#pragma once

#include <unordered_map>
#include <vector>

#include "observe/replay.hpp"

namespace ebb::cli {

// A figure over the buckets; those in which it does not change are left out.
struct Sparse {
  std::uint32_t bucket = 0;
  double value = 0;
};

struct SiteHistory {
  double live = 0;
  std::vector<Sparse> live_at;  // bytes at the end of the bucket
  std::vector<Sparse> made_in;  // bytes made within it
};

struct Collections {
  std::uint32_t bucket = 0;
  std::uint64_t count = 0, ns = 0;
};

// One storage's life.
struct Block {
  std::uint64_t name = 0, bytes = 0;
  std::uint64_t begin = 0, end = 0;  // ns
  std::uint32_t site = 0;
  std::uint8_t device = 0;
  bool alive = false;  // at the end of the recording
};

// Seconds from the beginning of a recording.
struct Span {
  double from = 0, to = 0;  // to 0: to the end
  bool whole() const noexcept { return from <= 0 && to <= 0; }
};

class History final : public observe::ReplayListener {
 public:
  static constexpr std::uint32_t kBuckets = 512;
  static constexpr std::size_t kMostBlocks = 40'000;

  // What is outside of the span is only counted as far as it is alive when the span begins.
  explicit History(const Span& span = {}) : span_(span) {}

  // One of a span that begins later, which knows who lives now. `begin`: of the recording.
  History continued(const Span& span, std::uint64_t begin) const;

  void on_begin(std::uint64_t time) override;
  void on_storage(std::uint64_t time, const observe::StorageChange& change) override;
  void on_collection(std::uint64_t time, std::uint64_t ns) override;
  // The recording ends here, as far as it is read: those alive go into blocks().
  void finish(std::uint64_t time);

  std::uint64_t begin() const noexcept { return begin_; }  // of the first bucket, ns
  std::uint64_t width() const noexcept { return width_; }  // of a bucket, ns
  std::uint32_t buckets() const noexcept { return most_.empty() ? 0 : most_.back().bucket + 1; }
  const std::unordered_map<std::uint32_t, SiteHistory>& sites() const noexcept { return sites_; }
  // The most that lived at a moment of the bucket.
  const std::vector<Sparse>& most() const noexcept { return most_; }
  const std::vector<Collections>& collections() const noexcept { return collections_; }
  // By the time of their birth.
  const std::vector<Block>& blocks() const noexcept { return blocks_; }
  std::uint64_t all_blocks() const noexcept { return all_blocks_; }
  std::size_t living() const noexcept { return open_.size(); }
  std::uint64_t end_of_span() const noexcept { return end_; }

 private:
  std::uint32_t bucket_of(std::uint64_t time);
  void halve();
  void close(std::uint64_t time, std::uint64_t name, bool alive);
  void keep_largest(std::size_t count);

  Span span_;
  std::uint64_t begin_ = 0, end_ = ~std::uint64_t{0};
  std::uint64_t width_ = 1'000'000;
  double live_ = 0;
  std::unordered_map<std::uint32_t, SiteHistory> sites_;
  std::vector<Sparse> most_;
  std::vector<Collections> collections_;
  std::unordered_map<std::uint64_t, Block> open_;
  std::vector<Block> blocks_;
  std::uint64_t all_blocks_ = 0;
};

}  // namespace ebb::cli
