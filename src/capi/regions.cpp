// The ownership tree.
#include "capi/names.hpp"
#include "capi/sized.hpp"

namespace {

using namespace ebb;
using namespace ebb::capi;

ebb_region_info to_c(const RegionInfo& info) {
  return {.size = 0,
          .depth = info.depth,
          .parent = info.parent,
          .tensors = info.tensors,
          .children = info.children,
          .capped = info.capped ? 1u : 0u,
          .reserved = 0};
}

}  // namespace

extern "C" {

ebb_status ebb_region_root(ebb_context context, ebb_region* region) {
  return guarded([&] { needed(region, "region_root") = context_of(context).root(); });
}

ebb_status ebb_region_open(ebb_context context, ebb_region parent, const char* name,
                           ebb_region* region) {
  return guarded([&] {
    ebb_region& opened = needed(region, "region_open");
    opened = context_of(context).open(parent, name == nullptr ? std::string_view() : name);
  });
}

ebb_status ebb_region_close(ebb_context context, ebb_region region) {
  return guarded([&] { context_of(context).close(region); });
}

ebb_status ebb_region_attach(ebb_context context, ebb_region region, ebb_handle handle) {
  return guarded([&] { context_of(context).attach(region, handle); });
}

ebb_status ebb_region_attach_temporarily(ebb_context context, ebb_region region,
                                         ebb_handle handle) {
  return guarded([&] { context_of(context).attach_temporarily(region, handle); });
}

ebb_status ebb_region_detach(ebb_context context, ebb_handle handle) {
  return guarded([&] { context_of(context).detach(handle); });
}

ebb_status ebb_region_move_to_parent(ebb_context context, ebb_handle handle) {
  return guarded([&] { context_of(context).move_to_parent(handle); });
}

ebb_status ebb_region_cap(ebb_context context, ebb_region region) {
  return guarded([&] { context_of(context).cap(region); });
}

ebb_status ebb_region_shortest_lived(ebb_context context, const ebb_handle* handles, size_t count,
                                     ebb_region* region) {
  return guarded([&] {
    ebb_region& shortest = needed(region, "region_shortest_lived");
    if (count != 0) needed(handles, "region_shortest_lived");
    shortest = context_of(context).shortest_lived({handles, count});
  });
}

ebb_status ebb_region_describe(ebb_context context, ebb_region region, ebb_region_info* info) {
  return guarded([&] {
    const SizedOutput output(info, "region_describe");
    output.write(to_c(context_of(context).describe_region(region)));
  });
}

}  // extern "C"
