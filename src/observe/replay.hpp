// Plays a recording back into books: who lives at its end, made where, and how that came about.
//
// Events of different threads may come in another order than they happened: an end may stand before
// its birth, and waits for it. After a loss the checkpoint decides who lives; of what was lost the
// books' figures are kept as the ledger had them then.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "observe/lows.hpp"
#include "observe/recording_reader.hpp"

namespace ebb::observe {

// What a place made. In a sampled recording figures of tensors are estimates.
struct SiteBooks {
  double created = 0, created_bytes = 0;
  double live = 0, live_bytes = 0;
  double at_peak = 0;  // bytes when all sites together had most
  std::array<double, kReasons> ended_bytes{};
  Lows lows;
  std::map<std::string, std::uint64_t> shapes;  // of those alive at the last checkpoint
};

struct Mark {
  std::uint64_t time = 0;
  std::string text;
};

// One storage, as a listener hears of it.
struct StorageChange {
  std::uint64_t name = 0;  // its block's address, or a number of its own while it lives
  std::uint64_t bytes = 0;
  std::uint32_t site = 0;
  std::uint8_t device = 0;
  float weight = 1;    // for how many it stands
  bool lives = false;  // from now on; else no more
  double made = 0;     // bytes by which what its site made changes, weighted
};

// Hears what becomes of storages while a recording is played back. A storage that is moved to
// another site or size ends and lives again. Times never go back.
class ReplayListener {
 public:
  virtual ~ReplayListener() = default;

  // Before all else.
  virtual void on_begin(std::uint64_t time) = 0;
  virtual void on_storage(std::uint64_t time, const StorageChange& change) = 0;
  virtual void on_collection(std::uint64_t time, std::uint64_t ns) = 0;
};

class Replay : public RecordingVisitor {
 public:
  // Pre: outlives the reading, or is taken away with null.
  void listen(ReplayListener* listener) noexcept { listener_ = listener; }
  // One that knows who lives, but not how that came about. What is read from here on its listener
  // hears as this one's would.
  Replay from_here() const;

  void on_meta(const Meta& meta) override;
  void on_device(const DeviceEntry& device) override;
  void on_site(std::uint32_t site, std::string_view text) override;
  void on_event(const ThreadEvent& event) override;
  void on_checkpoint(const Checkpoint& checkpoint) override;
  void on_counters(const Counters& counters) override;
  void on_mark(std::uint64_t time, std::string_view text) override;
  void on_lost(std::uint64_t time, std::uint64_t events) override;
  void on_holder(std::uint64_t time, std::uint32_t site, std::string_view text) override;

  const Meta& meta() const noexcept { return meta_; }
  std::string fact(std::string_view name) const;
  const std::map<std::uint8_t, DeviceEntry>& devices() const noexcept { return devices_; }
  const std::string& site_text(std::uint32_t site) const;
  // By device: as the ledger's, but for peaks and unwatched tensors, which a recording does not have.
  const std::map<std::uint8_t, Books>& books() const noexcept { return books_; }
  const std::map<std::uint32_t, SiteBooks>& sites() const noexcept { return sites_; }
  const std::vector<Counters>& counters() const noexcept { return counters_; }
  const std::vector<Mark>& marks() const noexcept { return marks_; }
  // What holds the tensors of a site, where the host found it out.
  const std::map<std::uint32_t, std::string>& holders() const noexcept { return holders_; }
  // Of all devices, what backs others' tensors left out: exact.
  const Lows& total() const noexcept { return total_; }
  double peak() const noexcept { return peak_; }

