#include "ebb/io/npy.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "ebb/ops/functions.hpp"
#include "io/file.hpp"

namespace ebb {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct Name {
  DType dtype;
  std::string_view descr;
};
constexpr std::array<Name, 9> kNames{{{DType::kFloat32, "<f4"},
                                      {DType::kInt32, "<i4"},
                                      {DType::kBool, "|b1"},
                                      {DType::kComplex64, "<c8"},
                                      {DType::kFloat64, "<f8"},
                                      {DType::kInt64, "<i8"},
                                      {DType::kUint8, "|u1"},
                                      {DType::kFloat16, "<f2"},
                                      {DType::kInt8, "|i1"}}};

struct Header {
  DType dtype = DType::kUnknown;
  bool fortran = false;
  std::vector<std::int64_t> dims;
  std::uint64_t data = 0;  // where it begins
};

// What follows 'key': in the dictionary, up to its end.
std::string_view value_of(const io::Reader& file, std::string_view header, std::string_view key) {
  const std::size_t at = header.find(key);
  const std::size_t colon = at == std::string_view::npos ? at : header.find(':', at);
  if (colon == std::string_view::npos) file.fail("its header has no " + std::string(key));
  header.remove_prefix(colon + 1);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

DType dtype_of(const io::Reader& file, std::string_view descr) {
  if (descr.size() >= 2) descr = descr.substr(1, descr.find(descr[0], 1) - 1);  // quotes
  for (const Name& each : kNames) {
    if (each.descr == descr) return each.dtype;
  }
  file.fail("elements of type " + std::string(descr.substr(0, 16)) + " are not supported");
}

std::vector<std::int64_t> dims_of(const io::Reader& file, std::string_view shape) {
  std::vector<std::int64_t> dims;
  if (shape.empty() || shape[0] != '(') file.fail("its shape is not a tuple");
  const char* at = shape.data() + 1;
  const char* end = shape.data() + shape.size();
  while (true) {
    while (at < end && (*at == ' ' || *at == ',')) ++at;
    if (at < end && *at == ')') return dims;
    std::int64_t dim = 0;
    const auto [next, error] = std::from_chars(at, end, dim);
    if (error != std::errc() || dim < 0) file.fail("its shape is not a tuple of extents");
    dims.push_back(dim);
    at = next;
  }
}

Header read_header(io::Reader& file) {
  const std::string start = file.text(0, 10);
  if (start.substr(0, kMagic.size()) != kMagic) file.fail("it is not a .npy file");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint64_t>(static_cast<unsigned char>(start[i]));
  };
  std::uint64_t length = byte(8) | byte(9) << 8, begin = 10;
  if (byte(6) >= 2) {
    std::array<std::byte, 4> wide{};
    file.read(8, wide);
    length = 0;
    for (std::size_t i = 4; i-- > 0;)
      length = length << 8 | std::to_integer<std::uint64_t>(wide[i]);
    begin = 12;
  }
  const std::string text = file.text(begin, length);
  return {.dtype = dtype_of(file, value_of(file, text, "'descr'")),
          .fortran = value_of(file, text, "'fortran_order'").starts_with("True"),
          .dims = dims_of(file, value_of(file, text, "'shape'")),
          .data = begin + length};
}

// A file in Fortran order is the transposed tensor in C order.
Tensor turned(const Tensor& tensor) {
  std::vector<std::int64_t> perm;
  for (std::size_t i = tensor.shape().rank(); i-- > 0;) {
    perm.push_back(static_cast<std::int64_t>(i));
  }
  return ops::transpose(tensor, perm);
}

std::string header_text(DType dtype, const Shape& shape) {
  const auto found = std::ranges::find(kNames, dtype, &Name::dtype);
  if (found == kNames.end()) {
    raise(ErrorKind::kInvalidArgument, "[save_npy] {} was given, NumPy has no such dtype",
          name_of(dtype));
  }
  std::string dims;
  for (const std::int64_t dim : shape.dims()) dims += std::to_string(dim) + ",";
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", found->descr, dims);
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  return text + '\n';
}

}  // namespace

Tensor load_npy(const std::string& path) {
  io::Reader file(path);
  Header header = read_header(file);
  if (header.fortran) std::ranges::reverse(header.dims);
  const Shape shape(header.dims);
  std::vector<std::byte> bytes;
  const std::uint64_t count = bytes_of(shape, size_of(header.dtype));
  if (count > file.size()) file.fail("it ends early: " + std::to_string(file.size()) + " bytes");
  bytes.resize(count);
  file.read(header.data, bytes);
  Tensor tensor = detail::tensor_of(header.dtype, shape, bytes);
  return header.fortran && shape.rank() > 1 ? turned(tensor) : tensor;
}

void save_npy(const std::string& path, const Tensor& tensor) {
  const Shape shape = tensor.shape();
  const std::string header = header_text(tensor.dtype(), shape);
  std::vector<std::byte> bytes(bytes_of(shape, size_of(tensor.dtype())));
  tensor.read(bytes);
  io::Writer file(path);
  std::string start(kMagic);
  start += '\x01';
  start += '\0';
  start += static_cast<char>(header.size() & 0xff);
  start += static_cast<char>(header.size() >> 8);
  file.write(start + header);
  file.write(bytes);
  file.finish();
}

}  // namespace ebb
