// A block that nobody keeps is lost.
#include "ebb/memory/pool.hpp"

void use(ebb::Pool& pool) {
#ifdef EBB_MUST_COMPILE
  pool.free(pool.allocate(64));
#else
  pool.allocate(64);
#endif
}
