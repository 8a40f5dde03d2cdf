// A user's program: found, compiled and linked from an install prefix alone. It makes a tensor in a
// region under a budget, through C++ and through C, and holds the books against the law.
#include <cstring>

#include "ebb.h"
#include "ebb/ebb.hpp"

namespace {

void use_cpp() {
  ebb::Device& cpu = ebb::Device::open({.name = "cpu", .budget = ebb::parse_bytes("16MB")});
  ebb::ContextPtr context = ebb::Context::create({.name = "consumer"});
  {
    ebb::RegionScope scope(*context, 0, "step");
    const ebb::Handle tensor =
        context->make({.device = &cpu, .shape = {256, 256}, .region = scope.id()});
    const ebb::StorageRef memory = context->hold(tensor);
    std::memset(memory.data().data(), 1, memory.data().size());
  }
  ebb::Context::audit();
  EBB_CHECK(context->memory().books.ended[1] == 1);
  EBB_CHECK(cpu.in_use() == 0);
}

bool use_c() {
  ebb_context_options options{};
  options.size = sizeof(options);
  options.name = "consumer in C";
  ebb_context context = 0;
  ebb_device_options device_options{};
  device_options.size = sizeof(device_options);
  device_options.name = "cpu";
  device_options.kind = EBB_DEVICE_SYSTEM;
  ebb_device device = 0;
  const int64_t dims[] = {1024};
  ebb_handle handle = 0;
  ebb_region region = 0;
  if (ebb_context_create(&options, &context) != EBB_OK) return false;
  if (ebb_device_open(&device_options, &device) != EBB_OK) return false;
  if (ebb_region_open(context, 0, "step", &region) != EBB_OK) return false;
  const ebb_tensor_spec spec = {sizeof(spec), device, EBB_FLOAT32, 1, dims, region, 0, 0};
  return ebb_tensor_create(context, &spec, &handle) == EBB_OK &&
         ebb_region_close(context, region) == EBB_OK && ebb_audit() == EBB_OK &&
         ebb_context_destroy(context) == EBB_OK && ebb_device_close(device) == EBB_OK;
}

}  // namespace

int main() {
  use_cpp();
  return use_c() ? 0 : 1;
}
