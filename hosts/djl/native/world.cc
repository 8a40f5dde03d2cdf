// The context, devices and their budgets, safe points, and the JVM's collector.
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
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
  jstring text = env == nullptr || env->ExceptionCheck() ? nullptr : env->NewStringUTF(message);
  if (text == nullptr) {
    if (env != nullptr) env->ExceptionClear();
    std::fprintf(stderr, "[ebb] %s\n", message);
    return;
  }
  env->CallStaticVoidMethod(world().callbacks, world().warn, text);
  env->DeleteLocalRef(text);
}

// An exception that is under way steps aside, so that Java can be called.
class Aside {
 public:
  explicit Aside(JNIEnv* env) : env_(env), pending_(env->ExceptionOccurred()) {
    env->ExceptionClear();
  }
  ~Aside() {
    if (pending_ == nullptr) return;
    env_->Throw(pending_);
    env_->DeleteLocalRef(pending_);
  }

 private:
  JNIEnv* env_;
  jthrowable pending_;
};

// What the core has given back and Java has not heard of, because it was out of memory or stack: it
// hears at the next safe point. To hear of something twice does no harm (books.Adopted).
struct Untold {
  std::mutex lock;
  std::vector<jlong> pairs;
  std::atomic<bool> any = false;
};
Untold& untold() {
  static Untold instance;
  return instance;
}

void keep_for_later(const jlong* pairs, size_t count) noexcept try {
  Untold& u = untold();
  const std::lock_guard held(u.lock);
  u.pairs.insert(u.pairs.end(), pairs, pairs + count);
  u.any = true;
} catch (const std::bad_alloc&) {
  std::fprintf(stderr, "[ebb] %zu arrays are not given back: no memory to remember them\n",
               count / 2);
}

// Java deletes these. Two longs each, its name and its tag.
void tell(const jlong* pairs, size_t count) {
  JNIEnv* env = current_env();
  if (env == nullptr) return keep_for_later(pairs, count);
  const Aside aside(env);
  jlongArray given = to_java(env, pairs, static_cast<jsize>(count));
  if (given != nullptr && !env->ExceptionCheck()) {
    env->CallStaticVoidMethod(world().callbacks, world().end, given);
  }
  if (env->ExceptionCheck()) {
    env->ExceptionClear();
    keep_for_later(pairs, count);
  }
  if (given != nullptr) env->DeleteLocalRef(given);
}

void tell_untold() {
  Untold& u = untold();
  if (!u.any) return;
  std::vector<jlong> pairs;
  {
    const std::lock_guard held(u.lock);
    pairs.swap(u.pairs);
    u.any = false;
  }
  tell(pairs.data(), pairs.size());
}

void on_end(void*, const ebb_ended* ended, size_t count) {
  constexpr size_t kMost = 512;
  std::array<jlong, 2 * kMost> pairs;
  for (size_t from = 0; from < count; from += kMost) {
    const size_t some = std::min(kMost, count - from);
    for (size_t i = 0; i < some; ++i) {
      pairs[2 * i] = static_cast<jlong>(ended[from + i].handle);
      pairs[2 * i + 1] = static_cast<jlong>(ended[from + i].tag);
    }
    tell(pairs.data(), 2 * some);
  }
}

// ---- opening

// A class for as long as the process lives. Null, nothing pending: this JVM has none, or no room for it.
jclass kept_class(JNIEnv* env, const char* name) {
  jclass found = env->FindClass(name);
  env->ExceptionClear();
  auto kept = found == nullptr ? nullptr : static_cast<jclass>(env->NewGlobalRef(found));
  env->ExceptionClear();
  return kept;
}

jmethodID method_of(JNIEnv* env, jclass type, const char* name, const char* signature) {
  jmethodID method = env->GetStaticMethodID(type, name, signature);
  env->ExceptionClear();
  return method;
}

bool find_callbacks(JNIEnv* env) {
  World& w = world();
  if (w.callbacks == nullptr) w.callbacks = kept_class(env, "dev/ebb/djl/core/Callbacks");
  if (w.callbacks == nullptr) return false;
  w.collect = method_of(env, w.callbacks, "collect", "()V");
  w.warn = method_of(env, w.callbacks, "warn", "(Ljava/lang/String;)V");
  w.end = method_of(env, w.callbacks, "end", "([J)V");
  return w.collect != nullptr && w.warn != nullptr && w.end != nullptr;
}

// The JDK's own way to wait for its reference handler. Where it is missing Java waits by itself.
void find_reference_handler(JNIEnv* env) {
  World& w = world();
  if (w.reference == nullptr) w.reference = kept_class(env, "java/lang/ref/Reference");
  if (w.reference == nullptr) return;
  w.await_references = method_of(env, w.reference, "waitForReferenceProcessing", "()Z");
  w.has_pending = method_of(env, w.reference, "hasReferencePendingList", "()Z");
  w.pending_active = env->GetStaticFieldID(w.reference, "processPendingActive", "Z");
  env->ExceptionClear();
  if (w.vm_counts == nullptr) w.vm_counts = kept_class(env, "jdk/internal/misc/VM");
  if (w.vm_counts == nullptr) return;
  w.unfinalized = method_of(env, w.vm_counts, "getFinalRefCount", "()I");
}

// A direct buffer has a field for what has to live as long as its memory; its views inherit it.
void find_attachment(JNIEnv* env) {
  World& w = world();
  if (w.direct_buffer == nullptr) w.direct_buffer = kept_class(env, "java/nio/DirectByteBuffer");
  if (w.direct_buffer == nullptr) return;
  w.attachment = env->GetFieldID(w.direct_buffer, "att", "Ljava/lang/Object;");
  env->ExceptionClear();
}

