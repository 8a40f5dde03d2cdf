// What lies where in the arrays that both sides share. scripts/shared.mjs makes src/shared.ts of
// these lines, so the two cannot differ.
#pragma once

#include <cstdint>

#include "ebb.h"

namespace ebb::node {

// `slate`. Dims are for reports. AgainMs: what `idle` says.
enum Slate : std::uint32_t {
  kSlot,
  kKey,
  kBytes,
  kDevice,
  kDtype,
  kSite,
  kRank,
  kDims,
  kQueued = kDims + EBB_MAX_RANK,
  kAgainMs,
  kSlateSize
};

// `signals`. Recording: an ebb_record_mode, with a place for about each SampleBytes if it samples.
enum Signal : std::uint32_t { kNotices, kWarnings, kRecording, kSampleBytes, kSignalCount };

// The head of a call of an operation.
enum Head : std::uint32_t { kOp, kInputs, kViews, kAttributes, kResults, kHeadSize };

// Of a result and of a view: handle or input, dtype, rank, sizes.
enum Result : std::uint32_t {
  kHandle,
  kResultDtype,
  kResultRank,
  kSizes,
  kResultSize = kSizes + EBB_MAX_RANK
};

// Compared when the addon is loaded.
constexpr std::uint32_t kLayout =
    kSlateSize + 64 * (kSignalCount + 64 * (kHeadSize + 64 * kResultSize));

}  // namespace ebb::node
