// A region's scope stays where it is: it follows the code, not an object that wanders.
#include <utility>

#include "ebb/tensor/context.hpp"

void use(ebb::Context& context) {
  ebb::RegionScope scope(context);
#ifdef EBB_MUST_COMPILE
  static_cast<void>(scope.id());
#else
  const ebb::RegionScope moved(std::move(scope));
#endif
}
