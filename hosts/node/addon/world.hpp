// One isolate's side of the bridge: its context in the core, the arrays it shares with JavaScript,
// and a weak reference for each tensor it watches.
//
// Crossing from JavaScript costs about as much as what is done on the other side, so arguments that
// are numbers are not passed: JavaScript writes them to `slate` and calls. Tensors are named by
// slots that JavaScript hands out; a slot is free again once JavaScript has seen it end.
//
//   slate    arguments of the next `watch`, and how many entries `queue` has
//   queue    ends that JavaScript has carried out and the books do not know yet: slot * 2 + scoped
//   ended    slots that the core has ended, for JavaScript to free in TensorFlow.js
//   signals  written by this side, read by JavaScript at every kernel
#pragma once

// The experimental version, from which on finalizers run inside the collection. What is called of
// it is stable, and the same in Node 20 and all later ones.
#define NAPI_VERSION 2147483647
#include <node_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ebb.h"

namespace ebb::node {

enum Slate : std::uint32_t {
  kSlot,
  kKey,
  kBytes,
  kDevice,
  kDtype,
  kSite,
  kRank,
  kDims,
  kQueued = kDims + 8,
  kSlateSize
};

// kCollectUs: what the last collection cost.
enum Signal : std::uint32_t { kNotices, kWarnings, kCollectUs, kSignals };

struct Watched {
  ebb_handle handle = 0;
  napi_ref tensor = nullptr;  // weak; null for a tensor that is only booked
};

class Runtime;

class World {
 public:
  explicit World(napi_env env);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  ebb_status open(napi_value collect);
  void close() noexcept;
  bool is_open() const { return context_ != 0; }
  ebb_context context() const { return context_; }

  // Adopts the tensor whose description is on the slate; null: booked, but unwatched.
  ebb_status watch(napi_value tensor);
  // The weak notice alone, for a tensor that is booked.
  void attach(std::uint32_t slot, napi_value tensor);
  napi_value tensor_of(std::uint32_t slot) const;
  ebb_handle handle_of(std::uint32_t slot) const;
  // Books what JavaScript has ended itself.
  void flush();
  // Moves up to an array full of ended slots to `ended`.
  std::uint32_t take_ended();
  std::string take_warning();

  double* slate = nullptr;
  std::uint32_t* queue = nullptr;
  std::uint32_t* ended = nullptr;
  std::uint32_t ended_capacity = 0;
  std::uint32_t* signals = nullptr;
  const std::unique_ptr<Runtime> runtime;  // of backend `ebb`; opened when that is

 private:
  static std::uint64_t on_collect(void* user, ebb_collection kind);
  static void on_end(void* user, const ebb_ended* ended, std::size_t count);
  static void on_warn(void* user, const char* message);

  void forget(std::uint32_t slot) noexcept;
  void flush_scoped();

  napi_env env_;
  ebb_context context_ = 0;
  napi_ref collect_ = nullptr;
  std::uint64_t key_space_ = 0;  // keeps the data names of two isolates apart
  std::vector<Watched> watched_;
  std::vector<std::uint32_t> backlog_;
  std::vector<std::uint32_t> scoped_;
  std::string warning_;
  bool booking_ = false;  // the core reports what we are telling it
};

}  // namespace ebb::node
