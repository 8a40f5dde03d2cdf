// The switch of the library `ebb_jni_faulty`, native methods of core.Faults.
#include "../../../native/jni_support.hpp"

using ebb_jni::faulty::plan;

// The nth call from now on fails, of this thread.
extern "C" JNIEXPORT void JNICALL Java_dev_ebb_djl_core_Faults_failAt(JNIEnv*, jclass, jlong n,
                                                                      jboolean and_later) {
  plan = {.at = static_cast<std::uint64_t>(n), .and_later = and_later != JNI_FALSE};
}

// How many have; none does from then on.
extern "C" JNIEXPORT jlong JNICALL Java_dev_ebb_djl_core_Faults_failed(JNIEnv*, jclass) {
  const auto count = static_cast<jlong>(plan.failed);
  plan = {};
  return count;
}

// Loads the library once more, as the first time: what it finds out is thrown away.
extern "C" JNIEXPORT jint JNICALL Java_dev_ebb_djl_core_Faults_load(JNIEnv*, jclass) {
  return JNI_OnLoad(ebb_jni::world().vm, nullptr);
}

// Makes the next Native.open a first one, and the one before what it was: 0 begins, other names end.
extern "C" JNIEXPORT void JNICALL Java_dev_ebb_djl_core_Faults_forget(JNIEnv*, jclass,
                                                                      jboolean now) {
  static ebb_jni::World kept;
  ebb_jni::World& world = ebb_jni::world();
  if (now) {
    kept = world;
    world = {.vm = kept.vm};
    return;
  }
  if (world.context != 0) ebb_context_destroy(world.context);
  world = kept;
}
