// The context, devices and their budgets, safe points, and the JVM's collector.
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "jni_support.hpp"

namespace {

using namespace ebb_jni;

JNIEnv* current_env() {
  JNIEnv* env = nullptr;
  world().vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_10);
  return env;
}

// ---- callbacks of the core, on the thread that called it

std::uint64_t on_collect(void*, ebb_collection) {
  JNIEnv* env = current_env();
  if (env == nullptr || env->ExceptionCheck()) return 1;
  env->CallStaticVoidMethod(world().callbacks, world().collect);
  return 0;  // the core measures
}

void on_warn(void*, const char* message) {
  JNIEnv* env = current_env();
  if (env == nullptr || env->ExceptionCheck()) return;
  jstring text = env->NewStringUTF(message);
  if (text != nullptr) env->CallStaticVoidMethod(world().callbacks, world().warn, text);
  env->DeleteLocalRef(text);
}

// What the core has given back: Java deletes it. Two longs each, its name and its tag.
void on_end(void*, const ebb_ended* ended, size_t count) {
  JNIEnv* env = current_env();
  if (env == nullptr || env->ExceptionCheck()) return;
  std::vector<jlong> pairs(2 * count);
  for (size_t i = 0; i < count; ++i) {
    pairs[2 * i] = static_cast<jlong>(ended[i].handle);
    pairs[2 * i + 1] = static_cast<jlong>(ended[i].tag);
  }
  jlongArray given = env->NewLongArray(static_cast<jsize>(pairs.size()));
  if (given == nullptr) return;
  env->SetLongArrayRegion(given, 0, static_cast<jsize>(pairs.size()), pairs.data());
  env->CallStaticVoidMethod(world().callbacks, world().end, given);
  env->DeleteLocalRef(given);
}

// ---- opening

bool find_callbacks(JNIEnv* env) {
  World& w = world();
  jclass callbacks = env->FindClass("dev/ebb/djl/core/Callbacks");
  if (callbacks == nullptr) return false;
  w.callbacks = static_cast<jclass>(env->NewGlobalRef(callbacks));
  w.collect = env->GetStaticMethodID(callbacks, "collect", "()V");
  w.warn = env->GetStaticMethodID(callbacks, "warn", "(Ljava/lang/String;)V");
  w.end = env->GetStaticMethodID(callbacks, "end", "([J)V");
  return w.collect != nullptr && w.warn != nullptr && w.end != nullptr;
}

// The JDK's own way to wait for its reference handler. Where it is missing Java waits by itself.
void find_reference_handler(JNIEnv* env) {
  World& w = world();
  jclass reference = env->FindClass("java/lang/ref/Reference");
  if (reference != nullptr) {
    w.reference = static_cast<jclass>(env->NewGlobalRef(reference));
    w.await_references = env->GetStaticMethodID(reference, "waitForReferenceProcessing", "()Z");
    env->ExceptionClear();
    w.has_pending = env->GetStaticMethodID(reference, "hasReferencePendingList", "()Z");
    env->ExceptionClear();
    w.pending_active = env->GetStaticFieldID(reference, "processPendingActive", "Z");
  }
  env->ExceptionClear();
}

void find_attachment(JNIEnv* env);

// Files and lines of stacks. A JVM that refuses leaves them out.
void want_lines(jvmtiEnv* jvmti) {
  jvmtiCapabilities wanted{};
  wanted.can_get_source_file_name = 1;
  wanted.can_get_line_numbers = 1;
  jvmti->AddCapabilities(&wanted);
}

void open(JNIEnv* env, jclass) {
  World& w = world();
  if (w.context != 0) return;
  if (!find_callbacks(env)) return;
  find_reference_handler(env);
  find_attachment(env);
  if (w.vm->GetEnv(reinterpret_cast<void**>(&w.jvmti), JVMTI_VERSION_1_2) != JNI_OK) {
    w.jvmti = nullptr;
  }
  if (w.jvmti != nullptr) want_lines(w.jvmti);
  ebb_context_options options{};
  options.size = sizeof options;
  options.flags = EBB_CONTEXT_NO_MINOR;
  options.name = "jvm";
  options.collect = on_collect;
  options.end = on_end;
  options.warn = on_warn;
  options.major_step = 32 << 20;
  options.name_bytes = 512;  // what an engine needs for an array beside its data: a guess
  check(env, ebb_context_create(&options, &w.context));
}

