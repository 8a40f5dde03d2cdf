// WebAssembly has no processes to die in: what would have to is skipped, and says so.
#pragma once

#define EXPECT_DEATH(...) GTEST_SKIP() << "no process of its own to die in"
