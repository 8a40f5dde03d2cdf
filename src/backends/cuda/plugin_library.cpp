#include "backends/cuda/plugin_library.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "ebb/base/error.hpp"
#include "ebb/ops/table.hpp"
#include "ops/params/hash.hpp"

namespace ebb::cuda {
namespace {

constexpr const char* kFile = "libebb_cuda.so";

constinit std::atomic<const ebb_cuda_table*> current{nullptr};
std::mutex opening;

// Of the file that this function is in: libebb.so, a host's addon, a program.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0) return ".";
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash);
}

std::vector<std::string> places() {
  if (const char* given = std::getenv("EBB_CUDA_PLUGIN"); given != nullptr && *given != '\0') {
    return {given};
  }
  return {own_folder() + "/" + kFile, kFile};
}

const ebb_cuda_table* open_library() {
  std::string why;
  for (const std::string& path : places()) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      why += (why.empty() ? "" : "; ") + std::string(dlerror());
      continue;
    }
    const auto entry =
        reinterpret_cast<ebb_cuda_plugin_function>(dlsym(library, "ebb_cuda_plugin"));
    if (entry == nullptr) raise(ErrorKind::kUnsupported, "{} is no plug-in of Ebb's", path);
    const ebb_cuda_table* table = entry(EBB_CUDA_PLUGIN_VERSION);
    check_table(table, path);
    return table;
  }
  raise(ErrorKind::kUnsupported,
        "{} was not found ({}); build it with `make cuda` and put it beside Ebb's library, or name "
        "it "
        "in EBB_CUDA_PLUGIN",
        kFile, why);
}

}  // namespace

void check_table(const ebb_cuda_table* table, const std::string& where) {
  if (table == nullptr || table->version != EBB_CUDA_PLUGIN_VERSION ||
      table->size < sizeof(ebb_cuda_table)) {
    raise(ErrorKind::kUnsupported, "{} speaks another version of the boundary, {} is needed", where,
          EBB_CUDA_PLUGIN_VERSION);
  }
  constexpr std::uint64_t kOps = ops::table_hash();
  if (table->op_table_hash != kOps || table->params_hash != ops::kParamsHash) {
    raise(ErrorKind::kUnsupported,
          "{} was built from other sources than this library: its {} differ", where,
          table->op_table_hash != kOps ? "operations" : "parameters");
  }
}

const ebb_cuda_table& PluginLibrary::table() {
  if (const ebb_cuda_table* known = current.load(std::memory_order_acquire)) return *known;
  const std::lock_guard lock(opening);
  if (const ebb_cuda_table* known = current.load(std::memory_order_acquire)) return *known;
  const ebb_cuda_table* opened = open_library();
  current.store(opened, std::memory_order_release);
  return *opened;
}

void PluginLibrary::replace(const ebb_cuda_table* table) noexcept {
  current.store(table, std::memory_order_release);
}

}  // namespace ebb::cuda
