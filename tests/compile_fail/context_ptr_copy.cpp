// A context has one owner, who ends it.
#include <utility>

#include "ebb/tensor/context.hpp"

ebb::ContextPtr take(ebb::ContextPtr& context) {
#ifdef EBB_MUST_COMPILE
  return std::move(context);
#else
  return context;
#endif
}
