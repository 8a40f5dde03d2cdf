// Figures: ratios of ours to a peer's, measured in turns within one run so that a noisy machine
// troubles both alike, as the median over rounds; written to build/bench/NAME.json.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace ebb::bench {

// Runs some work once and returns how long a unit of it took, in any unit of measure.
using Measure = std::function<double()>;

struct Pair {
  double ours;
  double peer;
  double ratio;  // the median of the rounds' ratios
};

// Takes turns, ours and the peer's, for `rounds` rounds after one that does not count.
Pair measure_in_turns(const Measure& ours, const Measure& peer, int rounds = 15);

// The same with the best of each over many short rounds: for what other programs on the machine
// disturb most, such as how two threads scale.
Pair best_in_turns(const Measure& ours, const Measure& peer, int rounds);

// Ours alone against a figure that was stated, not measured here: the median over the rounds.
Pair measure_against(const Measure& ours, double stated, int rounds = 25);

enum class Goal { kAtMost, kAtLeast };

class Figures {
 public:
  // `name`: that of the JSON file.
  explicit Figures(std::string name) : name_(std::move(name)) {}

  // The ratio against a goal, e.g. at most 1.5.
  void add(const std::string& figure, Pair pair, Goal kind, double goal);
  // Prints the table and writes the file; returns how many goals were not reached.
  int write() const;

 private:
  struct Row {
    std::string figure;
    Pair pair;
    Goal kind;
    double goal;
    bool reached;
  };
  std::string name_;
  std::vector<Row> rows_;
};

// Nanoseconds that `work(n)` took for each of its n repetitions: of this thread's processor time,
// which other programs on the machine disturb less than the clock on the wall.
double time_each(long n, const std::function<void(long)>& work);
// By the clock on the wall: for work of several threads.
double time_each_on_wall(long n, const std::function<void(long)>& work);
// `work` over and over, by the clock on the wall, in microseconds; once before that counts, because
// the peer has had the caches in between.
Measure on_wall(long times, std::function<void()> work);

}  // namespace ebb::bench
