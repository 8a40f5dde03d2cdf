// What a function did, as a list of operations that one call runs again.
//
//   ProgramDraft draft(session.place().context, {{x.handle()}});
//   Tensor y = ops::relu(ops::batch_mat_mul(x, w) + b);
//   Program program = draft.finish({{y.handle()}});
//   program.captured();   // the handles of w and b
//   program.run(place, {{x2.handle(), w.handle(), b.handle()}}, results);
//
// ebb/program/record.hpp does that for functions. src/program/README.md says how it works.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ebb/ops/run.hpp"

namespace ebb {

struct ProgramOptions {
  bool fold = true;  // what operations make of constants alone is kept, and not computed again
  // What no result needs is left out, and so are views of all of a tensor in the shape that it has.
  bool drop = true;
  // Two names over the same memory are the same tensor (a C++ Tensor that was copied). Without, one
  // is an input and the other captured, and may be different tensors in a run.
  bool copies = true;
  // Tensors that nobody declared are captured, and given to each run. Without, they are constants,
  // and the program keeps them.
  bool captures = true;
  // On a GPU a run is one launch of a graph, where that can be (src/program/README.md).
  bool graphs = true;
  // The last so many inputs are variables: mostly the same memory, where other inputs are new each
  // time.
  std::size_t variables = 0;
  // Elementwise operations that follow one another are one pass over their elements, and products
  // take matrices as they were before they were transposed: the same numbers to the bit.
  bool fuse = true;
  bool absorb = true;
  // Products and convolutions take a bias and an activation that follow them, and sums of products are
  // one; on a GPU they also take an addend or a batch normalisation, and the normalisation of rows is one
  // step. The last bits may be others than those of the operations one by one.
  bool join = true;
  // What depends on variables and captured tensors alone is kept, packed as products take it (with
  // `join`), from the second run on that is given the same ones, and made anew when one is another. The
  // caller promises that nobody writes into a tensor that runs are given as such.
  bool keep = false;
  // Where an optimizer's update comes last, and nothing can fail any more, it writes over those tensors that the
  // caller replaces after each run (ProgramDraft::replaces) and that are alone in their memory. Nobody looks at
  // them while it runs.
  bool overwrite = false;
  // Of record(): how many recordings are kept, one for each combination of dtypes and shapes. The one that
  // was unused longest goes first.
  std::size_t cache = 16;
  // On the CPU, threads that help are called when a run begins, where it takes less time so: that is measured.
  // Its loops and products are cut finer for them. The last bits may be others (with `join`).
  bool share = true;
  // While it is recorded, Tensor::read, item and to_vector throw Error(kWrongState) for values that come of inputs,
  // variables or random numbers: later runs would go on with those of this one. With `looks` they do.
  bool looks = false;
};

namespace ops {
struct ProgramPace;
}  // namespace ops

namespace programs {
class DraftBody;
class Graphs;
class Kept;
struct Plan;
}  // namespace programs

// Immutable; copies share it. Its constants end with the last of them.
class Program {
 public:
  explicit Program(std::shared_ptr<const programs::Plan> plan);

  std::size_t inputs() const noexcept;
  std::size_t outputs() const noexcept;
  std::size_t steps() const noexcept;
  // What a run that no tape or draft listens to makes of them, on a device that can.
  std::size_t fused_steps() const noexcept;
  std::size_t constants() const noexcept;
  // Tensors that it keeps now because they depend on variables and captured tensors alone.
  std::size_t kept() const;
  // The tensors that were used while recording and that nobody had declared. They may have ended.
  std::span<const Handle> captured() const noexcept;
  // Graphs of a device that it has, and why it has none, or no more: empty where it may.
  std::size_t graphs() const noexcept;
  std::string without_graphs() const;

  // `given`: inputs, then as many tensors as captured(). The results are new tensors in the place's
  // region. Throws Error(kInvalidArgument) where something is not of the recorded dtype and shape,
  // Error(kWrongState) where the shape of a result depends on values and is another than recorded,
  // and whatever an operation throws; then nothing is left behind.
  void run(const ops::RunPlace& place, std::span<const Handle> given,
           std::span<ops::OpResult> results) const;
  // What a run that threw had made of the results before: the recorded operations one by one, up to the first that
  // fails or needs a tensor that is given as 0. Results that were not made by then are 0.
  void run_partly(const ops::RunPlace& place, std::span<const Handle> given,
                  std::span<ops::OpResult> results) const;

 private:
  std::shared_ptr<const programs::Plan> plan_;
  std::shared_ptr<programs::Graphs> graphs_;  // what it learns while it runs
  std::shared_ptr<programs::Kept> kept_;
  std::shared_ptr<ops::ProgramPace> pace_;
};

// Hears this thread's operations in a context from its construction until finish() or its end, which
// must be on the same thread.
class [[nodiscard]] ProgramDraft {
 public:
  ProgramDraft(const Context& context, std::span<const Handle> inputs, ProgramOptions options = {});
  ~ProgramDraft();
  ProgramDraft(const ProgramDraft&) = delete;
  ProgramDraft& operator=(const ProgramDraft&) = delete;

  // One more input, that is not there from the start.
  void input(Handle tensor);
  // And one that is a variable (ProgramOptions::variables). No input() comes after it. False: it was used before, as a
  // tensor that nobody had declared, and is a constant there.
  bool variable(Handle tensor);
  // A tensor whose values are the same in each run; the program keeps it.
  void constant(Handle tensor);
  // After each run the caller replaces what it gives in the place of this tensor, by its name while recording, by an
  // output: an update may write over it (ProgramOptions::overwrite). One that the program does not use is no error.
  void replaces(Handle tensor);
  // Once.
  Program finish(std::span<const Handle> outputs);
  bool of_this_thread() const noexcept;

 private:
  std::unique_ptr<programs::DraftBody> body_;
};

}  // namespace ebb
