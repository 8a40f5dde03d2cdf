#include "backends/cuda/plugin/libraries.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <sstream>
#include <vector>

#include "backends/cuda/plugin/kernel.hpp"

namespace ebb::cuda {
namespace {

std::string folder_of_the_plug_in() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&folder_of_the_plug_in), &info) == 0) return ".";
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash);
}

std::vector<std::string> places(const std::string& file) {
  std::vector<std::string> paths{folder_of_the_plug_in() + "/" + file};
  if (const char* given = std::getenv("EBB_CUDA_LIBRARIES")) {
    std::istringstream folders(given);
    for (std::string folder; std::getline(folders, folder, ':');)
      paths.push_back(folder + "/" + file);
  }
  paths.push_back(file);
  paths.push_back("/usr/local/cuda/lib64/" + file);
  return paths;
}

}  // namespace

Library::Library(std::string file, std::string how_to_get_it)
    : file_(std::move(file)), how_to_get_it_(std::move(how_to_get_it)) {
  for (const std::string& path : places(file_)) {
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    if (path == file_) why_ = dlerror();
  }
}

void* Library::find(const char* name) const {
  if (handle_ == nullptr) {
    throw Failure{EBB_CUDA_MISSING, file_ + " was not found (" + why_ + "); " + how_to_get_it_};
  }
  void* found = dlsym(handle_, name);
  if (found == nullptr) {
    throw Failure{EBB_CUDA_MISSING, file_ + " has no " + name + "; " + how_to_get_it_};
  }
  return found;
}

const Library& cublas_lt() {
  static const Library library("libcublasLt.so.13",
                               "install CUDA 13's cuBLAS (package libcublas-13-0, or PyPI's "
                               "nvidia-cublas with its folder in "
                               "EBB_CUDA_LIBRARIES)");
  return library;
}

const Library& cudnn() {
  static const Library library(
      "libcudnn.so.9",
      "install cuDNN 9 for CUDA 13 (package cudnn9-cuda-13, or PyPI's nvidia-cudnn-cu13 with its "
      "folder in EBB_CUDA_LIBRARIES)");
  return library;
}

}  // namespace ebb::cuda
