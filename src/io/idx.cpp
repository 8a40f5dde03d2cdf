#include "ebb/io/idx.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "io/elements.hpp"
#include "io/file.hpp"

namespace ebb::io {
namespace {

constexpr std::size_t kHead = 4, kExtent = 4;  // bytes

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  raise(ErrorKind::kInvalidArgument, "[idx] {}", fmt::format(format, std::forward<Args>(args)...));
}

DType dtype_of(std::uint8_t code) {
  switch (code) {
    case 0x08:
      return DType::kUint8;
    case 0x09:
      return DType::kInt8;
    case 0x0B:
      raise(ErrorKind::kUnsupported, "[idx] the elements are int16, which Ebb does not have");
    case 0x0C:
      return DType::kInt32;
    case 0x0D:
      return DType::kFloat32;
    case 0x0E:
      return DType::kFloat64;
    default:
      refuse("the dtype is {:#04x}, 8, 9 and 0xb to 0xe are allowed", code);
  }
}

std::uint8_t byte_at(std::span<const std::byte> bytes, std::size_t at) {
  return std::to_integer<std::uint8_t>(bytes[at]);
}

Shape shape_of(Source& file, std::size_t rank) {
  if (rank > kMaxRank) refuse("the rank is {}, at most {} is allowed", rank, kMaxRank);
  if (file.size() < kHead + rank * kExtent) refuse("the file ends within its head");
  const std::span<const std::byte> bytes = file.bytes(kHead, rank * kExtent);
  std::array<std::int64_t, kMaxRank> dims{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    dims[i / kExtent] = dims[i / kExtent] << 8 | byte_at(bytes, i);
  }
  return Shape(std::span<const std::int64_t>(dims.data(), rank));
}

std::vector<std::byte> turned(std::span<const std::byte> big_endian, std::size_t element) {
  std::vector<std::byte> bytes(big_endian.begin(), big_endian.end());
  for (std::span<std::byte> rest(bytes); !rest.empty(); rest = rest.subspan(element)) {
    std::ranges::reverse(rest.first(element));
  }
  return bytes;
}

Tensor parse(Source& file) {
  if (file.size() < kHead) refuse("the file has {} bytes, 4 at least are needed", file.size());
  const std::span<const std::byte> head = file.bytes(0, kHead);
  if (byte_at(head, 0) != 0 || byte_at(head, 1) != 0) refuse("the file does not begin with zeros");
  const std::size_t rank = byte_at(head, 3);
  const DType dtype = dtype_of(byte_at(head, 2));
  const Shape shape = shape_of(file, rank);
  const std::uint64_t at = kHead + rank * kExtent;  // arithmetic: of 6 at most
  const std::uint64_t needed = bytes_of(shape, size_of(dtype));
  if (file.size() - at != needed) {
    refuse("{} bytes of elements were given, {} {} has {}", file.size() - at, name_of(dtype),
           shape.to_string(), needed);
  }
  const Tensor tensor = make_tensor(dtype, shape);
  const std::span<const std::byte> data = file.bytes(at, needed);
  if (size_of(dtype) == 1) {
    fill(tensor, data);
  } else {
    fill(tensor, turned(data, size_of(dtype)));
  }
  return tensor;
}

}  // namespace

Tensor parse_idx(std::span<const std::byte> file) {
  MemorySource source(file);
  return parse(source);
}

Tensor load_idx(const std::filesystem::path& path) { return parse_file(path, "idx", parse); }

}  // namespace ebb::io
