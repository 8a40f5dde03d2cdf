// A heap snapshot of V8's in which device memory hangs on the objects that hold it, so that Chrome's
// DevTools count it to whoever keeps them.
//
// A snapshot that was written with numeric values (Node: `v8.writeHeapSnapshot(file,
// {exposeNumericValues: true})`) has of each tensor of TensorFlow.js its size, dtype and dataId. Each
// dataId gets one native node more, of the bytes that it stands for; tensors that share one share
// it. Nodes and edges that were there stay as they are.
#pragma once

#include <string>
#include <string_view>

namespace ebb::cli {

struct HeapWithDevice {
  std::string text;         // the snapshot
  std::size_t tensors = 0;  // found
  std::uint64_t bytes = 0;  // hung on their data
};

// Throws Error(kInvalidArgument) where it is no heap snapshot.
HeapWithDevice with_device_nodes(std::string_view snapshot);

}  // namespace ebb::cli
