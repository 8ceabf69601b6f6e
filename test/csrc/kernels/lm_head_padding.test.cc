// Padding ids of a head are never sampled, whatever their logits: sampled tokens are those of the head
// without them, while the reported log-prob is that of the whole head.
#include "kernels/lm_head.h"

#include "each_isa.h"

namespace kernels_lm_head_padding_test {
using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

constexpr int64_t kRows = 200, kIds = 61;

/// A head whose rows of h equal the logits: W is the identity.
struct Logits {
  int64_t ids;
  std::vector<float> z, panels;
  PackedMatrix w;
  std::vector<int32_t> tokens = std::vector<int32_t>(size_t(kRows), -1);
  std::vector<float> logprobs = poison(kRows), entropies = poison(kRows);

  Logits(int64_t n, std::vector<float> rows) : ids(n), z(std::move(rows)), panels(size_t(packed_bytes({}, n, n, DType::kF32)) / 4), w{n, n, DType::kF32, panels.data()} {
    std::vector<float> identity(size_t(n * n), 0.0f);
    for (int64_t i = 0; i < n; ++i) identity[size_t(i * n + i)] = 1.0f;
    pack_matrix({}, {f32(identity.data(), {n, n}), false, w});
  }
  TensorView floats(std::vector<float>& x) { return f32(x.data(), {kRows}); }
  void sample(const SamplingParams& params) {
    const std::vector<SamplingParams> all(size_t(kRows), params);
    std::vector<SampleKey> keys;
    for (uint32_t r = 0; r < kRows; ++r) keys.push_back({7, r / 5, r % 5, r});
    lm_head_sample({}, {f32(z.data(), {kRows, ids}), w, all.data(), keys.data(), i32(tokens.data(), {kRows}), floats(logprobs), floats(entropies), nullptr});
  }
};

/// The head `from`, followed by padding ids whose logit is `value`.
Logits padded(const Logits& from, float value) {
  std::vector<float> rows;
  for (int64_t r = 0; r < kRows; ++r) {
    rows.insert(rows.end(), from.z.begin() + r * from.ids, from.z.begin() + (r + 1) * from.ids);
    rows.resize(rows.size() + 18, value);
  }
  return {from.ids + 18, std::move(rows)};
}

}  // namespace

TEST(a_padded_head_draws_what_the_head_without_padding_draws) {
  each_isa([] {
    Logits plain(kIds, random_floats(kRows * kIds, 2.0f));
    for (const float value : {-1.0f, 9.0f}) {
      Logits wide = padded(plain, value);
      for (SamplingParams params : {SamplingParams{1.0f, 0, 1.0f, 0.0f}, SamplingParams{0.9f, 4, 1.0f, 0.0f}, SamplingParams{1.0f, 0, 0.8f, 0.0f},
                                    SamplingParams{1.3f, 0, 1.0f, 0.2f}, SamplingParams{1.0f, 30, 0.9f, 0.01f}, SamplingParams{0.0f, 0, 1.0f, 0.0f}}) {
        plain.sample(params);
        params.vocabulary = int32_t(kIds);
        wide.sample(params);
        EXPECT_TRUE(wide.tokens == plain.tokens);
        std::vector<float> logprobs = poison(kRows), entropies = poison(kRows), lse = poison(kRows);
        lm_head({}, {f32(wide.z.data(), {kRows, wide.ids}), wide.w, i32(wide.tokens.data(), {kRows}), wide.floats(logprobs), wide.floats(entropies),
                     wide.floats(lse), params.temperature > 0 ? params.temperature : 1.0f, nullptr});
        EXPECT_TRUE(same_bits(logprobs.data(), wide.logprobs.data(), kRows));
        EXPECT_TRUE(same_bits(entropies.data(), wide.entropies.data(), kRows));
      }
    }
  });
}

TEST(a_negative_size_is_refused) {
  Logits head(kIds, random_floats(kRows * kIds));
  EXPECT_THROWS(head.sample({1.0f, 0, 1.0f, 0.0f, -1}), Code::kConfig);
}

}  // namespace kernels_lm_head_padding_test
