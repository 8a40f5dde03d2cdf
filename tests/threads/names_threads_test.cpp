// Create, use and destroy of each kind of name raced on eight threads: what a name gave out is what
// it named when it was made, and a name that has ended is refused, also while another is made.
#include <deque>
#include <functional>
#include <string>

#include "ebb/memory/device.hpp"
#include "support/audited.hpp"
#include "support/hosts.hpp"
#include "threads/names_race.hpp"

namespace ebb::test {
namespace {

std::uint64_t steps() { return from_environment("EBB_NAME_RACES", 2000); }

bool stale(ebb_status status) { return status == EBB_STALE_HANDLE; }

// A context and a device of Ebb's own and of another runtime's, for names that live in one.
class World {
 public:
  World() {
    auto options = EBB_INIT(ebb_context_options);
    options.name = "names";
    options.end = [](void*, const ebb_ended*, std::size_t) {};
    EXPECT_EQ(ebb_context_create(&options, &context), EBB_OK);
    own = open(EBB_DEVICE_SYSTEM, "names:own");
    foreign = open(EBB_DEVICE_FOREIGN, "names:foreign");
  }
  ~World() {
    EXPECT_EQ(ebb_audit(), EBB_OK) << ebb_last_error();
    EXPECT_EQ(ebb_context_destroy(context), EBB_OK);
    EXPECT_EQ(ebb_device_close(own), EBB_OK) << ebb_last_error();
    EXPECT_EQ(ebb_device_close(foreign), EBB_OK) << ebb_last_error();
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  static ebb_device open(std::uint32_t kind, const char* name) {
    const ebb_device_options options = {sizeof(options), kind, name, 0, 0, EBB_BUDGET_HARD, 0};
    ebb_device device = 0;
    EXPECT_EQ(ebb_device_open(&options, &device), EBB_OK) << ebb_last_error();
    return device;
  }

  // Filled with one byte that its number tells; its mark has that byte and its size.
  Named tensor(std::uint64_t number) const {
    const Named mark{0, (64 + number % 5000) << 8 | number % 251};
    const auto bytes = static_cast<std::int64_t>(size_of(mark));
    auto spec = EBB_INIT(ebb_tensor_spec);
    spec.device = own;
    spec.dtype = EBB_UINT8;
    spec.rank = 1;
    spec.dims = &bytes;
    ebb_handle made = 0;
    EXPECT_EQ(ebb_tensor_create(context, &spec, &made), EBB_OK) << ebb_last_error();
    const std::vector<std::uint8_t> data(size_of(mark), fill_of(mark));
    EXPECT_EQ(ebb_tensor_write(context, made, data.data(), data.size()), EBB_OK);
    return {made, mark.mark};
  }
  static std::uint64_t size_of(const Named& named) { return named.mark >> 8; }
  static std::uint8_t fill_of(const Named& named) { return std::uint8_t(named.mark); }
  static void expect_content(const std::vector<std::uint8_t>& data, const Named& named) {
    EXPECT_EQ(data, std::vector<std::uint8_t>(size_of(named), fill_of(named)));
  }

  ebb_foreign_spec foreign_spec(std::uint64_t tag) const {
    auto spec = EBB_INIT(ebb_foreign_spec);
    spec.device = foreign;
    spec.bytes = 64;
    spec.tag = tag;
    return spec;
  }
  ebb_status describe(ebb_handle handle, ebb_tensor_info& info) const {
    info = EBB_INIT(ebb_tensor_info);
    return ebb_tensor_describe(context, handle, &info);
  }

  ebb_context context = 0;
  ebb_device own = 0, foreign = 0;
};

// What is made in a context by its name is ended to that context's host, and to no other.
class Contexts final : public NameKind {
 public:
  explicit Contexts(World& world) : world_(world) {}

  Named make(std::uint64_t) override {
    Host& host = new_host();
    auto options = EBB_INIT(ebb_context_options);
    options.name = "raced";
    options.user = &host;
    options.end = [](void* user, const ebb_ended* ended, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        EXPECT_EQ(ended[i].tag, static_cast<Host*>(user)->name) << "another context's tensor";
      }
    };
    ebb_context made = 0;
    EXPECT_EQ(ebb_context_create(&options, &made), EBB_OK) << ebb_last_error();
    host.name = made;
    return {made, 0};
  }
  ebb_status use(const Named& named) override {
    const ebb_foreign_spec spec = world_.foreign_spec(named.name);
    ebb_handle made = 0;
    const ebb_status status = ebb_tensor_adopt(named.name, &spec, &made);
    if (status == EBB_OK && made % 2 == 0) {
      const ebb_status disposed = ebb_tensor_dispose(named.name, made);
      EXPECT_TRUE(disposed == EBB_OK || stale(disposed)) << ebb_last_error();
    }
    return status;
  }
  ebb_status end(const Named& named) override {
    const ebb_status status = ebb_context_destroy(named.name);
    return stale(status) ? EBB_OK : status;
  }

