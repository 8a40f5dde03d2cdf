// What a tape has noted. README.md beside this says how.
#pragma once

#include "ebb/grad/tape.hpp"
#include "grad/known_tensors.hpp"
#include "ops/recorder.hpp"

namespace ebb::gradients {

class TapeBody final : public ops::Recorder {
 public:
  TapeBody(const Context& context, TapeOptions options);
  // Pre: on the thread that opened it.
  ~TapeBody();
  TapeBody(const TapeBody&) = delete;
  TapeBody& operator=(const TapeBody&) = delete;

  void watch(const Tensor& tensor);
  void stop() noexcept { noting_ = false; }
  std::vector<Tensor> backward(std::span<const Tensor* const> outputs,
                               std::span<const Tensor* const> seeds,
                               std::span<const Tensor* const> wanted);

  std::size_t noted() const noexcept { return calls_.size(); }
  std::size_t kept() const noexcept;
  const Context& context() const noexcept { return context_; }
  bool of_this_thread() const noexcept { return !linked_ || is_linked_here(); }

  void began(const ops::OpCall& call) override;
  void ended(ops::OpCall& call) override;
  void failed() noexcept override;
  void written(const StorageRef& memory) noexcept override;
  void copied(Handle from, Handle to) override;

 private:
  // A noted call: its parts are in attributes_ and slots_, inputs before results.
  struct Call {
    const ops::OpSpec* spec;
    const GradientRow* row;
    std::size_t attributes, attribute_count;
    std::size_t slots, inputs, outputs;
  };
  // The call under way, from began() to ended().
  struct Pending {
    const GradientRow* row = nullptr;        // null: it is not noted
    std::vector<Slot> slots;                 // of its inputs, then of its results
    std::vector<const std::byte*> storages;  // where its operands were before it
  };
  struct Flow;  // of gradients, in backward()

  NodeId find(Handle handle, const Operand& operand);
  void forget(const StorageRef& memory) noexcept;
  void take_input(const ops::OpCall& call, std::size_t i);
  void learn_result(const ops::OpCall& call, const ops::Output& made);
  void learn_moved(const ops::OpCall& call);
  void note(const ops::OpCall& call, std::size_t inputs);
  Tensor share(Handle handle) const;
  NodeId node_of(const Tensor& tensor);
  std::vector<NodeId> nodes_of_wanted(std::span<const Tensor* const> wanted);
  std::vector<NodeId> nodes_of_outputs(std::span<const Tensor* const> outputs,
                                       std::span<const Tensor* const> seeds);
  void pass(const Call& call, Flow& flow);
  void end() noexcept;  // it hears nothing more
  void release() noexcept;

  Context context_;
  const TapeOptions options_;
  bool linked_ = true;
  bool noting_ = true;
  bool spent_ = false;  // backward() has been
  NodeId nodes_ = 0;
  KnownTensors known_;
  std::vector<Tensor> watched_;  // held, so that their places stay theirs
  std::vector<Call> calls_;
  std::vector<double> attributes_;
  std::vector<Slot> slots_;
  Pending pending_;
};

}  // namespace ebb::gradients
