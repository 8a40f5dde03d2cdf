// What the JNI files share: the JVM, the context of the core, and how errors become exceptions.
#pragma once

#include <ebb.h>
#include <jni.h>
#include <jvmti.h>

#include <string>

namespace ebb_jni {

// Set once by Native.open, read by every call after it.
struct World {
  JavaVM* vm = nullptr;
  jvmtiEnv* jvmti = nullptr;  // null: the JVM has none, collections fall back to System.gc
  ebb_context context = 0;
  jclass callbacks = nullptr;  // dev.ebb.djl.core.Callbacks
  jmethodID collect = nullptr;
  jmethodID warn = nullptr;
  jmethodID end = nullptr;
  jclass reference = nullptr;  // java.lang.ref.Reference
  jmethodID await_references = nullptr;
  jmethodID has_pending = nullptr;
  jfieldID pending_active = nullptr;
  jclass direct_buffer = nullptr;  // java.nio.DirectByteBuffer
  jfieldID attachment = nullptr;
};
World& world();

// Throws EbbException with the core's message unless ok.
bool check(JNIEnv* env, ebb_status status);
void raise(JNIEnv* env, const char* class_name, const char* message);

std::string text_of(JNIEnv* env, jstring text);

// Registered on dev.ebb.djl.core.Native.
bool register_books(JNIEnv* env, jclass native);
bool register_world(JNIEnv* env, jclass native);
bool register_deletes(JNIEnv* env, jclass native);
bool register_probe(JNIEnv* env, jclass native);
bool register_record(JNIEnv* env, jclass native);
bool register_sites(JNIEnv* env, jclass native);

template <typename Function>
JNINativeMethod method(const char* name, const char* signature, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function)};
}

}  // namespace ebb_jni
