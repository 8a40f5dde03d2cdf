// Which tensors a tape knows: by name, and by where their elements lie.
//
// A handle never comes twice, so a name that is known stays known. But a copy of a tensor (another
// handle over the same memory: a C++ Tensor that is copied, a host's view) has a name of its own,
// and is recognised by its layout in the same storage. The tape does not hold that storage, so its
// memory may be given to another tensor: what was known of a place is forgotten when an operation
// of this thread makes a tensor there, or values are written to it. A tensor that another thread
// makes, or that a program fills through a hold, is a constant only if it was made before the tape
// opened or outside of the memory that the tape's tensors had: docs/grad.md says so.
#pragma once

#include <unordered_map>
#include <vector>

#include "ebb/tensor/context.hpp"
#include "grad/backprop.hpp"
#include "ops/op_call.hpp"

namespace ebb::gradients {

// Where the elements of a tensor lie.
struct Place {
  const std::byte* storage = nullptr;
  const std::byte* data = nullptr;
  DType dtype = DType::kUnknown;
  Shape shape;
  Strides strides{};

  friend bool operator==(const Place&, const Place&) = default;
};

Place place_of(const Operand& operand) noexcept;
// Of a result; one without memory of its own is a view.
Place place_of_result(const ops::OpCall& call, const ops::Output& made);

class KnownTensors {
 public:
  // kConstantNode where it is not known. A copy is known by its name from then on.
  NodeId find(Handle handle, const Operand& operand);
  NodeId find(Handle handle) const noexcept;
  void learn(Handle handle, const Place& place, NodeId node);
  // Another name of a tensor.
  void learn_name(Handle handle, NodeId node) { names_.insert_or_assign(handle, node); }
  // Another place of a tensor whose name is known: it has been made dense.
  void learn_place(const Place& place, NodeId node);
  void forget_storage(const std::byte* storage) noexcept;
  bool empty() const noexcept { return names_.empty(); }
  void clear() noexcept;

 private:
  struct Known {
    Place place;
    NodeId node;
  };

  std::unordered_map<Handle, NodeId> names_;
  std::unordered_map<const std::byte*, std::vector<Known>> places_;
};

}  // namespace ebb::gradients
