#include "backends/cuda/plugin/kernels/library_search.hpp"

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace ebb::cuda {
namespace {

constexpr std::array<std::string_view, 3> kUsualFolders{
    "/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu"};

std::vector<std::string> folders() {
  std::vector<std::string> made;
  const char* named = std::getenv("EBB_CUDA_LIBRARIES");
  std::string_view rest = named == nullptr ? "" : named;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) made.emplace_back(std::string(rest.substr(0, end)) + "/");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  made.emplace_back();  // as the loader finds it
  for (const std::string_view folder : kUsualFolders) made.emplace_back(std::string(folder) + "/");
  return made;
}

}  // namespace

OpenedLibrary open_library(std::span<const char* const> names) {
  OpenedLibrary opened;
  for (const std::string& folder : folders()) {
    for (const char* name : names) {
      opened.handle = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL);
      if (opened.handle != nullptr) return opened;
      // The loader's own words for the plain name say most.
      if (folder.empty()) opened.why += (opened.why.empty() ? "" : "; ") + std::string(dlerror());
    }
  }
  return opened;
}

}  // namespace ebb::cuda
