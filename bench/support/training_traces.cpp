#include "support/training_traces.hpp"

#include <algorithm>
#include <array>

namespace ebb::bench {
namespace {

constexpr std::size_t kFloat = 4;

class Tape {
 public:
  explicit Tape(std::string name) { trace_.name = std::move(name); }

  std::uint32_t make(std::size_t elements) {
    const std::uint32_t id = trace_.tensors++;
    trace_.calls.push_back({id, std::max<std::size_t>(elements, 1) * kFloat});
    return id;
  }
  void end(std::uint32_t id) { trace_.calls.push_back({id, 0}); }
  void end_all(std::vector<std::uint32_t>& ids) {
    while (!ids.empty()) {
      end(ids.back());
      ids.pop_back();
    }
  }
  void steady() { trace_.steady_from = trace_.calls.size(); }
  TrainingTrace take() { return std::move(trace_); }

 private:
  TrainingTrace trace_;
};

// One layer as the allocator sees it, in elements for one example.
struct Layer {
  std::size_t weights;
  std::size_t bias;
  std::vector<std::size_t> kept;  // activations that the way back needs
  std::size_t output;
  std::size_t workspace;
};

// Forward keeps activations, backward frees them in reverse while weight gradients pile up; the
// update needs a temporary or two for each weight.
void step(Tape& tape, const std::vector<Layer>& layers, std::size_t batch) {
  const std::uint32_t input = tape.make(layers[0].kept[0] * batch);
  std::vector<std::vector<std::uint32_t>> kept(layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::uint32_t workspace = tape.make(layers[i].workspace * batch);
    for (const std::size_t elements : layers[i].kept)
      kept[i].push_back(tape.make(elements * batch));
    tape.end(workspace);
  }
  const std::uint32_t loss = tape.make(1);
  std::vector<std::uint32_t> gradients;
  std::uint32_t flowing = tape.make(layers.back().output * batch);
  for (std::size_t i = layers.size(); i-- > 0;) {
    const std::uint32_t workspace = tape.make(layers[i].workspace * batch);
    gradients.push_back(tape.make(layers[i].weights));
    gradients.push_back(tape.make(layers[i].bias));
    const std::uint32_t next = tape.make(layers[i].kept[0] * batch);
    tape.end(workspace);
    tape.end(flowing);
    tape.end_all(kept[i]);
    flowing = next;
  }
  tape.end(flowing);
  for (const Layer& layer : layers) {
    const std::uint32_t scaled = tape.make(layer.weights);
    const std::uint32_t root = tape.make(layer.weights);
    tape.end(scaled);
    tape.end(root);
  }
  tape.end_all(gradients);
  tape.end(loss);
  tape.end(input);
}

void parameters(Tape& tape, const std::vector<Layer>& layers, int copies) {
  for (const Layer& layer : layers) {
    for (int copy = 0; copy < copies; ++copy) {
      tape.make(layer.weights);
      tape.make(layer.bias);
    }
  }
}

void epochs(Tape& tape, const std::vector<Layer>& layers, std::size_t batch, std::size_t last) {
  for (int epoch = 0; epoch < 6; ++epoch) {
    if (epoch == 3) tape.steady();
    for (int i = 0; i < 20; ++i) step(tape, layers, batch);
    step(tape, layers, last);
  }
}

std::vector<Layer> transformer(std::size_t length) {
  constexpr std::size_t kWidth = 256;
  constexpr std::size_t kHeads = 8;
  const std::size_t hidden = length * kWidth;
  const std::size_t scores = kHeads * length * length;
  std::vector<Layer> layers;
  for (int i = 0; i < 4; ++i) {
    layers.push_back({kWidth * kWidth * 4,
                      kWidth * 4,
                      {hidden, 3 * hidden, scores, scores, hidden},
                      hidden,
                      scores});
    layers.push_back(
        {kWidth * kWidth * 8, kWidth * 5, {hidden, 4 * hidden, 4 * hidden}, hidden, hidden});
  }
  return layers;
}

}  // namespace

TrainingTrace mlp_trace() {
  std::vector<Layer> layers;
  const std::array<std::size_t, 5> widths{784, 1024, 1024, 512, 10};
  for (std::size_t i = 0; i + 1 < widths.size(); ++i)
    layers.push_back(
        {widths[i] * widths[i + 1], widths[i + 1], {widths[i], widths[i + 1]}, widths[i + 1], 64});
  Tape tape("MLP");
  parameters(tape, layers, 3);
  epochs(tape, layers, 128, 96);
  return tape.take();
}

TrainingTrace conv_net_trace() {
  std::vector<Layer> layers;
  const std::array<std::size_t, 9> channels{3, 32, 32, 64, 64, 128, 128, 256, 256};
  std::size_t side = 64;
  for (std::size_t i = 0; i + 1 < channels.size(); ++i) {
    const std::size_t in = channels[i] * side * side;
    if (i % 2 == 1) side /= 2;
    const std::size_t out = channels[i + 1] * side * side;
    layers.push_back({channels[i] * channels[i + 1] * 9,
                      channels[i + 1],
                      {in, out, out},
                      out,
                      channels[i] * 9 * side * side / 4});
  }
  layers.push_back({256 * 16 * 100, 100, {256 * 16}, 100, 64});
  Tape tape("conv net");
  parameters(tape, layers, 2);
  epochs(tape, layers, 32, 17);
  return tape.take();
}

TrainingTrace growing_lengths_trace() {
  Tape tape("growing sequence lengths");
  parameters(tape, transformer(1), 3);
  for (int cycle = 0; cycle < 2; ++cycle) {
    if (cycle == 1) tape.steady();
    for (std::size_t length = 16; length <= 384; length += 8) step(tape, transformer(length), 8);
  }
  return tape.take();
}

}  // namespace ebb::bench
