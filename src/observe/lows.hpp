// The lowest value of a figure in each of a few windows of time that cover a run of any length.
//
// A figure such as the bytes of a site rises until the collector runs and falls then, so what is
// there to stay shows in its lows. Windows begin short; when there are no more, each two become one,
// for all figures at once.
#pragma once

#include <cstdint>
#include <vector>

namespace ebb::observe {

class Windows {
 public:
  static constexpr std::uint32_t kMost = 64;

  // The window of a time that is not before any given before; true in `halved` where figures must
  // halve() first.
  std::uint32_t at(std::uint64_t time, bool& halved);
  std::uint64_t width() const noexcept { return width_; }
  std::uint64_t begin() const noexcept { return begin_; }

 private:
  std::uint64_t begin_ = 0;
  std::uint64_t width_ = 1'000'000;  // ns
  bool begun_ = false;
};

class Lows {
 public:
  // The figure is `now` from this window on, and was what it was until then.
  void set(std::uint32_t window, double now);
  void halve();
  // Up to and with the window.
  std::vector<double> all(std::uint32_t window) const;
  double now() const noexcept { return now_; }

 private:
  void reach(std::uint32_t window);

  std::vector<double> lows_;
  double now_ = 0;
};

// How a figure grows over windows of so many nanoseconds.
struct Growth {
  bool growing = false;
  double per_second = 0;
  double level = 0;  // of its lows at the end
};
// Leaves out the first quarter, in which a program gets going. `least`: growth over the rest below
// which it is called flat. `collected` has the windows with a collection: where they are enough, the
// others, which end with what is dead and still there, are left out too.
Growth growth_of(const std::vector<double>& lows, std::uint64_t width_ns, double least,
                 const std::vector<bool>& collected = {});

}  // namespace ebb::observe
