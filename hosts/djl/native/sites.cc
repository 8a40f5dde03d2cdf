// Where in the program an array is made: the frames outside of DJL, the JDK and Ebb, found by JVMTI,
// which needs a quarter of the time of a StackWalker that makes text of each. A stack that has been seen
// before costs its walk and a look into a table.
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jni_support.hpp"

namespace {

using namespace ebb_jni;

constexpr jint kNear = 20, kDeepest = 64;  // frames that are looked at

using Place = std::pair<jmethodID, jlocation>;

struct Tables {
  std::shared_mutex lock;
  std::vector<std::string> passed_over;         // beginnings of classes' names, with '/'
  std::unordered_map<jmethodID, bool> program;  // whether a method is the program's
  std::map<std::vector<Place>, ebb_site> sites;
  std::unordered_map<ebb_site, std::string> texts;
};
Tables& tables() {
  static Tables instance;
  return instance;
}

// Text that JVMTI hands out.
class JvmtiText {
 public:
  ~JvmtiText() {
    if (text_ != nullptr) world().jvmti->Deallocate(reinterpret_cast<unsigned char*>(text_));
  }
  char** out() { return &text_; }
  std::string str() const { return text_ == nullptr ? "" : text_; }

 private:
  char* text_ = nullptr;
};

// "com/shop/Main$Inner" of a method's class; its file, if asked for.
std::string class_of(JNIEnv* env, jmethodID method, std::string* file) {
  jvmtiEnv* jvmti = world().jvmti;
  jclass type = nullptr;
  if (jvmti->GetMethodDeclaringClass(method, &type) != JVMTI_ERROR_NONE) return "";
  JvmtiText signature, source;
  jvmti->GetClassSignature(type, signature.out(), nullptr);
  if (file != nullptr && jvmti->GetSourceFileName(type, source.out()) == JVMTI_ERROR_NONE) {
    *file = source.str();
  }
  env->DeleteLocalRef(type);
  std::string name = signature.str();
  if (name.size() > 2 && name.front() == 'L') name = name.substr(1, name.size() - 2);
  return name;
}

bool is_programs(JNIEnv* env, jmethodID method) {
  Tables& t = tables();
  {
    std::shared_lock reading(t.lock);
    if (const auto known = t.program.find(method); known != t.program.end()) return known->second;
  }
  const std::string type = class_of(env, method, nullptr);
  if (type.empty()) return false;  // the JVM does not tell now; later it may
  // The JVM's own: a lambda's object, which leads to the method with its code.
  bool programs = type.find("$$Lambda") == std::string::npos;
  std::unique_lock writing(t.lock);
  for (const std::string& prefix : t.passed_over) {
    programs = programs && type.compare(0, prefix.size(), prefix) != 0;
  }
  t.program[method] = programs;
  return programs;
}

int line_of(const Place& place) {
  jvmtiEnv* jvmti = world().jvmti;
  jint count = 0;
  jvmtiLineNumberEntry* entries = nullptr;
  int line = -1;
  if (jvmti->GetLineNumberTable(place.first, &count, &entries) != JVMTI_ERROR_NONE) return line;
  jlocation best = -1;
  for (jint i = 0; i < count; ++i) {
    if (entries[i].start_location <= place.second && entries[i].start_location >= best) {
      best = entries[i].start_location;
      line = entries[i].line_number;
    }
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(entries));
  return line;
}

// As a StackWalker's in Sites.java.
std::string text_of_place(JNIEnv* env, const Place& place) {
  std::string file = "null";
  std::string type = class_of(env, place.first, &file);
  type = type.substr(type.rfind('/') + 1);
  JvmtiText method;
  world().jvmti->GetMethodName(place.first, method.out(), nullptr, nullptr);
  return type + "." + method.str() + " (" + file + ":" + std::to_string(line_of(place)) + ")";
}

ebb_site intern(const std::string& text) {
  ebb_site site = 0;
  if (ebb_site_intern(text.c_str(), &site) != EBB_OK) return 0;
  Tables& t = tables();
  std::unique_lock writing(t.lock);
  t.texts.emplace(site, text);
  return site;
}

using Frames = std::array<jvmtiFrameInfo, kDeepest>;

std::vector<Place> programs_frames(JNIEnv* env, const Frames& frames, jint count, jint most) {
  std::vector<Place> found;
  for (jint i = 0; i < count && static_cast<jint>(found.size()) < most; ++i) {
    if (is_programs(env, frames[i].method))
      found.emplace_back(frames[i].method, frames[i].location);
  }
  return found;
}

ebb_site site_of(JNIEnv* env, const std::vector<Place>& places) {
  Tables& t = tables();
  {
    std::shared_lock reading(t.lock);
    if (const auto known = t.sites.find(places); known != t.sites.end()) return known->second;
  }
  std::string text;
  for (const Place& place : places) {
    if (!text.empty()) text += '\n';
    text += text_of_place(env, place);
  }
  const ebb_site site = intern(text);
  if (site == 0) return site;
  std::unique_lock writing(t.lock);
  t.sites.emplace(places, site);
  return site;
}

// What this thread found last, by all frames of a stack: a loop makes its arrays in the same few places.
struct Seen {
  std::uint64_t frames = 0;  // 0: nothing
  ebb_site site = 0;
};
constexpr std::size_t kSeen = 256;

// A library that is loaded late has little room for what each thread has: a pointer.
Seen& seen(std::uint64_t hash) {
  thread_local std::unique_ptr<std::array<Seen, kSeen>> of_thread;
  if (of_thread == nullptr) of_thread = std::make_unique<std::array<Seen, kSeen>>();
  return (*of_thread)[(hash >> 1) % kSeen];
}

std::uint64_t hash_of(const Frames& frames, jint count, jint most) {
  std::uint64_t hash = 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(most + 1);
  const auto add = [&](std::uint64_t more) {
    hash = (hash ^ more) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  };
  for (jint i = 0; i < count; ++i) {
    add(reinterpret_cast<std::uint64_t>(frames[i].method));
    add(static_cast<std::uint64_t>(frames[i].location));
  }
  return hash | 1;
}

// The site of this stack, of at most so many frames; 0: none of them is the program's; -1: it cannot be
// walked. The nearest frames cost least, and nearly always there is one of the program's among them.
jint site_here(JNIEnv* env, jclass, jint most) {
  jvmtiEnv* jvmti = world().jvmti;
  if (jvmti == nullptr) return -1;
  Frames frames;
  for (const jint depth : {kNear, kDeepest}) {
    jint count = 0;
    if (jvmti->GetStackTrace(nullptr, 0, depth, frames.data(), &count) != JVMTI_ERROR_NONE)
      return -1;
    const std::uint64_t hash = hash_of(frames, count, most);
    Seen& slot = seen(hash);
    if (slot.frames == hash) return static_cast<jint>(slot.site);
    const std::vector<Place> places = programs_frames(env, frames, count, most);
    if (!places.empty()) {
      slot = {hash, site_of(env, places)};
      return static_cast<jint>(slot.site);
    }
  }
  return 0;
}

jint site_intern(JNIEnv* env, jclass, jstring text) {
  const auto given = text_of(env, text, "text");
  return given ? static_cast<jint>(intern(*given)) : 0;
}

jstring site_text(JNIEnv* env, jclass, jint site) {
  Tables& t = tables();
  std::shared_lock reading(t.lock);
  const auto known = t.texts.find(static_cast<ebb_site>(site));
  return env->NewStringUTF(known == t.texts.end() ? "" : known->second.c_str());
}

// Those whose text has this in it.
jintArray sites_with(JNIEnv* env, jclass, jstring part) {
  const auto wanted = text_of(env, part, "part");
  if (!wanted) return nullptr;
  std::vector<jint> found;
  Tables& t = tables();
  {
    std::shared_lock reading(t.lock);
    for (const auto& [site, text] : t.texts) {
      if (text.find(*wanted) != std::string::npos) found.push_back(static_cast<jint>(site));
    }
  }
  jintArray result = env->NewIntArray(static_cast<jsize>(found.size()));
  if (result != nullptr) {
    env->SetIntArrayRegion(result, 0, static_cast<jsize>(found.size()), found.data());
  }
  return result;
}

void pass_over(JNIEnv* env, jclass, jobjectArray prefixes) {
  if (!given(env, prefixes, "prefixes")) return;
  std::vector<std::string> read;
  for (jsize i = 0; i < env->GetArrayLength(prefixes); ++i) {
    auto prefix = static_cast<jstring>(env->GetObjectArrayElement(prefixes, i));
    auto text = text_of(env, prefix, "prefix");
    if (!text) return;
    std::replace(text->begin(), text->end(), '.', '/');
    read.push_back(std::move(*text));
    env->DeleteLocalRef(prefix);
  }
  Tables& t = tables();
  std::unique_lock writing(t.lock);
  t.passed_over = std::move(read);
}

}  // namespace

bool ebb_jni::register_sites(JNIEnv* env, jclass native) {
  const JNINativeMethod methods[] = {
      method<site_here>("siteHere", "(I)I"),
      method<site_intern>("siteIntern", "(Ljava/lang/String;)I"),
      method<site_text>("siteText", "(I)Ljava/lang/String;"),
      method<sites_with>("sitesWith", "(Ljava/lang/String;)[I"),
      method<pass_over>("passOver", "([Ljava/lang/String;)V"),
  };
  return env->RegisterNatives(native, methods, sizeof methods / sizeof *methods) == JNI_OK;
}
