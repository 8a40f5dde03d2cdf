// A world of the C ABI that bytes drive: two contexts at first, four devices, and the names that
// calls gave out, ended ones among them.
#pragma once

#include <array>
#include <span>

#include "fuzz/support/input.hpp"
#include "support/cpu_time.hpp"

namespace ebb::fuzz {

class Machine {
 public:
  static constexpr int kMostSteps = 2000;

  explicit Machine(Input in);
  void run(int most_steps = kMostSteps);
  uint64_t calls() const { return calls_; }
  // Ends everything, and finds nothing in use.
  void finish();

 private:
  static constexpr uint64_t kBudget = 256 << 10;
  static constexpr uint64_t kCallsATime = 64;

  void open(uint32_t kind, const char* name, uint64_t capacity, uint64_t budget,
            uint32_t mode = EBB_BUDGET_HARD);
  static void close(ebb_device device);

  // ---- the host

  static uint64_t on_collect(void* user, ebb_collection);
  static void on_end(void* user, const ebb_ended* ended, std::size_t count);
  static void on_warn(void*, const char* message);

  void collect();
  void end(const ebb_ended* ended, std::size_t count);
  // Hosts do call back, also where they must not.
  void call_back();

  void create_context();

  // ---- arguments

  uint32_t struct_size(std::size_t right);
  ebb_context context() { return contexts_.pick(in_); }
  ebb_device device();
  ebb_region region() { return in_.byte() % 4 == 0 ? 0 : regions_.pick(in_); }

  uint32_t read_dims();
  ebb_tensor_spec tensor_spec();
  ebb_foreign_spec foreign_spec();
  template <typename T>
  T output() {
    T made{};
    made.size = struct_size(sizeof(T));
    return made;
  }

  // By reference: what is given for the status may be the call that writes it.
  void keep_handle(ebb_status status, const ebb_handle& handle);

  // A call of ebb.h, counted. All that is made here is small, so no call may take long; looking at
  // the clock costs more than a call does, so what is held against the limit is several together.
  template <typename Function, typename... Arguments>
  auto call(Function function, Arguments... arguments) {
    if (++calls_ % kCallsATime == 0) check_time();
    return function(arguments...);
  }
  void check_time();

  // ---- calls, in capi_actions.cpp

  void step();
  void births();
  void burst();
  ebb_context living_context(ebb_region& scope);
  std::size_t births_of_one_kind(ebb_context in, ebb_region scope, std::size_t count,
                                 std::span<ebb_handle> made);
  void ends();
  void regions();
  void attachments();
  void reclaim();
  void holds();
  void devices_and_contexts();
  // Some budget there always is: a machine has less memory than a fuzzer asks for.
  void set_budget();
  void open_another();
  void values();
  uint64_t value_bytes(ebb_handle handle, uint64_t most);
  void host_reports();
  void books();
  void report();
  void nothing_given();

  Input in_;
  int depth_ = 0;
  int contexts_made_ = 0;
  uint64_t calls_ = 0;
  double ms_before_ = 0;
  test::CpuTime time_;
  Names contexts_, devices_, handles_, regions_, holds_, reads_;
  std::array<ebb_read, 8> oldest_read_{};
  std::size_t next_read_ = 0;
  std::vector<ebb_device> opened_;
  std::vector<ebb_hold> every_hold_;
  std::vector<ebb_context> every_context_;
  ebb_site site_ = 0;
  int64_t dims_[9] = {};
};

}  // namespace ebb::fuzz