// What collecting for an interrupted thread needs.
void find_interrupt(JNIEnv* env) {
  World& w = world();
  if (w.thread == nullptr) w.thread = kept_class(env, "java/lang/Thread");
  if (w.thread == nullptr) return;
  w.current_thread = method_of(env, w.thread, "currentThread", "()Ljava/lang/Thread;");
  w.interrupt = env->GetMethodID(w.thread, "interrupt", "()V");
  env->ExceptionClear();
}

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
  if (!find_callbacks(env)) {
    raise(env, "dev/ebb/djl/EbbException",
          "[ebb] dev.ebb.djl.core.Callbacks is not what it should be");
    return;
  }
  find_reference_handler(env);
  find_attachment(env);
  find_interrupt(env);
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
  const auto text = text_of(env, name, "name");
  if (!text || !allow(env, budget >= 0, "[budget] less than nothing")) return 0;
  ebb_device_options options{};
  options.size = sizeof options;
  options.kind = EBB_DEVICE_FOREIGN;
  options.name = text->c_str();
  options.budget = static_cast<std::uint64_t>(budget);
  options.mode = strict ? EBB_BUDGET_HARD : EBB_BUDGET_SOFT;
  ebb_device device = 0;
  check(env, ebb_device_open(&options, &device));
  return static_cast<jint>(device);
}

void device_budget(JNIEnv* env, jclass, jint device, jlong bytes, jboolean strict) {
  if (!allow(env, bytes >= 0, "[budget] less than nothing")) return;
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
  return to_java(env, values, sizeof values / sizeof *values);
}

jlong memory_limit(JNIEnv* env, jclass) {
  std::uint64_t bytes = 0;
  check(env, ebb_memory_limit(&bytes));
  return static_cast<jlong>(bytes);
}

jlong parse_bytes(JNIEnv* env, jclass, jstring text) {
  std::uint64_t bytes = 0;
  if (const auto size = text_of(env, text, "text"))
    check(env, ebb_parse_bytes(size->c_str(), &bytes));
  return static_cast<jlong>(bytes);
}

// ---- reclaim

void reclaim(JNIEnv*, jclass, jboolean on) { ebb_reclaim_set(on); }

void trace(JNIEnv* env, jclass, jint level) {
  check(env, ebb_trace_set(static_cast<std::uint32_t>(level)));
}

void safe_point(JNIEnv* env, jclass) {
  tell_untold();
  check(env, ebb_safe_point(world().context, 0, 0, 0, nullptr));
}

// The same where a budget that cannot be kept is the next safe point's business.
void drain(JNIEnv*, jclass) {
  tell_untold();
  ebb_safe_point(world().context, 0, 0, 0, nullptr);
}

void walk(JNIEnv* env, jclass, jlong manager, jint visited) {
  if (!allow(env, manager != 0 && visited >= 0, "[ebb] no walk visits less than nothing")) return;
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

jboolean is_initialized(JNIEnv* env, jclass, jclass type) {
  if (!given(env, type, "type")) return JNI_FALSE;
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
  const World& w = world();
  jobject thread = env->CallStaticObjectMethod(w.thread, w.current_thread);
  if (thread == nullptr) return;
  env->CallVoidMethod(thread, w.interrupt);
  env->DeleteLocalRef(thread);
}

// Returns when every cleared reference is on its queue; false if the JDK has no such call. That call
// ends with an exception where the thread is interrupted, of which the program must see the flag only:
// it made an array.
jboolean await_references(JNIEnv* env, jclass) {
  const World& w = world();
  if (w.await_references == nullptr || w.current_thread == nullptr || w.interrupt == nullptr) {
    return JNI_FALSE;
  }
  constexpr int kTries = 100;  // a call that always fails is no way to wait
  int interruptions = 0;
  for (bool more = true; more && interruptions < kTries;) {
    more = env->CallStaticBooleanMethod(w.reference, w.await_references);
    if (env->ExceptionCheck()) {
      env->ExceptionClear();
      ++interruptions;
      more = true;
    }
  }
  if (interruptions > 0) interrupt_this_thread(env);
  return interruptions < kTries;
}

jboolean references_arriving(JNIEnv* env, jclass) {
  const World& w = world();
  if (w.has_pending == nullptr || w.pending_active == nullptr) return JNI_FALSE;
  return env->GetStaticBooleanField(w.reference, w.pending_active) ||
         env->CallStaticBooleanMethod(w.reference, w.has_pending);
}

jboolean finalizers_pending(JNIEnv* env, jclass) {
  const World& w = world();
  return w.unfinalized != nullptr && env->CallStaticIntMethod(w.vm_counts, w.unfinalized) > 0;
}

}  // namespace

bool ebb_jni::register_world(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      method<open>("open", "()V"),
      method<device_open>("deviceOpen", "(Ljava/lang/String;JZ)I"),
      method<device_budget>("deviceBudget", "(IJZ)V"),
      method<device_describe>("deviceDescribe", "(I)[J"),
      method<memory_limit>("memoryLimit", "()J"),
      method<parse_bytes>("parseBytes", "(Ljava/lang/String;)J"),
      method<reclaim>("reclaim", "(Z)V"),
      method<trace>("trace", "(I)V"),
      method<safe_point>("safePoint", "()V"),
      method<drain>("drain", "()V"),
      method<walk>("walk", "(JI)V"),
      method<make_room>("makeRoom", "(IJ)Ljava/lang/String;"),
      method<is_initialized>("isInitialized", "(Ljava/lang/Class;)Z"),
      method<trim_malloc>("trimMalloc", "()Z"),
      method<force_collection>("forceCollection", "()Z"),
      method<await_references>("awaitReferences", "()Z"),
      method<references_arriving>("referencesArriving", "()Z"),
      method<finalizers_pending>("finalizersPending", "()Z"),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
