// Bytes -> a sequence of calls of ebb.h over two contexts and four devices, with names that are
// valid, stale, forged or another context's, absurd sizes and wrong struct sizes. Whatever the
// bytes say: a status, never a crash, and books that balance; when all is ended nothing is in use.
//
// Each call is one byte for the function and then what its arguments take. Budgets are small, so
// that the ladder runs, and the collect callback gives up some of the handles.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ebb.h"

namespace {

constexpr uint64_t kBudget = 256 << 10;
constexpr std::size_t kMostNames = 64;
constexpr int kMostCalls = 2000;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "capi_fuzz: %s: %s\n", what, ebb_last_error());
  std::abort();
}

void must(ebb_status status, const char* what) {
  if (status != EBB_OK) give_up(what);
}

class Input {
 public:
  Input(const uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}
  bool empty() const { return data_ == end_; }
  uint8_t byte() { return empty() ? 0 : *data_++; }
  uint64_t word() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= uint64_t{byte()} << (8 * i);
    return value;
  }
  std::string text() {
    std::string made;
    for (std::size_t left = byte() % 16; left > 0; --left) made += static_cast<char>(byte());
    return made;
  }
  // A size as programs ask for it, and now and then one that none has.
  uint64_t size() {
    const uint8_t kind = byte();
    if (kind < 0xE0) return uint64_t{kind} << (byte() % 10);
    return kind < 0xF0 ? uint64_t{1} << (byte() % 64) : word();
  }

 private:
  const uint8_t* data_;
  const uint8_t* end_;
};

// Names of one kind that the calls gave out, ended ones among them.
class Names {
 public:
  void keep(uint64_t name) {
    if (names_.size() < kMostNames) {
      names_.push_back(name);
    } else {
      names_[next_++ % kMostNames] = name;
    }
  }
  uint64_t pick(Input& in) const {
    const uint8_t kind = in.byte();
    if (kind >= 0xF0) return forged(kind, in);
    return names_.empty() ? 0 : names_[kind % names_.size()];
  }
  const std::vector<uint64_t>& all() const { return names_; }

 private:
  uint64_t forged(uint8_t kind, Input& in) const {
    if (kind < 0xF4) return kind & 3u;
    if (kind < 0xFA || names_.empty()) return in.word();
    return names_.back() ^ (uint64_t{1} << (in.byte() % 64));
  }

  std::vector<uint64_t> names_;
  std::size_t next_ = 0;
};

class Machine {
 public:
  explicit Machine(Input in) : in_(in) {
    open(EBB_DEVICE_SYSTEM, "fuzz:system", 0, 64 * kBudget);
    open(EBB_DEVICE_SIMULATED, "fuzz:sim", 4 * kBudget, kBudget);
    open(EBB_DEVICE_FOREIGN, "fuzz:soft", 0, kBudget, EBB_BUDGET_SOFT);
    open(EBB_DEVICE_FOREIGN, "fuzz:hard", 0, kBudget);
    ebb_reclaim_set(in_.byte() & 1);
    must(ebb_trace_set(in_.byte() % 3), "trace_set");
    create_context();
    create_context();
  }

  void run() {
    for (int calls = 0; calls < kMostCalls && !in_.empty(); ++calls) step();
  }

  void finish() {
    must(ebb_audit(), "audit after the calls");
    for (const ebb_context context : contexts_.all()) ebb_context_destroy(context);
    for (const ebb_hold hold : holds_.all()) ebb_hold_release(0, hold);
    for (const ebb_hold hold : every_hold_) ebb_hold_release(0, hold);
    must(ebb_audit(), "audit at the end");
    for (const ebb_device device : opened_) close(device);
  }

 private:
  void open(uint32_t kind, const char* name, uint64_t capacity, uint64_t budget,
            uint32_t mode = EBB_BUDGET_HARD) {
    const ebb_device_options options = {sizeof(options), kind, name, capacity, budget, mode, 0};
    ebb_device device = 0;
    must(ebb_device_open(&options, &device), "device_open");
    opened_.push_back(device);
    devices_.keep(device);
  }

