// A context with one device of its own memory and one of another runtime's.
#pragma once

#include "support/audited.hpp"
#include "support/expect_error.hpp"
#include "support/hosts.hpp"

namespace ebb::test {

class ContextTest : public testing::Test {
 protected:
  OpenDevice cpu{
      DeviceOptions{.kind = DeviceKind::kSimulated, .name = "cpu", .capacity = 16 << 20}};
  OpenDevice wasm{DeviceOptions{.kind = DeviceKind::kForeign, .name = "wasm"}};
  RecordingHost host;
  ContextPtr context = Context::create({.name = "main", .host = &host});

  Handle make(Shape shape = {16}, RegionId region = 0, SiteId site = 0) {
    return context->make({.device = cpu.get(), .shape = shape, .region = region, .site = site});
  }
  Handle adopt(std::uint64_t bytes = 100, std::uint64_t key = 0, RegionId region = 0,
               std::uint64_t tag = 0) {
    return context->adopt({.device = wasm.get(),
                           .key = key,
                           .bytes = bytes,
                           .tag = tag,
                           .dtype = DType::kFloat32,
                           .region = region});
  }
  Books books() { return context->memory().books; }
  std::uint64_t ended(Reason reason) { return books().ended[static_cast<std::size_t>(reason)]; }
};

}  // namespace ebb::test
