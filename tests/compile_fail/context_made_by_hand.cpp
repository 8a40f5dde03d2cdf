// Contexts are made by Context::create, which knows all of them.
#include "ebb/tensor/context.hpp"

void use() {
#ifdef EBB_MUST_COMPILE
  const ebb::ContextPtr context = ebb::Context::create({});
#else
  ebb::Context context;
#endif
}
