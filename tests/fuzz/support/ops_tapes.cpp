// Tapes that hear the operations: opened, nested, passed and closed in any order, with tensors that
// have ended, were never watched, or never were.
#include <algorithm>
#include <array>
#include <thread>

#include "fuzz/support/ops_machine.hpp"
#include "support/cpu_time.hpp"

namespace ebb::fuzz {
namespace {

constexpr std::size_t kMostTapes = 4;
constexpr ebb_handle kUntouched = 7;

}  // namespace

void OpsMachine::tape_step() {
  const std::uint8_t which = in_.byte();
  if (tapes_.empty() || which < 0x30) {
    open_tape();
  } else if (which < 0x90) {
    watch_some(some_tape());
  } else if (which < 0xE0) {
    pass_tape(some_tape());
  } else if (which < 0xE8) {
    must(ebb_tape_stop(some_tape().name), "tape_stop");
  } else if (which < 0xF8) {
    close_tape(in_.byte() % tapes_.size());
  } else {
    misuse_tape();
  }
  must(ebb_audit(), "audit after a call of a tape");
}

OpsMachine::OpenTape& OpsMachine::some_tape() { return tapes_[in_.byte() % tapes_.size()]; }

// Mostly one of those that are there, or were a moment ago.
ebb_handle OpsMachine::known_tensor() {
  const std::uint8_t kind = in_.byte();
  if (tensors_.empty() || kind >= 0xFC) return kind >= 0xFE ? in_.word() : 0;
  return tensors_[kind % tensors_.size()];
}

ebb_handle OpsMachine::late_tensor() {
  if (tensors_.empty()) return 0;
  const std::size_t back = 1 + in_.byte() % 4u;
  return tensors_[(next_ + tensors_.size() * 4 - back) % tensors_.size()];
}

void OpsMachine::open_tape() {
  if (tapes_.size() >= kMostTapes) return close_tape(0);
  const std::uint8_t kind = in_.byte();
  const std::uint32_t flags = kind < 0xF8 ? kind % 4 : kind;
  ebb_tape made = 0;
  const ebb_status status = ebb_tape_open_with(context_, flags, &made);
  if (status != (flags < 4 ? EBB_OK : EBB_INVALID_ARGUMENT)) give_up("tape_open");
  if (status != EBB_OK) return;
  OpenTape& tape = tapes_.emplace_back(OpenTape{.name = made, .opened_at = calls_});
  // Something that operations will be made of.
  const std::size_t count = std::min<std::size_t>(tensors_.size(), 1 + in_.byte() % 8u);
  for (std::size_t i = 0; i < count; ++i) watch_some(tape);
}

void OpsMachine::close_tape(std::size_t which) {
  closed_ = tapes_[which].name;
  tapes_.erase(tapes_.begin() + static_cast<std::ptrdiff_t>(which));
  must(ebb_tape_close(closed_), "tape_close");
}

void OpsMachine::watch_some(OpenTape& tape) {
  const ebb_handle tensor = known_tensor();
  if (ebb_tape_watch(tape.name, tensor) != EBB_OK) return;
  tape.watched[tape.watches++ % tape.watched.size()] = tensor;
}

// Of what the last tape watches, or what was made of it.
ebb_handle OpsMachine::noted_tensor() {
  const OpenTape& tape = tapes_.back();
  const std::uint8_t kind = in_.byte();
  if (kind % 4 == 0 || tape.watches == 0) return late_tensor();
  return tape.watched[kind / 4 % std::min(tape.watches, tape.watched.size())];
}

void OpsMachine::pass_tape(const OpenTape& tape) {
  std::array<ebb_handle, 3> outputs{}, seeds{}, wanted{}, gradients{};
  const auto count = [](std::uint8_t kind) { return kind < 0xC0 ? 1u : kind % 4u; };
  const std::size_t from = count(in_.byte()), to = count(in_.byte());
  // Mostly what makes sense: late results, by what some tape watches.
  std::ranges::generate(outputs,
                        [&] { return in_.byte() < 0xC0 ? late_tensor() : known_tensor(); });
  std::ranges::generate(wanted, [&] {
    if (in_.byte() >= 0xE0 || tape.watches == 0) return known_tensor();
    return tape.watched[in_.byte() % std::min(tape.watches, tape.watched.size())];
  });
  std::ranges::generate(seeds, [&] { return known_tensor(); });
  gradients.fill(kUntouched);
  const bool seeded = in_.byte() % 4 == 0;
  const test::CpuTime spent;
  const ebb_status status =
      ebb_tape_backward(tape.name, device_, outputs.data(), from, seeded ? seeds.data() : nullptr,
                        wanted.data(), to, gradients.data());
  // Each of the calls that it may have noted is small, and so is its gradient.
  const double most = test::kMostMsOfASmallCall * static_cast<double>(calls_ - tape.opened_at + 1);
  if (spent.ms() > most) give_up("a way back that takes long");
  if (status == EBB_INTERNAL) give_up("an internal error");
  ++passed_;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const bool given = status == EBB_OK && i < to;
    if (!given && gradients[i] != kUntouched) give_up("a gradient that nobody asked for");
    if (given && gradients[i] != 0) check_gradient(wanted[i], gradients[i]);
  }
}

void OpsMachine::check_gradient(ebb_handle wanted, ebb_handle gradient) {
  ++gradients_;
  ebb_tensor_info by{}, made{};
  by.size = made.size = sizeof(by);
  must(ebb_tensor_describe(context_, gradient, &made), "a gradient");
  // One kept before may have made way for another.
  if (ebb_tensor_describe(context_, wanted, &by) == EBB_OK &&
      (by.dtype != made.dtype || by.rank != made.rank ||
       !std::equal(by.dims, by.dims + by.rank, made.dims))) {
    give_up("a gradient that is not like what it is by");
  }
  bytes_.resize(made.bytes);
  must(ebb_tensor_read(context_, gradient, bytes_.data(), made.bytes), "reading a gradient");
  keep(gradient);
}

// Names that are closed, forged, or another thread's.
void OpsMachine::misuse_tape() {
  const std::uint8_t kind = in_.byte();
  const ebb_tape name = kind < 0x80 ? closed_ : kind < 0xC0 ? in_.word() : tapes_.back().name;
  const ebb_handle any = known_tensor();
  const auto try_all = [&] {
    ebb_handle gradient = kUntouched;
    const bool refused =
        ebb_tape_watch(name, any) == EBB_STALE_HANDLE && ebb_tape_stop(name) == EBB_STALE_HANDLE &&
        ebb_tape_backward(name, device_, &any, 1, nullptr, &any, 1, &gradient) == EBB_STALE_HANDLE;
    if (!refused || gradient != kUntouched) give_up("a tape that is none of the thread's");
    must(ebb_tape_close(name), "closing a tape that is none of the thread's");
  };
  const bool ours =
      std::ranges::any_of(tapes_, [&](const OpenTape& tape) { return tape.name == name; });
  ours ? std::thread(try_all).join() : try_all();
}

}  // namespace ebb::fuzz
