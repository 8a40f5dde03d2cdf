#include "ebb/nn/files.hpp"

#include "ebb/io/safetensors.hpp"

namespace ebb::nn {
namespace {

void check_fits(const NamedVariable& wanted, const Tensor& given) {
  const Tensor& value = wanted.variable->value();
  if (given.shape() == value.shape() && given.dtype() == value.dtype()) return;
  raise(ErrorKind::kInvalidArgument, "[nn::load] \"{}\" is {} {} in the file, {} {} in the model",
        wanted.name, name_of(given.dtype()), given.shape().to_string(), name_of(value.dtype()),
        value.shape().to_string());
}

}  // namespace

void save(const std::filesystem::path& path, Layer& model,
          const std::map<std::string, std::string>& notes) {
  io::SafeTensors content;
  content.metadata = notes;
  for (const NamedVariable& each : model.named_variables()) {
    content.tensors.emplace_back(each.name, each.variable->value());
  }
  io::save_safetensors(path, content);
}

std::map<std::string, std::string> load(const std::filesystem::path& path, Layer& model) {
  const io::SafeTensors content = io::load_safetensors(path);
  const std::vector<NamedVariable> wanted = model.named_variables();
  for (const NamedVariable& each : wanted) check_fits(each, content.at(each.name));
  if (content.tensors.size() != wanted.size()) {
    raise(ErrorKind::kInvalidArgument, "[nn::load] the file has {} tensors, the model {} variables",
          content.tensors.size(), wanted.size());
  }
  for (const NamedVariable& each : wanted) each.variable->assign(content.at(each.name));
  return content.metadata;
}

}  // namespace ebb::nn
