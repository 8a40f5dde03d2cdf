// Recording: what it costs a program's thread, and what it takes on disk.
#include <array>
#include <filesystem>

#include "ebb.h"
#include "ebb/base/error.hpp"
#include "ebb/tensor/context.hpp"
#include "support/figures.hpp"

namespace ebb::bench {
namespace {

constexpr std::array<std::int64_t, 2> kDims{32, 784};
// Bytes of what a step of a small network makes: activations forward, gradients backward.
constexpr std::array<std::uint64_t, 16> kStep{100352, 131072, 32768, 8192, 1280,  1280,
                                              64,     64,     1280,  8192, 32768, 8192,
                                              32768,  131072, 40960, 512};

const std::string& path() {
  static const std::string path =
      (std::filesystem::temp_directory_path() / "ebb-recording-bench.ebbrec").string();
  return path;
}

class Recording {
 public:
  explicit Recording(std::uint32_t mode) {
    ebb_record_options options = EBB_INIT(ebb_record_options);
    options.mode = mode;
    options.path = path().c_str();
    if (ebb_record_start(&options) != EBB_OK) throw Error(ErrorKind::kDevice, ebb_last_error());
  }
  ~Recording() {
    ebb_record_stop();
    std::filesystem::remove(path());
  }
};

struct World {
  Device& foreign = Device::open({.kind = DeviceKind::kForeign, .name = "foreign"});
  ContextPtr context = Context::create({.name = "bench"});
};
World& world() {
  static World world;
  return world;
}

ForeignSpec spec_of(std::uint64_t bytes, SiteId site) {
  return {.device = &world().foreign,
          .bytes = bytes,
          .tag = 1,
          .dtype = DType::kFloat32,
          .dims = kDims,
          .site = site};
}

void handle_pairs(long n) {
  const ForeignSpec spec = spec_of(1 << 20, 0);
  for (long i = 0; i < n; ++i) world().context->dispose(world().context->adopt(spec));
}

// Steps whose tensors have a place each; what is made forward ends backward.
void steps(long n) {
  std::array<ebb_site, kStep.size()> sites{};
  for (std::size_t i = 0; i < sites.size(); ++i) {
    ebb_site_intern(("step:" + std::to_string(i)).c_str(), &sites[i]);
  }
  std::array<Handle, kStep.size()> made{};
  for (long step = 0; step < n; ++step) {
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = world().context->adopt(spec_of(kStep[i], sites[i]));
    }
    for (std::size_t i = made.size(); i-- > 0;) world().context->dispose(made[i]);
  }
}

Pair recorded_to_not(std::uint32_t mode) {
  const Measure recorded = [=] {
    const Recording recording(mode);
    return time_each(200'000, handle_pairs);
  };
  return measure_in_turns(recorded, [] { return time_each(200'000, handle_pairs); });
}

// In bursts that the recorder keeps up with: what is lost takes no room.
double bytes_an_event() {
  const Recording recording(EBB_RECORD_FULL);
  for (int burst = 0; burst < 200; ++burst) {
    steps(50);
    ebb_record_mark("burst");
  }
  ebb_record_info info = EBB_INIT(ebb_record_info);
  ebb_record_read(&info);
  if (info.lost != 0) throw Error(ErrorKind::kInternal, "events were lost");
  return static_cast<double>(info.bytes) / static_cast<double>(info.events);
}

int figures() {
  Figures figures("recording");
  figures.add("handle made and ended, in a recording of counters, to none (ns)",
              recorded_to_not(EBB_RECORD_COUNTERS), Goal::kAtMost, 1.05);
  figures.add("the same, all events recorded (ns)", recorded_to_not(EBB_RECORD_FULL), Goal::kAtMost,
              2);
  figures.add("bytes an event on disk, steps of a small network, to 5",
              measure_against(bytes_an_event, 5, 3), Goal::kAtMost, 1);
  return figures.write();
}

}  // namespace
}  // namespace ebb::bench

int main() {
  ebb::bench::figures();
  return 0;
}
