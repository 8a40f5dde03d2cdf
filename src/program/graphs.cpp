#include "program/graphs.hpp"

#include <algorithm>

#include "ebb/memory/device_link.hpp"
#include "ops/kernels.hpp"
#include "ops/recorder.hpp"
#include "program/graph_memory.hpp"

namespace ebb::programs {
namespace {

// Runs step by step before the first capture: a kernel that is tried out or loaded at its first use
// cannot be captured.
constexpr std::uint64_t kWarmUps = 2;
constexpr std::size_t kMostGraphs = 8;
constexpr std::uint32_t kMostBlocks = 3;  // of a place
// A capture costs many replays: it must be worth it.
constexpr std::uint64_t kFreeCaptures = 6, kRunsForACapture = 16;

// Records what this thread queues on a stream of its own, which no other thread's work can get into.
class CaptureScope {
 public:
  CaptureScope(Device& device, GraphMemory& memory)
      : heap_(*device.heap()), link_(*device.link()), stream_(heap_.create_stream()) {
    try {
      link_.begin_capture(stream_);
    } catch (...) {
      heap_.destroy_stream(stream_);
      throw;
    }
    ops::captured_memory = &memory;
  }
  ~CaptureScope() {
    try {
      if (open_) link_.drop(end());
    } catch (const Error&) {  // what was wrong is on its way to the caller
    }
    heap_.destroy_stream(stream_);
  }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

  StreamId stream() const noexcept { return stream_; }
  void* end() {
    open_ = false;
    ops::captured_memory = nullptr;
    return link_.end_capture(stream_);
  }

 private:
  Heap& heap_;
  DeviceLink& link_;
  StreamId stream_;
  bool open_ = true;
};

}  // namespace

Graphs::Graphs(const Plan& plan) : copied_(plan.outputs.size()) {
  if (!plan.graphs) why_not_ = "switched off";
  if (plan.random) why_not_ = "it draws random numbers";
  if (plan.steps.empty()) why_not_ = "it has no steps";
}

Graphs::~Graphs() { clear(); }

std::string Graphs::why_not() const {
  const std::lock_guard lock(mutex_);
  return why_not_;
}

void Graphs::wait() const noexcept {
  Heap& heap = *bound_->device.heap();
  heap.wait({bound_->stream, heap.submitted(bound_->stream)});
}

void Graphs::clear() noexcept {
  if (!bound_) return;
  if (!graphs_.empty()) wait();
  for (const Graph& each : graphs_) bound_->device.link()->drop(each.work);
  graphs_.clear();
  count_ = 0;
  results_.clear();
  memory_.reset();
  inputs_.clear();
  anchor_.reset();
  bound_.reset();
}

void Graphs::give_up(std::string why) noexcept {
  clear();
  why_not_ = std::move(why);
}

bool Graphs::fits(const ops::RunPlace& place, std::span<const Operand> given) const {
  if (bound_ && (bound_->context.id() != place.context.id() || &bound_->device != &place.device ||
                 bound_->stream != place.stream)) {
    return false;
  }
  return std::ranges::all_of(given, [&](const Operand& each) {
    return each.dense && &each.memory.device() == &place.device;
  });
}

bool Graphs::run(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given,
                 std::span<ops::OpResult> results) {
  DeviceLink* link = place.device.link();
  // A listener is told of operations; another capture is of the caller's own.
  if (link == nullptr || ops::recorder != nullptr || link->captures(place.stream)) return false;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !why_not_.empty() || ++runs_ <= kWarmUps) return false;
  const std::vector<Operand> held = take_given(plan, place.context, given);
  if (!fits(place, held)) return false;
  std::vector<const std::byte*> fixed = fixed_of(plan, held);
  Graph* graph = find(fixed);
  if (graph == nullptr) graph = capture(plan, place, given, std::move(fixed));
  if (graph == nullptr) return false;
  copy_inputs(held);
  for (std::size_t i = plan.fresh(); i < held.size(); ++i) {
    ops::use_on_stream(held[i].memory, place.stream);
  }
  link->replay(graph->work, place.stream);
  graph->used = runs_;
  hand_out(plan, place, given, *graph, results);
  return true;
}

