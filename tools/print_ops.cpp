// Prints what hosts need of the table of operations (include/ebb/ops/table.hpp).
//
//   ebb_print_ops --typescript    constants: ids, the order of attributes, the table's hash
//   ebb_print_ops --text          one row a line, for people
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
  const std::string_view how = argc == 2 ? argv[1] : "";
  if (how == "--typescript") {
    print_typescript();
  } else if (how == "--text") {
    print_text();
  } else {
    std::fputs("usage: ebb_print_ops --typescript | --text\n", stderr);
    return 2;
  }
  return 0;
}
