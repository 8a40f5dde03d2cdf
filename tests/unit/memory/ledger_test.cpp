#include "ebb/memory/ledger.hpp"

#include <gtest/gtest.h>

namespace ebb {
namespace {

constexpr auto kDisposed = static_cast<std::size_t>(Reason::kDisposed);
constexpr auto kReclaimed = static_cast<std::size_t>(Reason::kReclaimed);

TEST(Ledger, BooksABirthAndAnEnd) {
  Ledger ledger;
  ledger.storage_born(100);
  ledger.tensor_born(true);
  EXPECT_EQ(ledger.books().live, 1u);
  EXPECT_EQ(ledger.books().storages.bytes, 100u);
  ledger.tensor_ended(Reason::kReclaimed, true);
  ledger.storage_ended(Reason::kReclaimed, 100, false);
  const Books& books = ledger.books();
  EXPECT_EQ(books.created, 1u);
  EXPECT_EQ(books.live, 0u);
  EXPECT_EQ(books.ended[kReclaimed], 1u);
  EXPECT_EQ(books.ended_bytes[kReclaimed], 100u);
  EXPECT_EQ(books.storages.count, 0u);
  EXPECT_TRUE(books.balanced());
}

TEST(Ledger, WhatIsHeldIsAColumnOfItsOwn) {
  Ledger ledger;
  ledger.storage_born(64);
  ledger.tensor_born(true);
  ledger.tensor_ended(Reason::kDisposed, true);
  ledger.storage_ended(Reason::kDisposed, 64, true);
  EXPECT_EQ(ledger.books().held.count, 1u);
  EXPECT_EQ(ledger.books().held.bytes, 64u);
  EXPECT_TRUE(ledger.books().balanced());
  ledger.hold_ended(64);
  EXPECT_EQ(ledger.books().held.bytes, 0u);
  EXPECT_TRUE(ledger.books().balanced());
}

TEST(Ledger, KeepsPeaks) {
  Ledger ledger;
  for (int i = 0; i < 3; ++i) {
    ledger.storage_born(10);
    ledger.tensor_born(true);
  }
  ledger.tensor_ended(Reason::kDisposed, true);
  ledger.storage_ended(Reason::kDisposed, 10, false);
  EXPECT_EQ(ledger.books().peak_live, 3u);
  EXPECT_EQ(ledger.books().peak_bytes, 30u);
}

TEST(Ledger, CountsTheUnwatched) {
  Ledger ledger;
  ledger.tensor_born(false);
  ledger.tensor_born(true);
  EXPECT_EQ(ledger.books().unwatched, 1u);
  ledger.tensor_ended(Reason::kDisposed, false);
  EXPECT_EQ(ledger.books().unwatched, 0u);
}

TEST(Ledger, AResizeMovesBothSidesOfTheLaw) {
  Ledger ledger;
  ledger.storage_born(100);
  ledger.storage_resized(100, 40);
  EXPECT_EQ(ledger.books().storages.bytes, 40u);
  EXPECT_TRUE(ledger.books().balanced());
  ledger.storage_resized(40, 400);
  EXPECT_EQ(ledger.books().peak_bytes, 400u);
  EXPECT_TRUE(ledger.books().balanced());
}

TEST(Ledger, AMoveTakesTheBirthAlong) {
  Ledger from, to;
  from.storage_born(50);
  from.tensor_born(true);
  from.tensor_born(false);
  from.moved_to(to, 2, 1, 50);
  EXPECT_EQ(from.books().created, 0u);
  EXPECT_EQ(from.books().live, 0u);
  EXPECT_EQ(from.books().unwatched, 0u);
  EXPECT_EQ(from.books().created_storages.count, 0u);
  EXPECT_EQ(to.books().created, 2u);
  EXPECT_EQ(to.books().unwatched, 1u);
  EXPECT_EQ(to.books().storages.bytes, 50u);
  EXPECT_EQ(to.books().peak_live, 2u);
  EXPECT_EQ(to.books().peak_bytes, 50u);
  EXPECT_TRUE(from.books().balanced() && to.books().balanced());
}

TEST(Books, SumIsBalancedWhereBothAre) {
  Ledger a, b;
  a.storage_born(5);
  a.tensor_born(false);
  b.storage_born(7);
  b.tensor_born(true);
  b.tensor_ended(Reason::kDisposed, true);
  b.storage_ended(Reason::kDisposed, 7, true);
  Books sum = a.books();
  sum += b.books();
  EXPECT_EQ(sum.created, 2u);
  EXPECT_EQ(sum.live, 1u);
  EXPECT_EQ(sum.unwatched, 1u);
  EXPECT_EQ(sum.created_storages.bytes, 12u);
  EXPECT_EQ(sum.held.bytes, 7u);
  EXPECT_EQ(sum.ended[kDisposed], 1u);
  EXPECT_TRUE(sum.balanced());
}

TEST(Books, AnUnbookedEndUnbalances) {
  Books books;
  books.created = 2;
  books.live = 1;
  EXPECT_FALSE(books.balanced());
  books.ended[kDisposed] = 1;
  EXPECT_TRUE(books.balanced());
  books.created_storages.bytes = 1;
  EXPECT_FALSE(books.balanced());
}

TEST(Reason, HasNames) {
  EXPECT_EQ(name_of(Reason::kDisposed), "disposed");
  EXPECT_EQ(name_of(Reason::kRegion), "region");
  EXPECT_EQ(name_of(Reason::kReclaimed), "reclaimed");
  EXPECT_EQ(name_of(Reason::kShutdown), "shutdown");
}

}  // namespace
}  // namespace ebb