  // As it is now.
  Mode mode() const;
  bool sampled() const noexcept { return sampled_; }
  std::uint64_t events() const noexcept { return events_; }
  std::uint64_t lost() const noexcept { return lost_; }
  bool uncertain() const noexcept { return uncertain_; }
  // The host said so. What came after it, or while the program stood still, is in the books, but not
  // in peaks and lows; windows are of its own time.
  bool program_ended() const noexcept { return program_ended_; }
  // Tensors on which a checkpoint and the events before it did not agree, though none were lost.
  std::uint64_t disagreements() const noexcept { return disagreements_; }
  std::uint64_t collections() const noexcept { return collections_; }
  std::uint64_t collecting_ns() const noexcept { return collecting_ns_; }
  std::uint64_t begin() const noexcept { return begin_; }
  std::uint64_t end() const noexcept { return end_; }
  std::uint32_t window() const noexcept { return window_; }
  std::uint64_t window_width() const noexcept { return windows_.width(); }
  // Windows in which the host collected, or had just done so.
  const std::vector<bool>& collected() const noexcept { return collected_; }
  std::size_t live_tensors() const noexcept { return tensors_.size(); }

 private:
  struct Tensor {
    std::uint64_t storage = 0;
    std::uint32_t site = 0;
    std::uint8_t device = 0;
    float weight = 1;
  };
  struct Storage {
    std::uint64_t bytes = 0;
    std::uint32_t site = 0;
    std::uint8_t device = 0;
    float weight = 1;
  };

  // Where the books of the first sites are, by number. A copy's are elsewhere.
  struct BooksAt {
    static constexpr std::uint32_t kMost = 1u << 16;
    std::vector<SiteBooks*> at{};
    BooksAt() = default;
    BooksAt(const BooksAt&) {}
    BooksAt& operator=(const BooksAt&) {
      at.clear();
      return *this;
    }
  };

  void pass(std::uint64_t time);
  void halve();
  SiteBooks& site_books(std::uint32_t site);
  void born(const TraceEvent& event, bool count);
  void ended(const TraceEvent& event);
  void storage_born(const TraceEvent& event, std::uint32_t site, float weight);
  void storage_ended(std::uint64_t name, std::uint8_t reason, bool held);
  void rebooked(const TraceEvent& event);
  void rebound(const TraceEvent& event);
  void made_at(const TraceEvent& event);
  void add_live(std::uint64_t name, const Storage& storage, double sign, double made = 0);
  void note_peak();
  void note_state(std::string_view mark);
  // Whether time is the program's own.
  bool runs() const noexcept { return !stands_still_ && !program_ended_; }
  bool agrees(const Checkpoint& checkpoint) const;
  void take_over(const Checkpoint& checkpoint);
  void correct(const TraceEvent& birth);
  void note_shapes(const Checkpoint& checkpoint);
  float weight_for(std::uint32_t site, std::uint64_t bytes) const;

  Meta meta_;
  bool sampled_ = false;
  bool without_events_ = false;  // mode counters: what all tensors take is what devices have in use
  std::uint64_t sample_bytes_ = 0;
  std::map<std::uint8_t, DeviceEntry> devices_;
  std::unordered_map<std::uint32_t, std::string> texts_;
  std::map<std::uint8_t, Books> books_;
  std::map<std::uint32_t, SiteBooks> sites_;
  BooksAt books_at_;
  std::unordered_map<std::uint64_t, Tensor> tensors_;
  std::unordered_map<std::uint64_t, Storage> storages_;
  std::unordered_map<std::uint64_t, TraceEvent> early_ends_;
  std::vector<Counters> counters_;
  std::vector<Mark> marks_;
  std::map<std::uint32_t, std::string> holders_;
  ReplayListener* listener_ = nullptr;
  Windows windows_;
  std::uint32_t window_ = 0;
  std::vector<bool> collected_;  // by window
  std::uint64_t collecting_until_ = 0;
  Lows total_;
  double live_bytes_ = 0;  // in all
  double peak_ = 0;
  bool begun_ = false, uncertain_ = false, stands_still_ = false, program_ended_ = false;
  bool whole_ = true;  // false: segments before the first were given up
  std::uint64_t events_ = 0, lost_ = 0, disagreements_ = 0, collections_ = 0, collecting_ns_ = 0;
  std::uint64_t begin_ = 0, end_ = 0;
  std::uint64_t still_since_ = 0, stood_still_ns_ = 0;
};

}  // namespace ebb::observe
