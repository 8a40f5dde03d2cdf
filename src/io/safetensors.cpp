#include "ebb/io/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "io/elements.hpp"
#include "io/file.hpp"

namespace ebb::io {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMostHeader = 100'000'000;  // the format's own limit
constexpr std::string_view kMetadata = "__metadata__";

struct Name {
  DType dtype;
  std::string_view name;
};
constexpr auto kNames = std::to_array<Name>({{DType::kFloat32, "F32"},
                                             {DType::kInt32, "I32"},
                                             {DType::kBool, "BOOL"},
                                             {DType::kComplex64, "C64"},
                                             {DType::kFloat64, "F64"},
                                             {DType::kInt64, "I64"},
                                             {DType::kUint8, "U8"},
                                             {DType::kFloat16, "F16"},
                                             {DType::kBfloat16, "BF16"},
                                             {DType::kInt8, "I8"}});

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  raise(ErrorKind::kInvalidArgument, "[safetensors] {}",
        fmt::format(format, std::forward<Args>(args)...));
}

// ---- reading

struct Entry {
  std::string name;
  DType dtype;
  Shape shape;
  std::uint64_t begin, end;  // of its elements in the data
};

// Two of a name in one object would let readers disagree on which one counts. An object is no
// deeper than a tensor's or the metadata's, an array no deeper than a shape.
class StrictKeys {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    constexpr int kDeepest = 3;
    if (depth > kDeepest) refuse("the header is nested {} deep, {} is allowed", depth, kDeepest);
    if (event == Json::parse_event_t::object_start) {
      keys_[static_cast<std::size_t>(depth)].clear();
    } else if (event == Json::parse_event_t::key) {
      const auto [at, fresh] =
          keys_[static_cast<std::size_t>(depth) - 1].insert(parsed.get<std::string>());
      if (!fresh) refuse("key '{}' is twice in the header", *at);
    }
    return true;
  }

 private:
  std::array<std::set<std::string>, 4> keys_;
};

Json parse_header(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  if (bytes.empty() || *text != '{') refuse("the header does not begin with an object");
  try {
    return Json::parse(text, text + bytes.size(), StrictKeys());
  } catch (const Json::exception& error) {
    refuse("the header is not JSON: {}", error.what());
  }
}

// The text may be any bytes of the file's, also some that are no text.
std::string shown(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

DType dtype_named(const Json& name) {
  for (const Name& each : kNames) {
    if (name == each.name) return each.dtype;
  }
  raise(ErrorKind::kUnsupported,
        "[safetensors] dtype {} was given, F64 F32 F16 BF16 I64 I32 I8 U8 BOOL C64 are allowed",
        shown(name));
}

Shape shape_from(const Json& dims) {
  std::vector<std::int64_t> extents;
  const bool few = dims.is_array() && dims.size() <= kMaxRank;
  for (std::size_t i = 0; few && i < dims.size(); ++i) {
    if (!dims[i].is_number_unsigned() || dims[i].get<std::uint64_t>() > INT64_MAX) break;
    extents.push_back(dims[i].get<std::int64_t>());
  }
  if (!few || extents.size() != dims.size()) {
    refuse("shape {} was given, up to {} extents are allowed", shown(dims), kMaxRank);
  }
  return Shape(extents);
}

Entry entry_from(const std::string& name, const Json& json) {
  const bool whole = json.is_object() && json.size() == 3 && json.contains("dtype") &&
                     json.contains("shape") && json.contains("data_offsets");
  if (!whole) refuse("tensor '{}' has not just dtype, shape and data_offsets", name);
  const Json& offsets = json["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    refuse("tensor '{}' has data_offsets {}, a begin and an end are allowed", name, shown(offsets));
  }
  return {name, dtype_named(json["dtype"]), shape_from(json["shape"]), offsets[0], offsets[1]};
}

std::map<std::string, std::string> metadata_from(const Json& json) {
  std::map<std::string, std::string> metadata;
  if (!json.is_object()) refuse("{} is not an object", kMetadata);
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) refuse("note '{}' is {}, a string is allowed", key, shown(value));
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// In the order of their data, which they must cover: a gap could hide something.
void check_cover(std::vector<Entry>& entries, std::uint64_t size) {
  std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const Entry& entry : entries) {
    const std::uint64_t needed = bytes_of(entry.shape, size_of(entry.dtype));
    if (entry.begin != at || entry.end < entry.begin || entry.end - entry.begin != needed) {
      refuse("tensor '{}' is at {} to {}, {} bytes from {} on are allowed", entry.name, entry.begin,
             entry.end, needed, at);
    }
    at = entry.end;
  }
  if (at != size) refuse("the tensors have {} bytes, the file has {}", at, size);
}

