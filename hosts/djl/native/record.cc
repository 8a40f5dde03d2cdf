// The recording of this process.
#include <cstdint>

#include "jni_support.hpp"

namespace {

using namespace ebb_jni;

void record_start(JNIEnv* env, jclass, jstring path, jstring name, jint mode, jlong most) {
  const std::string file = text_of(env, path), program = text_of(env, name);
  ebb_record_options options = EBB_INIT(ebb_record_options);
  options.mode = static_cast<std::uint32_t>(mode);
  options.path = file.c_str();
  options.name = program.c_str();
  options.max_bytes = static_cast<std::uint64_t>(most);
  if (!check(env, ebb_record_start(&options))) return;
  // Viewers may attach (ebb top PID). Without a folder of the user's own they cannot, and that is no
  // reason not to record.
  ebb_live_start(nullptr);
}

void record_mode(JNIEnv* env, jclass, jint mode) {
  check(env, ebb_record_set_mode(static_cast<std::uint32_t>(mode)));
}

void record_mark(JNIEnv* env, jclass, jstring text) {
  check(env, ebb_record_mark(text_of(env, text).c_str()));
}

void record_stop(JNIEnv* env, jclass) { check(env, ebb_record_stop()); }

jboolean wants_site(JNIEnv*, jclass, jlong bytes) {
  return ebb_record_wants_site(static_cast<std::uint64_t>(bytes)) != 0;
}

void host_heap(JNIEnv*, jclass, jlong bytes) {
  ebb_record_host_heap(static_cast<std::uint64_t>(bytes));
}

// Bytes, events, lost, and whether it gave up.
jlongArray record_info(JNIEnv* env, jclass) {
  ebb_record_info info = EBB_INIT(ebb_record_info);
  if (!check(env, ebb_record_read(&info))) return nullptr;
  const jlong values[] = {static_cast<jlong>(info.bytes), static_cast<jlong>(info.events),
                          static_cast<jlong>(info.lost), static_cast<jlong>(info.failed)};
  constexpr jsize kCount = sizeof values / sizeof *values;
  jlongArray result = env->NewLongArray(kCount);
  if (result != nullptr) env->SetLongArrayRegion(result, 0, kCount, values);
  return result;
}

}  // namespace

bool ebb_jni::register_record(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      method("recordStart", "(Ljava/lang/String;Ljava/lang/String;IJ)V", record_start),
      method("recordMode", "(I)V", record_mode),
      method("recordMark", "(Ljava/lang/String;)V", record_mark),
      method("recordStop", "()V", record_stop),
      method("recordInfo", "()[J", record_info),
      method("wantsSite", "(J)Z", wants_site),
      method("hostHeap", "(J)V", host_heap),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
