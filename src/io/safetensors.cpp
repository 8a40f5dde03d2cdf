#include "ebb/io/safetensors.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/json_writer.hpp"
#include "ebb/base/checked.hpp"
#include "io/elements.hpp"
#include "io/excerpt.hpp"
#include "io/file.hpp"
#include "io/safetensors_header.hpp"

namespace ebb::io {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostHeader = 100'000'000;  // the format's own limit

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  raise(ErrorKind::kInvalidArgument, "[safetensors] {}",
        fmt::format(format, std::forward<Args>(args)...));
}

// ---- reading

// In the order of their data, which they must cover: a gap could hide something.
void check_cover(std::vector<SafetensorsEntry>& entries, std::uint64_t size) {
  std::ranges::stable_sort(entries, [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const SafetensorsEntry& entry : entries) {
    const std::uint64_t needed = bytes_of(entry.shape, size_of(entry.dtype));
    if (entry.begin != at || entry.end < entry.begin || entry.end - entry.begin != needed) {
      refuse("tensor '{}' is at {} to {}, {} bytes from {} on are allowed", excerpt(entry.name),
             entry.begin, entry.end, needed, at);
    }
    at = entry.end;
  }
  if (at != size) refuse("the tensors have {} bytes, the file has {}", at, size);
}

std::uint64_t header_length(Source& file) {
  if (file.size() < kLengthBytes)
    refuse("the file has {} bytes, 8 at least are needed", file.size());
  const std::span<const std::byte> digits = file.bytes(0, kLengthBytes);
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | static_cast<std::uint8_t>(digits[i]);
  if (length > kMostHeader) refuse("the header has {} bytes, {} are allowed", length, kMostHeader);
  if (length > file.size() - kLengthBytes) {
    refuse("the header has {} bytes, the file ends before", length);
  }
  return length;
}

SafeTensors parse(Source& file) {
  const std::uint64_t length = header_length(file);
  const std::uint64_t data_at = kLengthBytes + length;
  SafetensorsHeader header = parse_safetensors_header(file.bytes(kLengthBytes, length));
  check_cover(header.entries, file.size() - data_at);
  SafeTensors content;
  content.metadata = std::move(header.metadata);
  for (const SafetensorsEntry& entry : header.entries) {
    const Tensor& tensor =
        content.tensors.emplace_back(entry.name, make_tensor(entry.dtype, entry.shape)).second;
    // arithmetic: check_cover held them against the file
    fill(tensor, file.bytes(data_at + entry.begin, entry.end - entry.begin));
  }
  return content;
}

// ---- writing

struct Piece {
  const std::string* name;
  const Tensor* tensor;
  DType dtype;
  Shape shape;
  std::uint64_t bytes;
};

// The largest elements first: all are aligned then.
std::vector<Piece> pieces_of(const SafeTensors& content) {
  std::vector<Piece> pieces;
  std::set<std::string_view> names{kSafetensorsNotes};
  for (const auto& [name, tensor] : content.tensors) {
    if (!names.insert(name).second) refuse("'{}' is twice, names are unique", excerpt(name));
    const DType dtype = tensor.dtype();
    const Shape shape = tensor.shape();
    pieces.push_back({&name, &tensor, dtype, shape, bytes_of(shape, size_of(dtype))});
  }
  std::ranges::stable_sort(
      pieces, [](const Piece& a, const Piece& b) { return size_of(a.dtype) > size_of(b.dtype); });
  return pieces;
}

void write_entry(JsonWriter& json, const Piece& piece, std::uint64_t at) {
  json.key(*piece.name);
  json.begin_object();
  json.member("dtype", safetensors_name(piece.dtype));
  json.key("shape");
  json.begin_array();
  for (const std::int64_t extent : piece.shape.dims()) json.value(extent);
  json.end_array();
  json.key("data_offsets");
  json.begin_array();
  json.value(at);
  json.value(checked_add(at, piece.bytes));
  json.end_array();
  json.end_object();
}

void write_metadata(JsonWriter& json, const std::map<std::string, std::string>& metadata) {
  if (metadata.empty()) return;
  json.key(kSafetensorsNotes);
  json.begin_object();
  for (const auto& [key, value] : metadata) json.member(key, value);
  json.end_object();
}

void check_text(const SafeTensors& content) {
  const bool names = std::ranges::all_of(
      content.tensors, is_utf8, [](const auto& each) { return std::string_view(each.first); });
  const bool notes = std::ranges::all_of(content.metadata, [](const auto& each) {
    return is_utf8(each.first) && is_utf8(each.second);
  });
  if (!names || !notes) refuse("a name or a note is not UTF-8");
}

std::string header_of(const SafeTensors& content, const std::vector<Piece>& pieces) {
  check_text(content);
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  write_metadata(json, content.metadata);
  std::uint64_t at = 0;
  for (const Piece& piece : pieces) {
    write_entry(json, piece, at);
    at = checked_add(at, piece.bytes);
  }
  json.end_object();
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  if (text.size() > kMostHeader)
    refuse("the header has {} bytes, {} are allowed", text.size(), kMostHeader);
  return text;
}

}  // namespace

const Tensor& SafeTensors::at(std::string_view name) const {
  for (const auto& [each, tensor] : tensors) {
    if (each == name) return tensor;
  }
  refuse("there is no tensor '{}'", excerpt(name));
}

SafeTensors parse_safetensors(std::span<const std::byte> file) {
  MemorySource source(file);
  return parse(source);
}

SafeTensors load_safetensors(const std::filesystem::path& path) {
  return parse_file(path, "safetensors", parse);
}

std::vector<std::byte> format_safetensors(const SafeTensors& content) {
  const std::vector<Piece> pieces = pieces_of(content);
  const std::string header = header_of(content, pieces);
  std::uint64_t total = kLengthBytes + header.size();
  for (const Piece& piece : pieces) total = checked_add(total, piece.bytes);
  std::vector<std::byte> file(total);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    file[i] = static_cast<std::byte>(header.size() >> (8 * i));
  }
  std::memcpy(file.data() + kLengthBytes, header.data(), header.size());
  std::span<std::byte> rest = std::span(file).subspan(kLengthBytes + header.size());
  for (const Piece& piece : pieces) {
    piece.tensor->read(rest.first(piece.bytes));
    rest = rest.subspan(piece.bytes);
  }
  return file;
}

void save_safetensors(const std::filesystem::path& path, const SafeTensors& content) {
  replace_file(path, format_safetensors(content), "safetensors");
}

}  // namespace ebb::io
