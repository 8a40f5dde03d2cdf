// A recording held against a budget, or against what an earlier one said.
#pragma once

#include <string>
#include <vector>

#include "cli/analysis.hpp"

namespace ebb::cli {

struct Finding {
  std::string what{};
  Frame where{};  // no file: of the whole
};

// docs/observe.md describes both files. Throws Error(kInvalidArgument) where one makes no sense.
std::vector<Finding> check_budget(const Analysis& analysis, const std::string& json);
std::vector<Finding> check_baseline(const Analysis& analysis, const std::string& json);
std::string baseline_of(const Analysis& analysis);

// `::error file=...,line=...::` lines, which GitHub shows at the line.
std::string as_annotations(const std::vector<Finding>& findings);
std::string as_markdown(const Analysis& analysis, const std::vector<Finding>& findings);

}  // namespace ebb::cli