  static void close(ebb_device device) {
    ebb_device_info info{};
    info.size = sizeof(info);
    must(ebb_device_describe(device, &info), "device_describe");
    if (info.in_use != 0) give_up("bytes in use at the end");
    must(ebb_device_close(device), "device_close");
  }

  // ---- the host

  static uint64_t on_collect(void* user, ebb_collection) {
    static_cast<Machine*>(user)->collect();
    return 100;
  }
  static void on_end(void* user, const ebb_ended* ended, std::size_t count) {
    static_cast<Machine*>(user)->end(ended, count);
  }
  static void on_warn(void*, const char* message) {
    if (std::strlen(message) == 0) give_up("an empty warning");
  }

  void collect() {
    for (uint8_t left = in_.byte() % 32; left > 0; --left) ebb_orphan(handles_.pick(in_));
    call_back();
  }
  void end(const ebb_ended* ended, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (ended[i].handle == 0 || ended[i].reason > EBB_ENDED_SHUTDOWN) give_up("a bad end");
    }
    call_back();
  }
  // Hosts do call back, also where they must not.
  void call_back() {
    if (depth_ >= 3 || in_.byte() % 8 != 0) return;
    ++depth_;
    step();
    --depth_;
  }

  void create_context() {
    if (contexts_made_++ >= 100) return;
    ebb_context_options options{};
    options.size = struct_size(sizeof(options));
    options.flags = in_.byte() & 1;
    options.name = "fuzz";
    options.user = this;
    options.collect = &on_collect;
    options.end = &on_end;
    options.warn = &on_warn;
    ebb_context context = 0;
    if (ebb_context_create(&options, &context) == EBB_OK) contexts_.keep(context);
  }

  // ---- arguments

  uint32_t struct_size(std::size_t right) {
    const uint8_t kind = in_.byte();
    if (kind < 0xE8) return static_cast<uint32_t>(right);
    // Never more than there is, unless it is so large that nobody can mean it.
    return kind < 0xF8 ? in_.byte() % static_cast<uint32_t>(right + 1) : UINT32_MAX;
  }
  ebb_context context() { return contexts_.pick(in_); }
  ebb_device device() {
    const uint64_t name = devices_.pick(in_);
    return static_cast<ebb_device>(name);
  }
  ebb_region region() { return in_.byte() % 4 == 0 ? 0 : regions_.pick(in_); }

  uint32_t read_dims() {
    const uint8_t rank = in_.byte() % 9;
    for (int64_t& dim : dims_) dim = 1;
    if (rank > 0) dims_[0] = static_cast<int64_t>(in_.size());
    for (int i = 1; i < rank; ++i) dims_[i] = in_.byte() % 4;
    return rank;
  }
  ebb_tensor_spec tensor_spec() {
    ebb_tensor_spec spec{};
    spec.size = struct_size(sizeof(spec));
    spec.device = device();
    spec.dtype = in_.byte() % 14;
    spec.rank = read_dims();
    spec.dims = in_.byte() < 0xF8 ? dims_ : nullptr;
    spec.region = region();
    spec.site = site_;
    spec.stream = in_.byte() < 0xF0 ? 0 : in_.byte();
    return spec;
  }
  ebb_foreign_spec foreign_spec() {
    ebb_foreign_spec spec{};
    spec.size = struct_size(sizeof(spec));
    spec.device = device();
    spec.key = in_.byte() % 8;
    spec.bytes = in_.size();
    spec.tag = in_.byte();
    spec.dtype = in_.byte() % 14;
    spec.rank = read_dims();
    spec.dims = in_.byte() < 0xF8 ? dims_ : nullptr;
    spec.region = region();
    spec.site = site_;
    spec.flags = in_.byte() < 0xF0 ? 0 : in_.byte();
    return spec;
  }
  template <typename T>
  T output() {
    T made{};
    made.size = struct_size(sizeof(T));
    return made;
  }

  void keep_handle(ebb_status status, ebb_handle handle) {
    if ((status == EBB_OK) != (handle != 0)) give_up("an output that does not fit its status");
    if (status == EBB_OK) handles_.keep(handle);
  }

  // ---- calls

  void step() {
    switch (in_.byte() % 8) {
      case 0:
        return births();
      case 1:
        return ends();
      case 2:
        return regions();
      case 3:
        return attachments();
      case 4:
        return reclaim();
      case 5:
        return holds();
      case 6:
        return devices_and_contexts();
      default:
        return books();
    }
  }

  void births() {
    ebb_handle handle = 0;
    const uint8_t which = in_.byte() % 8;
    if (which < 3) {
      const ebb_tensor_spec spec = tensor_spec();
      keep_handle(ebb_tensor_create(context(), &spec, &handle), handle);
    } else if (which < 7) {
      const ebb_foreign_spec spec = foreign_spec();
      keep_handle(ebb_tensor_adopt(context(), &spec, &handle), handle);
    } else {
      const ebb_tensor_spec spec = tensor_spec();
      const ebb_handle base = handles_.pick(in_);
      keep_handle(ebb_tensor_view(context(), base, in_.size(), &spec, &handle), handle);
    }
  }

  void ends() {
    const ebb_handle handle = handles_.pick(in_);
    switch (in_.byte() % 4) {
      case 0:
        ebb_orphan(handle);
        break;
      case 1:
        ebb_tensor_rebook(context(), handle, in_.byte() % 2 == 0 ? 0 : device(), in_.size());
        break;
      default:
        ebb_tensor_dispose(context(), handle);
    }
  }

  void regions() {
    ebb_region made = 0;
    switch (in_.byte() % 8) {
      case 0:
      case 1:
      case 2: {
        const std::string label = in_.text();
        if (ebb_region_open(context(), region(), label.c_str(), &made) == EBB_OK) {
          regions_.keep(made);
        }
        break;
      }
      case 3:
        if (ebb_region_root(context(), &made) == EBB_OK) regions_.keep(made);
        break;
      case 4:
        if (in_.byte() % 4 == 0) ebb_region_cap(context(), region());
        break;
      case 5: {
        auto info = output<ebb_region_info>();
        ebb_region_describe(context(), region(), &info);
        break;
      }
      default:
        ebb_region_close(context(), region());
    }
  }

  void attachments() {
    const ebb_handle handle = handles_.pick(in_);
    switch (in_.byte() % 5) {
      case 0:
        ebb_region_attach(context(), region(), handle);
        break;
      case 1:
        ebb_region_attach_temporarily(context(), region(), handle);
        break;
      case 2:
        ebb_region_detach(context(), handle);
        break;
      case 3:
        ebb_region_move_to_parent(context(), handle);
        break;
      default: {
        const ebb_handle several[] = {handle, handles_.pick(in_), handles_.pick(in_)};
        ebb_region shortest = 0;
        ebb_region_shortest_lived(context(), several, in_.byte() % 4, &shortest);
      }
    }
  }

  void reclaim() {
    auto drained = output<ebb_drained>();
    ebb_drained* out = in_.byte() % 4 == 0 ? nullptr : &drained;
    switch (in_.byte() % 8) {
      case 0:
        ebb_reclaim_set(in_.byte() & 1);
        break;
      case 1:
        ebb_collect(context(), in_.byte() % 3, in_.byte() & 1, out);
        break;
      case 2:
        ebb_make_room(context(), device(), in_.size(), out);
        break;
      default:
        ebb_safe_point(context(), in_.byte() % 2 == 0 ? 0 : device(), in_.size(), out);
    }
  }

  void holds() {
    const ebb_hold hold = holds_.pick(in_);
    switch (in_.byte() % 3) {
      case 0: {
        ebb_hold made = 0;
        if (every_hold_.size() < 1000 &&
            ebb_hold_acquire(context(), handles_.pick(in_), &made) == EBB_OK) {
          holds_.keep(made);
          every_hold_.push_back(made);
        }
        break;
      }
      case 1: {
        void* data = nullptr;
        uint64_t bytes = 0;
        if (ebb_hold_data(context(), hold, &data, &bytes) == EBB_OK && bytes > 0) {
          static_cast<volatile char*>(data)[bytes - 1] = 1;
        }
        break;
      }
      default:
        ebb_hold_release(context(), hold);
    }
  }

  void devices_and_contexts() {
    switch (in_.byte() % 8) {
      case 0:
        return create_context();
      case 1:
        ebb_context_destroy(context());
        break;
      case 2:
        set_budget();
        break;
      case 3: {
        auto info = output<ebb_device_info>();
        ebb_device_describe(device(), &info);
        break;
      }
      case 4: {
        uint64_t trimmed = 0;
        ebb_device_trim(device(), in_.size(), &trimmed);
        break;
      }
      case 5:
        return open_another();
      case 6: {
        uint64_t bytes = 0;
        ebb_parse_bytes(in_.text().c_str(), &bytes);
        break;
      }
      default: {
        auto info = output<ebb_tensor_info>();
        ebb_tensor_describe(context(), handles_.pick(in_), &info);
      }
    }
  }

  // Some budget there always is: a machine has less memory than a fuzzer asks for.
  void set_budget() {
    const ebb_device which = device();
    ebb_device_set_budget(which, 1 + in_.size() % (8 * kBudget), in_.byte() % 3);
  }

  void open_another() {
    ebb_device_options options{};
    options.size = struct_size(sizeof(options));
    options.kind = in_.byte() % 5;
    options.name = in_.byte() % 2 == 0 ? "fuzz:other" : "fuzz:sim";
    options.capacity = in_.size() % (1 << 20);
    options.budget = kBudget;
    options.mode = in_.byte() % 3;
    ebb_device made = 0;
    if (ebb_device_open(&options, &made) != EBB_OK) return;
    devices_.keep(made);
    // Undone at once: one opening of the others stays, so that its name goes on being valid.
    ebb_device_close(made);
  }

  void books() {
    switch (in_.byte() % 8) {
      case 0:
        must(ebb_audit(), "audit between calls");
        break;
      case 1: {
        auto memory = output<ebb_memory>();
        ebb_memory_read(in_.byte() % 2 == 0 ? 0 : context(), in_.byte() % 2 == 0 ? 0 : device(),
                        &memory);
        break;
      }
      case 2:
        return report();
      case 3:
        ebb_site_intern(in_.text().c_str(), &site_);
        break;
      case 4:
        ebb_site_ending(in_.byte());
        break;
      case 5:
        ebb_trace_set(in_.byte() % 4);
        break;
      default:
        nothing_given();
    }
  }

  void report() {
    ebb_report_options options{};
    options.size = struct_size(sizeof(options));
    options.top = in_.byte();
    options.json = in_.byte() & 1;
    char* text = nullptr;
    ebb_report(in_.byte() % 2 == 0 ? 0 : context(), &options, &text);
    ebb_text_free(text);
  }

  void nothing_given() {
    const ebb_context in = context();
    if (ebb_device_open(nullptr, nullptr) == EBB_OK ||
        ebb_context_create(nullptr, nullptr) == EBB_OK ||
        ebb_tensor_create(in, nullptr, nullptr) == EBB_OK ||
        ebb_tensor_adopt(in, nullptr, nullptr) == EBB_OK ||
        ebb_tensor_view(in, 1, 0, nullptr, nullptr) == EBB_OK ||
        ebb_tensor_describe(in, 1, nullptr) == EBB_OK ||
        ebb_region_open(in, 0, nullptr, nullptr) == EBB_OK ||
        ebb_hold_acquire(in, 1, nullptr) == EBB_OK || ebb_memory_read(in, 0, nullptr) == EBB_OK ||
        ebb_report(in, nullptr, nullptr) == EBB_OK || ebb_snapshot_write(nullptr) == EBB_OK) {
      give_up("null was taken");
    }
  }

  Input in_;
  int depth_ = 0;
  int contexts_made_ = 0;
  Names contexts_, devices_, handles_, regions_, holds_;
  std::vector<ebb_device> opened_;
  std::vector<ebb_hold> every_hold_;
  ebb_site site_ = 0;
  int64_t dims_[9] = {};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  Machine machine(Input(data, size));
  machine.run();
  machine.finish();
  return 0;
}
