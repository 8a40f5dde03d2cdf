#include "cuda/training.hpp"

namespace ebb::bench {
namespace {

using Dims = std::vector<std::int64_t>;

constexpr auto kLinear = ops::Activation::kLinear;
constexpr auto kRelu = ops::Activation::kRelu;
constexpr std::int64_t kClasses = 10;

std::int64_t count_of(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  return count;
}

// Hands out the parts of a list of parameters, in order. They are views.
class Parts {
 public:
  explicit Parts(const Tensor& all) : all_(all) {}
  Tensor next(const Dims& dims) {
    const Tensor part = ops::slice(all_, {at_}, {count_of(dims)});
    at_ += count_of(dims);
    return ops::reshape(part, dims);
  }

 private:
  const Tensor& all_;
  std::int64_t at_ = 0;
};

Tensor joined(const std::vector<Tensor>& parts) {
  std::vector<Tensor> flat;
  flat.reserve(parts.size());
  for (const Tensor& part : parts) {
    flat.push_back(ops::reshape(part, {static_cast<std::int64_t>(part.shape().elements())}));
  }
  return ops::concat(flat);
}

Tensor layer(const Tensor& x, const Tensor& weights, const Tensor& bias,
             ops::Activation activation) {
  return ops::fused_mat_mul(x, weights, {.bias = bias, .activation = activation});
}

// weights + x' times the gradient; the gradient carries -rate.
Tensor updated(const Tensor& x, const Tensor& gradient, const Tensor& weights) {
  return ops::fused_mat_mul(x, gradient, {.bias = weights, .transpose_a = true});
}

// bias + the sum of the gradient's rows.
Tensor updated_bias(const Tensor& ones, const Tensor& gradient, const Tensor& bias) {
  return ops::fused_mat_mul(ones, gradient, {.bias = bias});
}

// The gradient of what went into a relu whose result was `result`.
Tensor through_relu(const Tensor& gradient, const Tensor& result) {
  return gradient * ops::step(result);
}

struct Head {
  Tensor loss;
  Tensor gradient;  // of the logits, times -rate
};

Head cross_entropy(const Tensor& logits, const TrainingBatch& batch) {
  const Tensor log_softmax = ops::log_softmax(logits);
  Head head;
  head.loss = ops::sum(log_softmax * batch.loss_labels, {0, 1});
  head.gradient = ops::exp(log_softmax) * batch.pull + batch.pull_labels;
  return head;
}

Tensor normal(const Dims& dims, double deviation, double seed) {
  return ops::random_normal(dims, {.standard_deviation = deviation, .seed = seed});
}

Tensor zeros(const Dims& dims) { return ops::fill(dims, 0, DType::kFloat32); }
Tensor ones(std::int64_t count) { return ops::fill({1, count}, 1, DType::kFloat32); }

const Dims kTwo{2, 2};

Tensor convolved(const Tensor& x, const Tensor& filter, const Tensor& bias, std::int64_t side) {
  return ops::fused_conv2d(x, filter,
                           {.bias = bias, .output_size = {side, side}, .activation = kRelu});
}
Tensor pooled(const Tensor& x, std::int64_t side) {
  return ops::max_pool(x, kTwo, {.strides = kTwo, .output_size = {side, side}});
}
Tensor through_pool(const Tensor& gradient, const Tensor& x) {
  return ops::max_pool_grad(gradient, x, kTwo, {.strides = kTwo});
}
Tensor filter_gradient(const Tensor& x, const Tensor& gradient, const Dims& filter) {
  return ops::conv2d_backprop_filter(x, gradient, filter);
}

}  // namespace

TrainingBatch make_batch(std::int64_t size, const Dims& image, double rate, double seed) {
  Dims dims{size};
  dims.insert(dims.end(), image.begin(), image.end());
  const auto share = 1.0 / static_cast<double>(size);
  TrainingBatch batch;
  batch.images = ops::random_uniform(dims, {.seed = seed});
  const Tensor labels =
      ops::cast(ops::random_uniform({size}, {.high = kClasses, .seed = seed + 1}), DType::kInt32);
  batch.loss_labels =
      ops::one_hot(labels, kClasses, {.on_value = -share, .dtype = DType::kFloat32});
  batch.pull_labels =
      ops::one_hot(labels, kClasses, {.on_value = rate * share, .dtype = DType::kFloat32});
  batch.pull = ops::fill({}, -rate * share, DType::kFloat32);
  batch.ones = ones(size);
  return batch;
}

Tensor DenseNet::initial(double seed) {
  return joined({normal({784, 128}, 0.05, seed), zeros({1, 128}), normal({128, 64}, 0.12, seed + 1),
                 zeros({1, 64}), normal({64, kClasses}, 0.17, seed + 2), zeros({1, kClasses})});
}

StepResult DenseNet::step(const Tensor& parameters, const TrainingBatch& batch) {
  Parts parts(parameters);
  const Tensor w1 = parts.next({784, 128});
  const Tensor b1 = parts.next({1, 128});
  const Tensor w2 = parts.next({128, 64});
  const Tensor b2 = parts.next({1, 64});
  const Tensor w3 = parts.next({64, kClasses});
  const Tensor b3 = parts.next({1, kClasses});

  const Tensor h1 = layer(batch.images, w1, b1, kRelu);
  const Tensor h2 = layer(h1, w2, b2, kRelu);
  const Head head = cross_entropy(layer(h2, w3, b3, kLinear), batch);

  const Tensor& d3 = head.gradient;
  const Tensor d2 = through_relu(ops::batch_mat_mul(d3, w3, {.transpose_b = true}), h2);
  const Tensor d1 = through_relu(ops::batch_mat_mul(d2, w2, {.transpose_b = true}), h1);
  return {joined({updated(batch.images, d1, w1), updated_bias(batch.ones, d1, b1),
                  updated(h1, d2, w2), updated_bias(batch.ones, d2, b2), updated(h2, d3, w3),
                  updated_bias(batch.ones, d3, b3)}),
          head.loss};
}

Tensor ConvNet::initial(double seed) {
  return joined({normal({5, 5, 1, 8}, 0.2, seed), zeros({8}), normal({5, 5, 8, 16}, 0.07, seed + 1),
                 zeros({16}), normal({256, kClasses}, 0.06, seed + 2), zeros({1, kClasses})});
}

StepResult ConvNet::step(const Tensor& parameters, const TrainingBatch& batch) {
  const std::int64_t size = batch.images.shape().dims()[0];
  Parts parts(parameters);
  const Tensor f1 = parts.next({5, 5, 1, 8});
  const Tensor b1 = parts.next({8});
  const Tensor f2 = parts.next({5, 5, 8, 16});
  const Tensor b2 = parts.next({16});
  const Tensor w3 = parts.next({256, kClasses});
  const Tensor b3 = parts.next({1, kClasses});

  const Tensor c1 = convolved(batch.images, f1, b1, 24);
  const Tensor p1 = pooled(c1, 12);
  const Tensor c2 = convolved(p1, f2, b2, 8);
  const Tensor flat = ops::reshape(pooled(c2, 4), {size, 256});
  const Head head = cross_entropy(layer(flat, w3, b3, kLinear), batch);

  const Tensor& d3 = head.gradient;
  const Tensor to_pool =
      ops::reshape(ops::batch_mat_mul(d3, w3, {.transpose_b = true}), {size, 4, 4, 16});
  const Tensor d2 = through_relu(through_pool(to_pool, c2), c2);
  const Tensor to_first = ops::conv2d_backprop_input(d2, f2, {size, 12, 12, 8});
  const Tensor d1 = through_relu(through_pool(to_first, c1), c1);
  return {
      joined({f1 + filter_gradient(batch.images, d1, {5, 5, 1, 8}), b1 + ops::sum(d1, {0, 1, 2}),
              f2 + filter_gradient(p1, d2, {5, 5, 8, 16}), b2 + ops::sum(d2, {0, 1, 2}),
              updated(flat, d3, w3), updated_bias(batch.ones, d3, b3)}),
      head.loss};
}

}  // namespace ebb::bench
