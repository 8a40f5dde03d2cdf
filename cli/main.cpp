// The tool `ebb`: reads recordings. docs/observe.md shows it at work.
//
// Ends with 0; with 1 where `check` found something; with 2 where it could not do what was asked.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "base/file_draft.hpp"
#include "cli/check.hpp"
#include "cli/exports.hpp"
#include "cli/page.hpp"
#include "cli/report.hpp"
#include "cli/shown_text.hpp"
#include "ebb/base/error.hpp"

namespace {

using namespace ebb;
using namespace ebb::cli;

constexpr int kFound = 1, kFailed = 2;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) raise(ErrorKind::kDevice, "[ebb] cannot read {}", path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// To the terminal, or to a file that appears when it is complete.
void deliver(const std::string& text, const std::string& path) {
  if (path.empty() || path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return;
  }
  FileDraft draft(path, "ebb");
  draft.write(std::as_bytes(std::span(text)));
  draft.publish();
}

std::string exported(const Analysis& analysis, const std::string& format, Value value) {
  if (format == "collapsed") return to_collapsed(analysis, value);
  if (format == "speedscope") return to_speedscope(analysis, value);
  if (format == "heapprofile") return to_heapprofile(analysis, value);
  if (format == "pprof") return to_pprof(analysis);
  return to_perfetto(analysis);
}

void write_page(const std::vector<const Played*>& all, const std::string& to) {
  deliver(page_html(all), to);
  if (to != "-") deliver(verdict(all.back()->analysis) + "report: " + shown(to) + '\n', "");
}

struct CheckOptions {
  std::string file, budget, baseline, write_baseline, summary;
  bool annotate = false;
};

int check(const CheckOptions& options) {
  const Analysis analysis(options.file);
  if (!options.write_baseline.empty()) deliver(baseline_of(analysis), options.write_baseline);
  std::vector<Finding> findings;
  const auto add = [&](std::vector<Finding> more) {
    findings.insert(findings.end(), more.begin(), more.end());
  };
  if (!options.budget.empty()) add(check_budget(analysis, contents(options.budget)));
  if (!options.baseline.empty()) add(check_baseline(analysis, contents(options.baseline)));
  if (options.annotate) deliver(as_annotations(findings), "");
  if (!options.summary.empty()) deliver(as_markdown(analysis, findings), options.summary);
  std::string text = verdict(analysis);
  for (const Finding& finding : findings) {
    text += "over: " + shown(finding.what);
    if (!finding.where.text.empty()) text += ", " + shown(finding.where.text);
    text += '\n';
  }
  deliver(text, "");
  return findings.empty() ? 0 : kFound;
}

int run(int argc, char** argv) {
  CLI::App app("Reads recordings of device memory (.ebbrec)", "ebb");
  app.require_subcommand(1);
  app.set_version_flag("--version", EBB_VERSION);
  int code = 0;

  std::string file, other, format, out, html;
  std::size_t top = 15;
  bool json = false;
  auto* report = app.add_subcommand("report", "flat or growing, how fast, and which line made it");
  report->add_option("file", file, "the recording")->required();
  report->add_option("--top", top, "places to list")->capture_default_str();
  report->add_flag("--json", json, "as JSON");
  report->add_option("--html", html, "write a page to this file, which needs nothing else");
  report->callback([&] {
    const Played recording(file);
    if (!html.empty()) return write_page({&recording}, html);
    const Analysis& analysis = recording.analysis;
    deliver(json ? report_json(analysis, top) : report_text(analysis, top), "");
  });

  auto* diff =
      app.add_subcommand("diff", "what is alive at the end of one recording and not of another");
  diff->add_option("before", file)->required();
  diff->add_option("after", other)->required();
  diff->add_option("--top", top, "places to list")->capture_default_str();
  diff->add_option("--html", html, "write a page to this file, which needs nothing else");
  diff->callback([&] {
    const Played before(file), after(other);
    if (!html.empty()) return write_page({&before, &after}, html);
    deliver(diff_text(before.analysis, after.analysis, top), "");
  });

  Value value = Value::kLive;
  const std::map<std::string, Value> values{{"live", Value::kLive},
                                            {"peak", Value::kPeak},
                                            {"created", Value::kCreated},
                                            {"leaked", Value::kLeaked}};
  auto* exporting = app.add_subcommand("export", "for other tools");
  exporting->add_option("file", file, "the recording")->required();
  exporting->add_option("--format", format, "whose")
      ->required()
      ->check(CLI::IsMember({"collapsed", "speedscope", "heapprofile", "pprof", "perfetto"}));
  exporting
      ->add_option("--value", value,
                   "bytes alive at the end, at the peak, created, or of places that grow")
      ->transform(CLI::CheckedTransformer(values));
  exporting->add_option("-o,--output", out, "a file; else to the terminal");
  exporting->callback([&] { deliver(exported(Analysis(file), format, value), out); });

  CheckOptions checking;
  auto* checks = app.add_subcommand("check", "hold a recording against a budget or a baseline");
  checks->add_option("file", checking.file, "the recording")->required();
  checks->add_option("--budget", checking.budget,
                     "a JSON file with peak, leaked, created, growing");
  checks->add_option("--baseline", checking.baseline, "what --write-baseline wrote");
  checks->add_option("--write-baseline", checking.write_baseline, "for later runs");
  checks->add_option("--summary", checking.summary, "a Markdown file to write");
  checks->add_flag("--annotate", checking.annotate, "print annotations for GitHub Actions");
  checks->callback([&] { code = check(checking); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kFailed;
  }
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ebb: %s\n", shown(error.what()).c_str());
    return kFailed;
  }
}
