// The way back over a tape.
#include "ebb/ops/session.hpp"
#include "grad/tape_body.hpp"

namespace ebb::gradients {

struct TapeBody::Flow {
  std::vector<Tensor> gradients;  // by node; none where nothing has reached it
  std::vector<bool> wanted;       // by node

  void add(NodeId node, Tensor more) {
    Tensor& sum = gradients[node];
    sum = sum ? ops::add(sum, more) : std::move(more);
  }
};

namespace {

void check_seed(const Tensor& seed, const Tensor& output, std::size_t i) {
  if (seed.shape() == output.shape() && seed.dtype() == output.dtype()) return;
  raise(ErrorKind::kInvalidArgument, "[backward] seed {} is {} {}, its output is {} {}", i,
        name_of(seed.dtype()), seed.shape().to_string(), name_of(output.dtype()),
        output.shape().to_string());
}

bool is_complex(std::span<const Slot> slots) noexcept {
  for (const Slot& slot : slots) {
    if (slot.dtype == DType::kComplex64) return true;
  }
  return false;
}

void check_row(const ops::OpSpec& spec, const GradientRow& row, std::span<const Slot> slots) {
  if (row.why == Why::kMissing) {
    raise(ErrorKind::kUnsupported, "[{}] has no gradient: {}", spec.name, row.reason);
  }
  if (!row.complex && is_complex(slots)) {
    raise(ErrorKind::kUnsupported, "[{}] has no gradient for complex64, only for real dtypes",
          spec.name);
  }
}

}  // namespace

NodeId TapeBody::node_of(const Tensor& tensor) {
  Operand operand;
  const Handle handle = tensor.handle();
  if (handle == 0)
    raise(ErrorKind::kInvalidArgument, "[backward] no tensor was given, one is needed");
  context_.resolve({&handle, 1}, {&operand, 1}, "backward");
  return find(handle, operand);
}

void TapeBody::release() noexcept {
  calls_.clear();
  slots_.clear();
  attributes_.clear();
  watched_.clear();
  known_.clear();
}

std::vector<NodeId> TapeBody::nodes_of_wanted(std::span<const Tensor* const> wanted) {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    nodes.push_back(node_of(*wanted[i]));
    if (nodes[i] == kConstantNode) {
      raise(ErrorKind::kInvalidArgument,
            "[backward] wanted tensor {} is neither watched nor a result that depends on what is",
            i);
    }
  }
  return nodes;
}

std::vector<NodeId> TapeBody::nodes_of_outputs(std::span<const Tensor* const> outputs,
                                               std::span<const Tensor* const> seeds) {
  if (!seeds.empty() && seeds.size() != outputs.size()) {
    raise(ErrorKind::kInvalidArgument, "[backward] {} seeds were given, {} or none are allowed",
          seeds.size(), outputs.size());
  }
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    nodes.push_back(node_of(*outputs[i]));
    if (!seeds.empty()) check_seed(*seeds[i], *outputs[i], i);
  }
  return nodes;
}

void TapeBody::pass(const Call& call, Flow& flow) {
  const std::span<Slot> inputs = std::span(slots_).subspan(call.slots, call.inputs);
  const std::span<Slot> outputs = std::span(slots_).subspan(call.slots + call.inputs, call.outputs);
  std::vector<Tensor> dys(outputs.size()), dxs(inputs.size());
  bool reached = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NodeId node = outputs[i].node;
    if (node == kConstantNode || !flow.gradients[node]) continue;
    reached = true;
    dys[i] = flow.wanted[node] ? flow.gradients[node] : std::move(flow.gradients[node]);
  }
  if (!reached) return;
  check_row(*call.spec, *call.row, std::span(slots_).subspan(call.slots, call.inputs));
  Backprop backprop(*call.spec,
                    std::span(attributes_).subspan(call.attributes, call.attribute_count), inputs,
                    outputs, dys, dxs);
  call.row->gradient(backprop);
  dys.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].node != kConstantNode && dxs[i]) flow.add(inputs[i].node, std::move(dxs[i]));
  }
}

std::vector<Tensor> TapeBody::backward(std::span<const Tensor* const> outputs,
                                       std::span<const Tensor* const> seeds,
                                       std::span<const Tensor* const> wanted) {
  if (spent_) raise(ErrorKind::kWrongState, "[backward] the tape has been passed already");
  if (!of_this_thread()) raise(ErrorKind::kWrongState, "[backward] the tape is another thread's");
  if (Session::current().context().id() != context_.id())
    raise(ErrorKind::kWrongState, "[backward] the tape is of another context than the session");
  if (const Device& device = Session::current().device(); device.foreign())
    raise(ErrorKind::kInvalidArgument,
          "[backward] device {} is another runtime's, one of Ebb's own "
          "is needed",
          device.name());
  ops::check_not_heard("backward");
  const std::vector<NodeId> asked = nodes_of_wanted(wanted);
  const std::vector<NodeId> from = nodes_of_outputs(outputs, seeds);
  Flow flow{.gradients = std::vector<Tensor>(nodes_), .wanted = std::vector<bool>(nodes_)};
  for (const NodeId node : asked) flow.wanted[node] = true;
  // From here on operations run, and with them whatever the host does in its callbacks.
  end();
  spent_ = true;
  struct Release {
    TapeBody& tape;
    ~Release() { tape.release(); }
  } released{*this};
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] == kConstantNode) continue;
    flow.add(from[i], seeds.empty() ? ops::ones_like(*outputs[i]) : *seeds[i]);
  }
  watched_.clear();
  for (; !calls_.empty(); calls_.pop_back()) {
    pass(calls_.back(), flow);
    slots_.resize(calls_.back().slots);
  }
  std::vector<Tensor> gradients;
  for (const NodeId node : asked) gradients.push_back(flow.gradients[node]);
  return gradients;
}

}  // namespace ebb::gradients
