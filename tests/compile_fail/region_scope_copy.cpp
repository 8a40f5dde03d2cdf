// A region ends with one scope: a second one would end it again.
#include "ebb/tensor/context.hpp"

void use(ebb::Context& context) {
  const ebb::RegionScope scope(context);
#ifdef EBB_MUST_COMPILE
  const ebb::RegionScope inner(context, scope.id());
#else
  const ebb::RegionScope inner(scope);
#endif
}
