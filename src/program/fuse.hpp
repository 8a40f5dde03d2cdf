// Fewer, larger steps: Plan::fused.
#pragma once

#include "ebb/program/program.hpp"
#include "program/plan.hpp"

namespace ebb::programs {

// Pre: the plan is arranged. Where nothing can be gained, Plan::fused stays empty.
void fuse(Plan& plan, const ProgramOptions& options);

// Whether a run there may use Plan::fused: the device is like the one it was made for and has the kernel, and
// nobody listens to this thread, who would have to know each operation.
bool can_fuse(const Plan& plan, const Device& device) noexcept;
// The same of Plan::rest.
bool can_keep(const Plan& plan, const Device& device) noexcept;

// Sums of products of a few rows each are one product (sums.cpp), where that holds no more memory. The
// numbers may differ in their last bits.
void merge_sums(Plan& plan, std::vector<Step>& steps);

// Products and convolutions take a bias and an activation that follow them (join.cpp). The numbers may
// differ in their last bits.
void join_epilogues(Plan& plan, std::vector<Step>& steps);

// What depends on variables and captured tensors alone apart from the rest (keep_apart.cpp): Plan::keeping,
// kept and kept_of. The rest. Where nothing does, Plan::kept stays empty.
std::vector<Step> keep_apart(Plan& plan, const std::vector<Step>& steps);

// By slot: it depends on variables, captured tensors and constants alone, and is worth keeping.
std::vector<bool> fixed_slots(const Plan& plan, const std::vector<Step>& steps);

// Convolutions and products with fixed weights take a batch normalisation that follows them (fold.cpp), and
// by fixed matrices they multiply packed. The numbers may differ in their last bits.
void fold_norms(Plan& plan, std::vector<Step>& steps);
void pack_matrices(Plan& plan, std::vector<Step>& steps);

// A depthwise convolution and the packed product after it are one step, where that holds no more memory
// (separable.cpp). The same numbers to the bit.
void join_separable(Plan& plan, std::vector<Step>& steps);

// An optimizer's update becomes the last step, where nothing needs its results and little comes after it
// (sink.cpp). Whether one is the last now.
bool sink_update(const Plan& plan, std::vector<Step>& steps);
// By input of the last step, an update: the place in Plan::given of what it may write over; kNoPlace: it
// may not.
inline constexpr std::size_t kNoPlace = ~std::size_t{0};
std::vector<std::size_t> overwritten(const Plan& plan, const Step& update);

// Batch normalisations as elementwise steps, where such a step follows them (norms.cpp).
std::vector<Step> split_norms(Plan& plan, const std::vector<Step>& steps);

// What nobody needed to begin with is there because it is not to be dropped (ProgramOptions::drop): it is needed.
void mark_ends(const Plan& plan, std::vector<bool>& needed);
// Steps that nobody needs any more are gone.
void drop_unused(const Plan& plan, std::vector<Step>& steps);

// ---- what a run of some steps holds (held.cpp)

inline constexpr std::size_t kForEver = ~std::size_t{0};

// Its results are over the memory of its operand, or may be.
bool is_view(ops::OpId op) noexcept;

std::uint64_t bytes_in(const Plan& plan, Slot slot);
// By slot: the last step that uses or makes it; kForEver: it does not end with a step.
std::vector<std::size_t> last_uses(const Plan& plan, const std::vector<Step>& steps);

struct Held {
  std::vector<std::uint64_t>
      before;              // by step, at most: what may be a view is counted as if it were none
  std::uint64_t most = 0;  // at least: what may be a view is not counted
};
Held held_by(const Plan& plan, const std::vector<Step>& steps);

// Says where the slots of these steps end: after their last use.
void end_slots(Plan& plan, std::vector<Step>& steps);

}  // namespace ebb::programs
