#include "ebb/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace ebb::detail {

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "ebb: internal check failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace ebb::detail
