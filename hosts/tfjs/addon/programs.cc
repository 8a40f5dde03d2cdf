// Recorded programs: what JavaScript calls. Handles go in through the shared `inputs`, as for an
// operation, and out through `results`.
#include "runtime.hpp"

namespace ebb::node {

// While a program is recorded, or a tape is open, a view is an operation, so that it is heard of.
ebb_status Runtime::reshape(ebb_handle& input, const ebb_tensor_spec& spec) {
  double attributes[1 + EBB_MAX_RANK] = {static_cast<double>(spec.rank)};
  for (std::uint32_t i = 0; i < spec.rank; ++i)
    attributes[1 + i] = static_cast<double>(spec.dims[i]);
  ebb_op_result made;
  static const std::uint32_t kReshape = ebb_op_find("Reshape");
  const ebb_status status = ebb_op_run(context(), device_, kReshape, &input, 1, attributes,
                                       1 + spec.rank, &made, 1, nullptr);
  if (status == EBB_OK) input = made.handle;
  return status;
}

ebb_status Runtime::program_begin(std::uint32_t flags, ebb_program* program) {
  std::size_t inputs = 0, views = 0;
  ebb_status status = take_inputs(inputs, views);
  if (status == EBB_OK) {
    status = ebb_program_begin(context(), handles_.data(), inputs, flags, program);
  }
  drop_views(views);
  if (status == EBB_OK) recorded_ = *program;
  return status;
}

ebb_status Runtime::program_end(ebb_program program, ebb_program_info* info) {
  std::size_t inputs = 0, views = 0;
  ebb_status status = take_inputs(inputs, views);
  recorded_ = 0;
  if (status == EBB_OK) status = ebb_program_end(program, handles_.data(), inputs, info);
  drop_views(views);
  if (status != EBB_OK) ebb_program_free(program);
  return status;
}

ebb_status Runtime::program_run(ebb_program program, bool partly) {
  std::size_t inputs = 0, views = 0;
  ebb_status status = take_inputs(inputs, views);
  const auto results = static_cast<std::size_t>(head_[kResults]);
  if (status == EBB_OK) {
    const auto run = partly ? ebb_program_run_partly : ebb_program_run;
    status = run(program, device_, handles_.data(), inputs, made_.data(), results);
  }
  drop_views(views);
  if (status != EBB_OK) return status;
  for (std::size_t i = 0; i < results; ++i)
    results_[i * kResultSize + kHandle] = static_cast<double>(made_[i].handle);
  return EBB_OK;
}

void Runtime::program_free(ebb_program program) {
  if (recorded_ == program) recorded_ = 0;
  ebb_program_free(program);
}

namespace {

// programBegin(flags) -> the program's name
napi_value program_begin(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  ebb_program program = 0;
  Runtime& runtime = arguments.owner<Runtime>();
  if (!check(env, runtime.program_begin(arguments.integer<std::uint32_t>(0), &program))) {
    return nullptr;
  }
  try {
    return to_js(env, static_cast<double>(program));
  } catch (const NodeApiFailure&) {
    runtime.program_free(program);
    throw;
  }
}

// programInput(program, handle)
napi_value program_input(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  check(env,
        ebb_program_input(arguments.integer<ebb_program>(0), arguments.integer<ebb_handle>(1)));
  return nullptr;
}

// programConstant(program, handle)
napi_value program_constant(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  check(env,
        ebb_program_constant(arguments.integer<ebb_program>(0), arguments.integer<ebb_handle>(1)));
  return nullptr;
}

// programReplaces(program, handle)
napi_value program_replaces(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  check(env,
        ebb_program_replaces(arguments.integer<ebb_program>(0), arguments.integer<ebb_handle>(1)));
  return nullptr;
}

// programEnd(program) -> [how many steps, how many constants, each captured handle...]
napi_value program_end(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  const auto program = arguments.integer<ebb_program>(0);
  ebb_program_info made{};
  made.size = sizeof made;
  if (!check(env, arguments.owner<Runtime>().program_end(program, &made))) return nullptr;
  std::vector<ebb_handle> captured(made.captured);
  if (!check(env, ebb_program_captured(program, captured.data(), captured.size()))) return nullptr;
  napi_value numbers = nullptr;
  must(napi_create_array_with_length(env, 2 + captured.size(), &numbers));
  must(napi_set_element(env, numbers, 0, to_js(env, static_cast<double>(made.steps))));
  must(napi_set_element(env, numbers, 1, to_js(env, static_cast<double>(made.constants))));
  for (std::uint32_t i = 0; i < captured.size(); ++i)
    must(napi_set_element(env, numbers, 2 + i, to_js(env, static_cast<double>(captured[i]))));
  return numbers;
}

// programRun(program)
napi_value program_run(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  check(env, arguments.owner<Runtime>().program_run(arguments.integer<ebb_program>(0), false));
  return nullptr;
}

// programRunPartly(program)
napi_value program_run_partly(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  check(env, arguments.owner<Runtime>().program_run(arguments.integer<ebb_program>(0), true));
  return nullptr;
}

// programFree(program)
napi_value program_free(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  arguments.owner<Runtime>().program_free(arguments.integer<ebb_program>(0));
  return nullptr;
}

}  // namespace

void export_programs(napi_env env, Runtime& runtime, napi_value functions) {
  export_function<program_begin>(env, runtime, functions, "programBegin");
  export_function<program_input>(env, runtime, functions, "programInput");
  export_function<program_constant>(env, runtime, functions, "programConstant");
  export_function<program_replaces>(env, runtime, functions, "programReplaces");
  export_function<program_end>(env, runtime, functions, "programEnd");
  export_function<program_run>(env, runtime, functions, "programRun");
  export_function<program_run_partly>(env, runtime, functions, "programRunPartly");
  export_function<program_free>(env, runtime, functions, "programFree");
}

}  // namespace ebb::node
