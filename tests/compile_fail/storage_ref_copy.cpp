// A reference on memory is moved, never copied: a copy would not be counted.
#include <utility>

#include "ebb/tensor/context.hpp"

void keep(ebb::StorageRef held);

void use(ebb::StorageRef& held) {
#ifdef EBB_MUST_COMPILE
  keep(std::move(held));
#else
  keep(held);
#endif
}
