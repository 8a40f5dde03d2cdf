#include "observe/wire.hpp"

#include "ebb/base/error.hpp"

namespace ebb::observe {

void WireWriter::text(std::string_view value) {
  number(value.size());
  bytes_.insert(bytes_.end(), value.begin(), value.end());
}

void WireReader::refuse(std::string_view why) {
  raise(ErrorKind::kInvalidArgument, "[recording] damaged: {}", why);
}

}  // namespace ebb::observe
