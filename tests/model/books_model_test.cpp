// A million random calls over tensors, views, holds, regions, orphans and contexts, against a plain
// model. EBB_MODEL_CALLS says how many, EBB_SEED repeats one run.
#include "model/books_world.hpp"
#include "support/audited.hpp"
#include "support/seed.hpp"

namespace ebb::model {
namespace {

constexpr std::uint64_t kSeeds = 4;
constexpr std::uint64_t kCompareEvery = 4000;

class BooksModel : public testing::TestWithParam<std::uint64_t> {};

TEST_P(BooksModel, AgreesWithThePlainOne) {
  const std::uint64_t calls = test::from_environment("EBB_MODEL_CALLS", 1000000) / kSeeds;
  const std::uint64_t seed = test::seed_for("books", 100 + GetParam());
  BooksWorld world(seed);
  for (std::uint64_t call = 1; call <= calls; ++call) {
    world.step();
    if (call % kCompareEvery == 0 || call == calls) world.compare();
    if (HasFatalFailure() || HasNonfatalFailure()) {
      FAIL() << "at call " << call << " of seed " << seed;
    }
  }
  test::note("books: {} calls", calls);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BooksModel, testing::Range(std::uint64_t{0}, kSeeds));

}  // namespace
}  // namespace ebb::model
