// A scope without a name ends at once.
#include "ebb/tensor/context.hpp"

void use(ebb::Context& context) {
#ifdef EBB_MUST_COMPILE
  const ebb::RegionScope scope(context);
#else
  ebb::RegionScope{context};
#endif
}
