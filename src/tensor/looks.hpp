// A host is about to get the values of a tensor. Whoever minds hears of it here: ops::Recorder does, for programs that
// would go on with what these values are now.
#pragma once

#include "ebb/tensor/spec.hpp"

namespace ebb {

// Of this thread; null: nobody minds. Where it throws, the values are not given.
using LookHook = void (*)(Handle tensor, const Operand& operand);
extern constinit thread_local LookHook look_hook;

inline void look_at(Handle tensor, const Operand& operand) {
  if (look_hook != nullptr) [[unlikely]]
    look_hook(tensor, operand);
}

}  // namespace ebb
