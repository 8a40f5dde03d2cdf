// The table of operations: what everything parallel is derived from. The kernel tables, the C ABI's
// ids and the constants of TypeScript (tools/print_ops.cpp) all come from here.
//
// Names are TensorFlow.js's kernel names where there is one. Ids are append-only: a number, once
// given, keeps its meaning for ever; hosts compare table_hash() when they load.
//
// Attributes are positional and typed. Over the C ABI they are flat doubles: a list is its length
// followed by its values, a dtype its ebb_dtype, a boolean 0 or 1.
#pragma once

#include "ebb/ops/rows.hpp"

namespace ebb::ops {

inline constexpr std::size_t kOpCount = kTable.size();
// Ids run below this; a table indexed by id has this many entries.
inline constexpr std::size_t kOpIdLimit = 256;

// The table's families: ids from `first` on, up to the next family's. A header of functions each
// (ebb/ops/functions/<name>.hpp).
struct Family {
  OpId first;
  std::string_view name;
  std::string_view what;
};
inline constexpr auto kFamilies = std::to_array<Family>({
    {1, "elementwise", "Elementwise operations"},
    {80, "creation", "Tensors made of numbers, constant or random"},
    {100, "movement", "Views, data movement and indexing"},
    {140, "reductions", "Reductions, scans, sorting and searching"},
    {160, "images", "Images and signals"},
    {180, "sparse", "Sparse and ragged tensors"},
    {200, "networks", "Products, convolutions, poolings, normalisations and optimizers"},
});

namespace detail {

consteval bool families_in_order() {
  for (std::size_t i = 1; i < kFamilies.size(); ++i) {
    if (kFamilies[i].first <= kFamilies[i - 1].first) return false;
  }
  return kFamilies[0].first == 1;
}
static_assert(families_in_order(), "each id is in one family");

consteval bool well_formed() {
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const OpSpec& spec = kTable[i];
    if (spec.id == 0 || spec.id >= kOpIdLimit || spec.name.empty()) return false;
    if (spec.least_inputs > spec.most_inputs) return false;
    for (std::size_t j = 0; j < i; ++j) {
      if (kTable[j].id == spec.id || kTable[j].name == spec.name) return false;
    }
    for (std::size_t a = spec.attribute_count(); a < kMostAttributes; ++a) {
      if (spec.attributes[a].type != AttributeType::kNone) return false;
    }
  }
  return true;
}
static_assert(well_formed(), "ids and names are unique, ids are in range");

constexpr std::uint64_t fnv(std::uint64_t hash, std::uint64_t byte) {
  return (hash ^ byte) * 0x100000001b3u;
}
constexpr std::uint64_t fnv(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = fnv(hash, static_cast<unsigned char>(c));
  return fnv(hash, 0);
}
consteval std::uint64_t hash_of_table() {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const OpSpec& spec : kTable) {
    hash = fnv(fnv(hash, spec.id), spec.name);
    hash = fnv(fnv(fnv(hash, spec.least_inputs), spec.most_inputs), spec.outputs);
    for (const Attribute& attribute : spec.attributes) {
      if (attribute.type == AttributeType::kNone) break;
      hash = fnv(fnv(hash, static_cast<std::uint64_t>(attribute.type)), attribute.name);
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
  std::size_t i = kFamilies.size() - 1;
  while (id < kFamilies[i].first) --i;
  return kFamilies[i];
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

}  // namespace ebb::ops
