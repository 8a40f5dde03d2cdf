#include "backends/cpu/dnn_plan.hpp"

#include <array>
#include <utility>

#include "backends/cpu/dnn_gate.hpp"
#include "backends/cpu/shift.hpp"
#include "backends/cpu/team.hpp"

namespace ebb::cpu {
namespace {

constexpr std::size_t kAlignment = 64;

DnnPrimitive primitive_of(const DnnPrimitiveDesc& desc) {
  dnnl_primitive_t made = nullptr;
  check_dnn(dnn().primitive_create(&made, desc.get()), "a primitive");
  return DnnPrimitive(made);
}

DnnMemory memory_of(const_dnnl_memory_desc_t desc) {
  dnnl_memory_t made = nullptr;
  check_dnn(dnn().memory_create(&made, desc, dnn().engine, DNNL_MEMORY_NONE), "a memory");
  return DnnMemory(made);
}

void point(const DnnMemory& memory, const void* data) {
  dnn().memory_set_data_handle(memory.get(), const_cast<void*>(data));
}

}  // namespace

DnnDesc desc_of(Dims dims, Dims strides) {
  dnnl_memory_desc_t made = nullptr;
  check_dnn(dnn().memory_desc_create_with_strides(&made, static_cast<int>(dims.size()), dims.data(),
                                                  dnnl_f32, strides.data()),
            "a layout");
  return DnnDesc(made);
}

DnnDesc any_layout(Dims dims) {
  dnnl_memory_desc_t made = nullptr;
  check_dnn(dnn().memory_desc_create_with_tag(&made, static_cast<int>(dims.size()), dims.data(),
                                              dnnl_f32, dnnl_format_tag_any),
            "a layout");
  return DnnDesc(made);
}

DnnAttributes attributes(DnnPostOps post_ops) {
  dnnl_primitive_attr_t made = nullptr;
  check_dnn(dnn().primitive_attr_create(&made), "attributes");
  DnnAttributes owner(made);
  check_dnn(dnn().primitive_attr_set_scratchpad_mode(made, dnnl_scratchpad_mode_user),
            "the scratchpad mode");
  if (post_ops) {
    check_dnn(dnn().primitive_attr_set_post_ops(made, post_ops.get()), "post-ops");
  }
  return owner;
}

Plan::Plan(const DnnPrimitiveDesc& desc, std::vector<Argument> arguments, bool alone)
    : alone_(alone) {
  primitive_ = primitive_of(desc);
  bound_.reserve(arguments.size());
  arguments_.reserve(arguments.size() + 1);
  scratchpad_ = scratchpad_of(desc);
  arguments_.push_back({DNNL_ARG_SCRATCHPAD, scratchpad_.memory.get()});
  for (Argument& argument : arguments) {
    bind(desc, std::move(argument));
  }
}

Plan::Placed Plan::scratchpad_of(const DnnPrimitiveDesc& desc) {
  return place(dnn().primitive_desc_query_md(desc.get(), dnnl_query_scratchpad_md, 0));
}

Plan::Placed Plan::place(const_dnnl_memory_desc_t desc) {
  return {memory_of(desc), take(dnn().memory_desc_get_size(desc))};
}

std::size_t Plan::take(std::size_t bytes) noexcept {
  const std::size_t offset = workspace_bytes_;
  workspace_bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return offset;
}

void Plan::bind(const DnnPrimitiveDesc& desc, Argument argument) {
  Bound& bound = bound_.emplace_back();
  bound.role = argument.role;
  bound.outer = memory_of(argument.layout.get());
  const_dnnl_memory_desc_t inner =
      dnn().primitive_desc_query_md(desc.get(), dnnl_query_exec_arg_md, argument.id);
  if (inner != nullptr && !dnn().memory_desc_equal(inner, argument.layout.get())) {
    add_reorder(bound, argument.layout.get(), inner);
  }
  arguments_.push_back(
      {argument.id, bound.inner.memory ? bound.inner.memory.get() : bound.outer.get()});
}

void Plan::add_reorder(Bound& bound, const_dnnl_memory_desc_t outer,
                       const_dnnl_memory_desc_t inner) {
  const bool input = bound.role == Role::kInput;
  const DnnAttributes attr = attributes();
  dnnl_primitive_desc_t made = nullptr;
  check_dnn(dnn().reorder_primitive_desc_create(&made, input ? outer : inner, dnn().engine,
                                                input ? inner : outer, dnn().engine, attr.get()),
            "a reorder");
  const DnnPrimitiveDesc desc(made);
  bound.scratchpad = scratchpad_of(desc);
  bound.reorder = primitive_of(desc);
  bound.inner = place(inner);
}

void Plan::reorder(Bound& bound) {
  const bool input = bound.role == Role::kInput;
  const std::array<dnnl_exec_arg_t, 3> arguments{
      {{DNNL_ARG_FROM, input ? bound.outer.get() : bound.inner.memory.get()},
       {DNNL_ARG_TO, input ? bound.inner.memory.get() : bound.outer.get()},
       {DNNL_ARG_SCRATCHPAD, bound.scratchpad.memory.get()}}};
  check_dnn(dnn().primitive_execute(bound.reorder.get(), dnn().stream, 3, arguments.data()),
            "a reorder");
}

void Plan::run(std::span<const void* const> data, void* workspace) {
  const DnnUse use;
  const Alone guard(alone_);
  if (!alone_) Shift::begin_library_loop();
  auto* bytes = static_cast<std::byte*>(workspace);
  point(scratchpad_.memory, bytes + scratchpad_.offset);
  for (std::size_t i = 0; i < bound_.size(); ++i) {
    Bound& bound = bound_[i];
    point(bound.outer, data[i]);
    if (bound.inner.memory) {
      point(bound.inner.memory, bytes + bound.inner.offset);
      point(bound.scratchpad.memory, bytes + bound.scratchpad.offset);
      if (bound.role == Role::kInput) {
        reorder(bound);
      }
    }
  }
  check_dnn(dnn().primitive_execute(primitive_.get(), dnn().stream,
                                    static_cast<int>(arguments_.size()), arguments_.data()),
            "a primitive's run");
  for (Bound& bound : bound_) {
    if (bound.inner.memory && bound.role == Role::kOutput) {
      reorder(bound);
    }
  }
  if (!std::exchange(has_run_, true)) shut_dnn_at_exit();
}

}  // namespace ebb::cpu
