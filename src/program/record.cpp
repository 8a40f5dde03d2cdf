#include "ebb/program/record.hpp"

#include <algorithm>
#include <new>

#include "grad/variable_listener.hpp"
#include "ops/recorder.hpp"

namespace ebb::detail {
namespace {

// In other memory, where it is on the session's device.
Tensor copy_of(const Tensor& tensor) {
  const ops::RunPlace place = Session::current().place();
  if (&tensor.device() != &place.device) return tensor;
  return {place.context, ops::copy_to(place, tensor.handle()).handle};
}

const std::byte* memory_of(const Tensor& tensor) {
  return tensor.context().hold(tensor.handle()).data().data();
}

void check_are_tensors(std::span<const Tensor> tensors, std::string_view what) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i]) continue;
    raise(ErrorKind::kInvalidArgument, "[record] {} {} of {} is none, a tensor is needed", what,
          i + 1, tensors.size());  // arithmetic: of elements in memory
  }
}

using Place = VariableListener::Place;

// Which memory tensors are in, one after the other.
class Memory {
 public:
  // Whether another one was there; a tensor without elements shares nothing.
  bool is_taken(const Tensor& tensor) const {
    return std::ranges::find(taken_, memory_of(tensor)) != taken_.end();
  }
  void take(const Tensor& tensor) {
    if (tensor.shape().elements() != 0) taken_.push_back(memory_of(tensor));
  }

 private:
  std::vector<const std::byte*> taken_;
};

// Values of the variables, then tensors: each in memory of its own.
std::vector<Tensor> told_apart(std::span<const Place> variables, std::span<const Tensor> tensors) {
  Memory memory;
  for (const Place& each : variables) {
    const Tensor& value = each->variable->value();
    if (memory.is_taken(value)) each->variable->assign(copy_of(value));
    memory.take(each->variable->value());
  }
  std::vector<Tensor> apart;
  for (const Tensor& each : tensors) {
    apart.push_back(memory.is_taken(each) ? copy_of(each) : each);
    memory.take(apart.back());
  }
  return apart;
}

bool are_apart(std::span<const Place> variables, std::span<const Tensor> tensors) {
  Memory memory;
  const auto takes = [&memory](const Tensor& tensor) {
    const bool is_taken = memory.is_taken(tensor);
    memory.take(tensor);
    return !is_taken;
  };
  return std::ranges::all_of(variables,
                             [&](const Place& each) { return takes(each->variable->value()); }) &&
         std::ranges::all_of(tensors, takes);
}

std::vector<Handle> handles_of(std::span<const Tensor> inputs, std::span<const Place> variables) {
  std::vector<Handle> handles;
  for (const Tensor& each : inputs) handles.push_back(each.handle());
  for (const Place& each : variables) handles.push_back(each->variable->value().handle());
  return handles;
}

// While a function is recorded: each variable that it uses is an input of the program, with the value that it had before.
class Following final : public VariableListener {
 public:
  struct Followed {
    Place place;
    Handle before;
    std::uint64_t changes;
  };

  // The draft knows those that are named.
  Following(ProgramDraft& draft, ContextId context, std::span<const Place> named)
      : draft_(draft), context_(context) {
    for (const Place& each : named) {
      followed_.push_back({each, value_of(*each->variable).handle(), each->changes});
    }
  }

  // In the order of the program's inputs.
  const std::vector<Followed>& followed() const noexcept { return followed_; }
  // Its next call is another one than this was, or does what no program does: the function made a variable that is still
  // there, ended, moved or reshaped one, or used one that cannot be followed.
  bool happens_once() const noexcept {
    return goes_past_ ||
           std::ranges::any_of(own_, [](const Place& each) { return each->variable != nullptr; }) ||
           std::ranges::any_of(followed_, [](const Followed& each) {
             return each.place->variable == nullptr || each.place->changes != each.changes;
           });
  }

 private:
  void used(const Variable& variable) override {
    const Place& place = place_of(variable);
    const Tensor& value = value_of(variable);
    if (!value || knows(place)) return;
    if (value.context().id() != context_) {
      goes_past_ = true;
      return;
    }
    followed_.reserve(followed_.size() + 1);  // arithmetic: of variables in memory
    if (!draft_.variable(value.handle())) goes_past_ = true;
    followed_.push_back({place, value.handle(), place->changes});
  }
  void made(const Variable& variable) override { own_.push_back(place_of(variable)); }

  bool knows(const Place& place) const noexcept {
    return std::ranges::find(followed_, place, &Followed::place) != followed_.end() ||
           std::ranges::find(own_, place) != own_.end();
  }

  ProgramDraft& draft_;
  const ContextId context_;
  std::vector<Followed> followed_;
  std::vector<Place> own_;  // what the function makes for itself
  bool goes_past_ = false;
};

}  // namespace

Recorded::Recorded(const std::vector<Variable*>& named, ProgramOptions options)
    : options_(options) {
  check_are_variables(named, "record");
  for (const Variable* each : named) {
    const Place& place = VariableListener::place_of(*each);
    if (std::ranges::find(named_, place) == named_.end()) named_.push_back(place);
  }
}

