// Included before every source of the library `ebb_jni_faulty`: calls of JNI and JVMTI that can fail do
// so when core.Faults asks for it, as they would: null or an error, and the exception that belongs to it.
// Not among them: what frees, asks for a pending exception or clears it, and what fails for wrong
// arguments only (fields, lengths, IsInstanceOf).
#pragma once

#include <jni.h>
#include <jvmti.h>

#include "../../../../../tests/support/fault_plan.hpp"

namespace ebb_jni::faulty {

inline thread_local ebb::test::FaultPlan plan;

inline bool fails() noexcept { return plan.fails(); }

// The JVM's own environment, seen through functions that may fail: it has no member of its own.
class Env : public JNIEnv_ {
 public:
#define EBB_MAY_FAIL(name, exception, failed)                                            \
  template <typename... Arguments>                                                       \
  auto name(Arguments... arguments) {                                                    \
    if (fails()) return raise(exception, decltype(JNIEnv_::name(arguments...))(failed)); \
    return JNIEnv_::name(arguments...);                                                  \
  }
#define EBB_MAY_FAIL_VOID(name, exception)         \
  template <typename... Arguments>                 \
  void name(Arguments... arguments) {              \
    if (fails()) return (void)raise(exception, 0); \
    JNIEnv_::name(arguments...);                   \
  }
  EBB_MAY_FAIL(FindClass, "java/lang/NoClassDefFoundError", nullptr)
  EBB_MAY_FAIL(GetMethodID, "java/lang/NoSuchMethodError", nullptr)
  EBB_MAY_FAIL(GetStaticMethodID, "java/lang/NoSuchMethodError", nullptr)
  EBB_MAY_FAIL(GetFieldID, "java/lang/NoSuchFieldError", nullptr)
  EBB_MAY_FAIL(GetStaticFieldID, "java/lang/NoSuchFieldError", nullptr)
  EBB_MAY_FAIL(NewGlobalRef, nullptr, nullptr)
  EBB_MAY_FAIL(NewWeakGlobalRef, "java/lang/OutOfMemoryError", nullptr)
  EBB_MAY_FAIL(NewStringUTF, "java/lang/OutOfMemoryError", nullptr)
  EBB_MAY_FAIL(GetStringUTFChars, "java/lang/OutOfMemoryError", nullptr)
  EBB_MAY_FAIL(NewLongArray, "java/lang/OutOfMemoryError", nullptr)
  EBB_MAY_FAIL(NewIntArray, "java/lang/OutOfMemoryError", nullptr)
  EBB_MAY_FAIL(NewObjectArray, "java/lang/OutOfMemoryError", nullptr)
  EBB_MAY_FAIL(NewDirectByteBuffer, "java/lang/OutOfMemoryError", nullptr)
  EBB_MAY_FAIL(GetDirectBufferAddress, nullptr, nullptr)
  EBB_MAY_FAIL(GetObjectArrayElement, "java/lang/ArrayIndexOutOfBoundsException", nullptr)
  EBB_MAY_FAIL(RegisterNatives, "java/lang/NoSuchMethodError", JNI_ERR)
  EBB_MAY_FAIL(ThrowNew, "java/lang/OutOfMemoryError", JNI_ERR)
  EBB_MAY_FAIL(CallStaticObjectMethod, "java/lang/StackOverflowError", nullptr)
  EBB_MAY_FAIL(CallStaticBooleanMethod, "java/lang/StackOverflowError", JNI_FALSE)
  EBB_MAY_FAIL_VOID(CallStaticVoidMethod, "java/lang/StackOverflowError")
  EBB_MAY_FAIL_VOID(CallVoidMethod, "java/lang/StackOverflowError")
  EBB_MAY_FAIL_VOID(GetLongArrayRegion, "java/lang/ArrayIndexOutOfBoundsException")
  EBB_MAY_FAIL_VOID(SetLongArrayRegion, "java/lang/ArrayIndexOutOfBoundsException")
  EBB_MAY_FAIL_VOID(SetIntArrayRegion, "java/lang/ArrayIndexOutOfBoundsException")
  EBB_MAY_FAIL_VOID(SetObjectArrayElement, "java/lang/ArrayStoreException")
#undef EBB_MAY_FAIL
#undef EBB_MAY_FAIL_VOID

 private:
  template <typename Result>
  Result raise(const char* exception, Result result) {
    if (exception != nullptr && !ExceptionCheck()) {
      JNIEnv_::ThrowNew(JNIEnv_::FindClass(exception), "a test wants this call to fail");
    }
    return result;
  }
};

class Jvmti : public _jvmtiEnv {
 public:
#define EBB_MAY_FAIL(name)                                                      \
  template <typename... Arguments>                                              \
  jvmtiError name(Arguments... arguments) {                                     \
    return fails() ? JVMTI_ERROR_OUT_OF_MEMORY : _jvmtiEnv::name(arguments...); \
  }
  EBB_MAY_FAIL(AddCapabilities)
  EBB_MAY_FAIL(ForceGarbageCollection)
  EBB_MAY_FAIL(GetClassSignature)
  EBB_MAY_FAIL(GetClassStatus)
  EBB_MAY_FAIL(GetLineNumberTable)
  EBB_MAY_FAIL(GetMethodDeclaringClass)
  EBB_MAY_FAIL(GetMethodName)
  EBB_MAY_FAIL(GetSourceFileName)
  EBB_MAY_FAIL(GetStackTrace)
#undef EBB_MAY_FAIL
};

}  // namespace ebb_jni::faulty

#define JNIEnv ebb_jni::faulty::Env
#define jvmtiEnv ebb_jni::faulty::Jvmti
