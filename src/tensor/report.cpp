#include "ebb/tensor/report.hpp"

#include <algorithm>
#include <iterator>

#include "ebb/base/bytes.hpp"
#include "ebb/base/error.hpp"
#include "ebb/memory/trace.hpp"
#include "tensor/books_json.hpp"

namespace ebb {
namespace {

constexpr std::uint64_t kVersion = 1;

struct Holders {
  std::vector<SiteHolding> all;  // most bytes first
  std::uint64_t bytes = 0;

  Holders(const Context* context, By by)
      : all(context == nullptr ? Context::total_holdings(nullptr, by)
                               : context->holdings(nullptr, by)) {
    for (const SiteHolding& each : all) bytes += each.live.bytes;
  }
  double share(const SiteHolding& holding) const {
    return bytes == 0 ? 0 : static_cast<double>(holding.live.bytes) / static_cast<double>(bytes);
  }
  std::span<const SiteHolding> top(std::uint32_t most) const {
    return std::span(all).first(std::min<std::size_t>(all.size(), most));
  }
};

struct Facts {
  const Context* context;
  MemoryReading reading;
  Holders sites, regions;

  explicit Facts(const Context* c)
      : context(c),
        reading(c == nullptr ? Context::total_memory() : c->memory()),
        sites(c, By::kSite),
        regions(c, By::kRegionLabel) {}
};

// ---- text

class TextReport {
 public:
  TextReport(const Facts& facts, const ReportOptions& options) : facts_(facts), options_(options) {}

  std::string write() {
    head();
    books();
    devices();
    collecting();
    holders("created at", facts_.sites, "unknown site (trace to see it)");
    holders("in regions", facts_.regions, "without a label");
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void head() {
    const Books& books = facts_.reading.books;
    line("Ebb, {}: {} in {} live tensors; reclaim is {}, tracing {}",
         facts_.context == nullptr ? "all contexts"
                                   : fmt::format("context \"{}\"", facts_.context->name()),
         format_bytes(books.storages.bytes), books.live, reclaiming() ? "on" : "off",
         trace::on() ? "on" : "off");
  }

  void books() {
    const Books& books = facts_.reading.books;
    line("\n{:<9}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}", "", "created", "live", "disposed",
         "region", "reclaimed", "shutdown", "held");
    line("{:<9}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}", "tensors", books.created, books.live,
         books.ended[0], books.ended[1], books.ended[2], books.ended[3], books.held.count);
    line("{:<9}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}{:>11}", "bytes",
         format_bytes(books.created_storages.bytes), format_bytes(books.storages.bytes),
         format_bytes(books.ended_bytes[0]), format_bytes(books.ended_bytes[1]),
         format_bytes(books.ended_bytes[2]), format_bytes(books.ended_bytes[3]),
         format_bytes(books.held.bytes));
  }

  void devices() {
    line("\n{:<24}{:>11}{:>11}{:>11}{:>16}", "device", "in use", "committed", "peak", "budget");
    for (DeviceIndex i = 1; i < kMaxDevices; ++i) {
      const Device* device = Device::at(i);
      if (device == nullptr) continue;
      const std::uint64_t budget = device->budget();
      line("{:<24}{:>11}{:>11}{:>11}{:>16}", device->name(), format_bytes(device->in_use()),
           format_bytes(device->committed()), format_bytes(device->peak_committed()),
           budget == 0 ? "none"
                       : fmt::format("{} {}", format_bytes(budget), name_of(device->mode())));
    }
  }

  void collecting() {
    const MemoryReading& reading = facts_.reading;
    const auto ms = [](std::uint64_t ns) { return static_cast<double>(ns) / 1e6; };
    line("\n{} orphans wait (at most {} did); {} regions are open", reading.orphans,
         reading.peak_orphans, reading.regions);
    line("the records of tensors, data and regions take {}", format_bytes(reading.record_bytes));
    line("{} minor and {} major collections took {:.1f} ms, the longest {:.1f} ms",
         reading.collections.minor, reading.collections.major, ms(reading.collections.total_ns),
         ms(reading.collections.longest_ns));
  }

  void holders(std::string_view title, const Holders& holders, std::string_view nameless) {
    if (holders.all.empty()) return;
    line("\n{:>6}{:>11}{:>10}{:>10}  {}", "share", "bytes", "tensors", "orphans", title);
    const auto named = holders.top(options_.top);
    for (const SiteHolding& holding : named) {
      const std::string_view frame = first_frame(SiteTable::instance().text(holding.site));
      // arithmetic: in floating point
      line("{:>5.1f}%{:>11}{:>10}{:>10}  {}", 100 * holders.share(holding),
           format_bytes(holding.live.bytes), holding.live.count, holding.orphans,
           frame.empty() ? nameless : frame);
    }
    if (named.size() < holders.all.size()) {
      line("{:>37}  and {} more", "", holders.all.size() - named.size());
    }
  }

  const Facts& facts_;
  const ReportOptions& options_;
  std::string text_;
};

// ---- JSON

void write_holders(JsonWriter& json, const Holders& holders, std::uint32_t top,
                   std::string_view text_name) {
  json.begin_array();
  for (const SiteHolding& holding : holders.top(top)) {
    json.new_line();
    json.begin_object();
    json.member("site", holding.site);
    json.member(text_name, SiteTable::instance().text(holding.site));
    json.member("tensors", holding.live.count);
    json.member("bytes", holding.live.bytes);
    json.member("orphans", holding.orphans);
    json.member("share", holders.share(holding));
    json.end_object();
  }
  json.end_array();
}

std::string to_json(const Facts& facts, const ReportOptions& options) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.member("format", "ebb-report");
  json.member("version", kVersion);
  json.key("context");
  if (facts.context == nullptr) {
    json.value(nullptr);
  } else {
    json.value(std::string_view(facts.context->name()));
  }
  json.member("reclaim", reclaiming());
  json.member("tracing", trace::on());
  json.key("books");
  write_reading(json, facts.reading);
  json.key("devices");
  write_devices(json);
  json.key("sites");
  write_holders(json, facts.sites, options.top, "text");
  json.member("site_count", facts.sites.all.size());
  json.key("regions");
  write_holders(json, facts.regions, options.top, "label");
  json.member("region_label_count", facts.regions.all.size());
  json.end_object();
  text += '\n';
  return text;
}

}  // namespace

std::string report(const Context* context, const ReportOptions& options) {
  const Facts facts(context);
  return options.json ? to_json(facts, options) : TextReport(facts, options).write();
}

}  // namespace ebb
