// Deletes PyTorch tensors many at a time. What a collection finds is cold: the handle, the tensor
// and its storage are a miss each, and each tells where the next one is. In a batch those of later
// tensors are fetched while earlier ones are deleted.
#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstring>
#include <string_view>

#include "jni_support.hpp"

namespace {

using namespace ebb_jni;

constexpr jint kBatch = 1024;  // Deletions.BATCH
constexpr jint kAhead = 4;     // tensors between one fetch and the next of the same tensor
constexpr int kLine = 64;
constexpr int kHeader = 16;  // what the C library keeps in front of a block
constexpr const char* kLibrary = "libdjl_torch.so";
constexpr const char* kDelete = "Java_ai_djl_pytorch_jni_PyTorchLibrary_torchDeleteTensor";

using Delete = void (*)(JNIEnv*, jobject, jlong);
std::atomic<jlong> found_delete = 0;  // an address is called only if it is this one

struct Loaded {
  std::string path;
  int copies = 0;
};

int look(dl_phdr_info* info, size_t, void* data) {
  auto& loaded = *static_cast<Loaded*>(data);
  if (std::string_view(info->dlpi_name).ends_with(kLibrary)) {
    loaded.path = info->dlpi_name;
    ++loaded.copies;
  }
  return 0;
}

// The address of DJL's function; 0 if there is none, or several (DJL in two class loaders).
jlong find_delete(JNIEnv*, jclass) {
  Loaded loaded;
  dl_iterate_phdr(look, &loaded);
  if (loaded.copies != 1) return 0;
  void* library = dlopen(loaded.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  const auto address = reinterpret_cast<jlong>(dlsym(library, kDelete));
  if (address != 0) found_delete = address;
  return address;
}

const char* pointed(const char* address) {
  const char* value = nullptr;
  std::memcpy(&value, address, sizeof value);
  return value;
}

void fetch(const char* block, int lines) {
  if (block == nullptr) return;
  for (int i = 0; i < lines; ++i) __builtin_prefetch(block - kHeader + i * kLine, 1);
}

// storage: where a tensor has its storage's address; less than 0 if that is not known. Either it throws
// and has deleted nothing, or none is left: what the engine says of one of them is lost with it.
void delete_all(JNIEnv* env, jclass, jlong function, jobject library, jlongArray handles,
                jint count, jint storage) {
  std::array<jlong, kBatch> given;
  if (!ebb_jni::given(env, library, "library") ||
      !allow(env, function != 0 && function == found_delete, "[ebb] not the engine's function") ||
      !allow(env, storage < 0 || is_storage_at(storage), "[ebb] no tensor has its storage there") ||
      !has_room(env, handles, count, kBatch, "handles")) {
    return;
  }
  env->GetLongArrayRegion(handles, 0, count, given.data());
  if (env->ExceptionCheck()) return;
  const auto handle = [&](jint i) { return reinterpret_cast<const char*>(given[i]); };
  const auto is_one = [&](jint i) { return i >= 0 && i < count && given[i] != 0; };
  for (jint i = -3 * kAhead; i < count; ++i) {
    const jint third = i + kAhead, second = i + 2 * kAhead, first = i + 3 * kAhead;
    if (is_one(first)) fetch(handle(first), 1);
    if (is_one(second)) fetch(pointed(handle(second)), 4);
    if (storage >= 0 && is_one(third)) {
      const char* tensor = pointed(handle(third));
      if (tensor != nullptr) fetch(pointed(tensor + storage), 2);
    }
    if (!is_one(i)) continue;
    reinterpret_cast<Delete>(function)(env, library, given[i]);
    if (env->ExceptionCheck()) env->ExceptionClear();
  }
}

}  // namespace

bool ebb_jni::register_deletes(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      method<find_delete>("findDelete", "()J"),
      method<delete_all>("deleteAll", "(JLjava/lang/Object;[JII)V"),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
