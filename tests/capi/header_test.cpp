#include <gtest/gtest.h>

#include <string>

#include "ebb.h"

extern "C" int run_c_host(void);

TEST(Header, AHostWrittenInC) { EXPECT_EQ(run_c_host(), 0); }

TEST(Header, Versions) {
  EXPECT_EQ(ebb_abi_version(), static_cast<uint32_t>(EBB_ABI_VERSION));
  EXPECT_NE(std::string(ebb_version()).find('.'), std::string::npos);
}

TEST(Header, FreeingNoTextIsFine) { ebb_text_free(nullptr); }