// ---- devices

jint device_open(JNIEnv* env, jclass, jstring name, jlong budget, jboolean strict) {
  const std::string text = text_of(env, name);
  ebb_device_options options{};
  options.size = sizeof options;
  options.kind = EBB_DEVICE_FOREIGN;
  options.name = text.c_str();
  options.budget = static_cast<std::uint64_t>(budget);
  options.mode = strict ? EBB_BUDGET_HARD : EBB_BUDGET_SOFT;
  ebb_device device = 0;
  check(env, ebb_device_open(&options, &device));
  return static_cast<jint>(device);
}

void device_budget(JNIEnv* env, jclass, jint device, jlong bytes, jboolean strict) {
  check(env,
        ebb_device_set_budget(static_cast<ebb_device>(device), static_cast<std::uint64_t>(bytes),
                              strict ? EBB_BUDGET_HARD : EBB_BUDGET_SOFT));
}

// In use, committed, the most that was committed, and the budget.
jlongArray device_describe(JNIEnv* env, jclass, jint device) {
  ebb_device_info info = EBB_INIT(ebb_device_info);
  if (!check(env, ebb_device_describe(static_cast<ebb_device>(device), &info))) return nullptr;
  const jlong values[] = {static_cast<jlong>(info.in_use), static_cast<jlong>(info.committed),
                          static_cast<jlong>(info.peak_committed), static_cast<jlong>(info.budget)};
  constexpr jsize kCount = sizeof values / sizeof *values;
  jlongArray result = env->NewLongArray(kCount);
  if (result != nullptr) env->SetLongArrayRegion(result, 0, kCount, values);
  return result;
}

jlong memory_limit(JNIEnv* env, jclass) {
  std::uint64_t bytes = 0;
  check(env, ebb_memory_limit(&bytes));
  return static_cast<jlong>(bytes);
}

jlong parse_bytes(JNIEnv* env, jclass, jstring text) {
  std::uint64_t bytes = 0;
  check(env, ebb_parse_bytes(text_of(env, text).c_str(), &bytes));
  return static_cast<jlong>(bytes);
}

// ---- reclaim

void reclaim(JNIEnv*, jclass, jboolean on) { ebb_reclaim_set(on); }

void trace(JNIEnv* env, jclass, jint level) {
  check(env, ebb_trace_set(static_cast<std::uint32_t>(level)));
}

void safe_point(JNIEnv* env, jclass) {
  check(env, ebb_safe_point(world().context, 0, 0, 0, nullptr));
}

// The same where a budget that cannot be kept is the next safe point's business.
void drain(JNIEnv*, jclass) { ebb_safe_point(world().context, 0, 0, 0, nullptr); }

void walk(JNIEnv*, jclass, jlong manager, jint visited) {
  ebb_walk(world().context, static_cast<std::uint64_t>(manager),
           static_cast<std::uint64_t>(visited), nullptr);
}

// Null if anything came back, otherwise what to tell the user.
jstring make_room(JNIEnv* env, jclass, jint device, jlong bytes) {
  const ebb_status status = ebb_make_room(world().context, static_cast<ebb_device>(device),
                                          static_cast<std::uint64_t>(bytes), nullptr);
  if (status == EBB_OK || env->ExceptionCheck()) return nullptr;
  return env->NewStringUTF(ebb_last_error());
}

// glibc raises its threshold for blocks of their own with each large one that is freed. What lies
// between kept blocks then stays with the process.
jboolean trim_malloc(JNIEnv*, jclass) {
#if defined(__GLIBC__)
  constexpr int kThreshold = 128 << 10;
  return mallopt(M_MMAP_THRESHOLD, kThreshold) == 1 && mallopt(M_TRIM_THRESHOLD, kThreshold) == 1;
#else
  return JNI_FALSE;
#endif
}

// ---- the JVM's collector

jboolean is_initialized(JNIEnv*, jclass, jclass type) {
  jint status = 0;
  jvmtiEnv* jvmti = world().jvmti;
  return jvmti != nullptr && jvmti->GetClassStatus(type, &status) == JVMTI_ERROR_NONE &&
         (status & JVMTI_CLASS_STATUS_INITIALIZED) != 0;
}

jboolean force_collection(JNIEnv*, jclass) {
  jvmtiEnv* jvmti = world().jvmti;
  return jvmti != nullptr && jvmti->ForceGarbageCollection() == JVMTI_ERROR_NONE;
}

