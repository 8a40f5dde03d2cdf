// What strided views save: each chain of operations as it runs, against the same with every view
// copied to memory of its own first.
#include <vector>

#include "ebb/ops/run.hpp"
#include "support/figures.hpp"

namespace ebb::bench {
namespace {

using ops::op_id;
using ops::OpId;

// Whether views are left as they are, or made dense at once.
enum class Views : std::uint8_t { kStrided, kCopied };

class World {
 public:
  Handle tensor(const Shape& shape, DType dtype = DType::kFloat32) {
    const Handle made = context_->make({.device = &cpu_, .dtype = dtype, .shape = shape});
    const std::vector<float> values(bytes_of(shape, size_of(dtype)) / sizeof(float), 0.5f);
    ops::write(*context_, made, std::as_bytes(std::span(values)));
    return made;
  }
  Handle run(OpId op, std::initializer_list<Handle> inputs, std::vector<double> attributes = {}) {
    ops::OpResult result;
    ops::run({*context_, cpu_}, op, {inputs.begin(), inputs.size()}, attributes, {&result, 1});
    return result.handle;
  }
  Handle view(Views views, OpId op, Handle input, std::vector<double> attributes = {}) {
    const Handle made = run(op, {input}, std::move(attributes));
    if (views == Views::kCopied) {
      Operand operand;
      context_->resolve({&made, 1}, {&operand, 1}, "bench");
      context_->make_dense(made, operand);
    }
    return made;
  }
  void end(std::initializer_list<Handle> handles) {
    for (const Handle each : handles) context_->dispose(each);
  }

 private:
  Device& cpu_ = Device::open({.name = "views bench"});
  ContextPtr context_ = Context::create({.name = "views bench"});
};

// Microseconds each way; Work(views) is one round.
template <typename Work>
void compare(Figures& figures, const char* name, Goal goal, double limit, Work work) {
  const auto timed = [&](Views views) {
    return [&work, views] {
      return time_each_on_wall(10,
                               [&](long n) {
                                 for (long i = 0; i < n; ++i) work(views);
                               }) /
             1000;
    };
  };
  figures.add(name, measure_in_turns(timed(Views::kStrided), timed(Views::kCopied)), goal, limit);
}

void chains(World& world, Figures& figures) {
  const Handle x = world.tensor({1024, 1024}), y = world.tensor({1024, 1024});
  const Handle z = world.tensor({1 << 20}, DType::kComplex64);
  const std::vector<double> turn{2, 1, 0};
  compare(figures, "transposed 1024x1024 + dense, to a copied transpose (us)", Goal::kAtMost, 1.0,
          [&](Views views) {
            const Handle turned = world.view(views, op_id("Transpose"), x, turn);
            world.end({world.run(op_id("Add"), {turned, y}), turned});
          });
  compare(figures, "matmul 256x1024 by transposed 1024x1024, to a copied transpose (us)",
          Goal::kAtMost, 1.0, [&, a = world.tensor({256, 1024})](Views views) {
            const Handle turned = world.view(views, op_id("Transpose"), x, turn);
            world.end({world.run(op_id("BatchMatMul"), {a, turned}, {0, 0}), turned});
          });
  compare(figures, "real + imag of 1M, to copied parts (us)", Goal::kAtMost, 1.0, [&](Views views) {
    const Handle real = world.view(views, op_id("Real"), z);
    const Handle imag = world.view(views, op_id("Imag"), z);
    world.end({world.run(op_id("Add"), {real, imag}), real, imag});
  });
  compare(figures, "relu of 768 of 1024 columns, to a copied slice (us)", Goal::kAtMost, 1.0,
          [&](Views views) {
            const Handle part = world.view(views, op_id("Slice"), x, {2, 0, 128, 2, 1024, 768});
            world.end({world.run(op_id("Relu"), {part}), part});
          });
  compare(figures, "sum of rows of a transposed 1024x1024, to a copied transpose (us)",
          Goal::kAtMost, 1.0, [&](Views views) {
            const Handle turned = world.view(views, op_id("Transpose"), x, turn);
            world.end({world.run(op_id("Sum"), {turned}, {1, 1, 0}), turned});
          });
}

}  // namespace
}  // namespace ebb::bench

int main() {
  ebb::bench::World world;
  ebb::bench::Figures figures("views");
  ebb::bench::chains(world, figures);
  return figures.write();
}
