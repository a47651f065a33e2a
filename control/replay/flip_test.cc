#include "control/replay/flip.h"

#include "gtest/gtest.h"

namespace tictac::replay {
namespace {

Completion completed(uint32_t rank, uint64_t version) { return {.rank = rank, .schedule_version = version}; }

TEST(Flip, CountsByVersionAndRisingNeighboursOfTheNewOne) {
  FlipResult result;
  result.completions = {completed(0, 1), completed(1, 1), completed(5, 2), completed(0, 2),
                        completed(1, 2), completed(1, 2), completed(2, 2)};
  judge_flip(2, result);
  EXPECT_EQ(result.completed_before, 2U);
  EXPECT_EQ(result.completed_after, 5U);
  EXPECT_DOUBLE_EQ(result.reversed_share, 0.75);  // one was on its way when the order turned
}

// A push that came too late or too early proves nothing.
TEST(Flip, WithoutTwoTransfersAfterItThereIsNoShare) {
  FlipResult late;
  late.completions = {completed(0, 1), completed(1, 1), completed(2, 2)};
  judge_flip(2, late);
  EXPECT_EQ(late.completed_before, 2U);
  EXPECT_EQ(late.completed_after, 1U);
  EXPECT_EQ(late.reversed_share, 0.0);

  FlipResult empty;
  judge_flip(2, empty);
  EXPECT_EQ(empty.completed_before + empty.completed_after, 0U);
}

}  // namespace
}  // namespace tictac::replay
