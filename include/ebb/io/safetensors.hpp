// Safetensors files: named tensors, as Hugging Face's models come.
//
//   std::map<std::string, Tensor> model = load_safetensors("model.safetensors");
#pragma once

#include <map>
#include <string>

#include "ebb/ops/session.hpp"

namespace ebb {

// Throws Error(kDevice) where the file cannot be read, Error(kInvalidArgument) where it is not such
// a file or has a dtype that Ebb does not, both with its path. Metadata is passed over.
std::map<std::string, Tensor> load_safetensors(const std::string& path);

// complex64 is not part of the format: kInvalidArgument.
void save_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors);

}  // namespace ebb
