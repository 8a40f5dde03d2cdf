// The device that a suite runs on: the CPU, or what EBB_TEST_DEVICE names ("cuda:0").
#pragma once

#include <cstdlib>
#include <string>

#include "ebb/ops/session.hpp"

namespace ebb::test {

inline std::string from_environment(const char* name, const char* otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr || *given == '\0' ? otherwise : given;
}

inline DeviceOptions device_options(const char* name_on_cpu, std::uint64_t budget = 0) {
  const std::string name = from_environment("EBB_TEST_DEVICE", name_on_cpu);
  return {.kind = kind_of_name(name), .name = name, .budget = budget};
}

struct TestSession : Session {
  TestSession() : Session({.device = from_environment("EBB_TEST_DEVICE", "cpu")}) {}
};

}  // namespace ebb::test
