// Prints what hosts need of the table of operations (include/ebb/ops/table.hpp).
//
//   ebb_print_ops --typescript    ids, inputs, attributes with defaults and words, dtypes, the hash
//   ebb_print_ops --families      the names of the table's families, one a line
//   ebb_print_ops --cpp FAMILY    include/ebb/ops/functions/FAMILY.hpp
//   ebb_print_ops --text          one row a line, for people
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "ebb/base/dtype.hpp"
#include "ebb/ops/table.hpp"

namespace {

using namespace ebb::ops;

std::string_view type_name(AttributeType type) {
  switch (type) {
    case AttributeType::kBoolean:
      return "boolean";
    case AttributeType::kInteger:
      return "integer";
    case AttributeType::kNumber:
      return "number";
    case AttributeType::kDType:
      return "dtype";
    case AttributeType::kIntegers:
      return "integers";
    case AttributeType::kNumbers:
      return "numbers";
    case AttributeType::kNone:
      break;
  }
  return "";
}

std::string join(const std::string& list, const std::string& more) {
  return list.empty() ? more : list + ", " + more;
}

// 'a', 'b'
std::string quoted(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ", ";
    text.append("'").append(word).append("'");
  }
  return text;
}

std::string attribute_in_typescript(const Attribute& attribute) {
  std::string text = "{ name: '";
  text.append(attribute.name).append("', type: '").append(type_name(attribute.type)).append("'");
  if (!attribute.fallback.empty()) {
    const bool text_like = attribute.has_words() || attribute.type == AttributeType::kDType;
    const std::string_view quote = text_like ? "'" : "";
    const std::string_view fallback =
        attribute.fallback == "-infinity" ? "-Infinity" : attribute.fallback;
    text.append(", fallback: ").append(quote).append(fallback).append(quote);
  }
  if (attribute.has_words()) {
    const std::span words(attribute.words->words.data(), attribute.words->size());
    text.append(", words: [").append(quoted(words)).append("]");
  }
  return text + " }";
}

void print_dtypes() {
  std::puts("/** By the core's names; those of TensorFlow.js are among them. */");
  std::puts("export const DTYPE_CODES = {");
  for (std::uint32_t code = 1; ebb::is_dtype(code); ++code) {
    const std::string name(ebb::name_of(static_cast<ebb::DType>(code)));
    std::printf("  %s: %u,\n", name.c_str(), code);
  }
  std::puts("} as const;\n");
}

void print_rows() {
  std::puts(
      "/** In the order in which they are passed: '?' may be left out, '*' is any number. */");
  std::puts("export const INPUTS: Record<OpName, readonly string[]> = {");
  for (const OpSpec& spec : kTable) {
    std::printf("  %s: [%s],\n", std::string(spec.name).c_str(),
                quoted({spec.inputs.data(), spec.input_count()}).c_str());
  }
  std::puts("};\n");
  std::puts("/** In the order in which they are passed. */");
  std::puts("export const ATTRIBUTES: Record<OpName, readonly AttributeSpec[]> = {");
  for (const OpSpec& spec : kTable) {
    std::string list;
    for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
      list = join(list, attribute_in_typescript(spec.attributes[i]));
    }
    std::printf("  %s: [%s],\n", std::string(spec.name).c_str(), list.c_str());
  }
  std::puts("};");
}

void print_typescript() {
  std::puts("// Printed by ebb_print_ops from include/ebb/ops/table.hpp. Do not edit.\n");
  std::printf("export const TABLE_HASH = %llu;\n\n", static_cast<unsigned long long>(table_hash()));
  print_dtypes();
  std::puts("export const Op = {");
  for (const OpSpec& spec : kTable) {
    std::printf("  %s: %u,\n", std::string(spec.name).c_str(), spec.id);
  }
  std::puts("} as const;\n");
  std::puts("export type OpName = keyof typeof Op;");
  std::puts(
      "export type AttributeType = 'boolean' | 'integer' | 'number' | 'dtype' | 'integers' | "
      "'numbers';");
  std::puts("export interface AttributeSpec {");
  std::puts("  readonly name: string;\n  readonly type: AttributeType;");
  std::puts("  /** What it is where nothing was said. */");
  std::puts("  readonly fallback?: boolean | number | string | readonly number[];");
  std::puts("  /** A word is its position. */\n  readonly words?: readonly string[];\n}\n");
  print_rows();
}

