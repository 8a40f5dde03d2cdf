// The tool `ebb`: reads recordings. docs/observe.md shows it at work.
//
// Ends with 0; with 1 where `check` found something; with 2 where it could not do what was asked.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <thread>

#include "base/file_draft.hpp"
#include "cli/check.hpp"
#include "cli/exports.hpp"
#include "cli/follower.hpp"
#include "cli/heap_snapshot.hpp"
#include "cli/memory_viz.hpp"
#include "cli/page.hpp"
#include "cli/report.hpp"
#include "cli/shown_text.hpp"
#include "cli/top.hpp"
#include "cli/view.hpp"
#include "ebb/base/error.hpp"

namespace {

using namespace ebb;
using namespace ebb::cli;

constexpr int kFound = 1, kFailed = 2;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path))
    raise(ErrorKind::kDevice, "[ebb] cannot read {}", path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// To the terminal, or to a file that appears when it is complete.
void deliver(const std::string& text, const std::string& path) {
  if (path.empty() || path == "-") {
    const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!whole || std::fflush(stdout) != 0) {
      raise(ErrorKind::kDevice, "[ebb] what it says could not be written: {}",
            std::strerror(errno));
    }
    return;
  }
  FileDraft draft(path, "ebb");
  draft.write(std::as_bytes(std::span(text)));
  draft.publish();
}

std::string exported(const std::string& file, const std::string& format, Value value) {
  if (format == "heapsnapshot") {
    const HeapWithDevice heap = with_device_nodes(contents(file));
    if (heap.tensors == 0) {
      raise(ErrorKind::kInvalidArgument,
            "[ebb] no tensor with its size is in {}: write it with exposeNumericValues", file);
    }
    return heap.text;
  }
  if (format == "memory_viz") {
    MemoryViz heard;
    const Analysis analysis(file, &heard);
    return heard.pickle(analysis.replay);
  }
  const Analysis analysis(file);
  if (format == "collapsed") return to_collapsed(analysis, value);
  if (format == "speedscope") return to_speedscope(analysis, value);
  if (format == "heapprofile") return to_heapprofile(analysis, value);
  if (format == "pprof") return to_pprof(analysis);
  return to_perfetto(analysis);
}

