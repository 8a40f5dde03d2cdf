#include "cli/check.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_writer.hpp"
#include "cli/report.hpp"
#include "cli/shown_text.hpp"
#include "ebb/base/bytes.hpp"
#include "ebb/base/error.hpp"

namespace ebb::cli {
namespace {

// So much more than the baseline is noise: threads and collectors do not repeat themselves.
constexpr double kSlack = 1.1;
constexpr double kSlackBytes = 1 << 20;

constexpr std::string_view kFormat = "ebb-baseline";
constexpr unsigned kVersion = 1;

using Json = nlohmann::json;

Json parse_object(const std::string& text, std::string_view who) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) raise(ErrorKind::kInvalidArgument, "[{}] this is not a JSON object", who);
  return json;
}

// Bytes as a number or as text ("256MB"); nothing if it is not there.
double bytes_at(const Json& json, const char* key, std::string_view who) {
  const auto found = json.find(key);
  if (found == json.end()) return -1;
  if (found->is_number() && found->get<double>() >= 0) return found->get<double>();
  if (found->is_string()) return static_cast<double>(parse_bytes(found->get<std::string>()));
  raise(ErrorKind::kInvalidArgument, "[{}] \"{}\" is bytes, such as 1048576 or \"1MB\"", who, key);
}

// The places that grew then.
std::set<std::string> grew_in(const Json& baseline) {
  std::set<std::string> places;
  const auto found = baseline.find("growing");
  if (found == baseline.end()) return places;
  const bool right = found->is_array() &&
                     std::ranges::all_of(*found, [](const Json& each) { return each.is_string(); });
  if (!right) {
    raise(ErrorKind::kInvalidArgument, "[baseline] \"growing\" is a list of places, each a text");
  }
  for (const Json& each : *found) places.insert(each.get<std::string>());
  return places;
}

void over(std::vector<Finding>& findings, std::string_view what, double is, double most) {
  if (most < 0 || is <= most) return;
  findings.push_back(
      {fmt::format("{} is {}, {} is allowed", what, format_amount(is), format_amount(most)), {}});
}

void add_growing(const Analysis& analysis, const std::set<std::string>& known,
                 std::vector<Finding>& findings) {
  for (const Place* place : analysis.growing()) {
    if (known.contains(place->frames[0].text)) continue;
    findings.push_back(
        {fmt::format("memory made here grows by {}{}{}", format_rate(place->growth.per_second),
                     place->shapes.empty() ? "" : ": ", place->shapes),
         place->frames[0]});
  }
  if (analysis.total.growing && analysis.growing().empty()) {
    findings.push_back(
        {fmt::format("memory grows by {}", format_rate(analysis.total.per_second)), {}});
  }
}

}  // namespace

std::vector<Finding> check_budget(const Analysis& analysis, const std::string& text) {
  constexpr std::string_view kWho = "budget";
  const Json json = parse_object(text, kWho);
  for (const auto& [key, value] : json.items()) {
    if (key != "peak" && key != "leaked" && key != "created" && key != "growing") {
      raise(ErrorKind::kInvalidArgument,
            "[budget] \"{}\" was given; peak, leaked, created and growing are known", shown(key));
    }
  }
  std::vector<Finding> findings;
  over(findings, "the peak", analysis.peak, bytes_at(json, "peak", kWho));
  over(findings, "what is alive at the end", static_cast<double>(analysis.books.storages.bytes),
       bytes_at(json, "leaked", kWho));
  over(findings, "what was created", static_cast<double>(analysis.books.created_storages.bytes),
       bytes_at(json, "created", kWho));
  const auto growing = json.find("growing");
  if (growing != json.end() && !growing->is_boolean()) {
    raise(ErrorKind::kInvalidArgument, "[budget] \"growing\" is true or false");
  }
  if (growing == json.end() || !growing->get<bool>()) add_growing(analysis, {}, findings);
  return findings;
}

std::vector<Finding> check_baseline(const Analysis& analysis, const std::string& text) {
  constexpr std::string_view kWho = "baseline";
  const Json json = parse_object(text, kWho);
  if (const auto format = json.find("format"); format == json.end() || *format != kFormat) {
    raise(ErrorKind::kInvalidArgument,
          "[baseline] it is none: `ebb check --write-baseline` makes one");
  }
  if (const auto version = json.find("version"); version == json.end() || *version != kVersion) {
    raise(ErrorKind::kUnsupported,
          "[baseline] it is not of version {}, the one that this tool knows: write it again",
          kVersion);
  }
  const auto allowed = [&](const char* key) {
    const double before = bytes_at(json, key, kWho);
    return before < 0 ? -1 : before * kSlack + kSlackBytes;
  };
  std::vector<Finding> findings;
  over(findings, "the peak", analysis.peak, allowed("peak"));
  over(findings, "what is alive at the end", static_cast<double>(analysis.books.storages.bytes),
       allowed("leaked"));
  add_growing(analysis, grew_in(json), findings);
  return findings;
}

std::string baseline_of(const Analysis& analysis) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("format", kFormat);
  json.member("version", kVersion);
  json.member("peak", analysis.peak);
  json.member("leaked", analysis.books.storages.bytes);
  json.member("created", analysis.books.created_storages.bytes);
  json.key("growing");
  json.begin_array();
  for (const Place* place : analysis.growing()) json.value(std::string_view(place->frames[0].text));
  json.end_array();
  json.end_object();
  return text + '\n';
}

std::string as_annotations(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    std::string where;
    if (!finding.where.file.empty()) {
      where =
          fmt::format(" file={},line={}", escaped_for_annotation(shown(finding.where.file), true),
                      finding.where.line);
    }
    text +=
        fmt::format("::error{}::{}\n", where, escaped_for_annotation(shown(finding.what), false));
  }
  return text;
}

std::string as_markdown(const Analysis& analysis, const std::vector<Finding>& findings) {
  std::string text =
      fmt::format("### Device memory: {}\n\n", findings.empty() ? "as it should be" : "too much");
  text += fmt::format(
      "| | |\n|---|---|\n| peak | {} |\n| alive at the end | {} |\n| created | {} in {} tensors "
      "|\n",
      format_amount(analysis.peak),
      format_amount(static_cast<double>(analysis.books.storages.bytes)),
      format_amount(static_cast<double>(analysis.books.created_storages.bytes)),
      format_count(static_cast<double>(analysis.books.created)));
  if (!findings.empty()) text += "\n";
  for (const Finding& finding : findings) {
    text += fmt::format(
        "- {}{}\n", shown_in_markdown(finding.what),
        finding.where.text.empty() ? "" : " (" + shown_in_markdown(finding.where.text) + ")");
  }
  return text;
}

}  // namespace ebb::cli
