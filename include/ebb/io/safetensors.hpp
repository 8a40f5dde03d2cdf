// .safetensors files: named tensors, and notes about them.
//
//   Session session;
//   io::SafeTensors model = io::load_safetensors("model.safetensors");
//   Tensor weight = model.at("layer.weight");
//   io::save_safetensors("copy.safetensors", model);
//
// As strict as the format asks: names are unique, and the tensors cover the data without a gap. A
// file that is not well-formed is Error(kInvalidArgument); one that cannot be opened or written is
// Error(kDevice).
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ebb/tensor/tensor.hpp"

namespace ebb::io {

struct SafeTensors {
  std::vector<std::pair<std::string, Tensor>> tensors{};  // read: in the order of their data
  std::map<std::string, std::string> metadata{};

  // Throws Error(kInvalidArgument) where there is none of that name.
  const Tensor& at(std::string_view name) const;
};

// The tensors are made in the current session, all of them or none.
SafeTensors load_safetensors(const std::filesystem::path& path);
// The file's bytes, from memory.
SafeTensors parse_safetensors(std::span<const std::byte> file);

// Replaces the file in one step: whoever reads it sees the old or the new one.
void save_safetensors(const std::filesystem::path& path, const SafeTensors& content);
std::vector<std::byte> format_safetensors(const SafeTensors& content);

}  // namespace ebb::io
