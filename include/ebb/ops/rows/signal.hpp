// The table's rows (ebb/ops/table.hpp): signals: over the last axis of a complex64 tensor.
#pragma once

#include "ebb/ops/op_spec.hpp"

namespace ebb::ops::detail {

// clang-format off
inline constexpr auto kSignalRows = std::to_array<Row>({
    {175, "FFT", {"input"}},
    {176, "IFFT", {"input"}},
});
// clang-format on

}  // namespace ebb::ops::detail
