// What most tests include (cmake/EbbPrecompile.cmake).
#include <gtest/gtest.h>

#include "precompiled.hpp"
