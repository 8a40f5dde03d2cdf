#include "backends/cpu/dnn_library.hpp"

#include <dlfcn.h>

#include <new>

#include "backends/cpu/team.hpp"
#include "ebb/base/error.hpp"

namespace ebb::cpu {
namespace {

void* open_library() {
  Team::load();
  if (void* library = dlopen("libdnnl.so.3", RTLD_NOW | RTLD_LOCAL)) {
    return library;
  }
  raise(ErrorKind::kUnsupported,
        "[oneDNN] libdnnl.so.3 could not be loaded ({}): keep it and libgomp.so.1 beside Ebb's "
        "library, as they are "
        "installed",
        dlerror());
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    raise(ErrorKind::kUnsupported, "[oneDNN] libdnnl.so.3 has no {}; Ebb needs oneDNN 3.2 or later",
          name);
  }
}

DnnLibrary load() {
  void* library = open_library();
  DnnLibrary dnn;
#define EBB_DNN_FIND(name) find(library, "dnnl_" #name, dnn.name);
  EBB_DNN_FUNCTIONS(EBB_DNN_FIND)
#undef EBB_DNN_FIND
  check_dnn(dnn.engine_create(&dnn.engine, dnnl_cpu, 0), "an engine");
  check_dnn(dnn.stream_create(&dnn.stream, dnn.engine, dnnl_stream_in_order), "a stream");
  return dnn;
}

}  // namespace

const DnnLibrary& dnn() {
  static const DnnLibrary loaded = load();
  return loaded;
}

void check_dnn(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) {
    return;
  }
  if (status == dnnl_out_of_memory) {
    throw std::bad_alloc();
  }
  raise(status == dnnl_unimplemented ? ErrorKind::kUnsupported : ErrorKind::kInternal,
        "[oneDNN] {} was refused with status {}", what, static_cast<int>(status));
}

}  // namespace ebb::cpu
