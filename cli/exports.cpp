#include "cli/exports.hpp"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <memory>

#include "base/json_writer.hpp"
#include "cli/shown_text.hpp"

namespace ebb::cli {
namespace {

std::uint64_t whole(double value) {
  return value <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(std::min(value, 9e18)));
}

std::string name_of(const Frame& frame) {
  return shown(frame.function.empty() ? frame.text : frame.function);
}

// A tree of frames, outermost first, as DevTools reads it.
struct Node {
  Frame frame;
  std::uint64_t self = 0;
  std::map<std::string, std::unique_ptr<Node>> children;
};

std::uint64_t write_node(JsonWriter& json, const Node& node, std::uint64_t id) {
  json.begin_object();
  json.key("callFrame");
  json.begin_object();
  json.member("functionName", std::string_view(name_of(node.frame)));
  json.member("scriptId", "0");
  json.member("url", std::string_view(shown(node.frame.file)));
  json.member("lineNumber", std::int64_t{node.frame.line} - 1);  // from 0 there
  json.member("columnNumber", std::int64_t{node.frame.column} - 1);
  json.end_object();
  json.member("selfSize", node.self);
  json.member("id", id++);
  json.key("children");
  json.begin_array();
  for (const auto& [text, child] : node.children) id = write_node(json, *child, id);
  json.end_array();
  json.end_object();
  return id;
}

}  // namespace

std::string to_collapsed(const Analysis& analysis, Value value) {
  std::string text;
  for (const Place& place : analysis.places) {
    const std::uint64_t bytes = whole(value_of(place, value));
    if (bytes == 0) continue;
    std::string stack;
    for (auto frame = place.frames.rbegin(); frame != place.frames.rend(); ++frame) {
      std::string name = shown(frame->text);
      for (char& c : name) c = c == ';' ? ':' : c;  // what separates frames
      stack += (stack.empty() ? "" : ";") + name;
    }
    text += fmt::format("{} {}\n", stack, bytes);
  }
  return text;
}

std::string to_speedscope(const Analysis& analysis, Value value) {
  std::map<std::string, std::size_t> index;
  std::vector<Frame> frames;
  std::vector<std::pair<std::vector<std::size_t>, std::uint64_t>> samples;
  std::uint64_t sum = 0;
  for (const Place& place : analysis.places) {
    const std::uint64_t bytes = whole(value_of(place, value));
    if (bytes == 0) continue;
    std::vector<std::size_t> stack;
    for (auto frame = place.frames.rbegin(); frame != place.frames.rend(); ++frame) {
      const auto [at, added] = index.try_emplace(frame->text, frames.size());
      if (added) frames.push_back(*frame);
      stack.push_back(at->second);
    }
    samples.emplace_back(std::move(stack), bytes);
    sum += bytes;
  }
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("$schema", "https://www.speedscope.app/file-format-schema.json");
  json.member("exporter", "ebb");
  json.member("name", std::string_view(shown(analysis.program)));
  json.key("shared");
  json.begin_object();
  json.key("frames");
  json.begin_array();
  for (const Frame& frame : frames) {
    json.begin_object();
    json.member("name", std::string_view(name_of(frame)));
    if (!frame.file.empty()) json.member("file", std::string_view(shown(frame.file)));
    if (frame.line != 0) json.member("line", frame.line);
    if (frame.column != 0) json.member("col", frame.column);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  json.key("profiles");
  json.begin_array();
  json.begin_object();
  json.member("type", "sampled");
  json.member("name", "device memory");
  json.member("unit", "bytes");
  json.member("startValue", 0u);
  json.member("endValue", sum);
  json.key("samples");
  json.begin_array();
  for (const auto& [stack, bytes] : samples) {
    json.begin_array();
    for (const std::size_t frame : stack) json.value(std::uint64_t{frame});
    json.end_array();
  }
  json.end_array();
  json.key("weights");
  json.begin_array();
  for (const auto& [stack, bytes] : samples) json.value(bytes);
  json.end_array();
  json.end_object();
  json.end_array();
  json.end_object();
  return text + '\n';
}

std::string to_heapprofile(const Analysis& analysis, Value value) {
  Node root;
  root.frame.function = "(root)";
  for (const Place& place : analysis.places) {
    const std::uint64_t bytes = whole(value_of(place, value));
    if (bytes == 0) continue;
    Node* at = &root;
    for (auto frame = place.frames.rbegin(); frame != place.frames.rend(); ++frame) {
      auto& child = at->children[frame->text];
      if (child == nullptr) child = std::make_unique<Node>(Node{*frame, 0, {}});
      at = child.get();
    }
    at->self += bytes;
  }
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.key("head");
  write_node(json, root, 1);
  json.key("samples");
  json.begin_array();
  json.end_array();
  json.end_object();
  return text + '\n';
}

}  // namespace ebb::cli
