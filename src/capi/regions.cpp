// The ownership tree.
#include "capi/names.hpp"

using namespace ebb;
using namespace ebb::capi;

extern "C" {

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

ebb_status ebb_region_move_to_parent(ebb_context context, ebb_handle handle) {
  return guarded([&] { context_of(context).move_to_parent(handle); });
}

ebb_status ebb_region_shortest_lived(ebb_context context, const ebb_handle* handles, size_t count,
                                     ebb_region* region) {
  return guarded([&] {
    ebb_region& shortest = needed(region, "region_shortest_lived");
    shortest = context_of(context).shortest_lived(listed(handles, count, "region_shortest_lived"));
  });
}

}  // extern "C"
