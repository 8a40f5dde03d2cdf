// Included before <hwy/foreach_target.h> by what has vectors as members of a struct or elements of an
// array, which those of unknown length cannot be: on arm64 it is compiled for NEON alone.
#if defined(__aarch64__)
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif
