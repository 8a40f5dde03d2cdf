// Births and ends, in batches: Java keeps the watch, the core the books.
#include <array>
#include <cstdint>

#include "jni_support.hpp"

namespace {

using namespace ebb_jni;

constexpr jint kBatch = 256;  // Stripe.BATCH
constexpr int kSpec = 4;      // longs a birth: bytes, region, site << 32 | device, how it ended

// How it ended before it was booked: Stripe's reasons, or alive.
enum End : jlong { kAlive = -1, kDisposed = 0, kWithRegion = 1, kReclaimed = 2 };

using Handles = std::array<jlong, kBatch>;

// Copies a batch out of a Java array; 0 entries if an exception is pending.
jint read(JNIEnv* env, jlongArray from, jint count, Handles& to) {
  count = count < kBatch ? count : kBatch;
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
  ebb_handle handle = 0;
  return ebb_tensor_adopt(world().context, &foreign, &handle) == EBB_OK ? handle : 0;
}

// Those that ended with their manager: in a region of their own, which is closed.
class Farewell {
 public:
  void add(ebb_handle handle) {
    if (region_ == 0 && ebb_region_open(world().context, 0, nullptr, &region_) != EBB_OK) return;
    ebb_region_attach(world().context, region_, handle);
  }
  ~Farewell() {
    if (region_ != 0) ebb_region_close(world().context, region_);
  }

 private:
  ebb_region region_ = 0;
};

void end_one(ebb_handle handle, jlong how, Farewell& farewell) {
  switch (how) {
    case kDisposed:
      ebb_tensor_dispose(world().context, handle);
      break;
    case kWithRegion:
      farewell.add(handle);
      break;
    case kReclaimed:
      ebb_orphan(handle);
      break;
    default:
      break;
  }
}

// Books births, and the ends of those that have ended meanwhile. handles[i]: the core's name of the
// i-th, 0 where it could not be booked.
void adopt(JNIEnv* env, jclass, jlongArray specs, jint count, jlongArray handles) {
  std::array<jlong, kBatch * kSpec> given;
  Handles made;
  count = count < kBatch ? count : kBatch;
  env->GetLongArrayRegion(specs, 0, count * kSpec, given.data());
  if (env->ExceptionCheck()) return;
  Farewell farewell;
  for (jint i = 0; i < count; ++i) {
    const ebb_handle handle = adopt_one(&given[i * kSpec]);
    made[i] = static_cast<jlong>(handle);
    if (handle != 0) end_one(handle, given[i * kSpec + 3], farewell);
  }
  env->SetLongArrayRegion(handles, 0, count, made.data());
}

void dispose(JNIEnv* env, jclass, jlongArray handles, jint count) {
  Handles given;
  count = read(env, handles, count, given);
  for (jint i = 0; i < count; ++i) {
    ebb_tensor_dispose(world().context, static_cast<ebb_handle>(given[i]));
  }
}

void end_with_region(JNIEnv* env, jclass, jlongArray handles, jint count) {
  Handles given;
  count = read(env, handles, count, given);
  Farewell farewell;
  for (jint i = 0; i < count; ++i) farewell.add(static_cast<ebb_handle>(given[i]));
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
  check(env, ebb_region_open(world().context, 0, text_of(env, name).c_str(), &region));
  return static_cast<jlong>(region);
}

jint site_intern(JNIEnv* env, jclass, jstring text) {
  ebb_site site = 0;
  check(env, ebb_site_intern(text_of(env, text).c_str(), &site));
  return static_cast<jint>(site);
}

// In the order of Native.Reading's constants.
void memory(JNIEnv* env, jclass, jlongArray out) {
  ebb_memory read{};
  read.size = sizeof read;
  if (!check(env, ebb_memory_read(world().context, 0, &read))) return;
  const std::uint64_t values[] = {read.created,
                                  read.live,
                                  read.disposed,
                                  read.region_ended,
                                  read.reclaimed,
                                  read.shutdown,
                                  read.orphans,
                                  read.created_bytes,
                                  read.live_bytes,
                                  read.disposed_bytes,
                                  read.region_ended_bytes,
                                  read.reclaimed_bytes,
                                  read.shutdown_bytes,
                                  read.peak_live,
                                  read.peak_live_bytes,
                                  read.collections_major,
                                  read.collect_ns,
                                  read.collect_max_ns};
  constexpr jsize kCount = sizeof values / sizeof *values;
  jlong copy[kCount];
  for (jsize i = 0; i < kCount; ++i) copy[i] = static_cast<jlong>(values[i]);
  env->SetLongArrayRegion(out, 0, kCount, copy);
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
      method("adopt", "([JI[J)V", adopt),
      method("dispose", "([JI)V", dispose),
      method("endWithRegion", "([JI)V", end_with_region),
      method("orphan", "([JI)V", orphan),
      method("rebook", "(JJ)V", rebook),
      method("attach", "(JJ)V", attach),
      method("regionOpen", "(Ljava/lang/String;)J", region_open),
      method("siteIntern", "(Ljava/lang/String;)I", site_intern),
      method("memory", "([J)V", memory),
      method("report", "(IZ)Ljava/lang/String;", report),
      method("audit", "()Ljava/lang/String;", audit),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
