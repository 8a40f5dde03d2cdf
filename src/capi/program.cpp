// Recorded programs. They belong to the thread that recorded them, and so do their names.
#include "ebb/program/program.hpp"

#include <algorithm>
#include <optional>

#include "capi/names.hpp"
#include "capi/sized.hpp"
#include "capi/thread_names.hpp"
#include "ops/recorder.hpp"

namespace {

using namespace ebb;
using namespace ebb::capi;

struct NamedProgram {
  explicit NamedProgram(const Context& of) : context(of) {}
  Context context;
  std::unique_ptr<ProgramDraft> draft;  // until it ends
  std::optional<Program> program;
};

using Programs = ThreadNames<NamedProgram>;

std::shared_ptr<NamedProgram> named(ebb_program name) {
  std::shared_ptr<NamedProgram> found = Programs::find(name);
  if (!found) {
    raise(ErrorKind::kStaleHandle, "[program] {} was freed, or is none of this thread's", name);
  }
  return found;
}

std::shared_ptr<NamedProgram> being_recorded(ebb_program name) {
  std::shared_ptr<NamedProgram> found = named(name);
  if (!found->draft) {
    raise(ErrorKind::kWrongState,
          "[program] {} is recorded already, one that is being recorded is needed", name);
  }
  return found;
}

const Program& program_of(const NamedProgram& found, ebb_program name) {
  if (!found.program) {
    raise(ErrorKind::kWrongState, "[program] {} is being recorded, one that is done is needed",
          name);
  }
  return *found.program;
}

void copy_result(const ops::OpResult& from, ebb_op_result& to) noexcept {
  to.handle = from.handle;
  to.dtype = static_cast<std::uint32_t>(from.dtype);
  to.rank = static_cast<std::uint32_t>(from.shape.rank());
  std::ranges::copy(from.shape.dims(), to.shape);
}

using Run = void (Program::*)(const ops::RunPlace&, std::span<const Handle>,
                              std::span<ops::OpResult>) const;

ebb_status run_named(Run run, ebb_program program, ebb_device device, const ebb_handle* given,
                     size_t given_count, ebb_op_result* results, size_t result_count) {
  return guarded([&] {
    const std::shared_ptr<NamedProgram> found = named(program);
    const Program& runs = program_of(*found, program);
    const Context context = found->context;
    const std::span<ebb_op_result> wanted = listed(results, result_count, "program_run");
    const NamedDevice on(device);
    std::vector<ops::OpResult> made(wanted.size());
    (runs.*run)({.context = context, .device = *on}, listed(given, given_count, "program_run"),
                made);
    on.confirm([&] {
      for (const ops::OpResult& each : made) context.discard(each.handle);
    });
    for (std::size_t i = 0; i < made.size(); ++i) copy_result(made[i], wanted[i]);
  });
}

}  // namespace

extern "C" {

ebb_status ebb_program_begin(ebb_context context, const ebb_handle* inputs, size_t input_count,
                             uint32_t flags, ebb_program* program) {
  return guarded([&] {
    needed(program, "program_begin");
    constexpr std::uint32_t kAll = EBB_PROGRAM_NO_FOLDING | EBB_PROGRAM_BY_NAME |
                                   EBB_PROGRAM_NO_GRAPHS | EBB_PROGRAM_NO_FUSING |
                                   EBB_PROGRAM_NO_ABSORBING | EBB_PROGRAM_NO_JOINING |
                                   EBB_PROGRAM_KEEPING | EBB_PROGRAM_OVERWRITING |
                                   EBB_PROGRAM_NO_SHARING | EBB_PROGRAM_NO_DROPPING;
    if ((flags & ~kAll) != 0) {
      raise(ErrorKind::kInvalidArgument, "[program_begin] flags {} were given, {} are allowed",
            flags, kAll);
    }
    const Context of = context_of(context);
    static_cast<void>(of.root());  // throws where it has ended
    auto made = std::make_shared<NamedProgram>(of);
    made->draft = std::make_unique<ProgramDraft>(
        of, listed(inputs, input_count, "program_begin"),
        ProgramOptions{.fold = (flags & EBB_PROGRAM_NO_FOLDING) == 0,
                       .drop = (flags & EBB_PROGRAM_NO_DROPPING) == 0,
                       .copies = (flags & EBB_PROGRAM_BY_NAME) == 0,
                       .graphs = (flags & EBB_PROGRAM_NO_GRAPHS) == 0,
                       .fuse = (flags & EBB_PROGRAM_NO_FUSING) == 0,
                       .absorb = (flags & EBB_PROGRAM_NO_ABSORBING) == 0,
                       .join = (flags & EBB_PROGRAM_NO_JOINING) == 0,
                       .keep = (flags & EBB_PROGRAM_KEEPING) != 0,
                       .overwrite = (flags & EBB_PROGRAM_OVERWRITING) != 0,
                       .share = (flags & EBB_PROGRAM_NO_SHARING) == 0,
                       .looks = true});  // hosts see to that themselves
    *program = Programs::add(std::move(made), "program_begin");
  });
}

ebb_status ebb_program_input(ebb_program program, ebb_handle handle) {
  return guarded([&] { being_recorded(program)->draft->input(handle); });
}

ebb_status ebb_program_constant(ebb_program program, ebb_handle handle) {
  return guarded([&] { being_recorded(program)->draft->constant(handle); });
}

ebb_status ebb_program_replaces(ebb_program program, ebb_handle handle) {
  return guarded([&] { being_recorded(program)->draft->replaces(handle); });
}

ebb_status ebb_program_end(ebb_program program, const ebb_handle* outputs, size_t output_count,
                           ebb_program_info* info) {
  return guarded([&] {
    const std::shared_ptr<NamedProgram> ending = being_recorded(program);
    ops::check_not_heard("program_end");
    const std::unique_ptr<ProgramDraft> draft = std::move(ending->draft);
    try {
      const SizedOutput out(info, "program_end");
      Program made = draft->finish(listed(outputs, output_count, "program_end"));
      out.write({.size = 0,
                 .reserved = 0,
                 .steps = made.steps(),
                 .inputs = made.inputs(),
                 .captured = made.captured().size(),
                 .outputs = made.outputs(),
                 .constants = made.constants()});
      ending->program = std::move(made);
    } catch (...) {
      Programs::remove(program);
      throw;
    }
  });
}

ebb_status ebb_program_captured(ebb_program program, ebb_handle* handles, size_t capacity) {
  return guarded([&] {
    const std::shared_ptr<NamedProgram> found = named(program);
    const std::span<const Handle> all = program_of(*found, program).captured();
    if (all.size() > capacity) {
      raise(ErrorKind::kInvalidArgument, "[program_captured] there is room for {}, it has {}",
            capacity, all.size());
    }
    if (!all.empty()) std::ranges::copy(all, &needed(handles, "program_captured"));
  });
}

ebb_status ebb_program_run(ebb_program program, ebb_device device, const ebb_handle* given,
                           size_t given_count, ebb_op_result* results, size_t result_count) {
  return run_named(&Program::run, program, device, given, given_count, results, result_count);
}

ebb_status ebb_program_run_partly(ebb_program program, ebb_device device, const ebb_handle* given,
                                  size_t given_count, ebb_op_result* results, size_t result_count) {
  return run_named(&Program::run_partly, program, device, given, given_count, results,
                   result_count);
}

ebb_status ebb_program_free(ebb_program program) {
  return guarded([&] {
    const std::shared_ptr<NamedProgram> found = Programs::find(program);
    if (found && found->draft) ops::check_not_heard("program_free");
    Programs::remove(program);
  });
}

}  // extern "C"
