// Curves of bytes over steps, drawn with plain characters and as an SVG.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "ebb/base/bytes.hpp"

struct Curve {
  std::string name;
  std::string color;                 // a class of the SVG
  char mark;                         // in the terminal
  std::vector<std::uint64_t> bytes;  // one a step
  std::string end;                   // said where it stops early; empty: it does not
};

struct Chart {
  std::string title;
  std::uint64_t budget = 0;
  std::size_t steps = 0;
  std::vector<Curve> curves;

  // A little more than the budget, so that its line stands free.
  double top() const { return 1.15 * static_cast<double>(budget); }
};

class TextChart {
 public:
  explicit TextChart(const Chart& chart)
      : chart_(chart), rows_(kRows, std::string(kColumns, ' ')) {}

  std::string draw() {
    rows_[row(static_cast<double>(chart_.budget))] = std::string(kColumns, '-');
    for (const Curve& curve : chart_.curves) plot(curve);
    std::string text = "  " + chart_.title + "\n\n";
    for (std::size_t r = 0; r < kRows; ++r) text += fmt::format("{:>9} |{}\n", label(r), rows_[r]);
    text += fmt::format("{:>9} +{}\n{:>12}{:>{}}\n", "", std::string(kColumns, '-'), "0",
                        fmt::format("step {}", chart_.steps), kColumns - 1);
    for (const Curve& curve : chart_.curves) {
      text += fmt::format("{:>13}  {}{}\n", curve.mark, curve.name,
                          curve.end.empty() ? "" : ": " + curve.end);
    }
    return text;
  }

 private:
  static constexpr std::size_t kRows = 16, kColumns = 66;

  std::size_t row(double bytes) const {
    const double share = std::clamp(bytes / chart_.top(), 0.0, 1.0);
    return kRows - 1 - static_cast<std::size_t>(share * (kRows - 1) + 0.5);
  }
  std::string label(std::size_t r) const {
    if (r == row(static_cast<double>(chart_.budget))) return "budget";
    return r == kRows - 1 ? "0" : "";
  }
  void plot(const Curve& curve) {
    for (std::size_t step = 0; step < curve.bytes.size(); ++step) {
      const std::size_t column = step * kColumns / std::max<std::size_t>(chart_.steps, 1);
      rows_[row(static_cast<double>(curve.bytes[step]))][std::min(column, kColumns - 1)] =
          curve.mark;
    }
  }

  const Chart& chart_;
  std::vector<std::string> rows_;
};

class SvgChart {
 public:
  explicit SvgChart(const Chart& chart) : chart_(chart) {}

  std::string draw() {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\">\n{}", kWidth,
        kHeight, kStyle);
    add("<title>{}</title>\n<rect class=\"paper\" width=\"{}\" height=\"{}\"/>\n", chart_.title,
        kWidth, kHeight);
    words("title", kLeft, 30, "start", chart_.title);
    axes();
    const double budget = y(static_cast<double>(chart_.budget));
    line("budget", kLeft, budget, kRight, budget);
    words("note", kRight, budget - 8, "end",
          fmt::format("budget {}", ebb::format_bytes(chart_.budget)));
    for (const Curve& curve : chart_.curves) plot(curve);
    legend();
    return out_ + "</svg>\n";
  }

 private:
  static constexpr double kWidth = 860, kHeight = 440;
  static constexpr double kLeft = 90, kRight = 830, kTop = 60, kBottom = 350;
  // Legible on white and on black: the reader's scheme decides.
  static constexpr std::string_view kStyle =
      "<style>\n"
      "  text { font: 14px system-ui, sans-serif; fill: #333 }\n"
      "  .title { font-size: 17px; font-weight: 600 }\n"
      "  .paper { fill: #fff } .axis { stroke: #888 } .grid { stroke: #e4e4e4 }\n"
      "  .budget { stroke: #888; stroke-dasharray: 7 5 } polyline { fill: none; stroke-width: 2 }\n"
      "  .red { stroke: #c62828 } .blue { stroke: #1565c0 } line.red, line.blue { stroke-width: 3 "
      "}\n"
      "  circle.red { fill: #c62828 } circle.blue { fill: #1565c0 }\n"
      "  @media (prefers-color-scheme: dark) {\n"
      "    text { fill: #ddd } .paper { fill: #161616 } .grid { stroke: #303030 }\n"
      "    .red { stroke: #ff6b61 } .blue { stroke: #6cb2ff }\n"
      "    circle.red { fill: #ff6b61 } circle.blue { fill: #6cb2ff }\n"
      "  }\n"
      "</style>\n";

  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void line(std::string_view kind, double x1, double y1, double x2, double y2) {
    add("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", kind, x1,
        y1, x2, y2);
  }
  void words(std::string_view kind, double x, double y, std::string_view anchor,
             std::string_view text) {
    add("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", kind, x, y,
        anchor, text);
  }
  double x(double step) const {
    return kLeft + (kRight - kLeft) * step / static_cast<double>(chart_.steps);
  }
  double y(double bytes) const { return kBottom - (kBottom - kTop) * bytes / chart_.top(); }

  void axes() {
    for (int i = 0; i <= 4; ++i) {
      const double bytes = static_cast<double>(chart_.budget) * i / 4;
      if (i > 0) line("grid", kLeft, y(bytes), kRight, y(bytes));
      words("tick", kLeft - 10, y(bytes) + 5, "end",
            ebb::format_bytes(static_cast<std::uint64_t>(bytes)));
      const double step = static_cast<double>(chart_.steps) * i / 4;
      words("tick", x(step), kBottom + 22, "middle", fmt::format("{:.0f}", step));
    }
    line("axis", kLeft, kTop, kLeft, kBottom);
    line("axis", kLeft, kBottom, kRight, kBottom);
    words("label", (kLeft + kRight) / 2, kBottom + 44, "middle", "training step");
    add("<text transform=\"translate(18 {:.0f}) rotate(-90)\" text-anchor=\"middle\">device memory "
        "in use</text>\n",
        (kTop + kBottom) / 2);
  }
  void plot(const Curve& curve) {
    add("<polyline class=\"{}\" points=\"", curve.color);
    for (std::size_t step = 0; step < curve.bytes.size(); ++step) {
      add("{:.1f},{:.1f} ", x(static_cast<double>(step)),
          y(static_cast<double>(curve.bytes[step])));
    }
    add("\"/>\n");
    if (curve.end.empty() || curve.bytes.empty()) return;
    add("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\"/>\n", curve.color,
        x(static_cast<double>(curve.bytes.size() - 1)), y(static_cast<double>(curve.bytes.back())));
  }
  void legend() {
    double at = kLeft;
    for (const Curve& curve : chart_.curves) {
      line(curve.color, at, kHeight - 19, at + 28, kHeight - 19);
      words("note", at + 36, kHeight - 14, "start",
            curve.end.empty() ? curve.name : curve.name + ": " + curve.end);
      at += (kRight - kLeft) / 2;
    }
  }

  const Chart& chart_;
  std::string out_;
};