 private:
  struct Host {
    std::atomic<ebb_context> name{0};
  };
  Host& new_host() {
    const std::lock_guard guard(mutex_);
    return hosts_.emplace_back();
  }
  World& world_;
  std::mutex mutex_;
  std::deque<Host> hosts_;
};

// What is made on a device by its name is on that device.
class Devices final : public NameKind {
 public:
  explicit Devices(World& world) : world_(world) {}

  Named make(std::uint64_t number) override {
    return {World::open(EBB_DEVICE_FOREIGN, ("raced:" + std::to_string(number)).c_str()), 0};
  }
  ebb_status use(const Named& named) override {
    ebb_foreign_spec spec = world_.foreign_spec(0);
    spec.device = static_cast<ebb_device>(named.name);
    ebb_handle made = 0;
    const ebb_status status = ebb_tensor_adopt(world_.context, &spec, &made);
    if (status != EBB_OK) return status;
    ebb_tensor_info info{};
    EXPECT_EQ(world_.describe(made, info), EBB_OK) << ebb_last_error();
    EXPECT_EQ(info.device, named.name);
    EXPECT_EQ(ebb_tensor_dispose(world_.context, made), EBB_OK);
    return EBB_OK;
  }
  ebb_status end(const Named& named) override {
    const ebb_status status = ebb_device_close(static_cast<ebb_device>(named.name));
    return stale(status) ? EBB_OK : status;
  }

 private:
  World& world_;
};

// What is made in a region is in that region, and ends with it.
class Regions final : public NameKind {
 public:
  explicit Regions(World& world) : world_(world) {}

  Named make(std::uint64_t number) override {
    ebb_region made = 0;
    // Some in one that may be closing: then there is none.
    const ebb_region parent = number % 3 == 0 ? last_.load() : 0;
    const ebb_status status = ebb_region_open(world_.context, parent, nullptr, &made);
    EXPECT_TRUE(status == EBB_OK || stale(status)) << ebb_last_error();
    if (status == EBB_OK) last_ = made;
    return {made, 0};
  }
  ebb_status use(const Named& named) override {
    ebb_foreign_spec spec = world_.foreign_spec(named.name);
    spec.region = named.name;
    ebb_handle made = 0;
    const ebb_status status = ebb_tensor_adopt(world_.context, &spec, &made);
    ebb_tensor_info info{};
    if (status == EBB_OK && world_.describe(made, info) == EBB_OK) {
      EXPECT_EQ(info.region, named.name);
      EXPECT_EQ(info.tag, named.name);
    }
    return status;
  }
  ebb_status end(const Named& named) override {
    return ebb_region_close(world_.context, named.name);
  }

 private:
  World& world_;
  std::atomic<ebb_region> last_{0};
};

// A tensor's name reads that tensor's values, whole, also while it ends and its memory is taken.
class Handles final : public NameKind {
 public:
  explicit Handles(World& world) : world_(world) {}

  Named make(std::uint64_t number) override { return world_.tensor(number); }
  ebb_status use(const Named& named) override {
    std::vector<std::uint8_t> data(World::size_of(named));
    const ebb_status status = ebb_tensor_read(world_.context, named.name, data.data(), data.size());
    if (status == EBB_OK) World::expect_content(data, named);
    return status;
  }
  ebb_status end(const Named& named) override {
    return ebb_tensor_dispose(world_.context, named.name);
  }

 private:
  World& world_;
};

// A hold names the memory that it was taken on.
class Holds final : public NameKind {
 public:
  explicit Holds(World& world) : world_(world) {}

  Named make(std::uint64_t number) override {
    const Named tensor = world_.tensor(number);
    ebb_hold made = 0;
    EXPECT_EQ(ebb_hold_acquire(world_.context, tensor.name, &made), EBB_OK) << ebb_last_error();
    EXPECT_EQ(ebb_tensor_dispose(world_.context, tensor.name), EBB_OK);
    return {made, tensor.mark};
  }
  ebb_status use(const Named& named) override {
    void* data = nullptr;  // another thread may release it: only whoever holds it may look
    std::uint64_t bytes = 0;
    const ebb_status status = ebb_hold_data(world_.context, named.name, &data, &bytes);
    if (status == EBB_OK) {
      EXPECT_EQ(bytes, World::size_of(named));
    }
    return status;
  }
  ebb_status end(const Named& named) override {
    return ebb_hold_release(world_.context, named.name);
  }

 private:
  World& world_;
};

// A read under way gives the values of its tensor, which has ended.
class Reads final : public NameKind {
 public:
  explicit Reads(World& world) : world_(world) {}

