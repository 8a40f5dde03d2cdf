// Births and ends, in batches: Java keeps the watch, the core the books.
#include <array>
#include <cstdint>

#include "jni_support.hpp"

namespace {

using namespace ebb_jni;

constexpr jint kBatch = 256;  // Stripe.BATCH
constexpr int kSpec = 4;      // longs a birth: bytes, region, site << 32 | device, then:
                              // its tag (Stripe's name of it), or -1 - the reason if it has ended
constexpr int kReasons = 3;   // ebb_reason, as far as a host ends by itself

using Handles = std::array<jlong, kBatch>;

// Copies a batch out of a Java array; 0 entries if an exception is pending.
jint read(JNIEnv* env, jlongArray from, jint count, Handles& to) {
  if (!has_room(env, from, count, kBatch, "handles")) return 0;
  env->GetLongArrayRegion(from, 0, count, to.data());
  return env->ExceptionCheck() ? 0 : count;
}

ebb_handle adopt_one(const jlong* spec) {
  ebb_foreign_spec foreign{};
  foreign.size = sizeof foreign;
  foreign.bytes = static_cast<std::uint64_t>(spec[0]);
  foreign.region = static_cast<ebb_region>(spec[1]);
  foreign.device = static_cast<ebb_device>(spec[2] & 0xffffffff);
  foreign.site = static_cast<ebb_site>(spec[2] >> 32);
  foreign.tag = spec[3] < 0 ? 0 : static_cast<std::uint64_t>(spec[3]);
  ebb_handle handle = 0;
  return ebb_tensor_adopt(world().context, &foreign, &handle) == EBB_OK ? handle : 0;
}

// Those of a batch that had ended before they were booked.
class Ended {
 public:
  // how: the last of the longs of its birth. One that is no reason is the first, a disposal.
  void add(ebb_handle handle, jlong how) {
    const jlong reason = how < 0 && how >= -kReasons ? -1 - how : 0;
    handles_[reason][counts_[reason]++] = handle;
  }
  ~Ended() {
    for (std::uint32_t reason = 0; reason < kReasons; ++reason) {
      ebb_tensors_end(world().context, handles_[reason].data(), counts_[reason], reason);
    }
  }