std::string count_text(unsigned count) { return count == kAny ? "any" : std::to_string(count); }

// "BatchMatMul" -> "batch_mat_mul", "Conv2DBackpropInput" -> "conv2d_backprop_input", "FFT" ->
// "fft"
std::string snake(std::string_view name) {
  const auto is = [&](std::size_t i, int (*kind)(int)) {
    return i < name.size() && kind(static_cast<unsigned char>(name[i])) != 0;
  };
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '_') continue;
    const bool starts =
        i > 0 && is(i, std::isupper) &&
        (is(i - 1, std::islower) || (is(i - 1, std::isalnum) && is(i + 1, std::islower)));
    if (starts) text += '_';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return text;
}

// "Conv2D" -> "Conv2DOptions"
std::string options_of(const OpSpec& spec) {
  return std::string(spec.name.substr(spec.name.starts_with('_') ? 1 : 0)) + "Options";
}

// "FIRST_DIM_SIZE" -> "kFirstDimSize"
std::string enumerator(std::string_view word) {
  std::string text = "k";
  bool first = true;
  for (const char c : word) {
    const auto letter = static_cast<unsigned char>(c);
    if (c != '_') text += static_cast<char>(first ? std::toupper(letter) : std::tolower(letter));
    first = c == '_';
  }
  return text;
}

std::string plain_type(const Attribute& attribute) {
  const std::string one = std::string(attribute.words->name);
  switch (attribute.type) {
    case AttributeType::kBoolean:
      return "bool";
    case AttributeType::kInteger:
      return one.empty() ? "std::int64_t" : one;
    case AttributeType::kDType:
      return "DType";
    case AttributeType::kIntegers:
      return "std::vector<" + (one.empty() ? "std::int64_t" : one) + ">";
    case AttributeType::kNumbers:
      return "std::vector<double>";
    default:
      return "double";
  }
}

std::string parameter_type(const Attribute& attribute) {
  const std::string type = plain_type(attribute);
  return type.starts_with("std::vector") ? "const " + type + "&" : type;
}

std::string fallback_in_cpp(const Attribute& attribute) {
  const std::string text(attribute.fallback);
  if (attribute.has_words()) return plain_type(attribute) + "::" + enumerator(text);
  if (attribute.type == AttributeType::kDType) return "DType::" + enumerator(text);
  if (text == "-infinity") return "-std::numeric_limits<double>::infinity()";
  return text.starts_with('[') ? "{" + text.substr(1, text.size() - 2) + "}" : text;
}

bool is_optional(std::string_view input) { return input.ends_with('?'); }
bool is_list(std::string_view input) { return input.ends_with('*'); }

std::string variable(std::string_view input) {
  if (is_optional(input) || is_list(input)) input.remove_suffix(1);
  return snake(input);
}

bool has_options(const OpSpec& spec) {
  const auto has_fallback = [](const Attribute& each) { return !each.fallback.empty(); };
  return std::ranges::any_of(spec.attributes, has_fallback) ||
         std::ranges::any_of(spec.inputs, is_optional);
}

void print_options(const OpSpec& spec) {
  if (!has_options(spec)) return;
  std::printf("struct %s {\n", options_of(spec).c_str());
  for (std::size_t i = 0; i < spec.input_count(); ++i) {
    if (is_optional(spec.inputs[i]))
      std::printf("  Tensor %s{};\n", variable(spec.inputs[i]).c_str());
  }
  for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
    const Attribute& each = spec.attributes[i];
    if (each.fallback.empty()) continue;
    std::printf("  %s %s = %s;\n", plain_type(each).c_str(), snake(each.name).c_str(),
                fallback_in_cpp(each).c_str());
  }
  std::puts("};");
}

