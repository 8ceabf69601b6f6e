// First-fit decreasing, checked by its definition on random lengths. Faults put into the code: unsorted
// sequences in a batch, ties in reverse, `<` for `<=` budget. Each is detected.
#include "trainer/packer.h"

#include <algorithm>

#include "check.h"

namespace trainer_packer_test {
namespace {

using namespace hone;
using trainer::MicroBatch;
using trainer::pack_sequences;

/// The definition of the packing, in quadratic time: repeatedly take the longest sequence (the first of equal
/// ones), and put it into the first micro-batch with room.
std::vector<MicroBatch> by_definition(const std::vector<int64_t>& lengths, int64_t budget) {
  std::vector<MicroBatch> batches;
  std::vector<bool> used(lengths.size());
  for (size_t round = 0; round < lengths.size(); ++round) {
    size_t longest = lengths.size();
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (!used[i] && (longest == lengths.size() || lengths[i] > lengths[longest])) longest = i;
    }
    used[longest] = true;
    size_t at = 0;
    while (at < batches.size() && batches[at].tokens + lengths[longest] > budget) ++at;
    if (at == batches.size()) batches.emplace_back();
    auto& sequences = batches[at].sequences;
    sequences.insert(std::lower_bound(sequences.begin(), sequences.end(), int32_t(longest)), int32_t(longest));
    batches[at].tokens += lengths[longest];
  }
  return batches;
}

TEST(packing_follows_the_definition) {
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> lengths(size_t(test::random_int(0, 40)));
    for (int64_t& n : lengths) n = test::random_int(1, 30);
    const int64_t budget = test::random_int(1, 60);
    const auto found = pack_sequences(lengths, budget), wanted = by_definition(lengths, budget);
    EXPECT_EQ(found.size(), wanted.size());
    std::vector<int> seen(lengths.size());
    for (size_t b = 0; b < std::min(found.size(), wanted.size()); ++b) {
      EXPECT_TRUE(found[b].sequences == wanted[b].sequences);
      EXPECT_EQ(found[b].tokens, wanted[b].tokens);
      EXPECT_TRUE(found[b].tokens <= budget || found[b].sequences.size() == 1);
      for (int32_t i : found[b].sequences) ++seen[size_t(i)];
    }
    for (int n : seen) EXPECT_EQ(n, 1);
  }
}

TEST(an_exact_fit_is_used) {
  const auto batches = pack_sequences({3, 5, 2}, 5);
  EXPECT_EQ(batches.size(), size_t(2));
  EXPECT_TRUE((batches[1].sequences == std::vector<int32_t>{0, 2}));
}

TEST(a_length_that_is_not_positive_is_named) {
  EXPECT_THROWS(pack_sequences({4, 0, 2}, 8), Code::kShape);
  EXPECT_THROWS(pack_sequences({-1}, 8), Code::kShape);
}

}  // namespace
}  // namespace trainer_packer_test
