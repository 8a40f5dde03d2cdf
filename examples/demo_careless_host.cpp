// A careless host: a training program in a garbage-collected language that drops its tensors and
// never disposes of one, on a simulated device with a budget. With reclaim off it ends in an error
// that names the places which hold the memory; with reclaim on it runs to the end.
//
// `make demo` runs it. It draws both curves here and into build/demo/careless.svg.
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>

#include "curves.hpp"
#include "ebb/ebb.hpp"

namespace {

constexpr std::uint64_t kBudget = std::uint64_t{192} << 20;
constexpr std::size_t kSteps = 300;
constexpr std::size_t kHistory = 10;  // steps whose loss the program keeps for its plot

// What a tensor is to the program: a small object that names device memory. The collector owns it.
using TensorObject = std::shared_ptr<const ebb::Handle>;

// A generational collector in miniature. Like V8 it looks at young objects when there are many of
// them, and at old ones when somebody insists; until then a dead object is simply not noticed.
class CollectedHeap final : public ebb::Host {
 public:
  TensorObject allocate(ebb::Handle handle) {
    if (young_.size() == kNursery) collect(ebb::Collection::kMinor);
    auto object = std::make_shared<const ebb::Handle>(handle);
    young_.push_back({object, handle});
    return object;
  }

  bool can_collect() const override { return true; }
  std::uint64_t collect(ebb::Collection kind) override {
    notice_dead(young_);
    std::move(young_.begin(), young_.end(), std::back_inserter(old_));
    young_.clear();
    if (kind == ebb::Collection::kMajor) notice_dead(old_);
    return 0;  // Ebb measures
  }

 private:
  static constexpr std::size_t kNursery = 200;

  struct Entry {
    std::weak_ptr<const ebb::Handle> object;
    ebb::Handle handle;
  };

  // The death notice is all that a host has to give.
  static void notice_dead(std::vector<Entry>& entries) {
    std::erase_if(entries, [](const Entry& entry) {
      if (!entry.object.expired()) return false;
      ebb::Context::orphan(entry.handle);
      return true;
    });
  }

  std::vector<Entry> young_, old_;
};

// The program. Nothing in it ends a tensor.
class Training {
 public:
  explicit Training(ebb::Device& device)
      : device_(device), context_(ebb::Context::create({.name = "training", .host = &heap_})) {
    for (auto& layer : weights_) layer = make({512, 512}, "model (model.js:8)");
  }

  void step() {
    const TensorObject batch = make({64, 28, 28}, "nextBatch (data.js:21)");
    TensorObject activation = batch;
    for (int layer = 0; layer < 4; ++layer) {
      activation = make({64, 512}, "forward (model.js:17)");
    }
    for (std::size_t layer = 0; layer < weights_.size(); ++layer) {
      make({256, 256}, "backward (train.js:30)");  // the gradient: applied, and dropped
    }
    losses_.push_back(make({64, 128}, "loss (train.js:34)"));
    if (losses_.size() > kHistory) losses_.pop_front();
  }

  ebb::MemoryReading memory() { return context_->memory(); }

 private:
  TensorObject make(ebb::Shape shape, std::string_view site) {
    return heap_.allocate(context_->make(
        {.device = &device_, .shape = shape, .site = ebb::SiteTable::instance().intern(site)}));
  }

  ebb::Device& device_;
  CollectedHeap heap_;
  ebb::ContextPtr context_;
  std::array<TensorObject, 4> weights_;
  std::deque<TensorObject> losses_;
};

void print_progress(std::size_t step, const ebb::Device& device) {
  if (step % 50 != 0) return;
  std::printf("  step %3zu  %8s in use\n", step, ebb::format_bytes(device.in_use()).c_str());
}

void print_end(const ebb::MemoryReading& memory) {
  const ebb::Books& books = memory.books;
  std::printf(
      "  %llu tensors made, %llu live, %llu reclaimed; Ebb asked for %llu minor and %llu "
      "major collections\n\n",
      static_cast<unsigned long long>(books.created), static_cast<unsigned long long>(books.live),
      static_cast<unsigned long long>(books.ended[2]),
      static_cast<unsigned long long>(memory.collections.minor),
      static_cast<unsigned long long>(memory.collections.major));
}

Curve run(bool reclaim, ebb::Device& device) {
  Curve curve =
      reclaim ? Curve{"reclaim on", "blue", '+', {}, ""} : Curve{"reclaim off", "red", 'o', {}, ""};
  std::printf("%s, budget %s\n", curve.name.c_str(), ebb::format_bytes(kBudget).c_str());
  ebb::set_reclaim(reclaim);
  Training training(device);
  try {
    for (std::size_t step = 0; step < kSteps; ++step) {
      training.step();
      curve.bytes.push_back(device.in_use());
      print_progress(step + 1, device);
    }
  } catch (const ebb::OutOfMemory& error) {
    curve.end = fmt::format("out of memory at step {}", curve.bytes.size() + 1);
    std::printf("  step %3zu  %s\n", curve.bytes.size() + 1, error.what());
  }
  print_end(training.memory());
  ebb::Context::audit();
  return curve;
}

}  // namespace

int main() {
  ebb::Device& device = ebb::Device::open({.kind = ebb::DeviceKind::kSimulated,
                                           .name = "simulated device",
                                           .capacity = 2 * kBudget,
                                           .budget = kBudget});
  Chart chart{"A program that never disposes of a tensor", kBudget, kSteps, {}};
  chart.curves.push_back(run(false, device));
  chart.curves.push_back(run(true, device));
  std::puts(TextChart(chart).draw().c_str());

  const std::filesystem::path picture = "build/demo/careless.svg";
  std::filesystem::create_directories(picture.parent_path());
  std::ofstream(picture) << SvgChart(chart).draw();
  std::printf("both curves: %s\n", picture.c_str());
  const bool as_expected = !chart.curves[0].end.empty() && chart.curves[1].end.empty();
  return as_expected ? 0 : 1;
}
