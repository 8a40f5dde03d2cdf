// Bytes -> a .npy or a .safetensors file, by the first byte. Whatever they say: tensors, or an
// error that is Ebb's; what was read is written and read again, to the same bytes. Nothing is left
// in use.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "ebb/io/npy.hpp"
#include "ebb/io/safetensors.hpp"
#include "ebb/ops/session.hpp"

namespace {

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "io_fuzz: %s\n", what);
  std::abort();
}

void read_npy(std::span<const std::byte> file) {
  const ebb::Tensor read = ebb::io::parse_npy(file);
  const std::vector<std::byte> written = ebb::io::format_npy(read);
  must(ebb::io::format_npy(ebb::io::parse_npy(written)) == written,
       "npy: written twice, differently");
}

void read_safetensors(std::span<const std::byte> file) {
  const ebb::io::SafeTensors read = ebb::io::parse_safetensors(file);
  const std::vector<std::byte> written = ebb::io::format_safetensors(read);
  const ebb::io::SafeTensors again = ebb::io::parse_safetensors(written);
  must(again.metadata == read.metadata, "safetensors: the notes differ");
  must(again.tensors.size() == read.tensors.size(), "safetensors: a tensor is missing");
  for (const auto& [name, tensor] : read.tensors) {
    must(ebb::io::format_safetensors({{{name, tensor}}, {}}) ==
             ebb::io::format_safetensors({{{name, again.at(name)}}, {}}),
         "safetensors: a tensor differs");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  ebb::Session session({.budget = 64 << 20});
  const auto file = std::as_bytes(std::span(data, size)).subspan(1);
  try {
    data[0] % 2 == 0 ? read_npy(file) : read_safetensors(file);
  } catch (const ebb::Error&) {  // refused, with a name
  }
  must(session.context().memory().books.live == 0, "a tensor is left");
  ebb::Context::audit();
  return 0;
}
