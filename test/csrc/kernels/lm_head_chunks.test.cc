// The training head of a large vocabulary processes its rows in chunks, which change no bit, and the scratch
// sized for all rows suffices. A fault put into the code, detected here: a chunk that omits its last row (all
// three comparisons of bits).
#include <algorithm>
#include <vector>

#include "each_isa.h"
#include "kernels/lm_head.h"

namespace kernels_lm_head_chunks_test {
using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

constexpr int64_t kRows = 341, kWidth = 8, kVocabulary = 17'003;  // three chunks

struct Head {
  std::vector<float> h = random_floats(kRows * kWidth), w = random_floats(kVocabulary * kWidth), a = random_floats(kRows), b = random_floats(kRows);
  std::vector<int32_t> targets = std::vector<int32_t>(size_t(kRows), 11);
  std::vector<float> panels = std::vector<float>(size_t(packed_bytes({}, kVocabulary, kWidth, DType::kF32)) / 4);
  std::vector<float> turned = std::vector<float>(size_t(packed_bytes({}, kWidth, kVocabulary, DType::kF32)) / 4);
  PackedMatrix packed{kVocabulary, kWidth, DType::kF32, panels.data()}, transposed{kWidth, kVocabulary, DType::kF32, turned.data()};
  Head() {
    pack_matrix({}, {f32(w.data(), {kVocabulary, kWidth}), false, packed});
    pack_matrix({}, {f32(w.data(), {kVocabulary, kWidth}), true, transposed});
  }
};

struct Results {
  std::vector<float> logprobs = poison(kRows), entropies = poison(kRows), lse = poison(kRows), dh = poison(kRows * kWidth);
  std::vector<float> dlogprob = poison(kRows * kWidth);  // with respect to h, from pass 1
  std::vector<float> dw = std::vector<float>(size_t(kVocabulary * kWidth), 0.25f);
};

/// Adds the results of rows [first, first + rows) to `out`.
void run(Head& m, Results& out, int64_t first, int64_t rows, const Stream& stream, Arena& scratch) {
  const auto floats = [&](std::vector<float>& x) { return f32(x.data() + first, {rows}); };
  const auto wide = [&](std::vector<float>& x) { return f32(x.data() + first * kWidth, {rows, kWidth}); };
  const TensorView targets = i32(m.targets.data() + first, {rows});
  lm_head(stream, {wide(m.h), m.packed, targets, floats(out.logprobs), floats(out.entropies), floats(out.lse), 0.7f, &scratch});
  lm_head_grad(stream, {wide(m.h), m.packed, m.transposed, targets, floats(out.lse), floats(out.entropies), floats(m.a), floats(m.b),
                        wide(out.dh), f32(out.dw.data(), {kVocabulary, kWidth}), 0.7f, &scratch});
  lm_head(stream, {.h = wide(m.h), .w = m.packed, .targets = targets, .logprobs = floats(out.logprobs), .entropies = floats(out.entropies),
                   .lse = floats(out.lse), .temperature = 0.7f, .scratch = &scratch, .w_t = m.transposed, .dh = wide(out.dlogprob)});
  EXPECT_EQ(scratch.used(), 0);
}

TEST(chunks_of_a_large_vocabulary_change_no_bits_and_their_scratch_suffices) {
  each_isa([] {
    Head m;
    Results whole, pieces;
    Arena scratch(lm_head_scratch_bytes({}, kRows, kWidth, kVocabulary), "test");
    run(m, whole, 0, kRows, two_threads(), scratch);
    for (int64_t first = 0; first < kRows; first += 50) run(m, pieces, first, std::min<int64_t>(50, kRows - first), {}, scratch);
    EXPECT_TRUE(same_bits(whole.logprobs.data(), pieces.logprobs.data(), kRows));
    EXPECT_TRUE(same_bits(whole.dh.data(), pieces.dh.data(), kRows * kWidth));
    EXPECT_TRUE(same_bits(whole.dlogprob.data(), pieces.dlogprob.data(), kRows * kWidth));
    EXPECT_TRUE(same_bits(whole.dw.data(), pieces.dw.data(), kVocabulary * kWidth));
  });
}

}  // namespace
}  // namespace kernels_lm_head_chunks_test
