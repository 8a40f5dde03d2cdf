// A hold that nobody keeps holds nothing.
#include "ebb/tensor/context.hpp"

void use(ebb::Context& context, ebb::Handle handle) {
#ifdef EBB_MUST_COMPILE
  const ebb::StorageRef held = context.hold(handle);
#else
  context.hold(handle);
#endif
}
