// Models in .safetensors files, each variable under its name ("conv1/kernel").
//
//   nn::save("model.safetensors", model);
//   nn::load("model.safetensors", model);   // made with the same layers
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ebb/nn/layer.hpp"

namespace ebb::nn {

// Replaces the file in one step. `notes` are texts beside the weights.
void save(const std::filesystem::path& path, Layer& model,
          const std::map<std::string, std::string>& notes = {});

// Gives the notes. The file must have each variable of the model, with its shape and dtype, and no
// others: Error(kInvalidArgument) says which, and the model is as it was.
std::map<std::string, std::string> load(const std::filesystem::path& path, Layer& model);

}  // namespace ebb::nn
