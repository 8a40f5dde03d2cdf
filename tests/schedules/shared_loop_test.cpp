// Parts of a loop that several threads take, under every schedule of a few preemptions.
#include "backends/cpu/shared_loop.hpp"

#include <array>

#include "schedules/explore.hpp"

namespace ebb::schedules {
namespace {

using cpu::SharedLoop;

constexpr int kParts = 3;

constexpr int kMostLoops = 2;

// What a loop works on.
struct Work {
  Schedule* run = nullptr;
  std::array<int, kParts> done{};  // plain: the watch of memory tells who comes after whom
  bool over = false;

  static void part(void* data, std::int64_t begin, std::int64_t end) {
    Work& work = *static_cast<Work*>(data);
    work.run->expect(begin >= 0 && end == begin + 1 && end <= kParts, "a part that there is not");
    work.run->expect(!work.over, "a part of a loop that is over");
    work.run->step();
    ++work.done[static_cast<std::size_t>(begin)];
  }
};

struct World {
  explicit World(Schedule& schedule) : run(schedule) {}

  void loops(int count) {
    for (int i = 0; i < count; ++i) {
      Work& work = works[static_cast<std::size_t>(i)];
      work.run = &run;
      loop.begin({Work::part, &work, kParts, kParts, is_turned});
      while (loop.take()) {
      }
      while (!loop.has_ended()) run.pause();
      for (const int times : work.done) run.expect(times == 1, "a part was not made once");
      work.over = true;
      made += kParts;
    }
  }
  void help(int times) {
    for (int i = 0; i < times; ++i) {
      if (!loop.has_parts()) run.pause();
      loop.help();
    }
  }

  Schedule& run;
  bool is_turned = false;
  SharedLoop loop;
  std::array<Work, kMostLoops>
      works;  // not in one place: a helper may still have the address of the first
  int made = 0;
};

void explore_loops(const char* what, int loops, std::initializer_list<int> helpers,
                   bool is_turned = false) {
  explore(what, [&](Schedule& run) {
    World world(run);
    world.is_turned = is_turned;
    run.thread([&] { world.loops(loops); });
    for (const int times : helpers) run.thread([&world, times] { world.help(times); });
    run.start();
    run.expect(world.made == loops * kParts, "a loop did not end");
  });
}

TEST(SharedLoopSchedules, EachPartIsMadeOnce) { explore_loops("a loop and a helper", 1, {3}); }

TEST(SharedLoopSchedules, EachPartOfATurnedLoopIsMadeOnce) {
  explore_loops("a turned loop and a helper", 1, {3}, true);
}

TEST(SharedLoopSchedules, AHelperTakesNothingOfTheNextLoopByMistake) {
  explore_loops("two loops and a helper", 2, {3});
}

TEST(SharedLoopSchedules, HelpersDoNotTakeTheSamePart) {
  explore_loops("a loop and two helpers", 1, {2, 2});
}

}  // namespace
}  // namespace ebb::schedules