  Named make(std::uint64_t number) override {
    const Named tensor = world_.tensor(number);
    ebb_read made = 0;
    EXPECT_EQ(ebb_read_begin(world_.context, tensor.name, &made, nullptr), EBB_OK)
        << ebb_last_error();
    EXPECT_EQ(ebb_tensor_dispose(world_.context, tensor.name), EBB_OK);
    return {made, tensor.mark};
  }
  ebb_status use(const Named& named) override {
    std::uint32_t done = 0;
    const ebb_status polled = ebb_read_poll(named.name, &done);
    if (polled != EBB_OK || named.name % 4 != 0) return polled;
    std::vector<std::uint8_t> data(World::size_of(named));
    const ebb_status status = ebb_read_end(named.name, data.data(), data.size());
    if (status == EBB_OK) World::expect_content(data, named);
    return status;
  }
  ebb_status end(const Named& named) override { return ebb_read_drop(named.name); }

 private:
  World& world_;
};

// Tensors with one key share a storage, of the size that its first one said; the next storage of
// that key has its own.
class Keys final : public NameKind {
 public:
  explicit Keys(World& world) : world_(world) {}

  Named make(std::uint64_t number) override {
    ebb_foreign_spec spec = world_.foreign_spec(number);
    spec.key = 1 + number % 4;
    spec.bytes = 100 * spec.key;
    ebb_handle made = 0;
    EXPECT_EQ(ebb_tensor_adopt(world_.context, &spec, &made), EBB_OK) << ebb_last_error();
    return {made, number};
  }
  ebb_status use(const Named& named) override {
    ebb_tensor_info info{};
    const ebb_status status = world_.describe(named.name, info);
    if (status != EBB_OK) return status;
    EXPECT_EQ(info.tag, named.mark);
    EXPECT_EQ(info.key, 1 + named.mark % 4);
    EXPECT_EQ(info.bytes, 100 * info.key);
    return status;
  }
  ebb_status end(const Named& named) override {
    return ebb_tensor_dispose(world_.context, named.name);
  }

 private:
  World& world_;
};

template <typename Kind>
void race(const char* what) {
  World world;
  Kind kind(world);
  NamesRace(kind).run(what, steps());
}

TEST(NamesThreads, Contexts) { race<Contexts>("contexts"); }
TEST(NamesThreads, Devices) { race<Devices>("devices"); }
TEST(NamesThreads, Regions) { race<Regions>("regions"); }
TEST(NamesThreads, Handles) { race<Handles>("handles"); }
TEST(NamesThreads, Holds) { race<Holds>("holds"); }
TEST(NamesThreads, Reads) { race<Reads>("reads"); }
TEST(NamesThreads, Storages) { race<Keys>("storages"); }

// Sites never end: the same text has the same one on all threads, another text another.
TEST(NamesThreads, Sites) {
  constexpr std::size_t kTexts = 64;
  std::array<std::atomic<ebb_site>, kTexts> sites{};
  const World world;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < NamesRace::kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (std::uint64_t step = 0; step < steps(); ++step) {
        const std::size_t text = random() % kTexts;
        ebb_site site = 0, before = 0;
        ASSERT_EQ(ebb_site_intern(("raced site " + std::to_string(text)).c_str(), &site), EBB_OK);
        if (!sites[text].compare_exchange_strong(before, site)) {
          EXPECT_EQ(before, site);
        }
        const ebb_foreign_spec spec = world.foreign_spec(0);
        ebb_handle made = 0;
        ASSERT_EQ(ebb_tensor_adopt(world.context, &spec, &made), EBB_OK);
        ASSERT_EQ(ebb_tensor_made_at(world.context, made, site), EBB_OK);
        ebb_tensor_info info{};
        ASSERT_EQ(world.describe(made, info), EBB_OK);
        EXPECT_EQ(info.site, site);
        EXPECT_EQ(ebb_tensor_dispose(world.context, made), EBB_OK);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t a = 0; a < kTexts; ++a) {
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(sites[a], sites[b]);
  }
}

// A stream has one owner at a time, and what it freed is usable by the next one of its number.
TEST(NamesThreads, Streams) {
  OpenDevice device(
      {.kind = DeviceKind::kSimulated, .name = "raced streams", .capacity = 64 << 20});
  std::array<std::atomic<bool>, kMaxStreams> taken{};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < NamesRace::kThreads; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t step = 0; step < steps() / 4; ++step) {
        const StreamId stream = device->heap()->create_stream();
        ASSERT_TRUE(stream > 0 && stream < kMaxStreams);
        EXPECT_FALSE(taken[stream].exchange(true)) << "two have stream " << stream;
        std::array<Block, 4> blocks;
        for (Block& block : blocks) {
          block = device->pool().allocate(1000 + step, stream);
          ASSERT_TRUE(block);
          *block.data = std::byte(stream);
        }
        for (const Block& block : blocks) {
          EXPECT_EQ(*block.data, std::byte(stream));
          device->pool().free(block);
        }
        taken[stream] = false;
        device->heap()->destroy_stream(stream);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  device->pool().check();
  EXPECT_EQ(device->in_use(), 0u);
}

}  // namespace
}  // namespace ebb::test
