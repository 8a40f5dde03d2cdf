// Tapes. They belong to the thread that opened them, and so do their names.
#include "ebb/grad/tape.hpp"

#include "capi/names.hpp"
#include "capi/thread_names.hpp"
#include "ebb/ops/session.hpp"
#include "ops/recorder.hpp"

namespace {

using namespace ebb;
using namespace ebb::capi;

struct OpenTape {
  OpenTape(const Context& of, TapeOptions options) : context(of), tape(of, options) {}
  Context context;
  Tape tape;
};

using Tapes = ThreadNames<OpenTape>;

std::shared_ptr<OpenTape> tape_of(ebb_tape name) {
  std::shared_ptr<OpenTape> found = Tapes::find(name);
  if (!found) {
    raise(ErrorKind::kStaleHandle, "[tape] {} was closed, or is none of this thread's", name);
  }
  return found;
}

// Tensors that their owner ends, not these.
class Borrowed {
 public:
  Borrowed(const Context& context, const ebb_handle* handles, std::size_t count, const char* who) {
    const std::span<const ebb_handle> all = listed(handles, count, who);
    pointers_.reserve(all.size());
    tensors_.reserve(all.size());  // nothing throws from here on: the tensors are somebody else's
    for (const ebb_handle each : all) tensors_.emplace_back(context, each);
    for (const Tensor& each : tensors_) pointers_.push_back(&each);
  }
  ~Borrowed() {
    for (Tensor& each : tensors_) static_cast<void>(each.release());
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  std::span<const Tensor* const> pointers() const noexcept { return pointers_; }

 private:
  std::vector<Tensor> tensors_;
  std::vector<const Tensor*> pointers_;
};

}  // namespace

extern "C" {

ebb_status ebb_tape_open(ebb_context context, ebb_tape* tape) {
  return ebb_tape_open_with(context, 0, tape);
}

ebb_status ebb_tape_open_with(ebb_context context, uint32_t flags, ebb_tape* tape) {
  return guarded([&] {
    needed(tape, "tape_open");
    if (flags > (EBB_TAPE_BY_NAME | EBB_TAPE_OF_TENSORFLOW_JS)) {
      raise(ErrorKind::kInvalidArgument, "[tape_open] flags {} were given, 0 to 3 are allowed",
            flags);
    }
    const Context of = context_of(context);
    static_cast<void>(of.root());  // throws where it has ended
    const TapeOptions options{.copies = (flags & EBB_TAPE_BY_NAME) == 0,
                              .tensorflow_js = (flags & EBB_TAPE_OF_TENSORFLOW_JS) != 0};
    *tape = Tapes::add(std::make_shared<OpenTape>(of, options), "tape_open");
  });
}

ebb_status ebb_tape_watch(ebb_tape tape, ebb_handle handle) {
  return guarded([&] {
    const std::shared_ptr<OpenTape> open = tape_of(tape);
    open->tape.watch(*Borrowed(open->context, &handle, 1, "tape_watch").pointers()[0]);
  });
}

ebb_status ebb_tape_stop(ebb_tape tape) {
  return guarded([&] { tape_of(tape)->tape.stop(); });
}

ebb_status ebb_tape_backward(ebb_tape tape, ebb_device device, const ebb_handle* outputs,
                             size_t output_count, const ebb_handle* seeds, const ebb_handle* wanted,
                             size_t wanted_count, ebb_handle* gradients) {
  return guarded([&] {
    const std::shared_ptr<OpenTape> open = tape_of(tape);
    if (wanted_count != 0) needed(gradients, "tape_backward");
    const Borrowed from(open->context, outputs, output_count, "tape_backward");
    const Borrowed by(open->context, seeds, seeds == nullptr ? 0 : output_count, "tape_backward");
    const Borrowed to(open->context, wanted, wanted_count, "tape_backward");
    const NamedDevice named(device);
    const Session session({.context = open->context, .device = *named});
    std::vector<Tensor> made = open->tape.backward(from.pointers(), by.pointers(), to.pointers());
    named.confirm([&] { made.clear(); });
    for (std::size_t i = 0; i < made.size(); ++i) gradients[i] = made[i].release();
  });
}

ebb_status ebb_tape_close(ebb_tape tape) {
  return guarded([&] {
    if (Tapes::find(tape)) ops::check_not_heard("tape_close");
    Tapes::remove(tape);
  });
}

}  // extern "C"
