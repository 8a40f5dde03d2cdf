// Memory in which Java data goes to the engine, and what a direct buffer keeps alive.
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "jni_support.hpp"

namespace {

using namespace ebb_jni;

jboolean keep_with(JNIEnv* env, jclass, jobject buffer, jobject kept) {
  const World& w = world();
  if (!given(env, buffer, "buffer") || !given(env, kept, "kept")) return JNI_FALSE;
  if (w.attachment == nullptr || !env->IsInstanceOf(buffer, w.direct_buffer)) return JNI_FALSE;
  if (env->GetObjectField(buffer, w.attachment) != nullptr) return JNI_FALSE;
  env->SetObjectField(buffer, w.attachment, kept);
  return JNI_TRUE;
}

// The memory of buffers that were given out, and which buffer each is: only that one gives it back.
class Lent {
 public:
  void add(JNIEnv* env, void* memory, jobject buffer) {
    jweak name = env->NewWeakGlobalRef(buffer);
    if (name == nullptr) return;
    const std::lock_guard held(lock_);
    buffers_[memory] = name;
  }
  bool take(JNIEnv* env, void* memory, jobject buffer) {
    const std::lock_guard held(lock_);
    const auto found = buffers_.find(memory);
    if (found == buffers_.end() || !env->IsSameObject(found->second, buffer)) return false;
    env->DeleteWeakGlobalRef(found->second);
    buffers_.erase(found);
    return true;
  }

 private:
  std::mutex lock_;
  std::map<void*, jweak> buffers_;
};
Lent& lent() {
  static Lent instance;
  return instance;
}

jobject allocate(JNIEnv* env, jclass, jlong bytes) {
  if (!allow(env, bytes >= 0 && bytes <= INT_MAX, "[ebb] no buffer has so many bytes"))
    return nullptr;
  std::unique_ptr<void, decltype(&std::free)> memory(
      std::calloc(1, static_cast<std::size_t>(std::max<jlong>(bytes, 1))), std::free);
  if (memory == nullptr) {
    raise(env, "java/lang/OutOfMemoryError", "[ebb] no memory to pass Java data to the engine");
    return nullptr;
  }
  jobject buffer = env->NewDirectByteBuffer(memory.get(), bytes);
  if (buffer == nullptr) return nullptr;
  lent().add(env, memory.get(), buffer);
  if (env->ExceptionCheck()) return nullptr;
  memory.release();
  return buffer;
}

void release(JNIEnv* env, jclass, jobject buffer) {
  if (!given(env, buffer, "buffer")) return;
  void* memory = env->GetDirectBufferAddress(buffer);
  if (allow(env, lent().take(env, memory, buffer),
            "[ebb] not a buffer of Ebb's, or back already")) {
    std::free(memory);
  }
}

}  // namespace

bool ebb_jni::register_buffers(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      method<keep_with>("keepWith", "(Ljava/nio/ByteBuffer;Ljava/lang/Object;)Z"),
      method<allocate>("allocate", "(J)Ljava/nio/ByteBuffer;"),
      method<release>("release", "(Ljava/nio/ByteBuffer;)V"),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
