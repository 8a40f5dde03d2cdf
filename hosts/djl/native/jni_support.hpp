// What the JNI files share: the JVM, the context of the core, and how errors become exceptions.
#pragma once

#include <ebb.h>
#include <jni.h>
#include <jvmti.h>

#include <exception>
#include <new>
#include <optional>
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
  jclass vm_counts = nullptr;  // jdk.internal.misc.VM
  jmethodID unfinalized = nullptr;
  jclass thread = nullptr;  // java.lang.Thread
  jmethodID current_thread = nullptr;
  jmethodID interrupt = nullptr;
  jclass direct_buffer = nullptr;  // java.nio.DirectByteBuffer
  jfieldID attachment = nullptr;
};
World& world();

// Throws EbbException with the core's message unless ok.
bool check(JNIEnv* env, ebb_status status);
void raise(JNIEnv* env, const char* class_name, const char* message);
// IllegalArgumentException, unless what is said of the argument is so.
bool allow(JNIEnv* env, bool so, const char* message);
// NullPointerException, unless there is one.
bool given(JNIEnv* env, const void* argument, const char* name);
// Whether so many entries, `most` at the most, can be taken from the array or put into it; otherwise
// the exception is pending.
bool has_room(JNIEnv* env, jarray array, jint count, jint most, const char* name);

// None: there is no text, or no memory for it, and the exception is pending.
std::optional<std::string> text_of(JNIEnv* env, jstring text, const char* name);
jlongArray to_java(JNIEnv* env, const jlong* values, jsize count);

// Where a PyTorch tensor may have its storage's address.
constexpr bool is_storage_at(jint offset) { return offset == 16 || offset == 24; }

// Registered on dev.ebb.djl.core.Native.
bool register_books(JNIEnv* env, jclass native);
bool register_world(JNIEnv* env, jclass native);
bool register_buffers(JNIEnv* env, jclass native);
bool register_deletes(JNIEnv* env, jclass native);
bool register_probe(JNIEnv* env, jclass native);
bool register_record(JNIEnv* env, jclass native);
bool register_sites(JNIEnv* env, jclass native);

// What Java calls: a C++ exception must not get there.
template <auto function>
struct Entry;
template <typename Result, typename... Arguments, Result (*function)(JNIEnv*, jclass, Arguments...)>
struct Entry<function> {
  static Result JNICALL call(JNIEnv* env, jclass type, Arguments... arguments) {
    try {
      return function(env, type, arguments...);
    } catch (const std::bad_alloc&) {
      raise(env, "java/lang/OutOfMemoryError", "[ebb] no memory for Ebb's own records");
    } catch (const std::exception& error) {
      raise(env, "dev/ebb/djl/EbbException", error.what());
    }
    return Result();
  }
};

template <auto function>
JNINativeMethod method(const char* name, const char* signature) {
  return {const_cast<char*>(name), const_cast<char*>(signature),
          reinterpret_cast<void*>(Entry<function>::call)};
}

}  // namespace ebb_jni
