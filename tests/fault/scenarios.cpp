#include "fault/scenarios.hpp"

#include <string>

#include "ebb/memory/trace.hpp"

namespace ebb::fault {
namespace {

DeviceOptions over(std::unique_ptr<FaultyHeap> heap) {
  DeviceOptions options{.kind = DeviceKind::kCustom, .name = "fault cpu"};
  options.heap = std::move(heap);
  return options;
}

struct Site {
  FrugalHost host;
  ContextPtr context = Context::create({.name = "faulty", .host = &host});
  Context* operator->() const { return context.get(); }
};

void first_tensor(World& world) {
  Site site;
  site->dispose(site->make({.device = world.cpu.get(), .shape = {100}}));
  site->make({.device = world.cpu.get(), .shape = {100000}});
}

void tables_grow(World& world) {
  Site site;
  for (std::uint64_t key = 1; key <= 2500; ++key) {
    site->adopt({.device = world.wasm.get(), .key = key, .bytes = 8});
  }
  for (int i = 0; i < 300; ++i) site->make({.device = world.cpu.get(), .shape = {2}});
}

void region_trees(World& world) {
  Site site;
  const RegionScope top(*site.context, 0, "top");
  RegionId deep = top.id();
  for (int i = 0; i < 1300; ++i) {
    deep = site->open(deep, i % 100 == 0 ? "layer" : "");
    if (i % 10 == 0) site->adopt({.device = world.wasm.get(), .bytes = 1, .region = deep});
  }
  const Handle lent = site->make({.device = world.cpu.get()});
  site->attach_temporarily(deep, lent);
}

void views_and_holds(World& world) {
  Site site;
  const Handle base = site->make({.device = world.cpu.get(), .shape = {64}});
  const StorageRef held = site->hold(base);
  std::vector<Handle> names;
  names.reserve(1200);
  try {
    for (int i = 0; i < 1200; ++i) {
      names.push_back(site->hold_by_name(site->view(base, 0, {.shape = {8}})));
    }
  } catch (const std::bad_alloc&) {
    for (const Handle name : names) Context::release_by_name(name);
    throw;
  }
  for (const Handle name : names) Context::release_by_name(name);
}

void adopt_storm(World& world) {
  Site site;
  for (std::uint64_t round = 0; round < 6; ++round) {
    const RegionScope scope(*site.context);
    for (std::uint64_t key = 1; key <= 200; ++key) {
      const Handle handle = site->adopt({.device = world.wasm.get(),
                                         .key = key * (round + 1),
                                         .bytes = 10,
                                         .region = scope.id()});
      if (key % 3 == 0) Context::orphan(handle);
      if (key % 5 == 0) site->dispose(handle);
    }
    site->safe_point();
  }
}

void rebooked(World& world) {
  Site site;
  Handle handles[100];
  for (std::uint64_t i = 0; i < 100; ++i) {
    handles[i] = site->adopt({.device = world.wasm.get(), .key = i + 1, .bytes = 10});
  }
  for (const Handle handle : handles) site->rebook(handle, world.webgl.get(), 20);
}

void contexts_open_and_close(World& world) {
  for (int round = 0; round < 2; ++round) {
    Site a, b, c;
    a->make({.device = world.cpu.get()});
    b->adopt({.device = world.wasm.get(), .bytes = 5});
    c->open();
  }
}

void sites_are_interned(World&) {
  SiteTable table;
  std::string text = "a stack that is longer than what a string holds in place";
  SiteId last = 0;
  for (char c = 'a'; c <= 'z'; ++c) {
    text.back() = c;
    last = table.intern(text);
  }
  if (table.text(last) != text || table.intern(text) != last) throw std::logic_error("sites");
}

// Out of memory, with the report of who holds what.
void report_of_the_holders(World& world) {
  Site site;
  static const SiteId where = SiteTable::instance().intern("train.cpp:7\nmain.cpp:1");
  for (int i = 0; i < 5; ++i) {
    site->make({.device = world.cpu.get(), .shape = {1000}, .site = where});
  }
  site->make({.device = world.cpu.get(), .shape = {64 << 20}});
}

void ladder_with_collections(World& world) {
  const test::ReclaimOn on;
  Site site;
  site.host.dropped.reserve(64);
  for (int i = 0; i < 40; ++i) {
    site.host.dropped.push_back(site->make({.device = world.cpu.get(), .shape = {200000}}));
  }
  site->make_room(*world.cpu, 1);
}

void streams_are_noted(World& world) {
  Site site;
  for (int i = 0; i < 20; ++i) {
    const Handle handle = site->make({.device = world.cpu.get(), .shape = {5000}});
    const StorageRef held = site->hold(handle);
    held.note_use(world.stream);
    site->dispose(handle);
  }
  world.cpu->pool().wait_pending();
}

void traced(World& world) {
  struct Tracing {
    Tracing() { trace::set(true); }
    ~Tracing() { trace::set(false); }
  } tracing;
  Site site;
  const Handle handle = site->make({.device = world.cpu.get(), .shape = {3}});
  site->dispose(handle);
  try {
    site->describe(handle);
  } catch (const Error&) {
  }
}

void books_are_read(World& world) {
  Site site;
  site->adopt({.device = world.wasm.get(), .bytes = 5});
  if (Context::total_memory().books.live != 1) throw std::logic_error("books");
  if (Context::total_holdings().size() != 1) throw std::logic_error("holdings");
  Context::audit();
}

}  // namespace

World::World() : World(std::make_unique<FaultyHeap>()) {}
World::World(std::unique_ptr<FaultyHeap> faulty)
    : heap(faulty.get()), cpu(over(std::move(faulty))) {
  stream = heap->create_stream();
}

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all{{"first_tensor", first_tensor},
                                         {"tables_grow", tables_grow},
                                         {"region_trees", region_trees},
                                         {"views_and_holds", views_and_holds},
                                         {"adopt_storm", adopt_storm},
                                         {"rebooked", rebooked},
                                         {"contexts_open_and_close", contexts_open_and_close},
                                         {"sites_are_interned", sites_are_interned},
                                         {"report_of_the_holders", report_of_the_holders},
                                         {"ladder_with_collections", ladder_with_collections},
                                         {"streams_are_noted", streams_are_noted},
                                         {"traced", traced},
                                         {"books_are_read", books_are_read}};
  return all;
}

}  // namespace ebb::fault
