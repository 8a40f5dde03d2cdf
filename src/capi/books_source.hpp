// Who lives and what the books say, for a recording.
#pragma once

#include "observe/live_source.hpp"

namespace ebb::capi {

class BooksSource final : public observe::LiveSource {
 public:
  static BooksSource& instance();

  void for_each_live(const std::function<void(const observe::LiveTensor&)>& use) override;
  Books books(std::uint8_t device) override;
  std::uint64_t orphans() override;
};

}  // namespace ebb::capi
