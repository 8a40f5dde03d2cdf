// Convolutions through the table of operations against oneDNN's primitive
// alone, in the layouts that oneDNN likes best and with nothing to reorder, and against PyTorch's in
// the layout that it likes best (torch_peer.hpp), where EBB_TORCH_PYTHON names a Python that has it.
#include <array>
#include <atomic>
#include <thread>

#include "backends/cpu/dnn_plan.hpp"
#include "support/figures.hpp"
#include "support/tensors.hpp"
#include "support/torch_peer.hpp"

namespace ebb::bench {
namespace {

struct Size {
  std::int64_t batch, side, in, out;
};

// A 3x3 convolution that keeps the sides, its arguments as oneDNN would lay them out.
class BareConvolution {
 public:
  BareConvolution(const Size& size, bool bias) : desc_(describe(size, bias)) {
    dnnl_primitive_t made = nullptr;
    cpu::check_dnn(cpu::dnn().primitive_create(&made, desc_.get()), "a primitive");
    primitive_.reset(made);
    for (const int id :
         {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS, DNNL_ARG_SCRATCHPAD}) {
      if (id != DNNL_ARG_BIAS || bias) add(id);
    }
  }
  void run() {
    cpu::dnn().primitive_execute(primitive_.get(), cpu::dnn().stream,
                                 static_cast<int>(arguments_.size()), arguments_.data());
  }

 private:
  static cpu::DnnPrimitiveDesc describe(const Size& s, bool bias) {
    const cpu::DnnDesc x = cpu::any_layout(std::array{s.batch, s.in, s.side, s.side});
    const cpu::DnnDesc w = cpu::any_layout(std::array<std::int64_t, 4>{s.out, s.in, 3, 3});
    const cpu::DnnDesc b = cpu::any_layout(std::array{s.out});
    const cpu::DnnDesc y = cpu::any_layout(std::array{s.batch, s.out, s.side, s.side});
    const std::array<std::int64_t, 2> ones{1, 1}, zeros{0, 0};
    const cpu::DnnAttributes attr = cpu::attributes();
    return cpu::describe("a convolution", cpu::dnn().convolution_forward_primitive_desc_create,
                         dnnl_forward_inference, dnnl_convolution_direct, x.get(), w.get(),
                         bias ? b.get() : nullptr, y.get(), ones.data(), zeros.data(), ones.data(),
                         ones.data(), attr.get());
  }
  void add(int id) {
    const_dnnl_memory_desc_t desc =
        id == DNNL_ARG_SCRATCHPAD
            ? cpu::dnn().primitive_desc_query_md(desc_.get(), dnnl_query_scratchpad_md, 0)
            : cpu::dnn().primitive_desc_query_md(desc_.get(), dnnl_query_exec_arg_md, id);
    const std::size_t bytes = cpu::dnn().memory_desc_get_size(desc);
    std::vector<float>& data = data_.emplace_back(bytes / sizeof(float) + 1, 0.5F);
    dnnl_memory_t made = nullptr;
    cpu::check_dnn(cpu::dnn().memory_create(&made, desc, cpu::dnn().engine, data.data()), "memory");
    memory_.emplace_back(made);
    arguments_.push_back({id, made});
  }

  cpu::DnnPrimitiveDesc desc_;
  cpu::DnnPrimitive primitive_;
  std::vector<std::vector<float>> data_;
  std::vector<cpu::DnnMemory> memory_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

class Convolution {
 public:
  Convolution(Bench& bench, const Size& s, bool fused)
      : bench_(bench),
        op_(fused ? ops::op_id("FusedConv2D") : ops::op_id("Conv2D")),
        inputs_{bench.tensor({s.batch, s.side, s.side, s.in}), bench.tensor({3, 3, s.in, s.out})} {
    const auto side = static_cast<double>(s.side);
    attributes_ = {2, 1, 1, 4, 1, 1, 1, 1, 2, 1, 1, 2, side, side, 0};
    if (!fused) return;
    inputs_.push_back(bench.tensor({s.out}));
    attributes_.insert(attributes_.end(), {1, 0});  // relu
  }
  void run() { bench_.run(op_, inputs_, attributes_); }

 private:
  Bench& bench_;
  ops::OpId op_;
  std::vector<Handle> inputs_;
  std::vector<double> attributes_;
};

void add(Figures& figures, const std::string& name, Bench& bench, const Size& size, bool fused,
         double goal) {
  Convolution ours(bench, size, fused);
  BareConvolution bare(size, fused);
  const auto once = [](auto& work) -> Measure {
    return [&work] { return time_each_on_wall(1, [&](long) { work.run(); }); };
  };
  figures.add(name, best_in_turns(once(ours), once(bare), 150), Goal::kAtMost, goal);
}

void add_torch(Figures& figures, Bench& bench) {
  Convolution work(bench, {32, 64, 3, 16}, false);
  add_to_torch(
      figures, "conv 32x64x64x3, 16 of 3x3, to PyTorch's (us)", [&] { work.run(); },
      {"x, w = (torch.rand(each).to(memory_format=torch.channels_last)\n"
       "        for each in ((32, 3, 64, 64), (16, 3, 3, 3)))",
       "torch.conv2d, x, w, padding=1", 10},
      1.0);
}

// One core that does something else.
class BusyCore {
 public:
  BusyCore()
      : thread_([this] {
          while (!stop_.load(std::memory_order_relaxed)) {
          }
        }) {}
  ~BusyCore() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A team that waits by spinning takes eight times as long.
void add_busy(Figures& figures, Bench& bench) {
  Convolution work(bench, {8, 56, 64, 64}, true);
  const Measure quiet = [&] {
    return time_each_on_wall(5, [&](long n) {
      for (long i = 0; i < n; ++i) work.run();
    });
  };
  const Measure busy = [&] {
    const BusyCore core;
    return quiet();
  };
  figures.add("the same with one core busy elsewhere / without, ns", measure_in_turns(busy, quiet),
              Goal::kAtMost, 2.5);
}

int main_of_convolutions() {
  Bench bench;
  Figures figures("convolutions");
  add(figures, "conv 8x56x56x64, 64 of 3x3, bias, relu / bare oneDNN, ns", bench, {8, 56, 64, 64},
      true, 1.1);
  add_busy(figures, bench);
  add(figures, "conv 32x64x64x3, 16 of 3x3 / bare oneDNN, ns", bench, {32, 64, 3, 16}, false, 1.1);
  add_torch(figures, bench);
  return figures.write();
}

}  // namespace
}  // namespace ebb::bench

int main() { ebb::bench::main_of_convolutions(); }
