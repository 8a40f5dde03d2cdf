// A user's program: found, compiled and linked from an install prefix alone.
#include <cstring>

#include "ebb/base/check.hpp"
#include "ebb/base/error.hpp"

int main() try {
  EBB_CHECK(true);
  ebb::raise(ebb::ErrorKind::kInvalidArgument, "[consumer] {} given", 3);
} catch (const ebb::Error& error) {
  return std::strcmp(error.what(), "[consumer] 3 given");
}
