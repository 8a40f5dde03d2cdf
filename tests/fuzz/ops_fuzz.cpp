// Bytes -> a sequence of operations; see OpsMachine.
#include "fuzz/support/ops_machine.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  ebb::fuzz::OpsMachine machine(ebb::fuzz::Input(data, size));
  machine.run();
  machine.finish();
  return 0;
}