std::uint64_t header_length(std::span<const std::byte> file) {
  if (file.size() < kLengthBytes)
    refuse("the file has {} bytes, 8 at least are needed", file.size());
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    length = length << 8 | static_cast<std::uint8_t>(file[i]);
  if (length > kMostHeader) refuse("the header has {} bytes, {} are allowed", length, kMostHeader);
  if (length > file.size() - kLengthBytes) {
    refuse("the header has {} bytes, the file ends before", length);
  }
  return length;
}

// ---- writing

std::string_view name_in_file(DType dtype) {
  for (const Name& each : kNames) {
    if (each.dtype == dtype) return each.name;
  }
  raise(ErrorKind::kUnsupported, "[safetensors] it has no name for dtype {}", name_of(dtype));
}

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
  std::set<std::string_view> names{kMetadata};
  for (const auto& [name, tensor] : content.tensors) {
    if (!names.insert(name).second) refuse("'{}' is twice, names are unique", name);
    const DType dtype = tensor.dtype();
    const Shape shape = tensor.shape();
    pieces.push_back({&name, &tensor, dtype, shape, bytes_of(shape, size_of(dtype))});
  }
  std::ranges::stable_sort(
      pieces, [](const Piece& a, const Piece& b) { return size_of(a.dtype) > size_of(b.dtype); });
  return pieces;
}

std::string header_of(const SafeTensors& content, const std::vector<Piece>& pieces) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!content.metadata.empty()) json[std::string(kMetadata)] = content.metadata;
  std::uint64_t at = 0;
  for (const Piece& piece : pieces) {
    const auto dims = piece.shape.dims();
    json[*piece.name] = {{"dtype", name_in_file(piece.dtype)},
                         {"shape", std::vector<std::int64_t>(dims.begin(), dims.end())},
                         {"data_offsets", {at, at + piece.bytes}}};
    at += piece.bytes;
  }
  std::string text;
  try {
    text = json.dump();
  } catch (const nlohmann::json::exception&) {
    refuse("a name or a note is not UTF-8");
  }
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
  refuse("there is no tensor '{}'", name);
}

SafeTensors parse_safetensors(std::span<const std::byte> file) {
  const std::uint64_t length = header_length(file);
  const Json header = parse_header(file.subspan(kLengthBytes, length));
  const std::span<const std::byte> data = file.subspan(kLengthBytes + length);
  SafeTensors content;
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadata) {
      content.metadata = metadata_from(value);
    } else {
      entries.push_back(entry_from(name, value));
    }
  }
  check_cover(entries, data.size());
  for (const Entry& entry : entries) {
    content.tensors.emplace_back(
        entry.name,
        make_tensor(entry.dtype, entry.shape, data.subspan(entry.begin, entry.end - entry.begin)));
  }
  return content;
}

SafeTensors load_safetensors(const std::filesystem::path& path) {
  return parse_file(path, "safetensors", parse_safetensors);
}

std::vector<std::byte> format_safetensors(const SafeTensors& content) {
  const std::vector<Piece> pieces = pieces_of(content);
  const std::string header = header_of(content, pieces);
  std::uint64_t total = kLengthBytes + header.size();
  for (const Piece& piece : pieces) total += piece.bytes;
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