std::vector<const std::byte*> Graphs::fixed_of(const Plan& plan,
                                               std::span<const Operand> given) const {
  std::vector<const std::byte*> fixed;
  fixed.reserve(given.size() - plan.fresh());
  for (const Operand& each : given.subspan(plan.fresh())) fixed.push_back(each.data);
  return fixed;
}

// One whose captured tensors are where they are now, and whose outputs nobody uses any more.
Graphs::Graph* Graphs::find(std::span<const std::byte* const> fixed) {
  for (Graph& each : graphs_) {
    if (!std::ranges::equal(each.fixed, fixed)) continue;
    const bool free = std::ranges::all_of(results_, [&](const Result& result) {
      return !result.made || memory_->is_free(result.place, each.alternative[result.place]);
    });
    if (free) return &each;
  }
  return nullptr;
}

// A free block for each place that has an output. False: some have too many already, all in use;
// their outputs are copied from now on.
bool Graphs::choose(std::vector<std::uint32_t>& alternative) {
  alternative.assign(memory_->places(), 0);
  bool found_all = true;
  for (std::size_t i = 0; i < results_.size(); ++i) {
    const Result& result = results_[i];
    if (!result.made) continue;
    std::uint32_t& block = alternative[result.place];
    while (block < memory_->blocks(result.place) && !memory_->is_free(result.place, block)) ++block;
    if (block < memory_->blocks(result.place)) continue;
    if (block < kMostBlocks) {
      memory_->add_block(result.place);
    } else {
      copied_[i] = 1;
      found_all = false;
    }
  }
  return found_all;
}

// What all graphs share: the place it is for, its memory, and copies of what is new in each run.
void Graphs::bind(const Plan& plan, const ops::RunPlace& place) {
  const Context& context = place.context;
  const auto make = [&](DType dtype, const Shape& shape) {
    return Tensor(
        context,
        context.make(
            {.device = &place.device, .dtype = dtype, .shape = shape, .stream = place.stream}));
  };
  bound_.emplace(Bound{context, place.device, place.stream});
  anchor_ = context.hold(make(DType::kUint8, Shape{1}).handle());
  memory_ = std::make_unique<GraphMemory>(context, place.device, place.stream);
  for (std::size_t i = 0; i < plan.fresh(); ++i) {
    const Likeness& like = plan.likeness[plan.given[i]];
    inputs_.push_back(make(like.dtype, like.shape));
  }
}

// Null: not worth it, or not possible; then the reason is kept.
Graphs::Graph* Graphs::capture(const Plan& plan, const ops::RunPlace& place,
                               std::span<const Handle> given, std::vector<const std::byte*> fixed) {
  if (captures_ >= kFreeCaptures + runs_ / kRunsForACapture) return nullptr;
  ++captures_;
  try {
    Graph graph{.work = nullptr, .fixed = std::move(fixed), .alternative = {}, .used = runs_};
    if (memory_ != nullptr && !choose(graph.alternative)) clear();
    if (memory_ == nullptr) {
      graph.alternative.clear();
      bind(plan, place);
    }
    if (graphs_.size() == kMostGraphs) drop_oldest();
    graphs_.reserve(kMostGraphs);
    record(plan, place, given, graph);
    graphs_.push_back(std::move(graph));
    count_ = graphs_.size();
    return &graphs_.back();
  } catch (const std::exception& error) {  // the steps may do it after all, or say the same
    give_up(error.what());
    return nullptr;
  }
}

