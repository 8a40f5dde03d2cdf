// What a recording says, worked out once for everything that shows it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/frames.hpp"
#include "observe/replay.hpp"

namespace ebb::cli {

struct Place {
  std::uint32_t site = 0;
  std::vector<Frame> frames;  // innermost first
  double created = 0, created_bytes = 0;
  double live = 0, live_bytes = 0, at_peak = 0;
  double given_back = 0;  // bytes that reclaim brought back
  observe::Growth growth;
  std::string holder;  // what holds them, where the host said
  std::string shapes;  // "12031 x float32[32,784]": those that most of the live ones have
};

struct Analysis {
  // `history`, if given, hears of every storage.
  explicit Analysis(const std::string& path, observe::ReplayListener* history = nullptr);

  // Of a recording that is still being read: as it is now. Pre: nobody reads on meanwhile.
  Analysis(std::shared_ptr<const observe::Replay> replay, std::string path,
           const observe::ReadResult& read);

  std::string path;
  std::shared_ptr<const observe::Replay> played;
  const observe::Replay& replay;  // the same
  observe::ReadResult read;
  std::vector<Place> places;  // growing ones first, fastest first; then by live bytes
  observe::Growth total;
  double seconds = 0;
  double peak = 0;
  Books books;  // of all devices
  std::string program;

  // Too little time to tell growth from a start.
  bool too_short() const { return seconds < 1; }
  std::vector<const Place*> growing() const;

 private:
  void work_out();
};

// What a flame graph is cut by.
enum class Value { kLive, kPeak, kCreated, kLeaked };
double value_of(const Place& place, Value value);

std::string format_amount(double bytes);           // "4.1 MB"
std::string format_count(double count);            // "12,031"
std::string format_rate(double bytes_per_second);  // "+4.1 MB/s"

}  // namespace ebb::cli
