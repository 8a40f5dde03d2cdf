// The table of operations: what everything parallel is derived from. The kernel tables, the C ABI's
// ids and the constants of TypeScript (tools/print_ops.cpp) all come from here.
//
// Names are TensorFlow.js's kernel names where there is one. Ids are append-only: a number, once
// given, keeps its meaning for ever; hosts compare table_hash() when they load.
//
// Attributes are positional and typed. Over the C ABI they are flat doubles: a list is its length
// followed by its values, a dtype its ebb_dtype, a boolean 0 or 1.
#pragma once

#include <utility>

#include "ebb/ops/rows.hpp"

namespace ebb::ops {

// Ids run below this; a table indexed by id has this many entries.
inline constexpr std::size_t kOpIdLimit = 256;

namespace detail {

consteval std::size_t count_rows() {
  std::size_t count = 0;
  for (const Family& family : kFamilies) count += family.rows.size();  // arithmetic: of rows
  return count;
}

consteval OpSpec counted(const Row& row) {
  OpSpec spec{.id = row.id,
              .name = row.name,
              .outputs = row.outputs,
              .inputs = row.inputs,
              .attributes = row.attributes};
  for (std::size_t i = 0; i < spec.input_count(); ++i) {
    if (!row.inputs[i].ends_with('?')) ++spec.least_inputs;
    if (spec.most_inputs != kAny) ++spec.most_inputs;
    if (row.inputs[i].ends_with('*')) spec.most_inputs = kAny;
  }
  return spec;
}

consteval const Row& row_at(std::size_t at) {
  const Family* family = kFamilies.data();
  for (; at >= family->rows.size(); ++family) at -= family->rows.size();
  return family->rows[at];
}

template <std::size_t... kAt>
consteval std::array<OpSpec, sizeof...(kAt)> all_rows(std::index_sequence<kAt...>) {
  return {counted(row_at(kAt))...};
}

}  // namespace detail

inline constexpr auto kTable = detail::all_rows(std::make_index_sequence<detail::count_rows()>());
inline constexpr std::size_t kOpCount = kTable.size();

namespace detail {

// Inputs that may be left out come last, and with a list of tensors there are none.
consteval bool inputs_well_formed(const OpSpec& spec) {
  std::size_t lists = 0, optional = 0;
  for (std::size_t i = 0; i < spec.input_count(); ++i) {
    lists += spec.inputs[i].ends_with('*') ? 1 : 0;
    if (spec.inputs[i].ends_with('?')) {
      ++optional;
    } else if (optional > 0) {
      return false;
    }
  }
  return lists == 0 || (lists == 1 && optional == 0);
}

consteval bool well_formed() {
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const OpSpec& spec = kTable[i];
    if (spec.id == 0 || spec.id >= kOpIdLimit || spec.name.empty()) return false;
    if (!inputs_well_formed(spec)) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (kTable[j].id == spec.id || kTable[j].name == spec.name) return false;
    }
    for (std::size_t a = spec.attribute_count(); a < kMostAttributes; ++a) {
      if (spec.attributes[a].type != AttributeType::kNone) return false;
    }
  }
  return true;
}
static_assert(well_formed(),
              "ids and names are unique, ids are in range, optional inputs come last");

constexpr std::uint64_t fnv(std::uint64_t hash, std::uint64_t byte) {
  return (hash ^ byte) * 0x100000001b3u;
}
constexpr std::uint64_t fnv(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = fnv(hash, static_cast<unsigned char>(c));
  return fnv(hash, 0);
}
consteval std::uint64_t hash_of(std::uint64_t hash, const Attribute& attribute) {
  hash = fnv(fnv(hash, static_cast<std::uint64_t>(attribute.type)), attribute.name);
  hash = fnv(hash, attribute.fallback);
  for (std::size_t i = 0; i < attribute.words->size(); ++i) {
    hash = fnv(hash, attribute.words->words[i]);
  }
  return hash;
}
consteval std::uint64_t hash_of_table() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const OpSpec& spec : kTable) {
    hash = fnv(fnv(hash, spec.id), spec.name);
    hash = fnv(fnv(fnv(hash, spec.least_inputs), spec.most_inputs), spec.outputs);
    for (std::size_t i = 0; i < spec.input_count(); ++i) hash = fnv(hash, spec.inputs[i]);
    for (std::size_t i = 0; i < spec.attribute_count(); ++i) {
      hash = hash_of(hash, spec.attributes[i]);
    }
  }
  return hash & ((std::uint64_t{1} << 53) - 1);
}

consteval std::array<std::uint8_t, kOpIdLimit> rows_by_id() {
  std::array<std::uint8_t, kOpIdLimit> rows{};
  for (std::size_t i = 0; i < kOpCount; ++i) {
    rows[kTable[i].id] = static_cast<std::uint8_t>(i + 1);
  }
  return rows;
}
static_assert(kOpCount < 255);
inline constexpr auto kRowsById = rows_by_id();

}  // namespace detail

// At most 2^53, exact in a JavaScript number. Any change to the table changes it.
constexpr std::uint64_t table_hash() { return detail::hash_of_table(); }

constexpr const Family& family_of(OpId id) noexcept {
  for (const Family& family : kFamilies) {
    for (const detail::Row& row : family.rows) {
      if (row.id == id) return family;
    }
  }
  return kFamilies[0];
}

// The row of an id; null if there is none.
constexpr const OpSpec* find_op(OpId id) noexcept {
  const std::uint8_t row = id < kOpIdLimit ? detail::kRowsById[id] : 0;
  return row == 0 ? nullptr : &kTable[row - 1u];
}
constexpr const OpSpec* find_op(std::string_view name) noexcept {
  for (const OpSpec& spec : kTable) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

// op_id("Relu"): a name that is not in the table does not compile.
consteval OpId op_id(std::string_view name) { return find_op(name)->id; }

namespace detail {

constexpr std::size_t position_of(std::string_view op, std::string_view attribute) {
  std::size_t at = 0;
  while (find_op(op)->attributes.at(at).name != attribute) ++at;
  return at;
}

}  // namespace detail

// attribute_at("TopK", "k"): where the attribute is in the row. A name that is not there does not
// compile.
consteval std::size_t attribute_at(std::string_view op, std::string_view name) {
  return detail::position_of(op, name);
}
// The same of several operations, which must have it in one place.
template <typename... Ops>
consteval std::size_t attribute_of_all(std::string_view name, std::string_view op, Ops... more) {
  const std::size_t at = detail::position_of(op, name);
  if (!((detail::position_of(more, name) == at) && ...)) throw "it is not in one place";
  return at;
}

}  // namespace ebb::ops
