// Who holds what: the books of a context (or of all) with its devices, and its live tensors by the
// place that made them and by the region that owns them.
//
//   std::puts(report(context.get()).c_str());
#pragma once

#include <cstdint>
#include <string>

#include "ebb/tensor/context.hpp"

namespace ebb {

struct ReportOptions {
  std::uint32_t top = 10;  // sites and region labels that are named; the rest is summed up
  bool json = false;       // docs/report.md describes the fields
};

// Null: all contexts, ended ones included. Walks the live tensors, without stopping other threads.
std::string report(const Context* context, const ReportOptions& options = {});

}  // namespace ebb
