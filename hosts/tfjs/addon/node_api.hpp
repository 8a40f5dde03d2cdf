// Node-API, and its failures. A call that cannot go on without its result: `must(napi_create_double(...))`. Where it
// failed, `guarded` (bridge.hpp) gives JavaScript the error.
#pragma once

// The experimental version, from which on finalizers run inside the collection. What is called of
// it is stable, and the same in Node 20 and all later ones.
#define NAPI_VERSION 2147483647
#include <node_api.h>

#include <stdexcept>

namespace ebb::node {

struct NodeApiFailure : std::runtime_error {
  NodeApiFailure() : std::runtime_error("[ebb] Node could not carry out a call of the addon.") {}
};

inline void must(napi_status status) {
  if (status != napi_ok) [[unlikely]]
    throw NodeApiFailure();
}

}  // namespace ebb::node
