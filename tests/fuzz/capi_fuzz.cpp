// Bytes -> a sequence of calls of ebb.h over two contexts and four devices, with names that are
// valid, stale, forged or another context's, absurd sizes and wrong struct sizes. Whatever the
// bytes say: a status, never a crash, and books that balance; when all is ended nothing is in use.
//
// Each call is one byte for the function and then what its arguments take. Budgets are small, so
// that the ladder runs, and the collect callback gives up some of the handles.
#include "fuzz/support/capi_machine.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  ebb::fuzz::Machine machine(ebb::fuzz::Input(data, size));
  machine.run();
  machine.finish();
  return 0;
}
