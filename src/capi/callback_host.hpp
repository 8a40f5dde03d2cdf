// A host that is three C functions.
#pragma once

#include "ebb.h"
#include "ebb/tensor/context.hpp"

namespace ebb::capi {

class CallbackHost final : public Host {
 public:
  explicit CallbackHost(const ebb_context_options& options) : options_(options) {}

  bool can_collect() const override { return options_.collect != nullptr; }
  std::uint64_t collect(Collection kind) override;
  void end(std::span<const ForeignEnd> ends) override;
  void warn(std::string_view message) override;

 private:
  const ebb_context_options options_;
};

}  // namespace ebb::capi
