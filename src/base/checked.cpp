#include "ebb/base/checked.hpp"

#include "ebb/base/error.hpp"

namespace ebb {
namespace {

template <typename T>
[[noreturn]] void refuse(T a, char sign, T b) {
  raise(ErrorKind::kInvalidArgument,
        "[size] {} {} {} was given, a result within 64 bits is allowed", a, sign, b);
}

}  // namespace

void refuse_arithmetic(std::int64_t a, char sign, std::int64_t b) { refuse(a, sign, b); }
void refuse_arithmetic(std::uint64_t a, char sign, std::uint64_t b) { refuse(a, sign, b); }

}  // namespace ebb
