#include "schedules/orders.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ebb::schedules {
namespace {

std::string from_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

// The path from the layer on: "memory/pool/thread_cache.hpp:63".
std::string name_of(const std::source_location& at) {
  std::string_view file = at.file_name();
  for (const std::string_view folder : {"/include/ebb/", "/src/"}) {
    if (const std::size_t found = file.rfind(folder); found != file.npos) {
      file.remove_prefix(found + folder.size());
    }
  }
  return fmt::format("{}:{}", file, at.line());
}

class Orders {
 public:
  bool asked() const noexcept { return !weakened_.empty() || !list_.empty(); }
  std::memory_order at(std::memory_order asked, const std::source_location& place) {
    const auto [met, first] = met_.try_emplace({place.file_name(), place.line()});
    if (first) {
      met->second.name = name_of(place);
      met->second.weakened = std::ranges::find(weakened_, met->second.name) != weakened_.end();
    }
    return met->second.weakened ? std::memory_order_relaxed : asked;
  }
  void write(std::string_view during) {
    if (list_.empty()) return;
    std::ofstream list(list_, std::ios::app);
    for (const auto& [place, met] : met_) list << met.name << ' ' << during << '\n';
    met_.clear();
  }

 private:
  const std::vector<std::string> weakened_ = split(from_environment("EBB_WEAKENED"));
  const std::string list_ = from_environment("EBB_ORDERS");
  struct Met {
    std::string name;
    bool weakened = false;
  };
  std::map<std::pair<const char*, std::uint_least32_t>, Met> met_;
};

Orders& orders() {
  static Orders instance;
  return instance;
}

}  // namespace

std::memory_order order_at(std::memory_order asked, const std::source_location& at) {
  static const bool wanted = orders().asked();
  return !wanted || asked == std::memory_order_relaxed ? asked : orders().at(asked, at);
}

void write_orders_met(std::string_view during) { orders().write(during); }

}  // namespace ebb::schedules
