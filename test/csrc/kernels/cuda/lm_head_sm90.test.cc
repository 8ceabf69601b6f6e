// The head's Hopper kernels against its portable ones: the same bits on the shim, which sums a step of 16 in
// f64 whatever the instruction; everywhere a row has the same bits whatever tile it falls into.
// lm_head.test.cc and lm_head_sample.test.cc test the values, with both kernels.
//
// Mutants tried on fibers, each killed: one set of fragments; high parts first; sums never started anew,
// promoted every 256, not added to those before, read without a wait; the last stage lost; a stage released
// while its products run, never, by eight lanes a warp, by one group only; one product more in flight; either
// fence left out; the parity of `empty`; bytes announced fewer; barriers not shown; more registers than there
// are; the other group's weights, or its place in the tile; halves of a fragment or of the sums swapped; ids
// in their own order in the fragments only; no swizzle; boxes of k, of outputs and of either kind of
// transposed weights; rows of the first tile, the first step or without their pitch; ids cut off at the map's
// edge; the portable kernel for 16 or for 64 rows. Of tiles one after the other: the finished tile's parity
// never flipped; it is written before it was read, read before it was written, given back before it was read,
// or lies among the stages; one warp less announces it; the groups' ring begins anew, or a stage of a
// promotion is never released; a stage less is filled; rows and outputs of a tile exchanged; the first tile
// only; the copying warp finishes tiles too; sums of the tile before kept. Not observable: both groups
// calling the epilogue for the same rows.
#include "core/cuda/check.h"
#include "each_way.h"
#include "head.h"

namespace kernels_cuda_lm_head_sm90_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

#ifdef HONE_HAVE_CUDA

namespace {

const std::vector<SamplingParams> kPlain = {{0.9f, 0, 1.0f, 0.0f}};
const std::vector<SamplingParams> kMixed = {kPlain[0], {0.6f, 0, 0.9f, 0.0f}, {0.0f, 0, 1.0f, 0.0f}};

void expect_same(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  EXPECT_TRUE(same_bits(a.data(), b.data(), int64_t(a.size())));
}

/// All results of the head m, by the kernels that are in use.
struct Results {
  Head m;
  Gradient g;
  Samples drawn;
};

void expect_same(const Results& a, const Results& b) {
  expect_same(a.m.logprobs, b.m.logprobs);
  expect_same(a.m.entropies, b.m.entropies);
  expect_same(a.m.lse, b.m.lse);
  expect_same(a.g.dh, b.g.dh);
  expect_same(a.g.dw, b.g.dw);
  EXPECT_TRUE(a.drawn.tokens == b.drawn.tokens);
  expect_same(a.drawn.logprobs, b.drawn.logprobs);
  expect_same(a.drawn.entropies, b.drawn.entropies);
}

}  // namespace

namespace {

struct Shape {
  int64_t rows, width, vocabulary, gap;
};

/// Expects equal results by both kernels, with f32 and with tied weights.
void expect_same_by_both(const Shape& s) {
  for (const bool tied : {false, true}) {
    Head m(s.rows, s.width, s.vocabulary, tied);
    m.gap = s.gap;
    m.temperature = 0.8f;
    const Gradient coefficients{random_floats(m.rows), random_floats(m.rows), {}, {}};
    std::vector<Results> got;
    each_way([&] {
      m.forward();
      Gradient g = coefficients;
      m.backward(g, true);
      got.push_back({m, g, m.sample(m.rows == 17 ? kMixed : kPlain)});
    });
    EXPECT_EQ(int(got.size()), 2);
    expect_same(got.front(), got.back());
  }
}

}  // namespace

TEST(on_the_shim_both_kernels_have_the_same_bits) {
  if (!on_shim()) SKIP("the shim only");
  EXPECT_TRUE(has_device() && kernels::cuda::has_wgmma());
  // Tails of rows, k and outputs; more stages than the ring has, and sums of more than 512 k: in the logits, and in dh.
  for (const Shape& s : {Shape{1, 8, 1, 0}, {17, 72, 130, 8}, {129, 40, 129, 0}, {2, 1096, 5, 16}, {3, 136, 530, 0}}) {
    expect_same_by_both(s);
  }
}

// The shim has two multiprocessors, so two blocks, or four of few rows, take all tiles; rings have 3 to 5 stages.
TEST(blocks_take_tile_after_tile_wherever_their_ring_stands) {
  if (!on_shim()) SKIP("the shim only");
  EXPECT_EQ(::hone::cuda::device_attribute(cudaDevAttrMultiProcessorCount), 2);
  // Tiles of one stage; rings that begin a tile at any of their stages; 3 and 2 tiles a block, one of which ends early.
  for (const Shape& s : {Shape{20, 40, 600, 0}, {140, 264, 300, 0}, {9, 200, 1100, 8}, {300, 128, 250, 0}}) {
    expect_same_by_both(s);
  }
}

// The promise behind tiles of 16, 64 and 128 rows: an element of m64n16k16 is that of m64n64k16 and of
// m64n128k16. On the shim it holds by construction, so all that the test shows there is that no tile takes
// another instruction: wgmma truncates here, mma.sync does not. A GPU has to show the rest.
TEST(a_row_has_the_same_bits_in_a_tile_of_any_height) {
  NEEDS_HOPPER;
  [[maybe_unused]] const Truncating here;
  for (const bool tied : {false, true}) {
    Head m(130, tied ? 72 : 552, 40, tied);
    m.temperature = kPlain[0].temperature;
    const Samples all = m.sample(kPlain);
    m.targets = all.tokens;
    m.forward();
    expect_same(m.logprobs, all.logprobs);
    expect_same(m.entropies, all.entropies);
    for (const auto& [first, count] : {std::pair<int64_t, int64_t>{129, 1}, {114, 16}, {60, 64}}) {
      const Head few = m.part(first, count);
      const Samples some = few.sample(kPlain, first);
      const auto part = [&](const auto& of) { return std::vector(of.begin() + first, of.begin() + first + count); };
      EXPECT_TRUE(some.tokens == part(all.tokens));
      expect_same(some.logprobs, part(all.logprobs));
      expect_same(some.entropies, part(all.entropies));
    }
  }
}

TEST(the_portable_kernels_can_be_asked_for) {
  NEEDS_HOPPER;
  EXPECT_TRUE(kernels::cuda::uses_wgmma(8, 8) && !kernels::cuda::uses_wgmma(8, 12));
  kernels::cuda::force_portable(true);
  EXPECT_TRUE(!kernels::cuda::has_wgmma());
  kernels::cuda::force_portable(false);
}

#else
TEST(cuda_head_on_hopper) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_lm_head_sm90_test
