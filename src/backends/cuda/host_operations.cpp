#include "backends/cuda/host_operations.hpp"

#include <array>
#include <vector>

#include "ebb/memory/device_link.hpp"
#include "ebb/ops/run.hpp"

namespace ebb::cuda {
namespace {

constexpr std::string_view kRagged =
    "row splits decide the shapes: small integers, read one after another";
constexpr std::string_view kSparse =
    "indices are checked and counted in order before a shape is known";

constexpr std::array kOperations{
    HostOperation{"RaggedGather", kRagged},         HostOperation{"RaggedRange", kRagged},
    HostOperation{"RaggedTensorToTensor", kRagged}, HostOperation{"SparseFillEmptyRows", kSparse},
    HostOperation{"SparseReshape", kSparse},        HostOperation{"SparseSegmentMean", kSparse},
    HostOperation{"SparseSegmentSum", kSparse},
};

// A tensor of host memory for the length of a call.
class HostTensor {
 public:
  HostTensor(const Context& context, Handle handle) noexcept : context_(context), handle_(handle) {}
  HostTensor(HostTensor&& other) noexcept
      : context_(other.context_), handle_(std::exchange(other.handle_, 0)) {}
  ~HostTensor() {
    if (handle_ != 0) context_.discard(handle_);
  }
  HostTensor& operator=(HostTensor&&) = delete;

  Handle handle() const noexcept { return handle_; }

 private:
  Context context_;
  Handle handle_;
};

Device& host_device() {
  static Device& device = Device::open({.name = "host of cuda"});
  return device;
}

HostTensor to_host(ops::OpCall& call, const Operand& operand) {
  if (!operand) return {call.context(), 0};
  MadeTensor made = call.context().make_held({.device = &host_device(),
                                              .dtype = operand.dtype,
                                              .shape = operand.shape,
                                              .region = call.place().region,
                                              .site = call.place().site});
  HostTensor tensor(call.context(), made.handle);
  read_operand(operand, {made.data, bytes_of(operand.shape, size_of(operand.dtype))});
  return tensor;
}

void to_device(ops::OpCall& call, std::size_t i, const ops::OpResult& result) {
  Operand from;
  call.context().resolve({&result.handle, 1}, {&from, 1}, call.spec().name);
  call.context().make_dense(result.handle, from);
  const ops::Output& output =
      i < call.outputs() ? call.output(i) : call.make(result.dtype, result.shape);
  const std::size_t bytes = bytes_of(result.shape, size_of(result.dtype));
  if (bytes == 0) return;
  call.device().link()->write(call.place().stream, output.data, {from.data, bytes});
}

}  // namespace

std::span<const HostOperation> host_operations() noexcept { return kOperations; }

void run_on_host(ops::OpCall& call) {
  std::vector<HostTensor> inputs;
  std::vector<Handle> handles;
  inputs.reserve(call.inputs());
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    if (call.has(i)) call.make_dense(i);
    inputs.push_back(to_host(call, call.input(i)));
    handles.push_back(inputs.back().handle());
  }
  std::vector<ops::OpResult> results(64);
  const std::size_t count =
      ops::run({call.context(), host_device(), call.place().region, call.place().site},
               call.spec().id, handles, call.attributes(), results);
  std::vector<HostTensor> made;
  made.reserve(count);
  for (std::size_t i = 0; i < count; ++i) made.emplace_back(call.context(), results[i].handle);
  for (std::size_t i = 0; i < count; ++i) to_device(call, i, results[i]);
}

}  // namespace ebb::cuda
