// Properties of the output head that only a real Hopper GPU can show: that a row has the same bits among 1,
// 64, 256 and 300 rows, and that f32 weights in shared memory are never read after the copy engine (TMA) has
// overwritten them. The host shim runs the same cases at small sizes.
//
// Faults put into the code, each detected in the host shim: a stage released while its products run; the last
// stage of k left out; a ring's parity never flipped; wgmma rounding at 16 columns only.
#include "apart.h"
#include "each_way.h"
#include "head.h"

namespace kernels_cuda_lm_head_device_sm90_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

#ifdef HONE_HAVE_CUDA

namespace {

const std::vector<SamplingParams> kPlain = {{0.9f, 0, 1.0f, 0.0f}};

bool equal(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && same_bits(a.data(), b.data(), int64_t(a.size()));
}

}  // namespace

TEST(a_row_of_the_head_has_the_same_bits_among_any_number_of_rows) {
  NEEDS_HOPPER;
  [[maybe_unused]] const Truncating here;
  const int64_t most = on_shim() ? 150 : 300;
  for (const bool tied : {false, true}) {
    Head m(most, on_shim() ? 136 : 1536, on_shim() ? 140 : 700, tied);
    m.temperature = kPlain[0].temperature;
    const Samples all = m.sample(kPlain);
    m.targets = all.tokens;
    m.forward();
    EXPECT_TRUE(equal(m.logprobs, all.logprobs));
    EXPECT_TRUE(equal(m.entropies, all.entropies));
    for (const int64_t count : {1, 16, 64, on_shim() ? 128 : 256}) {
      const int64_t first = random_int(0, most - count);
      const Samples some = m.part(first, count).sample(kPlain, first);
      const auto part = [&](const auto& of) { return std::vector(of.begin() + first, of.begin() + first + count); };
      EXPECT_TRUE(some.tokens == part(all.tokens));
      EXPECT_TRUE(equal(some.logprobs, part(all.logprobs)));
      EXPECT_TRUE(equal(some.entropies, part(all.entropies)));
    }
  }
}

namespace {

/// Runs `times` passes of statistics over all rows, and of sampling over the first 16 rows, without a wait
/// between them.
struct Repeated {
  int64_t times, rows, few = 16;
  DeviceArray<float> logprobs, entropies, lse, drawn, drawn_entropies;
  DeviceArray<int32_t> tokens;

  Repeated(const Head& m, int64_t n)
      : times(n), rows(m.rows), logprobs(n * rows), entropies(n * rows), lse(n * rows), drawn(n * few),
        drawn_entropies(n * few), tokens(n * few) {
    Head::Device device(m);
    const DeviceArray<uint16_t> x(m.spread_rows(m.h));
    const DeviceArray<int32_t> targets(m.targets);
    const DeviceArray<SamplingParams> params(std::vector(size_t(few), kPlain[0]));
    std::vector<SampleKey> each;
    for (int64_t r = 0; r < few; ++r) each.push_back(key_of(r));
    const DeviceArray<SampleKey> keys(each);
    const auto at = [](const auto& all, DType dtype, int64_t i, int64_t count) {
      return TensorView(all.data() + i * count, dtype, {count});
    };
    for (int64_t i = 0; i < n; ++i) {
      LmHeadArgs args;
      args.h = m.rows_view(x), args.w = device.w, args.targets = targets.view(DType::kI32, {rows});
      args.logprobs = at(logprobs, DType::kF32, i, rows), args.entropies = at(entropies, DType::kF32, i, rows);
      args.lse = at(lse, DType::kF32, i, rows), args.scratch = &device.scratch;
      lm_head(device_stream(), args);
      LmHeadSampleArgs draw;
      draw.h = m.rows_view(x), draw.h.shape[0] = few;
      draw.w = device.w, draw.params = params.data(), draw.keys = keys.data(), draw.scratch = &device.scratch;
      draw.tokens = at(tokens, DType::kI32, i, few), draw.logprobs = at(drawn, DType::kF32, i, few);
      draw.entropies = at(drawn_entropies, DType::kF32, i, few);
      lm_head_sample(device_stream(), draw);
    }
    synchronize();
  }
  /// Number of passes whose results differ from the first one's.
  template <class T>
  int different(const DeviceArray<T>& all) const {
    const std::vector<T> values = all.download();
    const size_t count = values.size() / size_t(times);
    int found = 0;
    for (size_t i = 1; i < size_t(times); ++i) {
      found += std::memcmp(values.data(), values.data() + i * count, count * sizeof(T)) != 0;
    }
    return found;
  }
};

}  // namespace

