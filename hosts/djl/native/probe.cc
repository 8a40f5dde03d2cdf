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

// What stands at an address, if anything does.
template <typename Value>
std::optional<Value> try_read(const char* address) {
  Value value;
  const iovec to{&value, sizeof value};
  const iovec from{const_cast<char*>(address), sizeof value};
  const bool whole = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof value;
  return whole ? std::optional(value) : std::nullopt;
}

// The same of a tensor that may be none.
template <typename Value>
std::optional<Value> try_at(jlong handle, jint offset) {
  const auto address = try_read<const char*>(reinterpret_cast<const char*>(handle));
  return address ? try_read<Value>(*address + offset) : std::nullopt;
}

// Tensors, and what is known of each.
struct Known {
  std::vector<jlong> tensors, values;
};

std::optional<Known> known(JNIEnv* env, jlongArray handles, jlongArray values) {
  if (!given(env, handles, "handles") || !given(env, values, "values")) return std::nullopt;
  const jsize count = env->GetArrayLength(handles);
  if (!allow(env, count > 0 && env->GetArrayLength(values) == count,
             "[ebb] one value for each tensor is needed, and one tensor at least")) {
    return std::nullopt;
  }
  Known read{std::vector<jlong>(count), std::vector<jlong>(count)};
  env->GetLongArrayRegion(handles, 0, count, read.tensors.data());
  if (!env->ExceptionCheck()) env->GetLongArrayRegion(values, 0, count, read.values.data());
  if (env->ExceptionCheck()) return std::nullopt;
  return read;
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
  const auto read = known(env, handles, elements);
  if (!read) return kNone;
  return only(8, [&](jint offset) {
    for (std::size_t i = 0; i < read->tensors.size(); ++i) {
      if (try_at<jlong>(read->tensors[i], offset) != read->values[i]) return false;
    }
    return true;
  });
}

// Where tensors differ exactly if their types do.
jint find_type(JNIEnv* env, jclass, jlongArray handles, jlongArray types) {
  const auto read = known(env, handles, types);
  if (!read) return kNone;
  const auto& [tensors, codes] = *read;
  return only(2, [&](jint offset) {
    std::vector<std::uint16_t> numbers;
    for (const jlong tensor : tensors) {
      const auto number = try_at<std::uint16_t>(tensor, offset);
      if (!number) return false;
      numbers.push_back(*number);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if ((numbers[i] == numbers[j]) != (codes[i] == codes[j])) return false;
      }
    }
    return true;
  });
}

// Where a tensor has its storage's address, << 16, and where that has its size.
jint find_storage_bytes(JNIEnv* env, jclass, jlongArray handles, jlongArray bytes) {
  const auto read = known(env, handles, bytes);
  if (!read) return kNone;
  const auto fits = [&](jint storage, jint size) {
    for (std::size_t i = 0; i < read->tensors.size(); ++i) {
      const auto address = try_at<const char*>(read->tensors[i], storage);
      if (!address || try_read<jlong>(*address + size) != read->values[i]) return false;
    }
    return true;
  };
  for (jint storage = kFirst; storage < kLast; storage += 8) {
    for (jint size = kFirst; is_storage_at(storage) && size < kLastInStorage; size += 8) {
      if (fits(storage, size)) return (storage << 16) | size;
    }
  }
  return kNone;
}

constexpr bool is_within(jint offset, jint last) { return offset >= kFirst && offset < last; }

jlong storage_bytes(JNIEnv* env, jclass, jlong handle, jint place) {
  const jint storage_at = place >> 16, size_at = place & 0xffff;
  if (!allow(env, handle != 0 && is_storage_at(storage_at) && is_within(size_at, kLastInStorage),
             "[ebb] no tensor has the size of its storage there")) {
    return -1;
  }
  const char* storage = at<const char*>(handle, storage_at);
  jlong bytes = -1;
  if (storage != nullptr) std::memcpy(&bytes, storage + size_at, sizeof bytes);
  return bytes;
}

// elements << 16 | type
jlong probe(JNIEnv* env, jclass, jlong handle, jint elements, jint type) {
  if (!allow(env, handle != 0 && is_within(elements, kLast) && is_within(type, kLast),
             "[ebb] no tensor has its elements and its type there")) {
    return 0;
  }
  return (at<jlong>(handle, elements) << 16) | at<std::uint16_t>(handle, type);
}

}  // namespace

bool ebb_jni::register_probe(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      method<find_elements>("findElements", "([J[J)I"),
      method<find_type>("findType", "([J[J)I"),
      method<find_storage_bytes>("findStorageBytes", "([J[J)I"),
      method<probe>("probe", "(JII)J"),
      method<storage_bytes>("storageBytes", "(JI)J"),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