void Recorded::check_named() const {
  for (std::size_t i = 0; i < named_.size(); ++i) {
    if (named_[i] != nullptr && named_[i]->variable != nullptr) continue;
    raise(ErrorKind::kInvalidArgument,
          "[record] variable {} of {} has ended, those that are named outlive the function", i + 1,
          named_.size());  // arithmetic: of elements in memory
  }
}

std::vector<Tensor> Recorded::operator()(std::span<const Tensor> inputs, const Function& function) {
  ++counts_.calls;
  check_are_tensors(inputs, "argument");
  check_named();
  // The last is the one that was used last.
  const auto found =
      std::find_if(runs_.rbegin(), runs_.rend(), [&](const Run& run) { return fits(run, inputs); });
  if (found == runs_.rend()) return first(inputs, function);
  if (found != runs_.rbegin()) std::rotate(found.base() - 1, found.base(), runs_.end());
  std::vector<Tensor> made = again(runs_.back(), inputs);
  ++counts_.replayed;
  return made;
}

RecordedInfo Recorded::info() const noexcept {
  RecordedInfo info = counts_;
  info.programs = runs_.size();
  for (const Run& each : runs_) info.operations += each.program.steps();
  return info;
}

// The function would use others now, or other shapes of the same ones.
bool Recorded::has_other_variables(const Run& run) noexcept {
  for (std::size_t i = 0; i < run.variables.size(); ++i) {
    const VariablePlace& place = *run.variables[i];
    if (place.variable == nullptr || place.changes != run.changes[i]) return true;
  }
  return false;
}

bool Recorded::fits(const Run& run, std::span<const Tensor> inputs) const {
  if (run.context != Session::current().context().id()) return false;
  if (run.shapes.size() != inputs.size()) return false;  // of a function of any number of them
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != run.dtypes[i] || inputs[i].shape() != run.shapes[i]) return false;
  }
  return !has_other_variables(run);
}

// Tensors that are declared are other ones in a later call, also where they have the same values in memory
// that they share now. The draft goes by their names; a tape in the function may go by memory, so they get
// memory of their own. Where somebody listens already, they are known to it as they are: nothing is recorded then of what
// shares memory.
std::vector<Tensor> Recorded::first(std::span<const Tensor> inputs, const Function& function) {
  std::erase_if(runs_, has_other_variables);
  if (ops::recorder != nullptr) {
    return are_apart(named_, inputs) ? note(inputs, function) : function(inputs);
  }
  return note(told_apart(named_, inputs), function);
}

std::vector<Tensor> Recorded::note(std::span<const Tensor> inputs, const Function& function) {
  Context& context = Session::current().context();
  const std::vector<Handle> handles = handles_of(inputs, named_);
  ProgramOptions options = options_;
  options.copies = false;
  options.captures = false;
  options.variables = named_.size();
  ProgramDraft draft(context, handles, options);
  const Following following(draft, context.id(), named_);
  std::vector<Tensor> made = function(inputs);
  check_are_tensors(made, "result");
  if (following.happens_once()) return made;
  // The call is done, all of it, also where there is no memory to keep what it did.
  try {
    std::vector<Handle> outputs;
    for (const Tensor& each : made) outputs.push_back(each.handle());
    Variables variables, assigned;
    std::vector<std::uint64_t> changes;
    for (const auto& [place, before, changed] : following.followed()) {
      const Handle now = VariableListener::value_of(*place->variable).handle();
      variables.push_back(place);
      changes.push_back(changed);
      if (now == before) continue;
      draft.replaces(before);
      assigned.push_back(place);
      outputs.push_back(now);
    }
    Run run{.context = context.id(),
            .dtypes = {},
            .shapes = {},
            .program = draft.finish(outputs),
            .variables = std::move(variables),
            .changes = std::move(changes),
            .assigned = std::move(assigned)};
    for (const Tensor& each : inputs) {
      run.dtypes.push_back(each.dtype());
      run.shapes.push_back(each.shape());
    }
    if (runs_.size() >= std::max<std::size_t>(options_.cache, 1)) runs_.erase(runs_.begin());
    runs_.push_back(std::move(run));
    ++counts_.recorded;
  } catch (const std::bad_alloc&) {
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
  }
  return made;
}

// Nothing throws once a variable has been assigned to: shapes and dtypes are the recorded ones, and
// the values are of no scope already.
std::vector<Tensor> Recorded::again(const Run& run, std::span<const Tensor> inputs) const {
  const ops::RunPlace place = Session::current().place();
  std::vector<ops::OpResult> results(run.program.outputs());
  std::vector<Tensor> made, values;
  made.reserve(results.size());
  values.reserve(run.assigned.size());
  run.program.run(place, handles_of(inputs, run.variables), results);
  const std::size_t outputs = results.size() - run.assigned.size();
  for (std::size_t i = 0; i < results.size(); ++i) {
    (i < outputs ? made : values).emplace_back(place.context, results[i].handle);
  }
  for (const Tensor& each : values) place.context.detach(each.handle());
  for (std::size_t i = 0; i < values.size(); ++i)
    run.assigned[i]->variable->assign(std::move(values[i]));
  return made;
}

}  // namespace ebb::detail
