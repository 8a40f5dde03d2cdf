#include "observe/block_codec.hpp"

#include "ebb/memory/device.hpp"

namespace ebb::observe {
namespace {

std::uint8_t get_index(WireReader& in) {
  return static_cast<std::uint8_t>(in.number(kMaxDevices - 1));
}

// Those of the books that a recording keeps, in their order.
template <typename B, typename Use>
void for_each_figure(B& books, Use use) {
  use(books.created);
  use(books.live);
  for (auto& ended : books.ended) use(ended);
  use(books.created_storages.count);
  use(books.created_storages.bytes);
  use(books.storages.count);
  use(books.storages.bytes);
  use(books.held.count);
  use(books.held.bytes);
  for (auto& bytes : books.ended_bytes) use(bytes);
}

}  // namespace

void put_meta(WireWriter& out, const Meta& meta) {
  out.number(meta.size());
  for (const auto& [name, value] : meta) {
    out.text(name);
    out.text(value);
  }
}

Meta get_meta(WireReader& in) {
  Meta meta;
  for (std::uint64_t left = in.number(in.left()); left > 0; --left) {
    const std::string_view name = in.text();
    meta.insert_or_assign(std::string(name), std::string(in.text()));
  }
  return meta;
}

void put_device(WireWriter& out, const DeviceEntry& device) {
  out.number(device.device);
  out.byte(device.kind);
  out.text(device.name);
}

DeviceEntry get_device(WireReader& in) {
  DeviceEntry device;
  device.device = get_index(in);
  device.kind = in.byte();
  device.name = in.text();
  return device;
}

void put_counters(WireWriter& out, const Counters& counters) {
  out.number(counters.time);
  out.number(counters.resident);
  out.number(counters.host_heap + 1);  // not known: 0
  out.number(counters.orphans);
  out.number(counters.devices.size());
  for (const DeviceCounters& device : counters.devices) {
    out.number(device.device);
    out.number(device.in_use);
    out.number(device.committed);
    out.number(device.budget);
  }
}

Counters get_counters(WireReader& in) {
  Counters counters;
  counters.time = in.number();
  counters.resident = in.number();
  counters.host_heap = in.number() - 1;
  counters.orphans = in.number();
  for (std::uint64_t left = in.number(kMaxDevices); left > 0; --left) {
    DeviceCounters& device = counters.devices.emplace_back();
    device.device = get_index(in);
    device.in_use = in.number();
    device.committed = in.number();
    device.budget = in.number();
  }
  return counters;
}

void put_books(WireWriter& out, const DeviceBooks& books) {
  out.number(books.device);
  for_each_figure(books.books, [&](std::uint64_t figure) { out.number(figure); });
}

DeviceBooks get_books(WireReader& in) {
  DeviceBooks books;
  books.device = get_index(in);
  for_each_figure(books.books, [&](std::uint64_t& figure) { figure = in.number(); });
  return books;
}

void put_tensor(WireWriter& out, const LiveTensor& tensor) {
  out.number(tensor.birth.id);
  out.number(tensor.birth.bytes);
  out.number(tensor.birth.storage);
  out.number(tensor.birth.site);
  out.byte(tensor.birth.detail);
  out.number(tensor.birth.device);
  out.byte(tensor.birth.flags);
  out.byte(tensor.rank);
  for (std::size_t i = 0; i < std::min<std::size_t>(tensor.rank, kMaxRank); ++i) {
    out.number(static_cast<std::uint64_t>(tensor.dims[i]));
  }
}

LiveTensor get_tensor(WireReader& in) {
  LiveTensor tensor;
  tensor.birth.kind = kTensorBorn;
  tensor.birth.id = in.number();
  tensor.birth.bytes = in.number();
  tensor.birth.storage = in.number();
  tensor.birth.site = static_cast<std::uint32_t>(in.number(0xFFFFFFFF));
  tensor.birth.detail = in.byte();
  tensor.birth.device = get_index(in);
  tensor.birth.flags = in.byte();
  tensor.rank = in.byte();
  for (std::size_t i = 0; i < std::min<std::size_t>(tensor.rank, kMaxRank); ++i) {
    tensor.dims[i] = static_cast<std::int64_t>(in.number());
  }
  return tensor;
}

}  // namespace ebb::observe
