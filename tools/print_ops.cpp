// Prints what hosts need of the table of operations (include/ebb/ops/table.hpp).
//
//   ebb_print_ops --typescript    constants: ids, the order of attributes, the table's hash
//   ebb_print_ops --families      the names of the table's families, one a line
//   ebb_print_ops --cpp FAMILY    include/ebb/ops/functions/FAMILY.hpp
//   ebb_print_ops --text          one row a line, for people
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <string>
#include <string_view>

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

std::string attributes_of(const OpSpec& spec, std::string_view open, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
    if (i != 0) text += ", ";
    text.append(open).append(spec.attributes[i].name).append("', '");
    text.append(type_name(spec.attributes[i].type)).append(close);
  }
  return text;
}

void print_typescript() {
  std::puts("// Printed by ebb_print_ops from include/ebb/ops/table.hpp. Do not edit.\n");
  std::printf("export const TABLE_HASH = %llu;\n\n", static_cast<unsigned long long>(table_hash()));
  std::puts("export const Op = {");
  for (const OpSpec& spec : kTable) {
    std::printf("  %s: %u,\n", std::string(spec.name).c_str(), spec.id);
  }
  std::puts("} as const;\n");
  std::puts("export type OpName = keyof typeof Op;");
  std::puts(
      "export type AttributeType = 'boolean' | 'integer' | 'number' | 'dtype' | 'integers' | "
      "'numbers';\n");
  std::puts("// In the order in which they are passed.");
  std::puts(
      "export const ATTRIBUTES: Record<OpName, ReadonlyArray<readonly [string, AttributeType]>> = "
      "{");
  for (const OpSpec& spec : kTable) {
    std::printf("  %s: [%s],\n", std::string(spec.name).c_str(),
                attributes_of(spec, "['", "']").c_str());
  }
  std::puts("};");
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

std::string cpp_type(AttributeType type) {
  switch (type) {
    case AttributeType::kBoolean:
      return "bool ";
    case AttributeType::kInteger:
      return "std::int64_t ";
    case AttributeType::kDType:
      return "DType ";
    case AttributeType::kIntegers:
      return "const std::vector<std::int64_t>& ";
    case AttributeType::kNumbers:
      return "const std::vector<double>& ";
    default:
      return "double ";
  }
}

std::string join(const std::string& list, const std::string& more) {
  return list.empty() ? more : list + ", " + more;
}

// Each input as prefix and letter.
std::string inputs_of(const OpSpec& spec, const std::string& prefix) {
  std::string list;
  for (unsigned i = 0; i < spec.most_inputs; ++i) {
    list = join(list, prefix + static_cast<char>('a' + i));
  }
  return list;
}

std::string parameters_of(const OpSpec& spec) {
  std::string list = spec.most_inputs == kAny ? "const std::vector<Tensor>& inputs"
                                              : inputs_of(spec, "const Tensor& ");
  for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
    list = join(list, cpp_type(spec.attributes[i].type) + snake(spec.attributes[i].name));
  }
  return list;
}

std::string flat_of(const OpSpec& spec) {
  std::string list;
  for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
    list = join(list, snake(spec.attributes[i].name));
  }
  return list.empty() ? "{}" : "detail::Flat(" + list + ").values()";
}

void print_function(const OpSpec& spec) {
  const std::string name(spec.name), flat = flat_of(spec);
  const bool one = spec.outputs == 1;
  std::printf("inline %s %s(%s) {\n", one ? "Tensor" : "std::vector<Tensor>", snake(name).c_str(),
              parameters_of(spec).c_str());
  if (one && spec.most_inputs != kAny) {
    std::printf("  return apply_one(op_id(\"%s\"), {%s}, %s);\n", name.c_str(),
                inputs_of(spec, "&").c_str(), flat.c_str());
  } else {
    const std::string inputs = spec.most_inputs == kAny
                                   ? "detail::pointers(inputs)"
                                   : "std::array<const Tensor*, " + count_text(spec.most_inputs) +
                                         ">{" + inputs_of(spec, "&") + "}";
    std::printf("  return apply(op_id(\"%s\"), %s, %s)%s;\n", name.c_str(), inputs.c_str(),
                flat.c_str(), one ? "[0]" : "");
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
  std::puts("// what the table says. Inputs are a, b, ... as the table has them; a Tensor that is");
  std::puts("// none leaves an optional one out.");
  std::puts("#pragma once\n\n#include <array>\n#include <vector>\n");
  std::puts("#include \"ebb/ops/flat.hpp\"\n#include \"ebb/ops/session.hpp\"\n");
  std::puts("namespace ebb::ops {\n");
  for (const OpSpec& spec : kTable) {
    if (&family_of(spec.id) == &*family) print_function(spec);
  }
  std::puts("\n}  // namespace ebb::ops");
  return true;
}

void print_text() {
  for (const OpSpec& spec : kTable) {
    std::string attributes;
    for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
      attributes.append(" ").append(spec.attributes[i].name).append(":");
      attributes.append(type_name(spec.attributes[i].type));
    }
    std::printf("%u %s inputs %u..%s outputs %s%s\n", spec.id, std::string(spec.name).c_str(),
                unsigned{spec.least_inputs}, count_text(spec.most_inputs).c_str(),
                count_text(spec.outputs).c_str(), attributes.c_str());
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
