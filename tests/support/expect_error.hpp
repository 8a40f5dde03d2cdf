// EXPECT_ERROR(call, kWrongState, "capped", "region"): the call throws an Error of that kind, and
// its message has all the parts.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>

#include "ebb/base/error.hpp"

namespace ebb::test {

template <typename Call>
testing::AssertionResult throws_error(Call&& call, ErrorKind kind,
                                      std::initializer_list<std::string_view> parts) {
  try {
    call();
  } catch (const Error& error) {
    if (error.kind() != kind) {
      return testing::AssertionFailure() << "kind " << int(error.kind()) << ": " << error.what();
    }
    const std::string_view message = error.what();
    for (const std::string_view part : parts) {
      if (message.find(part) == std::string_view::npos)
        return testing::AssertionFailure() << "\"" << message << "\" does not say " << part;
    }
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "nothing was thrown";
}

}  // namespace ebb::test

#define EXPECT_ERROR(call, kind, ...)                                                             \
  EXPECT_TRUE(::ebb::test::throws_error([&] { static_cast<void>(call); }, ::ebb::ErrorKind::kind, \
                                        {__VA_ARGS__}))
