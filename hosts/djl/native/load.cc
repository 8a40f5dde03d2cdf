// Loading, and what every file needs.
#include "jni_support.hpp"

namespace ebb_jni {

World& world() {
  static World instance;
  return instance;
}

void raise(JNIEnv* env, const char* class_name, const char* message) {
  if (env->ExceptionCheck()) return;
  if (jclass type = env->FindClass(class_name)) env->ThrowNew(type, message);
}

bool check(JNIEnv* env, ebb_status status) {
  if (status == EBB_OK) return true;
  // A Java exception that a callback left behind says more than the status it led to.
  raise(env,
        status == EBB_INVALID_ARGUMENT ? "java/lang/IllegalArgumentException"
                                       : "dev/ebb/djl/EbbException",
        ebb_last_error());
  return false;
}

bool allow(JNIEnv* env, bool so, const char* message) {
  if (!so) raise(env, "java/lang/IllegalArgumentException", message);
  return so;
}

bool given(JNIEnv* env, const void* argument, const char* name) {
  if (argument == nullptr) raise(env, "java/lang/NullPointerException", name);
  return argument != nullptr;
}

bool has_room(JNIEnv* env, jarray array, jint count, jint most, const char* name) {
  return given(env, array, name) &&
         allow(env, count >= 0 && count <= most,
               "[ebb] more entries than a batch has, or less than none") &&
         allow(env, count <= env->GetArrayLength(array), "[ebb] an array is too short");
}

std::optional<std::string> text_of(JNIEnv* env, jstring text, const char* name) {
  if (!given(env, text, name)) return std::nullopt;
  const char* bytes = env->GetStringUTFChars(text, nullptr);
  if (bytes == nullptr) return std::nullopt;
  struct Release {  // also where there is no memory for the copy
    JNIEnv* env;
    jstring text;
    const char* bytes;
    ~Release() { env->ReleaseStringUTFChars(text, bytes); }
  } release{env, text, bytes};
  return std::string(bytes);
}

jlongArray to_java(JNIEnv* env, const jlong* values, jsize count) {
  jlongArray result = env->NewLongArray(count);
  if (result != nullptr) env->SetLongArrayRegion(result, 0, count, values);
  return result;
}

}  // namespace ebb_jni

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  using namespace ebb_jni;
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  world().vm = vm;
  jclass native = env->FindClass("dev/ebb/djl/core/Native");
  if (native == nullptr || !register_world(env, native) || !register_buffers(env, native) ||
      !register_books(env, native) || !register_deletes(env, native) ||
      !register_probe(env, native) || !register_record(env, native) ||
      !register_sites(env, native)) {
    return JNI_ERR;
  }
  return JNI_VERSION_10;
}
