// The smallest use of Ebb from C++: a tensor that ends with its region, under a budget.
#include <cstdio>

#include "ebb/ebb.hpp"

int main() {
  ebb::Device& cpu = ebb::Device::open({.name = "cpu", .budget = ebb::parse_bytes("256MB")});
  ebb::ContextPtr context = ebb::Context::create({.name = "main"});
  {
    ebb::RegionScope step(*context, 0, "step");
    const ebb::Handle image =
        context->make({.device = &cpu, .shape = {224, 224, 3}, .region = step.id()});
    ebb::StorageRef memory = context->hold(image);
    std::printf("%zu bytes at hand\n", memory.data().size());
  }  // the image has ended with its region
  std::puts(ebb::report(context.get()).c_str());
  ebb::Context::audit();
}
