#include "cli/heap_snapshot.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "ebb/base/error.hpp"

namespace ebb::cli {
namespace {

using Json = nlohmann::ordered_json;  // DevTools read the parts in their order only

[[noreturn]] void refuse(std::string_view why) {
  raise(ErrorKind::kInvalidArgument, "[heapsnapshot] this is no heap snapshot: {}", why);
}

std::size_t place_of(const Json& names, std::string_view wanted) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == wanted) return i;
  }
  refuse("it lacks " + std::string(wanted));
}

constexpr std::uint64_t kNone = ~std::uint64_t{0};

std::uint64_t bytes_of(std::string_view dtype) {
  if (dtype == "float32" || dtype == "int32") return 4;
  if (dtype == "bool") return 1;
  if (dtype == "complex64") return 8;
  return 0;  // text is the host's
}

class Heap {
 public:
  explicit Heap(Json& json)
      : json_(json), nodes_(json["nodes"]), edges_(json["edges"]), strings_(json["strings"]) {
    const Json& meta = json["snapshot"]["meta"];
    const Json& fields = meta["node_fields"];
    node_size_ = fields.size();
    type_ = place_of(fields, "type");
    name_ = place_of(fields, "name");
    id_ = place_of(fields, "id");
    self_size_ = place_of(fields, "self_size");
    edge_count_ = place_of(fields, "edge_count");
    const Json& types = meta["node_types"][0];
    object_ = place_of(types, "object");
    native_ = place_of(types, "native");
    const Json& edge_types = meta["edge_types"][0];
    property_ = place_of(edge_types, "property");
    internal_ = place_of(edge_types, "internal");
    if (meta["edge_fields"] != Json({"type", "name_or_index", "to_node"}))
      refuse("its edges have other fields");
    if (node_size_ == 0 || nodes_.size() % node_size_ != 0 || edges_.size() % 3 != 0)
      refuse("it is cut short");
    find_edges();
  }

  HeapWithDevice grown() {
    HeapWithDevice result;
    const std::map<std::uint64_t, std::uint64_t> held = bytes_by_data(result.tensors);
    Json edges = Json::array();
    const std::uint64_t before = nodes_.size() / node_size_;
    std::uint64_t next_id = next_free_id(), added = 0;
    const std::uint64_t label = strings_.size();
    strings_.push_back("device memory");
    Json more = Json::array();
    for (std::uint64_t node = 0; node < before; ++node) {
      for (std::uint64_t e = first_edge_[node]; e < first_edge_[node + 1]; ++e) {
        for (int i = 0; i < 3; ++i) edges.push_back(edges_[3 * e + static_cast<std::uint64_t>(i)]);
      }
      const auto found = held.find(node);
      if (found == held.end()) continue;
      nodes_[node * node_size_ + edge_count_] = first_edge_[node + 1] - first_edge_[node] + 1;
      for (const std::uint64_t value : {internal_, label, (before + added) * node_size_})
        edges.push_back(value);
      for (std::size_t i = 0; i < node_size_; ++i) {
        more.push_back(i == type_        ? native_
                       : i == name_      ? label
                       : i == id_        ? next_id
                       : i == self_size_ ? found->second
                                         : 0);
      }
      next_id += 2;
      ++added;
      result.bytes += found->second;
    }
    for (const Json& value : more) nodes_.push_back(value);
    edges_ = std::move(edges);
    json_["snapshot"]["node_count"] = before + added;
    json_["snapshot"]["edge_count"] = edges_.size() / 3;
    result.text = json_.dump(-1, ' ', false, Json::error_handler_t::replace);
    return result;
  }

 private:
  std::uint64_t node(std::uint64_t index, std::size_t field) const {
    return nodes_[index * node_size_ + field].get<std::uint64_t>();
  }
  std::string_view text(std::uint64_t index) const {
    if (index >= strings_.size()) refuse("a name is missing");
    return strings_[index].get_ref<const std::string&>();
  }

  void find_edges() {
    const std::uint64_t count = nodes_.size() / node_size_;
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      first_edge_.push_back(sum);
      const std::uint64_t edges = node(i, edge_count_);
      if (edges > edges_.size() / 3 - sum) refuse("it has too few edges");
      sum += edges;
    }
    first_edge_.push_back(sum);
  }

  // The node that an edge of this name leads to; kNone where there is none.
  std::uint64_t led_to(std::uint64_t of, std::uint64_t type, std::string_view wanted) const {
    for (std::uint64_t e = first_edge_[of]; e < first_edge_[of + 1]; ++e) {
      if (edges_[3 * e] != type || text(edges_[3 * e + 1].get<std::uint64_t>()) != wanted) continue;
      const std::uint64_t to = edges_[3 * e + 2].get<std::uint64_t>() / node_size_;
      if (to < first_edge_.size() - 1) return to;
    }
    return kNone;
  }
  // Of text and of numbers, whose nodes have their value beside them.
  std::string_view property_text(std::uint64_t of, std::string_view wanted) const {
    const std::uint64_t to = led_to(of, property_, wanted);
    if (to == kNone) return {};
    const std::uint64_t value = led_to(to, internal_, "value");
    return text(node(value == kNone ? to : value, name_));
  }

  std::map<std::uint64_t, std::uint64_t> bytes_by_data(std::size_t& tensors) const {
    std::map<std::uint64_t, std::uint64_t> held;
    for (std::uint64_t i = 0; i + 1 < first_edge_.size(); ++i) {
      if (node(i, type_) != object_) continue;
      const std::string_view name = text(node(i, name_));
      if (name != "Tensor" && name != "Variable") continue;
      const std::uint64_t data = led_to(i, property_, "dataId");
      const std::string_view size = property_text(i, "size");
      std::uint64_t elements = 0;
      const auto [stop, error] = std::from_chars(size.data(), size.data() + size.size(), elements);
      const std::uint64_t width = bytes_of(property_text(i, "dtype"));
      if (data == kNone || size.empty() || error != std::errc() || width == 0 ||
          elements > kNone / 8)
        continue;
      held[data] = std::max(held[data], elements * width);
      ++tensors;
    }
    return held;
  }

  std::uint64_t next_free_id() const {
    std::uint64_t most = 0;
    for (std::uint64_t i = 0; i + 1 < first_edge_.size(); ++i) most = std::max(most, node(i, id_));
    return most + 2 + most % 2;  // V8 gives its own odd ones
  }

  Json &json_, &nodes_, &edges_, &strings_;
  std::size_t node_size_ = 0, type_ = 0, name_ = 0, id_ = 0, self_size_ = 0, edge_count_ = 0;
  std::uint64_t object_ = 0, native_ = 0, property_ = 0, internal_ = 0;
  std::vector<std::uint64_t> first_edge_;
};

}  // namespace

HeapWithDevice with_device_nodes(std::string_view snapshot) {
  try {
    Json json = Json::parse(snapshot);
    return Heap(json).grown();
  } catch (const Json::exception& error) {
    refuse(error.what());
  }
}

}  // namespace ebb::cli
