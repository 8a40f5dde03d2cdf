// One isolate's side of the bridge: its context in the core, the arrays it shares with JavaScript,
// and a weak reference for each object it watches.
//
// Crossing from JavaScript costs about as much as what is done on the other side, so arguments that
// are numbers are not passed: JavaScript writes them to `slate` and calls. What is watched is named
// by slots that JavaScript hands out; a slot is free again once JavaScript has seen it end. There
// are three kinds:
//
//   a tensor of another runtime    a foreign handle, ended at safe points only
//   data of Ebb's own              its handle; its end needs no safe point, for its death means
//                                  that no tensor and no kernel can reach it
//   one more tensor over such data no handle: only TensorFlow.js counts it
//
//   slate    arguments of the next `watch`, and how many entries `queue` has
//   queue    ends that JavaScript has carried out and the core does not know yet: a handle, or
//            -1 - (slot * 2 + whether a scope ended it)
//   ended    slots that have ended here, for JavaScript to end in TensorFlow.js
//   signals  written by this side, read by JavaScript at every kernel
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ebb.h"
#include "node_api.hpp"
#include "shared.hpp"

namespace ebb::node {

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
  // One more backend's door to Ebb's own tensors on a device: "cpu", "cuda:0".
  Runtime& add_runtime(const std::string& device);

  // Adopts the tensor whose description is on the slate; null: booked, but unwatched.
  ebb_status adopt(napi_value tensor);
  // Watches data of Ebb's own, or one more tensor over it, as the slate says.
  ebb_status watch_own(napi_value object);
  // The weak notice alone.
  void attach(std::uint32_t slot, napi_value object);
  napi_value object_in(std::uint32_t slot) const;
  ebb_handle handle_of(std::uint32_t slot) const;
  // Carries out what JavaScript has ended.
  void flush();
  // Moves up to an array full of ended slots to `ended`.
  std::uint32_t take_ended();
  std::string take_warning();
  // Says in `signals` what the process records now. Cheap: every safe point does.
  void see_recording() noexcept;

  double* slate = nullptr;
  double* queue = nullptr;
  std::uint32_t* ended = nullptr;
  std::uint32_t ended_capacity = 0;
  std::uint32_t* signals = nullptr;

 private:
  struct Watched {
    ebb_handle handle = 0;      // 0: one more tensor over data of Ebb's own
    napi_ref object = nullptr;  // weak; null for a tensor that is only booked
    bool foreign = false;       // the core says when it has ended
    bool dead = false;          // not foreign: its notice has come
  };

  static void on_death(node_api_basic_env, void* slot, void* world);
  static std::uint64_t on_collect(void* user, ebb_collection kind);
  static void on_end(void* user, const ebb_ended* ended, std::size_t count);
  static void on_warn(void* user, const char* message);

  Watched& entry(std::uint32_t slot);
  void forget(std::uint32_t slot) noexcept;
  void end_booked(ebb_reason reason) noexcept;

  napi_env env_;
  ebb_context context_ = 0;
  napi_ref collect_ = nullptr;
  std::uint64_t key_space_ = 0;  // keeps the data names of two isolates apart
  std::vector<Watched> watched_;
  std::vector<std::uint32_t> backlog_;  // foreign tensors that the core has ended
  // Of Ebb's own, dead and not told yet; has room for every slot, so that no notice allocates.
  std::vector<std::uint32_t> died_;
  std::vector<ebb_handle> disposed_, scoped_;  // being flushed
  std::vector<std::unique_ptr<Runtime>> runtimes_;
  std::string warning_;
};

}  // namespace ebb::node
