#include "ebb/io/npy.hpp"

#include <algorithm>
#include <cstring>

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
  for (std::size_t at = 0; at < from.size(); at += element) {
    std::size_t flat = 0;
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      flat = flat * static_cast<std::size_t>(shape.dims()[i]) + index[i];
    }
    std::memcpy(to.data() + flat * element, from.data() + at, element);
    for (std::size_t i = 0; i < shape.rank(); ++i) {
      if (++index[i] < static_cast<std::size_t>(shape.dims()[i])) break;
      index[i] = 0;
    }
  }
  return to;
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> file) {
  const NpyHeader header = parse_npy_header(file);
  const std::span<const std::byte> data = file.subspan(header.data_at);
  const std::uint64_t needed = bytes_of(header.shape, size_of(header.dtype));
  if (data.size() != needed) {
    raise(ErrorKind::kInvalidArgument, "[npy] {} bytes of elements were given, {} {} has {}",
          data.size(), name_of(header.dtype), header.shape.to_string(), needed);
  }
  if (!header.fortran_order || header.shape.rank() < 2) {
    return make_tensor(header.dtype, header.shape, data);
  }
  return make_tensor(header.dtype, header.shape,
                     row_major(data, header.shape, size_of(header.dtype)));
}

Tensor load_npy(const std::filesystem::path& path) { return parse_file(path, "npy", parse_npy); }

std::vector<std::byte> format_npy(const Tensor& tensor) {
  const Shape shape = tensor.shape();
  const std::string header = format_npy_header(tensor.dtype(), shape);
  std::vector<std::byte> file(header.size() + bytes_of(shape, size_of(tensor.dtype())));
  std::memcpy(file.data(), header.data(), header.size());
  tensor.read(std::span(file).subspan(header.size()));
  return file;
}

void save_npy(const std::filesystem::path& path, const Tensor& tensor) {
  replace_file(path, format_npy(tensor), "npy");
}

}  // namespace ebb::io