void interrupt_this_thread(JNIEnv* env) {
  jclass type = env->FindClass("java/lang/Thread");
  jmethodID current = env->GetStaticMethodID(type, "currentThread", "()Ljava/lang/Thread;");
  jmethodID interrupt = env->GetMethodID(type, "interrupt", "()V");
  env->CallVoidMethod(env->CallStaticObjectMethod(type, current), interrupt);
}

// Returns when every cleared reference is on its queue; false if the JDK has no such call. That call
// ends with an exception where the thread is interrupted, of which the program must see the flag only:
// it made an array.
jboolean await_references(JNIEnv* env, jclass) {
  const World& w = world();
  if (w.await_references == nullptr) return JNI_FALSE;
  bool interrupted = false;
  for (bool more = true; more;) {
    more = env->CallStaticBooleanMethod(w.reference, w.await_references);
    if (env->ExceptionCheck()) {
      env->ExceptionClear();
      interrupted = more = true;
    }
  }
  if (interrupted) interrupt_this_thread(env);
  return JNI_TRUE;
}

jboolean references_arriving(JNIEnv* env, jclass) {
  const World& w = world();
  if (w.has_pending == nullptr || w.pending_active == nullptr) return JNI_FALSE;
  return env->GetStaticBooleanField(w.reference, w.pending_active) ||
         env->CallStaticBooleanMethod(w.reference, w.has_pending);
}

// ---- buffers

// A direct buffer has a field for what has to live as long as its memory; its views inherit it.
void find_attachment(JNIEnv* env) {
  World& w = world();
  jclass buffer = env->FindClass("java/nio/DirectByteBuffer");
  if (buffer != nullptr) {
    w.direct_buffer = static_cast<jclass>(env->NewGlobalRef(buffer));
    w.attachment = env->GetFieldID(buffer, "att", "Ljava/lang/Object;");
  }
  env->ExceptionClear();
}

jboolean keep_with(JNIEnv* env, jclass, jobject buffer, jobject kept) {
  const World& w = world();
  if (w.attachment == nullptr || !env->IsInstanceOf(buffer, w.direct_buffer)) return JNI_FALSE;
  if (env->GetObjectField(buffer, w.attachment) != nullptr) return JNI_FALSE;
  env->SetObjectField(buffer, w.attachment, kept);
  return JNI_TRUE;
}

jobject allocate(JNIEnv* env, jclass, jlong bytes) {
  void* memory = std::calloc(1, static_cast<std::size_t>(bytes > 0 ? bytes : 1));
  if (memory == nullptr) {
    raise(env, "java/lang/OutOfMemoryError", "[ebb] no memory to pass Java data to the engine");
    return nullptr;
  }
  jobject buffer = env->NewDirectByteBuffer(memory, bytes);
  if (buffer == nullptr) std::free(memory);
  return buffer;
}

void release(JNIEnv* env, jclass, jobject buffer) {
  std::free(env->GetDirectBufferAddress(buffer));
}

}  // namespace

bool ebb_jni::register_world(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      method("open", "()V", open),
      method("deviceOpen", "(Ljava/lang/String;JZ)I", device_open),
      method("deviceBudget", "(IJZ)V", device_budget),
      method("deviceDescribe", "(I)[J", device_describe),
      method("memoryLimit", "()J", memory_limit),
      method("parseBytes", "(Ljava/lang/String;)J", parse_bytes),
      method("reclaim", "(Z)V", reclaim),
      method("trace", "(I)V", trace),
      method("safePoint", "()V", safe_point),
      method("drain", "()V", drain),
      method("walk", "(JI)V", walk),
      method("makeRoom", "(IJ)Ljava/lang/String;", make_room),
      method("isInitialized", "(Ljava/lang/Class;)Z", is_initialized),
      method("trimMalloc", "()Z", trim_malloc),
      method("forceCollection", "()Z", force_collection),
      method("awaitReferences", "()Z", await_references),
      method("referencesArriving", "()Z", references_arriving),
      method("keepWith", "(Ljava/nio/ByteBuffer;Ljava/lang/Object;)Z", keep_with),
      method("allocate", "(J)Ljava/nio/ByteBuffer;", allocate),
      method("release", "(Ljava/nio/ByteBuffer;)V", release),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