 private:
  std::array<std::array<ebb_handle, kBatch>, kReasons> handles_;
  std::array<std::size_t, kReasons> counts_{};
};

// Books births, and the ends of those that have ended meanwhile. handles[i]: the core's name of the
// i-th, 0 where it could not be booked. If Java cannot be told, all of them end.
void adopt(JNIEnv* env, jclass, jlongArray specs, jint count, jlongArray handles) {
  if (!has_room(env, handles, count, kBatch, "handles") ||
      !has_room(env, specs, count * kSpec, kBatch * kSpec, "specs")) {
    return;
  }
  std::array<jlong, kBatch * kSpec> given;
  Handles made;
  env->GetLongArrayRegion(specs, 0, count * kSpec, given.data());
  if (env->ExceptionCheck()) return;
  for (jint i = 0; i < count; ++i) made[i] = static_cast<jlong>(adopt_one(&given[i * kSpec]));
  env->SetLongArrayRegion(handles, 0, count, made.data());
  const bool told = !env->ExceptionCheck();
  Ended ended;
  for (jint i = 0; i < count; ++i) {
    const jlong how = given[i * kSpec + 3];
    if (made[i] != 0 && (how < 0 || !told)) ended.add(static_cast<ebb_handle>(made[i]), how);
  }
}

void end(JNIEnv* env, jclass, jlongArray handles, jint count, jint reason) {
  Handles given;
  if (!allow(env, reason >= 0 && reason < kReasons, "[ebb] no reason for which a host ends"))
    return;
  count = read(env, handles, count, given);
  ebb_tensors_end(world().context, reinterpret_cast<const ebb_handle*>(given.data()),
                  static_cast<std::size_t>(count), static_cast<std::uint32_t>(reason));
}

void orphan(JNIEnv* env, jclass, jlongArray handles, jint count) {
  Handles given;
  count = read(env, handles, count, given);
  for (jint i = 0; i < count; ++i) ebb_orphan(static_cast<ebb_handle>(given[i]));
}

void rebook(JNIEnv*, jclass, jlong handle, jlong bytes) {
  ebb_tensor_rebook(world().context, static_cast<ebb_handle>(handle), 0,
                    static_cast<std::uint64_t>(bytes));
}

void attach(JNIEnv*, jclass, jlong region, jlong handle) {
  ebb_region_attach(world().context, static_cast<ebb_region>(region),
                    static_cast<ebb_handle>(handle));
}

jlong region_open(JNIEnv* env, jclass, jstring name) {
  ebb_region region = 0;
  if (const auto text = text_of(env, name, "name")) {
    check(env, ebb_region_open(world().context, 0, text->c_str(), &region));
  }
  return static_cast<jlong>(region);
}

// The columns of the books that Java shows, by the names that dev.ebb.djl.Memory has for them; those
// that it does not have are for the metrics.
struct Column {
  const char* name;
  std::uint64_t ebb_memory::*value;
};
constexpr Column kColumns[] = {
    {"created", &ebb_memory::created},
    {"live", &ebb_memory::live},
    {"disposed", &ebb_memory::disposed},
    {"regionEnded", &ebb_memory::region_ended},
    {"reclaimed", &ebb_memory::reclaimed},
    {"shutdown", &ebb_memory::shutdown},
    {"orphans", &ebb_memory::orphans},
    {"createdBytes", &ebb_memory::created_bytes},
    {"liveBytes", &ebb_memory::live_bytes},
    {"disposedBytes", &ebb_memory::disposed_bytes},
    {"regionEndedBytes", &ebb_memory::region_ended_bytes},
    {"reclaimedBytes", &ebb_memory::reclaimed_bytes},
    {"shutdownBytes", &ebb_memory::shutdown_bytes},
    {"peakLive", &ebb_memory::peak_live},
    {"peakLiveBytes", &ebb_memory::peak_live_bytes},
    {"collections", &ebb_memory::collections_major},
    {"collectNanos", &ebb_memory::collect_ns},
    {"longestCollectNanos", &ebb_memory::collect_max_ns},
    {"peakOrphans", &ebb_memory::peak_orphans},
    {"regions", &ebb_memory::regions},
    {"lagNanos", &ebb_memory::lag_last_ns},
    {"longestLagNanos", &ebb_memory::lag_max_ns},
};
constexpr jsize kColumnCount = sizeof kColumns / sizeof *kColumns;

jobjectArray columns(JNIEnv* env, jclass) {
  jclass text = env->FindClass("java/lang/String");
  jobjectArray names = text == nullptr ? nullptr : env->NewObjectArray(kColumnCount, text, nullptr);
  for (jsize i = 0; names != nullptr && i < kColumnCount; ++i) {
    jstring name = env->NewStringUTF(kColumns[i].name);
    if (name == nullptr) return nullptr;
    env->SetObjectArrayElement(names, i, name);
    env->DeleteLocalRef(name);
  }
  return names;
}

// The values, in the order of the columns.
jlongArray memory(JNIEnv* env, jclass, jint device) {
  ebb_memory read{};
  read.size = sizeof read;
  if (!check(env, ebb_memory_read(world().context, static_cast<ebb_device>(device), &read)))
    return nullptr;
  jlong values[kColumnCount];
  for (jsize i = 0; i < kColumnCount; ++i) {
    values[i] = static_cast<jlong>(read.*kColumns[i].value);
  }
  return to_java(env, values, kColumnCount);
}

jstring report(JNIEnv* env, jclass, jint top, jboolean json) {
  ebb_report_options options{};
  options.size = sizeof options;
  options.top = static_cast<std::uint32_t>(top);
  options.json = json ? 1 : 0;
  char* text = nullptr;
  if (!check(env, ebb_report(world().context, &options, &text))) return nullptr;
  jstring result = env->NewStringUTF(text);
  ebb_text_free(text);
  return result;
}

jstring audit(JNIEnv* env, jclass) {
  return ebb_audit() == EBB_OK ? nullptr : env->NewStringUTF(ebb_last_error());
}

}  // namespace

bool ebb_jni::register_books(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      method<adopt>("adopt", "([JI[J)V"),
      method<end>("end", "([JII)V"),
      method<orphan>("orphan", "([JI)V"),
      method<rebook>("rebook", "(JJ)V"),
      method<attach>("attach", "(JJ)V"),
      method<region_open>("regionOpen", "(Ljava/lang/String;)J"),
      method<columns>("columns", "()[Ljava/lang/String;"),
      method<memory>("memory", "(I)[J"),
      method<report>("report", "(IZ)Ljava/lang/String;"),
      method<audit>("audit", "()Ljava/lang/String;"),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