// What has to be given, then what may be.
std::string parameters_of(const OpSpec& spec) {
  std::string list;
  for (std::size_t i = 0; i < spec.input_count(); ++i) {
    if (is_optional(spec.inputs[i])) continue;
    const std::string type =
        is_list(spec.inputs[i]) ? "const std::vector<Tensor>& " : "const Tensor& ";
    list = join(list, type + variable(spec.inputs[i]));
  }
  for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
    const Attribute& each = spec.attributes[i];
    if (each.fallback.empty()) list = join(list, parameter_type(each) + " " + snake(each.name));
  }
  return has_options(spec) ? join(list, "const " + options_of(spec) + "& options = {}") : list;
}

std::string inputs_of(const OpSpec& spec, const std::string& prefix) {
  std::string list;
  for (std::size_t i = 0; i < spec.input_count(); ++i) {
    const std::string_view from = is_optional(spec.inputs[i]) ? "options." : "";
    list = join(list, prefix + std::string(from) + variable(spec.inputs[i]));
  }
  return list;
}

std::string flat_of(const OpSpec& spec) {
  std::string list;
  for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
    const std::string_view from = spec.attributes[i].fallback.empty() ? "" : "options.";
    list = join(list, std::string(from) + snake(spec.attributes[i].name));
  }
  return list.empty() ? "{}" : "detail::Flat(" + list + ").values()";
}

void print_function(const OpSpec& spec) {
  const std::string name(spec.name), flat = flat_of(spec);
  const bool one = spec.outputs == 1;
  print_options(spec);
  std::printf("inline %s %s(%s) {\n", one ? "Tensor" : "std::vector<Tensor>", snake(name).c_str(),
              parameters_of(spec).c_str());
  if (one && spec.most_inputs != kAny) {
    std::printf("  return apply_one(op_id(\"%s\"), {%s}, %s);\n", name.c_str(),
                inputs_of(spec, "&").c_str(), flat.c_str());
  } else {
    std::printf("  return apply(op_id(\"%s\"), detail::pointers(%s), %s)%s;\n", name.c_str(),
                inputs_of(spec, "").c_str(), flat.c_str(), one ? "[0]" : "");
  }
  std::puts("}");
}

void print_families() {
  for (const Family& family : kFamilies) std::puts(std::string(family.name).c_str());
}

// False: there is no such family.
bool print_cpp(std::string_view name) {
  const auto family = std::ranges::find(kFamilies, name, &Family::name);
  if (family == kFamilies.end()) return false;
  std::printf("// %s as functions, in the table's order.\n//\n", std::string(family->what).c_str());
  std::printf(
      "// Printed by `ebb_print_ops --cpp %s` and formatted; a test fails where it is not\n",
      std::string(name).c_str());
  std::puts("// what the table says. What has a default is among the options:");
  std::puts("//   conv2d(x, filter, {.strides = {2, 2}})");
  std::puts("#pragma once\n\n#include <limits>\n#include <vector>\n");
  std::puts("#include \"ebb/ops/flat.hpp\"\n#include \"ebb/ops/session.hpp\"\n");
  std::puts("namespace ebb::ops {\n");
  for (const auto& row : family->rows) print_function(*find_op(row.id));
  std::puts("\n}  // namespace ebb::ops");
  return true;
}

void print_text() {
  for (const OpSpec& spec : kTable) {
    std::string text;
    for (std::size_t i = 0; i < spec.input_count(); ++i) text.append(" ").append(spec.inputs[i]);
    text += " ->";
    for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
      const Attribute& each = spec.attributes[i];
      text.append(" ").append(each.name).append(":").append(type_name(each.type));
      if (!each.fallback.empty()) text.append("=").append(each.fallback);
    }
    std::printf("%u %s outputs %s%s\n", spec.id, std::string(spec.name).c_str(),
                count_text(spec.outputs).c_str(), text.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc >= 2 ? argv[1] : "";
  if (argc == 3 && how == "--cpp" && print_cpp(argv[2])) return 0;
  if (argc == 2 && how == "--families") {
    print_families();
  } else if (argc == 2 && how == "--typescript") {
    print_typescript();
  } else if (argc == 2 && how == "--text") {
    print_text();
  } else {
    std::fputs("usage: ebb_print_ops --typescript | --text | --families | --cpp FAMILY\n", stderr);
    return 2;
  }
  return 0;
}
