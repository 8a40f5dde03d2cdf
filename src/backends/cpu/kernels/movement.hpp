// The copy that views and movements come down to.
#pragma once

#include "ops/op_call.hpp"

namespace ebb::cpu {

// As MoveParams says.
void move(ops::OpCall& call);

}  // namespace ebb::cpu
