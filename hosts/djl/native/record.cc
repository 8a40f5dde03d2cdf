// The recording of this process.
#include <atomic>
#include <cstdint>

#include "jni_support.hpp"

namespace {

using namespace ebb_jni;

// What viewers wish, until somebody takes it: bits of ebb_asked.
std::atomic<std::uint32_t> wishes{0};

void record_start(JNIEnv* env, jclass, jstring path, jstring name, jint mode, jlong most) {
  const auto file = text_of(env, path, "path");
  const auto program = file ? text_of(env, name, "name") : std::nullopt;
  if (!program) return;
  ebb_record_options options = EBB_INIT(ebb_record_options);
  options.mode = static_cast<std::uint32_t>(mode);
  options.path = file->c_str();
  options.name = program->c_str();
  options.max_bytes = static_cast<std::uint64_t>(most);
  if (!check(env, ebb_record_start(&options))) return;
  // Viewers may attach (ebb top PID). Without a folder of the user's own they cannot, and that is no
  // reason not to record.
  ebb_live_options live = EBB_INIT(ebb_live_options);
  live.asked = [](void*, std::uint32_t what) {
    if (what < 32) wishes.fetch_or(1U << what, std::memory_order_relaxed);
  };
  wishes.store(0, std::memory_order_relaxed);
  ebb_live_start(&live);
}

void record_mode(JNIEnv* env, jclass, jint mode) {
  check(env, ebb_record_set_mode(static_cast<std::uint32_t>(mode)));
}

void record_mark(JNIEnv* env, jclass, jstring text) {
  if (const auto mark = text_of(env, text, "text")) check(env, ebb_record_mark(mark->c_str()));
}

void record_holder(JNIEnv* env, jclass, jint site, jstring text) {
  const auto holder = text_of(env, text, "text");
  if (holder) check(env, ebb_record_holder(static_cast<ebb_site>(site), holder->c_str()));
}

jint live_asked(JNIEnv*, jclass) {
  return static_cast<jint>(wishes.exchange(0, std::memory_order_relaxed));
}

void record_stop(JNIEnv* env, jclass) { check(env, ebb_record_stop()); }

jboolean wants_site(JNIEnv*, jclass, jlong bytes) {
  return ebb_record_wants_site(static_cast<std::uint64_t>(bytes)) != 0;
}

void host_heap(JNIEnv*, jclass, jlong bytes) {
  ebb_record_host_heap(static_cast<std::uint64_t>(bytes));
}

// Bytes, events, lost, whether it gave up, and its mode.
jlongArray record_info(JNIEnv* env, jclass) {
  ebb_record_info info = EBB_INIT(ebb_record_info);
  if (!check(env, ebb_record_read(&info))) return nullptr;
  const jlong values[] = {static_cast<jlong>(info.bytes), static_cast<jlong>(info.events),
                          static_cast<jlong>(info.lost), static_cast<jlong>(info.failed),
                          static_cast<jlong>(info.mode)};
  return to_java(env, values, sizeof values / sizeof *values);
}

}  // namespace

bool ebb_jni::register_record(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      method<record_start>("recordStart", "(Ljava/lang/String;Ljava/lang/String;IJ)V"),
      method<record_mode>("recordMode", "(I)V"),
      method<record_mark>("recordMark", "(Ljava/lang/String;)V"),
      method<record_holder>("recordHolder", "(ILjava/lang/String;)V"),
      method<live_asked>("liveAsked", "()I"),
      method<record_stop>("recordStop", "()V"),
      method<record_info>("recordInfo", "()[J"),
      method<wants_site>("wantsSite", "(J)Z"),
      method<host_heap>("hostHeap", "(J)V"),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
