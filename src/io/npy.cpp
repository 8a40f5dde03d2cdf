#include "ebb/io/npy.hpp"

#include <algorithm>
#include <cstring>

#include "ebb/base/checked.hpp"
#include "ebb/ops/session.hpp"
#include "io/elements.hpp"
#include "io/file.hpp"
#include "io/npy_header.hpp"

namespace ebb::io {
namespace {

// From the order in which the first axis is the inner one.
std::vector<std::byte> row_major(std::span<const std::byte> from, const Shape& shape,
                                 std::size_t element) {
  std::vector<std::byte> to(from.size());
  std::array<std::size_t, kMaxRank> index{};
  // arithmetic: positions in `from`, which is in memory
  for (std::size_t at = 0; at < from.size(); at += element) {
    std::size_t flat = 0;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      flat = flat * static_cast<std::size_t>(shape.dims()[i]) + index[i];  // arithmetic: likewise
    }
    std::memcpy(to.data() + flat * element, from.data() + at, element);  // arithmetic: likewise
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      if (++index[i] < static_cast<std::size_t>(shape.dims()[i])) break;
      index[i] = 0;
    }
  }
  return to;
}

Tensor parse(Source& file) {
  const NpyHeader header = parse_npy_header(file);
  const std::uint64_t given = file.size() - header.data_at;
  const std::uint64_t needed = bytes_of(header.shape, size_of(header.dtype));
  if (given != needed) {
    raise(ErrorKind::kInvalidArgument, "[npy] {} bytes of elements were given, {} {} has {}", given,
          name_of(header.dtype), header.shape.to_string(), needed);
  }
  const Tensor tensor = make_tensor(header.dtype, header.shape);
  const std::span<const std::byte> data = file.bytes(header.data_at, needed);
  if (!header.fortran_order || header.shape.rank() < 2) {
    fill(tensor, data);
  } else {
    fill(tensor, row_major(data, header.shape, size_of(header.dtype)));
  }
  return tensor;
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> file) {
  MemorySource source(file);
  return parse(source);
}

Tensor load_npy(const std::filesystem::path& path) { return parse_file(path, "npy", parse); }

std::vector<std::byte> format_npy(const Tensor& tensor) {
  const Shape shape = tensor.shape();
  const std::string header = format_npy_header(tensor.dtype(), shape);
  std::vector<std::byte> file(checked_add(bytes_of(shape, size_of(tensor.dtype())), header.size()));
  std::memcpy(file.data(), header.data(), header.size());
  tensor.read(std::span(file).subspan(header.size()));
  return file;
}

void save_npy(const std::filesystem::path& path, const Tensor& tensor) {
  replace_file(path, format_npy(tensor), "npy");
}

}  // namespace ebb::io
