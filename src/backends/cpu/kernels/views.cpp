// What is no view after all is a copy.
#include "backends/cpu/kernels/families.hpp"
#include "backends/cpu/kernels/movement.hpp"

namespace ebb::cpu {

void add_views(KernelTable& kernels) {
  for (const ops::OpId id :
       {ops::op_id("Slice"), ops::op_id("Transpose"), ops::op_id("Real"), ops::op_id("Imag")}) {
    kernels.set(id, move);
  }
}

}  // namespace ebb::cpu
