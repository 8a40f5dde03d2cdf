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

std::string text_of(JNIEnv* env, jstring text) {
  if (text == nullptr) return {};
  const char* bytes = env->GetStringUTFChars(text, nullptr);
  if (bytes == nullptr) return {};
  std::string copy(bytes);
  env->ReleaseStringUTFChars(text, bytes);
  return copy;
}

}  // namespace ebb_jni

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  using namespace ebb_jni;
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_10) != JNI_OK) return JNI_ERR;
  world().vm = vm;
  jclass native = env->FindClass("dev/ebb/djl/core/Native");
  if (native == nullptr || !register_world(env, native) || !register_books(env, native) ||
      !register_deletes(env, native) || !register_probe(env, native) ||
      !register_record(env, native) || !register_sites(env, native)) {
    return JNI_ERR;
  }
  return JNI_VERSION_10;
}
