// The table's rows (ebb/ops/table.hpp): tensors made of numbers, constant or random.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kCreationRows = std::to_array<Row>({
    {80, "Fill", {}, {integers("shape"), number("value"), dtype("dtype")}},
    {81, "LinSpace", {}, {number("start"), number("stop"), integer("num")}},
    {82, "Range", {},
     {number("start"), number("stop"), number("step", "1"), dtype("dtype", "float32")}},
    {83, "OneHot", {"indices"},
     {integer("depth"), number("onValue", "1"), number("offValue", "0"), dtype("dtype", "int32")}},
    {84, "OnesLike", {"x"}},
    {85, "ZerosLike", {"x"}},
    {86, "Eye", {}, {integer("rows"), integer("columns"), dtype("dtype", "float32")}},
    {87, "RandomUniform", {},
     {integers("shape"), number("low", "0"), number("high", "1"), dtype("dtype", "float32"),
      number("seed", "0")}},
    {88, "RandomNormal", {},
     {integers("shape"), number("mean", "0"), number("standardDeviation", "1"),
      dtype("dtype", "float32"), boolean("truncated", "false"), number("seed", "0")}},
    {89, "Multinomial", {"logits"},
     {integer("numSamples"), number("seed", "0"), boolean("normalized", "false")}},
    {90, "Complex", {"real", "imag"}},
});
// clang-format on

}  // namespace ebb::ops::detail
