#include "support/figures.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace ebb::bench {
namespace {

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

std::filesystem::path folder() {
  const char* given = std::getenv("EBB_BENCH_OUT");
  return given != nullptr ? given : "build/bench";
}

}  // namespace

Pair measure_in_turns(const Measure& ours, const Measure& peer, int rounds) {
  ours();
  peer();
  std::vector<double> our_times, peer_times, ratios;
  for (int round = 0; round < rounds; ++round) {
    our_times.push_back(ours());
    peer_times.push_back(peer());
    ratios.push_back(our_times.back() / peer_times.back());
  }
  return {median(our_times), median(peer_times), median(ratios)};
}

Pair best_in_turns(const Measure& ours, const Measure& peer, int rounds) {
  double our_best = ours();
  double peer_best = peer();
  for (int round = 1; round < rounds; ++round) {
    our_best = std::min(our_best, ours());
    peer_best = std::min(peer_best, peer());
  }
  return {our_best, peer_best, our_best / peer_best};
}

Pair measure_against(const Measure& ours, double stated, int rounds) {
  ours();
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) times.push_back(ours());
  const double time = median(std::move(times));
  return {time, stated, time / stated};
}

void Figures::add(const std::string& figure, Pair pair, Goal kind, double goal) {
  const bool reached = kind == Goal::kAtMost ? pair.ratio <= goal : pair.ratio >= goal;
  rows_.push_back({figure, pair, kind, goal, reached});
}

int Figures::write() const {
  nlohmann::json rows = nlohmann::json::array();
  int missed = 0;
  for (const Row& row : rows_) {
    missed += !row.reached;
    const std::string goal =
        fmt::format("{} {:g}", row.kind == Goal::kAtMost ? "<=" : ">=", row.goal);
    rows.push_back({{"figure", row.figure},
                    {"ours", row.pair.ours},
                    {"peer", row.pair.peer},
                    {"ratio", row.pair.ratio},
                    {"goal", goal},
                    {"reached", row.reached}});
    fmt::print("{:<58} ours {:>10.4g}  peer {:>10.4g}  ratio {:>8.3f}  {:<8} {}\n", row.figure,
               row.pair.ours, row.pair.peer, row.pair.ratio, goal, row.reached ? "ok" : "MISSED");
  }
  std::filesystem::create_directories(folder());
  std::ofstream(folder() / (name_ + ".json")) << rows.dump(2) << "\n";
  return missed;
}

double time_each(long n, const std::function<void(long)>& work) {
  const double start = now(CLOCK_THREAD_CPUTIME_ID);
  work(n);
  return (now(CLOCK_THREAD_CPUTIME_ID) - start) / double(n);
}

double time_each_on_wall(long n, const std::function<void(long)>& work) {
  const double start = now(CLOCK_MONOTONIC);
  work(n);
  return (now(CLOCK_MONOTONIC) - start) / double(n);
}

Measure on_wall(long times, std::function<void()> work) {
  return [times, work = std::move(work)] {
    work();
    const auto loop = [&](long n) {
      for (long i = 0; i < n; ++i) work();
    };
    return time_each_on_wall(times, loop) / 1000;
  };
}

}  // namespace ebb::bench
