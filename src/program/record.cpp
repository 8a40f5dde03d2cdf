#include "ebb/program/record.hpp"

#include <algorithm>

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

// The same tensors, each in memory of its own.
std::vector<Tensor> told_apart(std::span<const Tensor> tensors) {
  std::vector<Tensor> apart;
  std::vector<const std::byte*> memory;
  for (const Tensor& each : tensors) {
    const bool is_known = std::ranges::find(memory, memory_of(each)) != memory.end();
    apart.push_back(is_known ? copy_of(each) : each);
    memory.push_back(memory_of(apart.back()));
  }
  return apart;
}

}  // namespace

std::vector<Tensor> Recorded::operator()(std::span<const Tensor> inputs, const Function& function) {
  ++counts_.calls;
  check_are_tensors(inputs, "argument");
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

bool Recorded::fits(const Run& run, std::span<const Tensor> inputs) const {
  if (run.context != Session::current().context().id()) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype() != run.dtypes[i] || inputs[i].shape() != run.shapes[i]) return false;
  }
  return true;
}

std::vector<Handle> Recorded::given(std::span<const Tensor> inputs) const {
  std::vector<Handle> handles;
  for (const Tensor& each : inputs) handles.push_back(each.handle());
  for (const Variable* each : variables_) handles.push_back(each->value().handle());
  return handles;
}

// Tensors that are declared are other ones in a later call, also where they have the same values in memory
// that they share now. The draft goes by their names; a tape in the function goes by memory, so they get
// memory of their own. Where somebody listens already, variables are known to it as they are.
std::vector<Tensor> Recorded::first(std::span<const Tensor> inputs, const Function& function) {
  if (ops::recorder != nullptr) return note(inputs, function);
  for (Variable* each : variables_) {
    const Tensor& value = each->value();
    if (!value.context().is_alone(value.handle())) each->assign(copy_of(value));
  }
  return note(told_apart(inputs), function);
}

std::vector<Tensor> Recorded::note(std::span<const Tensor> inputs, const Function& function) {
  Context& context = Session::current().context();
  const std::vector<Handle> handles = given(inputs);
  ProgramOptions options = options_;
  options.copies = false;
  options.captures = false;
  options.variables = variables_.size();
  ProgramDraft draft(context, handles, options);
  std::vector<Tensor> made = function(inputs);
  check_are_tensors(made, "result");
  std::vector<Handle> outputs;
  for (const Tensor& each : made) outputs.push_back(each.handle());
  std::vector<Variable*> assigned;
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const std::size_t at = inputs.size() + i;  // arithmetic: of handles in memory
    const Handle now = variables_[i]->value().handle();
    if (now == handles[at]) continue;
    draft.replaces(handles[at]);
    assigned.push_back(variables_[i]);
    outputs.push_back(now);
  }
  Run run{.context = context.id(),
          .dtypes = {},
          .shapes = {},
          .program = draft.finish(outputs),
          .assigned = std::move(assigned)};
  for (const Tensor& each : inputs) {
    run.dtypes.push_back(each.dtype());
    run.shapes.push_back(each.shape());
  }
  if (runs_.size() >= std::max<std::size_t>(options_.cache, 1)) runs_.erase(runs_.begin());
  runs_.push_back(std::move(run));
  ++counts_.recorded;
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
  run.program.run(place, given(inputs), results);
  const std::size_t outputs = results.size() - run.assigned.size();
  for (std::size_t i = 0; i < results.size(); ++i) {
    (i < outputs ? made : values).emplace_back(place.context, results[i].handle);
  }
  for (const Tensor& each : values) place.context.detach(each.handle());
  for (std::size_t i = 0; i < values.size(); ++i) run.assigned[i]->assign(std::move(values[i]));
  return made;
}

}  // namespace ebb::detail
