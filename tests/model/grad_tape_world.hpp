// A thread's tapes, driven at random against a plain model of them. The model keeps the value of each
// tensor as four doubles, notes what each tape should note, and takes gradients by the same formulas;
// what it computes on a way back is noted by the other tapes of the model in turn, so second
// derivatives are held too.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <random>
#include <span>
#include <vector>

#include "ebb.h"

namespace ebb::model {

using Numbers = std::array<double, 4>;  // of shape [2, 2]
using Id = std::size_t;
inline constexpr int kNoNode = -1;
inline constexpr Id kNone = ~Id{0};  // of gradients: there is none

enum class Op { kAdd, kSub, kMultiply, kNeg, kSquare, kTanh, kFloor, kTranspose };

std::size_t inputs_of(Op op);
Numbers computed(Op op, const Numbers& a, const Numbers& b);

// What the model knows of a tensor. Copies of one are in the same place.
struct Known {
  Numbers values{};
  std::size_t place = 0;
  ebb_handle handle = 0;  // 0: the model's own
  int context = 0;
  bool live = false;
  bool plain = false;  // dense, in memory of its own
};

struct NotedCall {
  Op op;
  std::array<int, 2> from{kNoNode, kNoNode};
  int to = kNoNode;
  std::array<Id, 2> inputs{};
  Id result = 0;
};

struct OpenTape {
  ebb_tape name = 0;
  int context = 0;
  bool by_name = false, noting = true, hears = true, spent = false;
  int nodes = 0;
  std::map<std::size_t, int> known;  // by tensor where by_name, else by place
  std::vector<NotedCall> calls;
};

// The tape names of a thread, which another gives to Ebb as its own.
struct Leaked {
  std::atomic<ebb_tape> name{0};
};

class TapeWorld {
 public:
  TapeWorld(std::uint64_t seed, ebb_device device, std::array<ebb_context, 2> contexts,
            std::span<Leaked> leaked, std::size_t self);
  void step();
  // Closes all tapes, and ends all tensors.
  void finish();

  struct Counts {
    std::uint64_t operations = 0, passed = 0, gradients = 0, none = 0, second = 0, refused = 0;
  };
  Counts counts;

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  // ---- what the calls do, with what the model expects of each
  void make();
  void make_view();
  void operate();
  void dispose();
  void open();
  void watch(OpenTape& tape);
  void stop();
  void close();
  void pass();
  void misuse();

  // ---- the model
  Id add(const Known& known);
  Id copied(Id of, ebb_handle handle);
  Id apply(Op op, Id a, Id b);
  void note(Op op, Id a, Id b, Id made);
  int node_of(const OpenTape& tape, Id id) const;
  void learn(OpenTape& tape, Id id, int node);
  std::vector<Id> expected_gradients(OpenTape tape, std::span<const Id> outputs,
                                     std::span<const Id> seeds, std::span<const Id> wanted);
  std::array<Id, 2> slopes(const NotedCall& call, Id dy);

  Id pick();
  Id pick_operand();
  OpenTape* pick_tape();
  ebb_handle new_tensor(int context, const Numbers& values);
  void compare(Id expected, ebb_handle given);
  void forget_ended();

  std::mt19937_64 random_;
  const ebb_device device_;
  const std::array<ebb_context, 2> contexts_;
  const std::span<Leaked> leaked_;
  const std::size_t self_;
  std::vector<Known> tensors_;
  std::vector<Id> offered_;  // live ones, and a few that have ended
  std::vector<OpenTape> tapes_;
  std::vector<ebb_tape> closed_;
  std::size_t places_ = 0;
};

}  // namespace ebb::model
