// Programs that note the operations: begun, ended, run with what they were given and with other tensors, and
// freed in any order, beside tapes and each other.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <thread>

#include "ebb/base/dtype.hpp"
#include "fuzz/support/ops_machine.hpp"
#include "support/cpu_time.hpp"

namespace ebb::fuzz {
namespace {

constexpr std::size_t kMostPrograms = 4;
constexpr std::uint32_t kAllFlags = 2 * EBB_PROGRAM_NO_DROPPING - 1;

// To the bit, but that NaN is what it is.
bool are_same(ebb_dtype dtype, std::span<const unsigned char> a, std::span<const unsigned char> b) {
  if (a.size() != b.size()) return false;
  if (dtype != EBB_FLOAT32 && dtype != EBB_COMPLEX64) return std::ranges::equal(a, b);
  for (std::size_t at = 0; at < a.size(); at += sizeof(float)) {
    float one = 0, other = 0;
    std::memcpy(&one, &a[at], sizeof(float));
    std::memcpy(&other, &b[at], sizeof(float));
    const bool same = std::memcmp(&one, &other, sizeof(float)) == 0;
    if (!same && !(std::isnan(one) && std::isnan(other))) return false;
  }
  return true;
}

}  // namespace

void OpsMachine::program_step() {
  const std::uint8_t which = in_.byte();
  if (programs_.empty() || which < 0x28) {
    begin_program();
  } else if (which >= 0xF8) {
    misuse_program();
  } else if (which >= 0xF0) {
    free_program(in_.byte() % programs_.size());
  } else {
    OpenProgram& program = programs_[in_.byte() % programs_.size()];
    if (!program.is_recorded) {
      which < 0x70 ? declare_some(program) : end_program(program);
    } else {
      run_program(program);
    }
  }
  must(ebb_audit(), "audit after a call of a program");
}

void OpsMachine::begin_program() {
  if (programs_.size() >= kMostPrograms) return free_program(0);
  OpenProgram made;
  for (std::size_t left = in_.byte() % 4; left > 0; --left) made.given.push_back(known_tensor());
  made.flags = in_.byte() | in_.byte() % 4u << 8;
  if (in_.byte() >= 0xFC) made.flags = static_cast<std::uint32_t>(in_.word());
  const ebb_status status =
      ebb_program_begin(context_, made.given.data(), made.given.size(), made.flags, &made.name);
  if (status == EBB_INTERNAL) give_up("an internal error");
  if (status == EBB_OK && (made.flags & ~kAllFlags) != 0) give_up("flags that are none");
  if (status != EBB_OK) return;
  made.begun_at = calls_;
  programs_.push_back(std::move(made));
}

void OpsMachine::declare_some(OpenProgram& program) {
  const ebb_handle tensor = in_.byte() < 0x80 ? late_tensor() : known_tensor();
  if (in_.byte() < 0x80) {
    if (ebb_program_input(program.name, tensor) == EBB_OK) program.given.push_back(tensor);
  } else {
    ebb_program_constant(program.name, tensor);
  }
}

void OpsMachine::end_program(OpenProgram& program) {
  std::vector<ebb_handle> outputs;
  for (std::size_t left = 1 + in_.byte() % 4; left > 0; --left) {
    outputs.push_back(in_.byte() < 0xF0 ? late_tensor() : known_tensor());
  }
  for (const ebb_handle each : outputs) program.outputs.push_back(value_of(each));
  ebb_program_info info{};
  info.size = in_.byte() < 0xFC ? sizeof(info) : in_.byte() % sizeof(info);
  const std::size_t room = info.size;
  const ebb_status status = ebb_program_end(program.name, outputs.data(), outputs.size(), &info);
  if (status == EBB_INTERNAL) give_up("an internal error");
  if (status != EBB_OK || room < sizeof(info)) {  // freed, or nobody knows what it takes
    ebb_program_free(program.name);
    freed_ = program.name;
    std::erase_if(programs_, [&](const OpenProgram& each) { return each.name == freed_; });
    return;
  }
  program.is_recorded = true;
  program.calls = calls_ - program.begun_at + 1;
  if (info.inputs != program.given.size() || info.outputs != outputs.size()) {
    give_up("a program of other inputs or outputs");
  }
  std::vector<ebb_handle> captured(info.captured);
  must(ebb_program_captured(program.name, captured.data(), captured.size()), "program_captured");
  program.given.insert(program.given.end(), captured.begin(), captured.end());
}

OpsMachine::Value OpsMachine::value_of(ebb_handle handle) {
  Value value;
  value.info.size = sizeof(value.info);
  if (ebb_tensor_describe(context_, handle, &value.info) != EBB_OK) return {};
  value.bytes.resize(value.info.bytes);
  must(ebb_tensor_read(context_, handle, value.bytes.data(), value.bytes.size()), "reading");
  return value;
}

void OpsMachine::run_program(OpenProgram& program) {
  // Mostly what it was recorded with, or something in place of one of these.
  std::vector<ebb_handle> given = program.given;
  const std::uint8_t kind = in_.byte();
  bool is_as_recorded = kind < 0xA0;
  if (!is_as_recorded && !given.empty()) given[in_.byte() % given.size()] = known_tensor();
  if (kind >= 0xF8) given.push_back(known_tensor());
  if (kind >= 0xFC) given.resize(in_.byte() % given.size());
  std::vector<ebb_op_result> results(program.outputs.size() + (in_.byte() >= 0xFC ? 1 : 0));
  const test::CpuTime spent;
  const ebb_status status = ebb_program_run(program.name, device_, given.data(), given.size(),
                                            results.data(), results.size());
  if (spent.ms() > test::kMostMsOfASmallCall * static_cast<double>(program.calls)) {
    give_up("a run that takes long");
  }
  if (status == EBB_INTERNAL) give_up("an internal error");
  if (status != EBB_OK) {
    for (const ebb_op_result& each : results) {
      if (each.handle != 0) give_up("results of a run that failed");
    }
    return;
  }
  ++ran_;
  // Somebody else's tensors, and ones that other programs were recorded with, are not what they were.
  if ((program.flags & EBB_PROGRAM_OVERWRITING) != 0) ++overwritings_;
  is_as_recorded = is_as_recorded && (program.flags & EBB_PROGRAM_NO_JOINING) != 0 &&
                   overwritings_ == 0 && !program.draws;
  for (std::size_t i = 0; i < results.size(); ++i) {
    check_output(program.outputs[i], results[i], is_as_recorded);
  }
}

void OpsMachine::check_output(const Value& recorded, const ebb_op_result& result, bool is_same) {
  check_result(result);
  const Value made = value_of(result.handle);
  if (made.info.dtype != recorded.info.dtype || made.info.rank != recorded.info.rank ||
      !std::equal(made.info.dims, made.info.dims + made.info.rank, recorded.info.dims)) {
    give_up("an output that is not like the recorded one");
  }
  if (is_same && !are_same(static_cast<ebb_dtype>(made.info.dtype), made.bytes, recorded.bytes)) {
    give_up("an output of other values than the recorded one");
  }
}

// What operations that draw make is another in each run.
void OpsMachine::note_draws(const ops::OpSpec* spec) {
  if (spec == nullptr) return;
  const bool draws = spec->id == ops::op_id("RandomUniform") ||
                     spec->id == ops::op_id("RandomNormal") ||
                     spec->id == ops::op_id("Multinomial");
  for (OpenProgram& each : programs_) each.draws = each.draws || (draws && !each.is_recorded);
}

void OpsMachine::free_program(std::size_t which) {
  freed_ = programs_[which].name;
  programs_.erase(programs_.begin() + static_cast<std::ptrdiff_t>(which));
  must(ebb_program_free(freed_), "program_free");
}

// Names that are freed, forged, or another thread's.
void OpsMachine::misuse_program() {
  const std::uint8_t kind = in_.byte();
  const ebb_program name = kind < 0x80 ? freed_ : kind < 0xC0 ? in_.word() : programs_.back().name;
  ebb_handle any = known_tensor();
  const auto try_all = [&] {
    ebb_program_info info{};
    info.size = sizeof(info);
    ebb_op_result result{};
    const bool refused = ebb_program_input(name, any) == EBB_STALE_HANDLE &&
                         ebb_program_constant(name, any) == EBB_STALE_HANDLE &&
                         ebb_program_end(name, &any, 1, &info) == EBB_STALE_HANDLE &&
                         ebb_program_captured(name, &any, 1) == EBB_STALE_HANDLE &&
                         ebb_program_run(name, device_, &any, 1, &result, 1) == EBB_STALE_HANDLE;
    if (!refused || result.handle != 0) give_up("a program that is none of the thread's");
    must(ebb_program_free(name), "freeing a program that is none of the thread's");
  };
  const bool ours = std::ranges::any_of(
      programs_, [&](const OpenProgram& program) { return program.name == name; });
  ours ? std::thread(try_all).join() : try_all();
}

}  // namespace ebb::fuzz
