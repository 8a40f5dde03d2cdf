// How many elements a PyTorch tensor has, of which type, and how much memory is behind it, read
// where the tensor keeps them. Asking the engine takes two calls and an array each time, a third of
// what watching an array costs. Where these fields are differs between versions of PyTorch, so
// their places are found by looking at tensors that are known, and Java keeps comparing what is
// read with what the engine says.
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "jni_support.hpp"

namespace {

using namespace ebb_jni;

constexpr jint kFirst = 16;  // past the table of virtual functions and the counts of references
constexpr jint kLast = 184;  // no version's TensorImpl is smaller
constexpr jint kStorageAt[] = {16, 24};  // where a TensorImpl may have its StorageImpl's address
constexpr jint kLastInStorage = 72;
constexpr jint kNone = -1;

// A handle is the address of an at::Tensor, whose one member is the address of its TensorImpl.
const char* implementation(jlong handle) {
  const char* address = nullptr;
  std::memcpy(&address, reinterpret_cast<const void*>(handle), sizeof address);
  return address;
}

template <typename Value>
Value at(jlong handle, jint offset) {
  Value value;
  std::memcpy(&value, implementation(handle) + offset, sizeof value);
  return value;
}

std::vector<jlong> copy(JNIEnv* env, jlongArray from) {
  std::vector<jlong> to(static_cast<std::size_t>(env->GetArrayLength(from)));
  env->GetLongArrayRegion(from, 0, static_cast<jsize>(to.size()), to.data());
  return to;
}

// The one place where `matches` holds; none if there are several.
template <typename Matches>
jint only(jint step, Matches matches) {
  jint found = kNone;
  for (jint offset = kFirst; offset < kLast; offset += step) {
    if (!matches(offset)) continue;
    if (found != kNone) return kNone;
    found = offset;
  }
  return found;
}

jint find_elements(JNIEnv* env, jclass, jlongArray handles, jlongArray elements) {
  const std::vector<jlong> tensors = copy(env, handles), counts = copy(env, elements);
  return only(8, [&](jint offset) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (at<jlong>(tensors[i], offset) != counts[i]) return false;
    }
    return true;
  });
}

// Where tensors differ exactly if their types do.
jint find_type(JNIEnv* env, jclass, jlongArray handles, jlongArray types) {
  const std::vector<jlong> tensors = copy(env, handles), codes = copy(env, types);
  return only(2, [&](jint offset) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const bool same =
            at<std::uint16_t>(tensors[i], offset) == at<std::uint16_t>(tensors[j], offset);
        if (same != (codes[i] == codes[j])) return false;
      }
    }
    return true;
  });
}

// What stands at an address, if anything does.
std::optional<jlong> try_read(const char* address) {
  jlong value = 0;
  const iovec to{&value, sizeof value};
  const iovec from{const_cast<char*>(address), sizeof value};
  const bool whole = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof value;
  return whole ? std::optional(value) : std::nullopt;
}

// Where a tensor has its storage's address, << 16, and where that has its size.
jint find_storage_bytes(JNIEnv* env, jclass, jlongArray handles, jlongArray bytes) {
  const std::vector<jlong> tensors = copy(env, handles), sizes = copy(env, bytes);
  const auto fits = [&](jint storage, jint size) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (try_read(at<const char*>(tensors[i], storage) + size) != sizes[i]) return false;
    }
    return true;
  };
  for (const jint storage : kStorageAt) {
    for (jint size = kFirst; size < kLastInStorage; size += 8) {
      if (fits(storage, size)) return (storage << 16) | size;
    }
  }
  return kNone;
}

jlong storage_bytes(JNIEnv*, jclass, jlong handle, jint place) {
  const char* storage = at<const char*>(handle, place >> 16);
  jlong bytes = -1;
  if (storage != nullptr) std::memcpy(&bytes, storage + (place & 0xffff), sizeof bytes);
  return bytes;
}

// elements << 16 | type
jlong probe(JNIEnv*, jclass, jlong handle, jint elements, jint type) {
  return (at<jlong>(handle, elements) << 16) | at<std::uint16_t>(handle, type);
}

}  // namespace

bool ebb_jni::register_probe(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      method("findElements", "([J[J)I", find_elements),
      method("findType", "([J[J)I", find_type),
      method("findStorageBytes", "([J[J)I", find_storage_bytes),
      method("probe", "(JII)J", probe),
      method("storageBytes", "(JI)J", storage_bytes),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
