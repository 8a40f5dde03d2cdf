// The graphs of a plan, on a device that works on its own: a run is one launch, however many steps
// it has. README.md beside this says how the memory of a graph, which has one address for ever, goes
// together with tensors that come and go.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "program/plan_run.hpp"

namespace ebb::programs {

class GraphMemory;

class Graphs {
 public:
  explicit Graphs(const Plan& plan);
  // Waits for the replays under way.
  ~Graphs();
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  // False: nothing has happened, and the run goes step by step. Throws what take_given() throws,
  // OutOfMemory, and Error(kDevice).
  bool run(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given,
           std::span<ops::OpResult> results);

  // For whoever needs the memory. False: there was none.
  bool let_go();

  std::size_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  std::string why_not() const;

 private:
  // A graph, and what it was captured for.
  struct Graph {
    void* work = nullptr;
    std::vector<const std::byte*> fixed;     // where captured tensors and variables were
    std::vector<std::uint32_t> alternative;  // by place: which of its blocks it uses
    std::uint64_t used = 0;
  };
  // An output, as all graphs have it.
  struct Result {
    Slot slot = kNoSlot;
    bool made = false;    // by a step: it is a part of a place. Otherwise given, or a constant
    bool copied = false;  // callers keep it for long, and the place is needed again
    std::size_t place = 0;
    std::uint64_t offset = 0;
  };
  struct Bound {
    Context context;
    Device& device;
    StreamId stream;
  };

  bool fits(const ops::RunPlace& place, std::span<const Operand> given) const;
  std::vector<const std::byte*> fixed_of(const Plan& plan, std::span<const Operand> given) const;
  Graph* find(std::span<const std::byte* const> fixed);
  bool choose(std::vector<std::uint32_t>& alternative);
  void bind(const Plan& plan, const ops::RunPlace& place);
  Graph* capture(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given,
                 std::vector<const std::byte*> fixed);
  void record(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given,
              Graph& graph);
  void learn_results(const Plan& plan, const PlanRun& run);
  void copy_inputs(std::span<const Operand> given) const;
  Tensor result_of(const Result& result, const Plan& plan, const ops::RunPlace& place,
                   std::span<const Handle> given, const Graph& graph) const;
  void hand_out(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given,
                const Graph& graph, std::span<ops::OpResult> results) const;
  void drop_oldest() noexcept;
  void wait() const noexcept;
  void clear() noexcept;
  void give_up(std::string why) noexcept;

  mutable std::mutex mutex_;
  std::string why_not_;
  std::atomic<std::size_t> count_{0};
  std::optional<Bound> bound_;
  StorageRef anchor_;           // memory of the device, which does not close meanwhile
  std::vector<Tensor> inputs_;  // copies of what is new in each run, at one address
  std::unique_ptr<GraphMemory> memory_;
  std::vector<Result> results_;  // known with the first graph
  std::vector<char> copied_;     // by output; remembered when everything else is thrown away
  std::vector<Graph> graphs_;
  std::uint64_t runs_ = 0, captures_ = 0;
};

}  // namespace ebb::programs
