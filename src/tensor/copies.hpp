// A tensor that is copied has a name of its own over the same memory. Whoever tells tensors apart by
// their names hears of it here: ops::Recorder does, for recorders that go by name.
#pragma once

#include "ebb/memory/names.hpp"

namespace ebb {

// Of this thread; null: nobody wants to know. Where it throws, the copy is not made.
using CopyHook = void (*)(Handle from, Handle to);
extern constinit thread_local CopyHook copy_hook;

}  // namespace ebb
