#pragma once

#include "ops/op_call.hpp"
#include "ops/params/products.hpp"

namespace ebb::cpu {

// float32. Pre: neither the result nor the inner extent is empty.
void multiply_floats(ops::OpCall& call);

}  // namespace ebb::cpu
