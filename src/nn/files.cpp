#include "ebb/nn/files.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "ebb/io/safetensors.hpp"
#include "ebb/ops/functions/creation.hpp"
#include "io/excerpt.hpp"

namespace ebb::nn {
namespace {

using Notes = std::map<std::string, std::string>;

constexpr std::string_view kOptimizer = "optimizer/";
const std::string kRate = "optimizer/learning_rate";

std::vector<NamedVariable> variables_of(Layer& model, Optimizer& optimizer) {
  std::vector<NamedVariable> all = model.named_variables();
  for (NamedVariable& each : optimizer.named_variables(model)) {
    all.push_back({std::string(kOptimizer) + each.name, each.variable});
  }
  return all;
}

io::SafeTensors content_of(const std::vector<NamedVariable>& variables, const Notes& notes) {
  io::SafeTensors content;
  content.metadata = notes;
  for (const NamedVariable& each : variables) {
    content.tensors.emplace_back(each.name, each.variable->value());
  }
  return content;
}

// ---- loading

const Tensor& tensor_of(const io::SafeTensors& content, const std::string& name) {
  const auto found = std::ranges::find(
      content.tensors, name, [](const auto& each) -> auto& { return each.first; });
  if (found == content.tensors.end()) {
    raise(ErrorKind::kInvalidArgument, "[nn::load] \"{}\" is not in the file", name);
  }
  return found->second;
}

void check_fits(const std::string& name, const Tensor& given, DType dtype, const Shape& shape) {
  if (given.shape() == shape && given.dtype() == dtype) return;
  raise(ErrorKind::kInvalidArgument, "[nn::load] \"{}\" is {} {} in the file, {} {} in the model",
        name, name_of(given.dtype()), given.shape().to_string(), name_of(dtype), shape.to_string());
}

// All that is wanted is there and fits, and nothing else but what may be.
template <typename MayBe>
void check(const io::SafeTensors& content, const std::vector<NamedVariable>& wanted, MayBe may_be) {
  std::set<std::string_view> names;
  for (const NamedVariable& each : wanted) {
    const Tensor& value = each.variable->value();
    check_fits(each.name, tensor_of(content, each.name), value.dtype(), value.shape());
    names.insert(each.name);
  }
  for (const auto& [name, tensor] : content.tensors) {
    if (names.contains(name) || may_be(name)) continue;
    raise(ErrorKind::kInvalidArgument,
          "[nn::load] \"{}\" is in the file, nothing of that name is loaded", io::excerpt(name));
  }
}

double rate_of(const io::SafeTensors& content) {
  const Tensor& rate = tensor_of(content, kRate);
  check_fits(kRate, rate, DType::kFloat64, Shape{});
  const double value = rate.item<double>();
  if (!std::isfinite(value)) {
    raise(ErrorKind::kInvalidArgument, "[nn::load] the learning rate is {} in the file", value);
  }
  return value;
}

// Copies take memory, so all of them come first: nothing throws once a variable has been assigned to.
void assign(const io::SafeTensors& content, const std::vector<NamedVariable>& wanted) {
  std::vector<Tensor> values;
  values.reserve(wanted.size());
  for (const NamedVariable& each : wanted) values.push_back(tensor_of(content, each.name));
  for (std::size_t i = 0; i < values.size(); ++i) wanted[i].variable->assign(std::move(values[i]));
}

}  // namespace

void save(const std::filesystem::path& path, Layer& model, const Notes& notes) {
  io::save_safetensors(path, content_of(model.named_variables(), notes));
}

void save(const std::filesystem::path& path, Layer& model, Optimizer& optimizer,
          const Notes& notes) {
  io::SafeTensors content = content_of(variables_of(model, optimizer), notes);
  content.tensors.emplace_back(kRate, ops::fill({}, optimizer.learning_rate(), DType::kFloat64));
  io::save_safetensors(path, content);
}

Notes load(const std::filesystem::path& path, Layer& model) {
  io::SafeTensors content = io::load_safetensors(path);
  const std::vector<NamedVariable> wanted = model.named_variables();
  check(content, wanted, [](std::string_view name) { return name.starts_with(kOptimizer); });
  assign(content, wanted);
  return std::move(content.metadata);
}

Notes load(const std::filesystem::path& path, Layer& model, Optimizer& optimizer) {
  io::SafeTensors content = io::load_safetensors(path);
  const std::vector<NamedVariable> wanted = variables_of(model, optimizer);
  check(content, wanted, [](std::string_view name) { return name == kRate; });
  const double rate = rate_of(content);
  assign(content, wanted);
  optimizer.set_learning_rate(rate);
  return std::move(content.metadata);
}

}  // namespace ebb::nn
