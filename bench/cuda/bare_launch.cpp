#include "cuda/bare_launch.hpp"

#include <dlfcn.h>

#include <chrono>

namespace ebb::bench {
namespace {

constexpr const char* kNothing =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing()\n{\n  ret;\n}\n";

// The driver's functions by hand: its header is not needed to build the benchmarks.
struct Driver {
  int (*init)(unsigned);
  int (*device_get)(int*, int);
  int (*context_retain)(void**, int);
  int (*context_set)(void*);
  int (*module_load)(void**, const void*);
  int (*function_get)(void**, void*, const char*);
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
  int (*wait)(void*);
  int (*stream_create)(void**, unsigned);
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::optional<Driver> driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return std::nullopt;
  Driver d{};
  const bool all = find(library, "cuInit", d.init) && find(library, "cuDeviceGet", d.device_get) &&
                   find(library, "cuDevicePrimaryCtxRetain", d.context_retain) &&
                   find(library, "cuCtxSetCurrent", d.context_set) &&
                   find(library, "cuModuleLoadData", d.module_load) &&
                   find(library, "cuModuleGetFunction", d.function_get) &&
                   find(library, "cuLaunchKernel", d.launch) &&
                   find(library, "cuStreamSynchronize", d.wait) &&
                   find(library, "cuStreamCreate", d.stream_create);
  if (!all) return std::nullopt;
  return d;
}

}  // namespace

std::optional<double> bare_launch_us(int times) {
  const std::optional<Driver> d = driver();
  int device = 0;
  void* context = nullptr;
  void* module = nullptr;
  void* function = nullptr;
  void* stream = nullptr;
  constexpr unsigned kNonBlocking = 1;
  if (!d || d->init(0) != 0 || d->device_get(&device, 0) != 0 ||
      d->context_retain(&context, device) != 0 || d->context_set(context) != 0 ||
      d->module_load(&module, kNothing) != 0 ||
      d->function_get(&function, module, "nothing") != 0 ||
      d->stream_create(&stream, kNonBlocking) != 0) {
    return std::nullopt;
  }
  const auto run = [&](int n) {
    for (int i = 0; i < n; ++i) {
      d->launch(function, 1, 1, 1, 32, 1, 1, 0, stream, nullptr, nullptr);
    }
    d->wait(stream);
  };
  run(times);
  const auto begin = std::chrono::steady_clock::now();
  run(times);
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  return took.count() / times;
}

}  // namespace ebb::bench
