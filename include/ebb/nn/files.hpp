// Models in .safetensors files, each variable under its name ("conv1/kernel").
//
//   nn::save("model.safetensors", model);
//   nn::load("model.safetensors", model);   // made with the same layers
//
// With the optimizer, for training that goes on later as if it had not stopped:
//
//   nn::save("checkpoint.safetensors", model, adam);
//   nn::load("checkpoint.safetensors", model, adam);
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "ebb/nn/layer.hpp"
#include "ebb/nn/optimizers.hpp"

namespace ebb::nn {

// Replaces the file in one step. `notes` are texts beside the weights.
void save(const std::filesystem::path& path, Layer& model,
          const std::map<std::string, std::string>& notes = {});
// With what the optimizer keeps and its learning rate, as "optimizer/...". Throws
// Error(kInvalidArgument) where a weight of the optimizer's is none of the model's.
void save(const std::filesystem::path& path, Layer& model, Optimizer& optimizer,
          const std::map<std::string, std::string>& notes = {});

// Gives the notes. The file must have each variable of the model, with its shape and dtype, and no
// others but an optimizer's: Error(kInvalidArgument) says which. Where it throws, for want of memory too, the model is
// as it was.
std::map<std::string, std::string> load(const std::filesystem::path& path, Layer& model);
// All that was saved with an optimizer of the same kind, for the same weights; or nothing is changed.
std::map<std::string, std::string> load(const std::filesystem::path& path, Layer& model,
                                        Optimizer& optimizer);

}  // namespace ebb::nn
