// Plays random calls on contexts and on their models at once, and compares.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "model/books_model.hpp"
#include "support/hosts.hpp"

namespace ebb::model {

class BooksWorld {
 public:
  explicit BooksWorld(std::uint64_t seed);
  ~BooksWorld();

  // One random call, and what can be checked at once.
  void step();
  // Everything there is to compare.
  void compare();

 private:
  // A context, its model and its host; what is picked from stands in vectors.
  struct Pair {
    test::RecordingHost host;
    ContextPtr real;
    std::unique_ptr<ModelContext> model;
    std::vector<Handle> handles;  // some have ended
    std::vector<RegionId> regions;
    std::vector<StoragePtr> storages;  // that had holds when it ended
  };
  struct Hold {
    StorageRef ref;
    Handle name = 0;
    StoragePtr storage;
  };
  using Action = void (BooksWorld::*)(Pair&);

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  bool chance(std::uint64_t in) { return pick(in) == 0; }
  Handle some_handle(Pair& pair);
  RegionId some_region(Pair& pair);
  bool lives(Pair& pair, Handle handle) { return pair.model->tensors.contains(handle); }
  bool takes(Pair& pair, RegionId region);
  Device& some_foreign() { return chance(2) ? *wasm_ : *webgl_; }
  // Runs `real`; it must throw an Error exactly where `valid` is false.
  template <typename Call>
  bool agrees(bool valid, Call&& real);
  void keep(Pair& pair, Handle handle) { pair.handles.push_back(handle); }
  void compare_told(Pair& pair);
  void forget_ended(Pair& pair);

  void open_context(Pair& pair);
  void close_context(Pair& pair);
  void make(Pair& pair);
  void view(Pair& pair);
  void stride(Pair& pair);
  void make_dense(Pair& pair);
  void lay_out(Pair& pair, Handle handle);
  void adopt(Pair& pair);
  void rebook(Pair& pair);
  void dispose(Pair& pair);
  void orphan(Pair& pair);
  void hold(Pair& pair);
  void let_go(Pair& pair);
  void open(Pair& pair);
  void close(Pair& pair);
  void attach(Pair& pair);
  void lend(Pair& pair);
  void detach(Pair& pair);
  void move_up(Pair& pair);
  void cap(Pair& pair);
  void shortest(Pair& pair);
  void describe(Pair& pair);
  void safe_point(Pair& pair);
  void toggle(Pair& pair);
  void reopen(Pair& pair);
  void compare_books(Pair& pair);
  void compare_tensors(Pair& pair);
  void compare_regions(Pair& pair);

  static constexpr std::size_t kContexts = 3;
  static constexpr std::size_t kMostTensors = 600;

  std::mt19937_64 random_;
  Pack pack_;  // put back at the end
  test::OpenDevice cpu_, wasm_, webgl_;
  InUse in_use_;
  std::array<Pair, kContexts> pairs_;
  std::vector<Hold> holds_;
  std::vector<std::pair<Action, std::uint64_t>> actions_;
  std::uint64_t weights_ = 0;
};

}  // namespace ebb::model