void Graphs::record(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given,
                    Graph& graph) {
  std::vector<Handle> tensors(given.begin(), given.end());
  for (std::size_t i = 0; i < inputs_.size(); ++i) tensors[i] = inputs_[i].handle();
  for (const Constant& each : plan.constants) {
    ops::use_on_stream(place.context.hold(each.tensor.handle()), place.stream);
  }
  memory_->begin(graph.alternative);
  CaptureScope scope(place.device, *memory_);
  ops::RunPlace captured = place;
  captured.stream = scope.stream();
  PlanRun run(plan, captured, tensors);
  run.run();
  memory_->kept.clear();
  if (results_.empty()) learn_results(plan, run);
  graph.alternative.resize(memory_->places());
  graph.work = scope.end();
}

void Graphs::drop_oldest() noexcept {
  const auto oldest = std::ranges::min_element(graphs_, {}, &Graph::used);
  wait();
  bound_->device.link()->drop(oldest->work);
  graphs_.erase(oldest);
}

void Graphs::learn_results(const Plan& plan, const PlanRun& run) {
  std::vector<Result> results;
  for (std::size_t i = 0; i < plan.outputs.size(); ++i) {
    const Slot slot = plan.outputs[i];
    Result result{.slot = slot, .made = plan.is_made(slot), .copied = copied_[i] != 0};
    if (result.made) {
      const Handle handle = run.handle_of(slot);
      Operand seen;
      bound_->context.resolve({&handle, 1}, {&seen, 1}, "program_run");
      const std::byte* begin = seen.memory.data().data();
      result.place = memory_->place_at(begin);
      result.offset = static_cast<std::uint64_t>(seen.data - begin);
      if (!seen.dense || result.place == memory_->places()) {
        raise(ErrorKind::kUnsupported, "[program_run] a result is a part of another tensor");
      }
    }
    results.push_back(result);
  }
  results_ = std::move(results);
}

void Graphs::copy_inputs(std::span<const Operand> given) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Operand& from = given[i];
    Operand to;
    const Handle handle = inputs_[i].handle();
    bound_->context.resolve({&handle, 1}, {&to, 1}, "program_run");
    ops::use_on_stream(from.memory, bound_->stream);
    bound_->device.link()->copy(bound_->stream, to.data, from.data,
                                bytes_of(from.shape, size_of(from.dtype)));
  }
}

Tensor Graphs::result_of(const Result& result, const Plan& plan, const ops::RunPlace& place,
                         std::span<const Handle> given, const Graph& graph) const {
  const Context& context = place.context;
  if (!result.made) {
    const auto at = std::ranges::find(plan.given, result.slot);
    const Handle whole =
        at != plan.given.end()
            ? given[static_cast<std::size_t>(at - plan.given.begin())]
            : std::ranges::find(plan.constants, result.slot, &Constant::slot)->tensor.handle();
    return {context, context.share(whole, place.region)};
  }
  const Likeness& like = plan.likeness[result.slot];
  const TensorSpec spec{.device = &place.device,
                        .dtype = like.dtype,
                        .shape = like.shape,
                        .region = place.region,
                        .site = place.site,
                        .stream = place.stream};
  const Handle block = memory_->block(result.place, graph.alternative[result.place]).handle();
  if (!result.copied) return {context, context.view(block, result.offset, spec)};
  MadeTensor made = context.make_held(spec);
  Tensor copy(context, made.handle);
  place.device.link()->copy(place.stream, made.data,
                            context.hold(block).data().data() + result.offset,
                            bytes_of(like.shape, size_of(like.dtype)));
  return copy;
}

// Once a tensor is the caller's, nothing may throw.
void Graphs::hand_out(const Plan& plan, const ops::RunPlace& place, std::span<const Handle> given,
                      const Graph& graph, std::span<ops::OpResult> results) const {
  std::vector<Tensor> made;
  made.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Likeness& like = plan.likeness[plan.outputs[i]];
    made.push_back(result_of(results_[i], plan, place, given, graph));
    results[i] = {made.back().handle(), like.dtype, like.shape};
  }
  for (Tensor& each : made) static_cast<void>(each.release());
}

bool Graphs::let_go() {
  const std::lock_guard lock(mutex_);
  if (!bound_) return false;
  give_up("memory ran out");
  return true;
}

}  // namespace ebb::programs
