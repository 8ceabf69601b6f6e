// The head's Hopper kernels compared with its portable ones: they have the same bits in the host shim, which
// sums a step of 16 in f64 for either instruction; on any device a row has the same bits in tiles of any
// height. lm_head.test.cc and lm_head_sample.test.cc test the values, with both kernels.
//
// Faults put into the code, each detected in the host shim: one set of fragments; parts in another order;
// sums not restarted, promoted every 256 k, not added, or read without a wait; the last stage left out; a
// stage released while its products run, never, by eight lanes of a warp, or by one group only; one product
// more in progress; a fence left out; the parity of `empty`; too few bytes announced; barriers not made
// visible; too many registers; the other group's weights or tile half; halves of a fragment or of sums
// exchanged; ids in order only within fragments; no swizzle; wrong boxes of k, of outputs or of transposed
// weights; rows of the first tile, of the first step or without their pitch; ids cut off at the map's edge;
// the portable kernel for 16 or 64 rows. For consecutive tiles: the finished tile's parity never flipped; it
// is written before it was read, read before it was written, released before it was read, or lies in the
// stages' memory; one warp fewer announces it; the ring restarted, or a stage never released; one stage fewer
// filled; rows and outputs of a tile exchanged; only the first tile computed; the copying warp also runs the
// epilogue; the previous tile's sums kept. Not detectable: both groups calling the epilogue for the same
// rows.
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

/// All results of the head m, by the kernels in use.
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

/// Expects both kernels to have equal results, with f32 and with tied weights.
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
  // Partial tiles of rows, k and outputs; more stages than in the ring, and sums over more than 512 k, in the
  // logits and in dh.
  for (const Shape& s : {Shape{1, 8, 1, 0}, {17, 72, 130, 8}, {129, 40, 129, 0}, {2, 1096, 5, 16}, {3, 136, 530, 0}}) {
    expect_same_by_both(s);
  }
}

// The shim has two multiprocessors, so that two blocks (four for few rows) process all tiles; rings have 3 to
// 5 stages.
TEST(blocks_take_tile_after_tile_wherever_their_ring_stands) {
  if (!on_shim()) SKIP("the shim only");
  EXPECT_EQ(::hone::cuda::device_attribute(cudaDevAttrMultiProcessorCount), 2);
  // Tiles of one stage; tiles that begin at any stage of the ring; 3 and 2 tiles per block, one of which ends
  // early.
  for (const Shape& s : {Shape{20, 40, 600, 0}, {140, 264, 300, 0}, {9, 200, 1100, 8}, {300, 128, 250, 0}}) {
    expect_same_by_both(s);
  }
}

// The assumption behind tiles of 16, 64 and 128 rows: an element of m64n16k16 has the bits of m64n64k16 and
// of m64n128k16. In the shim this holds by construction, so the test only shows there that no tile uses
// another instruction: wgmma truncates here, mma.sync does not. Only a GPU can show the rest.
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