// Threads read f32 weights from shared memory by ordinary loads; then the copy engine (TMA) overwrites them,
// and only a barrier orders the two. With 66 tiles of 128 ids and 64 stages of k each, a late read shows in
// one of a hundred passes, or not at all.
TEST(the_f32_head_is_right_a_hundred_times) {
  NEEDS_HOPPER;
  Head m(on_shim() ? 17 : 256, on_shim() ? 1096 : 4096, on_shim() ? 140 : 8448, false);
  const Repeated passes(m, on_shim() ? 2 : 100);
  EXPECT_EQ(passes.different(passes.logprobs) + passes.different(passes.entropies) + passes.different(passes.lse), 0);
  EXPECT_EQ(passes.different(passes.tokens) + passes.different(passes.drawn) + passes.different(passes.drawn_entropies), 0);
  const std::vector<float> logprobs = passes.logprobs.download(), entropies = passes.entropies.download();
  const std::vector<float> lse = passes.lse.download(), drawn = passes.drawn.download();
  const std::vector<int32_t> tokens = passes.tokens.download();
  for (int i = 0; i < 8; ++i) {
    const int64_t r = i < 4 ? random_int(0, 15) : random_int(0, m.rows - 1);
    const RowTruth truth = m.truth(r);
    EXPECT_NEAR(logprobs[size_t(r)], truth.logprob, 3e-5);
    EXPECT_NEAR(entropies[size_t(r)], truth.entropy, 3e-5);
    EXPECT_NEAR(lse[size_t(r)], truth.lse, 3e-5);
    if (r >= 16) continue;
    Head same = m.part(r, 1);
    same.targets[0] = tokens[size_t(r)], same.temperature = kPlain[0].temperature;
    EXPECT_NEAR(drawn[size_t(r)], same.truth(0).logprob, 3e-5);
  }
}

// On 132 multiprocessors a block has two tiles or more, of 16, 64 and 128 rows: its rings start a tile in the
// middle, and a finished tile overwrites another one.
TEST(every_tile_of_a_block_is_right) {
  NEEDS_HOPPER;
  for (const bool tied : {false, true}) {
    Head m(on_shim() ? 130 : 300, 200, on_shim() ? 700 : 85000, tied);
    m.temperature = kPlain[0].temperature;
    for (const int64_t count : {int64_t(16), int64_t(64), m.rows}) {
      const int64_t first = random_int(0, m.rows - count);
      Head some = m.part(first, count);
      const Samples drawn = some.sample(kPlain, first);
      some.targets = drawn.tokens;
      some.forward();
      EXPECT_TRUE(equal(some.logprobs, drawn.logprobs) && equal(some.entropies, drawn.entropies));
      for (int i = 0; i < 3; ++i) {
        const int64_t r = random_int(0, count - 1);
        const RowTruth truth = some.truth(r);
        EXPECT_NEAR(some.logprobs[size_t(r)], truth.logprob, 3e-5);
        EXPECT_NEAR(some.entropies[size_t(r)], truth.entropy, 3e-5);
        EXPECT_NEAR(some.lse[size_t(r)], truth.lse, 3e-5);
      }
    }
  }
}

TEST(the_heads_of_wgmma_and_mma_sync_agree_and_their_bits_are_noted) {
  NEEDS_HOPPER;
  for (const bool tied : {false, true}) {
    Head m(on_shim() ? 17 : 256, on_shim() ? 136 : 2560, on_shim() ? 140 : 1400, tied);
    std::vector<std::vector<float>> logprobs;
    each_way([&] {
      m.forward();
      logprobs.push_back(m.logprobs);
    });
    EXPECT_EQ(logprobs.size(), size_t(2));
    note(std::string("wgmma beside mma.sync, log-probs of the ") + (tied ? "tied" : "f32") + " head: " +
         apart(logprobs.front(), logprobs.back()));
    for (size_t i = 0; i < logprobs.front().size(); ++i) EXPECT_NEAR(logprobs.front()[i], logprobs.back()[i], 6e-5);
  }
}

#else
TEST(cuda_head_on_hopper_alone) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_lm_head_device_sm90_test