// Until `done`, or until it has been waited for long enough.
void wait_for(Follower& follower, std::chrono::seconds patience,
              const std::function<bool(const observe::Replay&)>& done) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!follower.over() && std::chrono::steady_clock::now() < until) {
    if (follower.analysed([&](const Analysis& now) { return done(now.replay); })) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

// What its host may be asked before the report is made.
struct Wishes {
  bool collect = false, holders = false;
};

// A recording's file, or a process that runs.
Played played(const std::string& source, const Wishes& wishes = {}) {
  if (!names_process(source)) return Played(source);
  Follower follower(std::stoll(source));
  follower.wait_until_current(std::chrono::seconds(60));
  if (wishes.collect) {
    const std::uint64_t before =
        follower.analysed([](const Analysis& now) { return now.replay.collections(); });
    ask_process(follower.pid(), "collect");
    wait_for(follower, std::chrono::seconds(5),
             [&](const observe::Replay& replay) { return replay.collections() > before; });
  }
  if (wishes.holders) {
    ask_process(follower.pid(), "holders");
    const auto known = [](const observe::Replay& replay) { return !replay.holders().empty(); };
    wait_for(follower, std::chrono::seconds(5), known);
    // Where nothing grows there is nothing to look for.
    if (follower.analysed([](const Analysis& now) { return !now.growing().empty(); })) {
      wait_for(follower, std::chrono::seconds(55), known);
    }
  }
  return follower.last();
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
  const observe::Replay& replay = analysis.replay;
  if (!analysis.read.ended && replay.events() == 0 && replay.counters().empty()) {
    raise(ErrorKind::kInvalidArgument, "[check] {} ends before anything is in it", options.file);
  }
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
  Wishes wishes;
  bool json = false;
  auto* report = app.add_subcommand("report", "flat or growing, how fast, and which line made it");
  report->add_option("file", file, "the recording, or the number of a process that records")
      ->required();
  report->add_flag("--collect", wishes.collect, "of a process: let it collect first");
  report->add_flag("--why", wishes.holders, "of a process: let it find out what holds what grows");
  report->add_option("--top", top, "places to list")->capture_default_str();
  report->add_flag("--json", json, "as JSON");
  report->add_option("--html", html, "write a page to this file, which needs nothing else");
  const auto say = [&](const Analysis& analysis) {
    deliver(json ? report_json(analysis, top) : report_text(analysis, top), "");
  };
  report->callback([&] {
    if (html.empty() && !names_process(file)) return say(Analysis(file));
    const Played recording = played(file, wishes);
    if (!html.empty()) return write_page({&recording}, html);
    say(recording.analysis);
  });

  std::string place;
  auto* why = app.add_subcommand("why", "what holds the tensors of a place");
  why->add_option("file", file, "the recording, or the number of a process, which then looks")
      ->required();
  why->add_option("place", place, "part of its text, such as server.js:42; else those that grow");
  why->callback([&] { deliver(why_text(played(file, {.holders = true}).analysis, place), ""); });

  auto* diff =
      app.add_subcommand("diff", "what is alive at the end of one recording and not of another");
  diff->add_option("before", file)->required();
  diff->add_option("after", other)->required();
  diff->add_option("--top", top, "places to list")->capture_default_str();
  diff->add_option("--html", html, "write a page to this file, which needs nothing else");
  diff->callback([&] {
    const Played before = played(file), after = played(other);
    if (!html.empty()) return write_page({&before, &after}, html);
    deliver(diff_text(before.analysis, after.analysis, top), "");
  });

  Value value = Value::kLive;
  const std::map<std::string, Value> values{{"live", Value::kLive},
                                            {"peak", Value::kPeak},
                                            {"created", Value::kCreated},
                                            {"leaked", Value::kLeaked}};
  auto* exporting = app.add_subcommand("export", "for other tools");
  exporting
      ->add_option(
          "file", file,
          "the recording; for heapsnapshot the heap snapshot of Node's to add device memory to")
      ->required();
  exporting->add_option("--format", format, "whose")
      ->required()
      ->check(CLI::IsMember({"collapsed", "speedscope", "heapprofile", "pprof", "perfetto",
                             "memory_viz", "heapsnapshot"}));
  exporting
      ->add_option("--value", value,
                   "bytes alive at the end, at the peak, created, or of places that grow")
      ->transform(CLI::CheckedTransformer(values));
  exporting->add_option("-o,--output", out, "a file; else to the terminal");
  exporting->callback([&] { deliver(exported(file, format, value), out); });

  TopOptions topping;
  auto* tops = app.add_subcommand("top", "a process that runs, in the terminal");
  tops->add_option("pid", topping.pid, "which; not needed where there is only one");
  tops->add_option("--interval", topping.seconds, "seconds between pictures")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  tops->add_flag("--once", topping.once, "one picture");
  tops->callback([&] { run_top(topping); });

  ViewOptions viewing;
  bool live = false;
  auto* view = app.add_subcommand("view", "a recording of any size, or a process, in the browser");
  view->add_option("file", viewing.file, "the recording, or with --live a process");
  view->add_flag("--live", live, "a process that runs: PID, or the only one");
  view->add_option("--port", viewing.port, "on 127.0.0.1; 0: any")->capture_default_str();
  view->callback([&] {
    if (live && !viewing.file.empty() && !names_process(viewing.file)) {
      raise(ErrorKind::kInvalidArgument, "[ebb] --live takes the number of a process, not {}",
            viewing.file);
    }
    if (live || names_process(viewing.file)) {
      viewing.pid = viewing.file.empty() ? 0 : std::stoll(viewing.file);
      viewing.file.clear();
    } else if (viewing.file.empty()) {
      raise(ErrorKind::kInvalidArgument, "[ebb] give a recording, or --live and a process");
    }
    run_view(viewing);
  });

  auto* processes = app.add_subcommand("list", "processes of yours that let viewers attach");
  processes->callback([&] {
    for (const LiveAnswer& each : live_processes()) {
      deliver(fmt::format("{:>8}  {}, {} events\n", each.pid, shown(each.name),
                          format_count(static_cast<double>(each.events))),
              "");
    }
  });

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
