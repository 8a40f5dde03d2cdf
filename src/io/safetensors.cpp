#include "ebb/io/safetensors.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "io/file.hpp"

namespace ebb {
namespace {

using nlohmann::json;

struct Name {
  DType dtype;
  std::string_view name;
};
constexpr std::array<Name, 9> kNames{{{DType::kFloat32, "F32"},
                                      {DType::kInt32, "I32"},
                                      {DType::kBool, "BOOL"},
                                      {DType::kFloat64, "F64"},
                                      {DType::kInt64, "I64"},
                                      {DType::kUint8, "U8"},
                                      {DType::kFloat16, "F16"},
                                      {DType::kBfloat16, "BF16"},
                                      {DType::kInt8, "I8"}}};

struct Entry {
  DType dtype = DType::kUnknown;
  Shape shape;
  std::uint64_t begin = 0, end = 0;  // in the data
};

Entry entry_of(const io::Reader& file, const std::string& name, const json& value) {
  Entry entry;
  const std::string dtype = value.at("dtype");
  const auto found = std::ranges::find(kNames, std::string_view(dtype), &Name::name);
  if (found == kNames.end()) file.fail(name + " has dtype " + dtype + ", which is not supported");
  entry.dtype = found->dtype;
  entry.shape = Shape(value.at("shape").get<std::vector<std::int64_t>>());
  entry.begin = value.at("data_offsets").at(0);
  entry.end = value.at("data_offsets").at(1);
  if (entry.end < entry.begin ||
      entry.end - entry.begin != bytes_of(entry.shape, size_of(entry.dtype))) {
    file.fail(name + " has as many bytes as its shape does not say");
  }
  return entry;
}

std::uint64_t header_length(io::Reader& file) {
  std::array<std::byte, 8> bytes{};
  file.read(0, bytes);
  std::uint64_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return length;
}

std::map<std::string, Entry> read_entries(io::Reader& file, std::uint64_t length) {
  std::map<std::string, Entry> entries;
  try {
    const json header = json::parse(file.text(8, length));
    for (const auto& [name, value] : header.items()) {
      if (name != "__metadata__") entries.emplace(name, entry_of(file, name, value));
    }
  } catch (const json::exception& error) {
    file.fail(std::string("its header does not read: ") + error.what());
  }
  return entries;
}

std::string header_text(const std::map<std::string, Tensor>& tensors) {
  json header = json::object();
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    const DType dtype = tensor.dtype();
    const auto found = std::ranges::find(kNames, dtype, &Name::dtype);
    if (found == kNames.end()) {
      raise(ErrorKind::kInvalidArgument,
            "[save_safetensors] {} is {}, the format has no such dtype", name, name_of(dtype));
    }
    const Shape shape = tensor.shape();
    const std::uint64_t end = at + bytes_of(shape, size_of(dtype));
    header[name] = {{"dtype", found->name},
                    {"shape", std::vector<std::int64_t>(shape.dims().begin(), shape.dims().end())},
                    {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  while (text.size() % 8 != 0) text += ' ';
  return text;
}

}  // namespace

std::map<std::string, Tensor> load_safetensors(const std::string& path) {
  io::Reader file(path);
  const std::uint64_t length = header_length(file);
  std::map<std::string, Tensor> tensors;
  std::vector<std::byte> bytes;
  for (const auto& [name, entry] : read_entries(file, length)) {
    if (entry.end > file.size()) file.fail(name + " lies beyond its end");
    bytes.resize(entry.end - entry.begin);
    file.read(8 + length + entry.begin, bytes);
    tensors.emplace(name, detail::tensor_of(entry.dtype, entry.shape, bytes));
  }
  return tensors;
}

void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors) {
  const std::string header = header_text(tensors);
  io::Writer file(path);
  std::string length;
  for (std::size_t i = 0; i < 8; ++i) length += static_cast<char>(header.size() >> (8 * i) & 0xff);
  file.write(length + header);
  std::vector<std::byte> bytes;
  for (const auto& [name, tensor] : tensors) {
    bytes.resize(bytes_of(tensor.shape(), size_of(tensor.dtype())));
    tensor.read(bytes);
    file.write(bytes);
  }
  file.finish();
}

}  // namespace ebb
