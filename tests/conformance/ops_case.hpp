// A case of tools/make_expected.py, read back.
#pragma once

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ebb/base/dtype.hpp"
#include "ebb/base/error.hpp"
#include "ebb/base/shape.hpp"

namespace ebb::test {

struct CaseTensor {
  bool given = true;  // false: an optional input that is left out
  DType dtype = DType::kUnknown;
  Shape shape{};
  std::vector<std::byte> data{};
  double relative = 0, absolute = 0;
};

struct OpCase {
  std::string op, note;
  std::vector<CaseTensor> inputs{}, outputs{};
  std::vector<double> attributes{};
};

inline DType dtype_named(const std::string& name) {
  for (std::uint32_t i = 1; is_dtype(i); ++i) {
    if (name_of(static_cast<DType>(i)) == name) return static_cast<DType>(i);
  }
  raise(ErrorKind::kInvalidArgument, "[case] no dtype {}", name);
}

inline std::vector<std::byte> from_hex(const std::string& text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes(text.size() / 2);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(digit(text[2 * i]) * 16 + digit(text[2 * i + 1]));
  }
  return bytes;
}

inline CaseTensor case_tensor(const nlohmann::json& json) {
  if (json.is_null()) return {.given = false};
  CaseTensor tensor{.dtype = dtype_named(json["dtype"]),
                    .shape = Shape(json["shape"].get<std::vector<std::int64_t>>()),
                    .data = from_hex(json["data"].get<std::string>())};
  if (json.contains("tolerance")) {
    tensor.relative = json["tolerance"][0];
    tensor.absolute = json["tolerance"][1];
  }
  return tensor;
}

inline std::vector<OpCase> read_cases(const std::string& path) {
  std::ifstream file(path);
  std::vector<OpCase> cases;
  for (std::string line; std::getline(file, line);) {
    const auto json = nlohmann::json::parse(line);
    OpCase one{.op = json["op"], .note = json["note"]};
    for (const auto& each : json["inputs"]) one.inputs.push_back(case_tensor(each));
    for (const auto& each : json["outputs"]) one.outputs.push_back(case_tensor(each));
    // Text, because JSON has no infinity.
    for (const auto& each : json["attributes"]) {
      one.attributes.push_back(std::strtod(each.get<std::string>().c_str(), nullptr));
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace ebb::test
