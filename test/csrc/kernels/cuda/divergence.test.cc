// The divergence from a teacher in the head's gradient on the device, compared with the CPU op on the same
// rounded numbers; and the likeliest tokens that a teacher lists there.
//
// Faults put into the code, each detected in the host shim: the teacher's rows of the first chunk used for
// all (chunks); the teacher's whole head used, with tokens that the student lacks (values); k tokens written
// before the rest of their row (likeliest); the mean of the gap left out, beta and 1 - beta exchanged, the
// spread left out (values); the last listed token listed twice, equal logits ordered by the higher id (top).
#include "kernels/divergence.h"

#include <numeric>

#include "each_way.h"
#include "head.h"

namespace kernels_cuda_divergence_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

#ifdef HONE_HAVE_CUDA

namespace {

/// A teacher's data for a head's rows, in bf16 or f32 numbers that the CPU op gets exactly.
struct Teacher {
  int64_t width, vocabulary, k;
  float beta;
  bool rest = false;
  std::vector<float> hidden, head, logprobs, slopes;
  std::vector<int32_t> ids;

  Teacher(const Head& m, float beta_, int64_t k_ = 0)
      : width(m.width + 8), vocabulary(m.vocabulary + 3), k(k_), beta(beta_), hidden(rounded_to_bf16(random_floats(m.rows * width))),
        head(random_floats(vocabulary * width, 2.0f / std::sqrt(float(width)))), slopes(random_floats(m.rows, 0.3f)) {
    for (int64_t r = 0; r < m.rows; ++r) {
      std::vector<int32_t> all(size_t(m.vocabulary), 0);
      std::iota(all.begin(), all.end(), 0);
      for (int64_t j = 0; j < k; ++j) {
        std::swap(all[size_t(j)], all[size_t(random_int(j, m.vocabulary - 1))]);
        ids.push_back(all[size_t(j)]), logprobs.push_back(-4.0f * std::fabs(random_floats(1)[0]) - 2.0f);
      }
    }
  }
  Divergence of(int64_t rows, const PackedMatrix& w, void* h, DType type, const int32_t* i, const float* l, Arena* scratch) const {
    Divergence d{.beta = beta, .hidden = {h, type, {rows, width}}, .head = w, .rest = rest, .scratch = scratch};
    if (k > 0) d.ids = i32(i, {rows, k}), d.logprobs = f32(l, {rows, k});
    return d;
  }
};

struct Result {
  std::vector<float> dh, dw, divergences;
};

std::vector<float> panels_of(std::vector<float> w, int64_t n, int64_t k, bool transpose, PackedMatrix* out) {
  *out = {transpose ? k : n, transpose ? n : k, DType::kF32, nullptr};
  std::vector<float> panels(size_t(packed_bytes({}, out->n, out->k, DType::kF32)) / 4);
  out->panels = panels.data();
  pack_matrix({}, {f32(w.data(), {n, k}), transpose, *out});
  return panels;
}

Result on_cpu(Head& m, const Gradient& g, Teacher& t) {
  const int64_t R = m.rows, C = m.width, V = m.vocabulary;
  PackedMatrix w, w_t, theirs;
  const std::vector<float> panels = panels_of(m.w, V, C, false, &w), panels_t = panels_of(m.w, V, C, true, &w_t),
                           panels_theirs = panels_of(t.head, t.vocabulary, t.width, false, &theirs);
  const Divergence d = t.of(R, theirs, t.hidden.data(), DType::kF32, t.ids.data(), t.logprobs.data(), nullptr);
  Result out{poison(R * C), std::vector<float>(size_t(V * C), m.before), poison(R)};
  lm_head_grad({}, {.h = f32(m.h.data(), {R, C}), .w = w, .w_t = w_t, .targets = i32(m.targets.data(), {R}), .lse = f32(m.lse.data(), {R}),
                    .entropies = f32(m.entropies.data(), {R}), .a = f32(g.a.data(), {R}), .b = f32(g.b.data(), {R}),
                    .dh = f32(out.dh.data(), {R, C}), .dw = f32(out.dw.data(), {V, C}), .temperature = m.temperature,
                    .teacher = &d, .slopes = f32(t.slopes.data(), {R}), .divergences = f32(out.divergences.data(), {R})});
  return out;
}

Result on_device(const Head& m, const Gradient& g, const Teacher& t) {
  const int64_t R = m.rows, C = m.width, V = m.vocabulary;
  Head::Device device(m);
  const DeviceArray<uint16_t> x(m.spread_rows(m.h)), dh(R * (C + m.gap)), hidden(to_bf16(t.hidden));
  const DeviceArray<int32_t> y(m.targets), ids(t.ids);
  const DeviceArray<float> l(m.lse), e(m.entropies), a(g.a), b(g.b), dw(std::vector<float>(m.w.size(), m.before)), head(t.head),
      logprobs(t.logprobs), slopes(t.slopes), divergences(R);
  const PackedMatrix theirs{.n = t.vocabulary, .k = t.width, .panels = head.data()};
  Divergence d = t.of(R, theirs, hidden.data(), DType::kBF16, ids.data(), logprobs.data(), nullptr);
  Arena scratch(divergence_scratch_bytes(device_stream(), R, V, d), "test", Memory::kDevice);
  d.scratch = &scratch;
  lm_head_grad(device_stream(), {.h = m.rows_view(x), .w = device.w, .w_t = {}, .targets = y.view(DType::kI32, {R}), .lse = l.view(DType::kF32, {R}),
                                 .entropies = e.view(DType::kF32, {R}), .a = a.view(DType::kF32, {R}), .b = b.view(DType::kF32, {R}),
                                 .dh = m.rows_view(dh), .dw = dw.view(DType::kF32, {V, C}), .temperature = m.temperature,
                                 .scratch = &device.scratch, .chunk = m.chunk, .teacher = &d, .slopes = slopes.view(DType::kF32, {R}),
                                 .divergences = divergences.view(DType::kF32, {R})});
  EXPECT_EQ(scratch.used(), 0);
  EXPECT_EQ(device.scratch.used(), 0);
  return {from_bf16(dh.download()), dw.download(), divergences.download()};
}

double norm_of(const std::vector<float>& x, const std::vector<float>& less) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i) sum += (double(x[i]) - double(less[i])) * (double(x[i]) - double(less[i]));
  return std::sqrt(sum);
}

/// dz and dh are each rounded to bf16: half a unit in the last place each, of values whose errors have random
/// signs.
void expect_near(const Result& got, const Result& wanted, float before) {
  for (size_t r = 0; r < wanted.divergences.size(); ++r) EXPECT_NEAR(got.divergences[r], wanted.divergences[r], on_shim() ? 1e-5 : 6e-5);
  const std::vector<float> zeros(wanted.dh.size()), base(wanted.dw.size(), before);
  EXPECT_TRUE(norm_of(got.dh, wanted.dh) <= 0x1p-8 * norm_of(wanted.dh, zeros));
  EXPECT_TRUE(norm_of(got.dw, wanted.dw) <= 0x1p-8 * norm_of(wanted.dw, base));
}

void compare(Head m, Teacher t) {
  m.forward();
  const Gradient g{random_floats(m.rows, 0.3f), random_floats(m.rows, 0.3f), {}, {}};
  expect_near(on_device(m, g, t), on_cpu(m, g, t), m.before);
}

}  // namespace

TEST(over_the_vocabulary_values_and_gradients_are_the_cpus_whatever_beta) {
  NEEDS_DEVICE;
  each_way([] {
    for (const float beta : {0.0f, 0.3f, 1.0f}) {
      Head m(beta == 0.3f ? 130 : 9, 24, beta == 1.0f ? 131 : 150, beta == 0.0f);
      m.temperature = 0.8f;
      compare(m, Teacher(m, beta));
    }
  });
}

TEST(over_the_likeliest_tokens_alone_or_with_the_rest_as_one_more) {
  NEEDS_DEVICE;
  each_way([] {
    for (const bool rest : {false, true}) {
      for (const float beta : {0.0f, 0.3f, 1.0f}) {
        if (rest && beta != 1.0f) continue;
        Head m(7, 16, 131, rest);
        m.temperature = 1.3f;
        Teacher t(m, beta, 5);
        t.rest = rest;
        compare(m, t);
      }
    }
  });
}

// 300 rows are two chunks of the teacher's logits, of 256 and 44 rows; each is also a chunk of dz, whatever
// the head's chunk size is.
TEST(chunks_have_their_own_rows_and_the_bits_do_not_depend_on_them) {
  NEEDS_DEVICE;
  for (const int64_t k : {0, 3}) {
    Head m(300, 8, 20);
    m.forward();
    const Gradient g{random_floats(m.rows, 0.3f), random_floats(m.rows, 0.3f), {}, {}};
    Teacher t(m, 0.5f, k);
    const Result whole = on_device(m, g, t);
    expect_near(whole, on_cpu(m, g, t), m.before);
    m.chunk = 64;
    const Result apart = on_device(m, g, t);
    EXPECT_TRUE(same_bits(whole.dh.data(), apart.dh.data(), int64_t(whole.dh.size())));
    EXPECT_TRUE(same_bits(whole.divergences.data(), apart.divergences.data(), m.rows));
  }
}

TEST(a_rest_of_nothing_moves_nothing_where_both_agree) {
  NEEDS_DEVICE;
  Head m(4, 8, 5);
  m.forward();
  Teacher t(m, 1.0f, 5);
  t.rest = true;
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t i = 0; i < 5; ++i) t.logprobs[size_t(r * 5 + i)] = float(m.logit(r, t.ids[size_t(r * 5 + i)])) - m.lse[size_t(r)];
  }
  const Result out = on_device(m, {std::vector<float>(4), std::vector<float>(4), {}, {}}, t);
  for (const float x : out.divergences) EXPECT_NEAR(x, 0.0, 1e-5);
  for (const float x : out.dh) EXPECT_NEAR(x, 0.0, 1e-5);
}

TEST(what_the_device_cannot_do_is_refused) {
  NEEDS_DEVICE;
  Head m(2, 8, 5);
  m.forward();
  const Gradient g{{1.0f, 1.0f}, {0.0f, 0.0f}, {}, {}};
  Teacher beta(m, 1.5f), small(m, 0.5f), forward(m, 0.0f, 2);
  small.vocabulary = 4, forward.rest = true;
  EXPECT_THROWS(on_device(m, g, beta), Code::kConfig);
  EXPECT_THROWS(on_device(m, g, small), Code::kShape);
  EXPECT_THROWS(on_device(m, g, forward), Code::kConfig);
}

namespace {

struct Listed {
  std::vector<int32_t> ids;
  std::vector<float> logprobs;
};

Listed top_of(const Head& m, int64_t k) {
  Head::Device device(m);
  const DeviceArray<uint16_t> x(m.spread_rows(m.h));
  const DeviceArray<int32_t> ids(m.rows * k);
  const DeviceArray<float> logprobs(m.rows * k);
  lm_head_top(device_stream(), {.h = m.rows_view(x), .w = device.w, .ids = ids.view(DType::kI32, {m.rows, k}),
                                .logprobs = logprobs.view(DType::kF32, {m.rows, k}), .temperature = m.temperature, .scratch = &device.scratch});
  EXPECT_EQ(device.scratch.used(), 0);
  return {ids.download(), logprobs.download()};
}

}  // namespace

TEST(likeliest_tokens_are_listed_by_falling_log_prob_which_is_that_of_pass_1_to_the_bit) {
  NEEDS_DEVICE;
  each_way([] {
    for (const bool tied : {false, true}) {
      Head m(tied ? 258 : 5, 16, tied ? 9 : 300, tied);
      m.temperature = 0.7f;
      const int64_t k = 6;
      const Listed top = top_of(m, k);
      for (int64_t r = 0; r < m.rows; r += tied ? 51 : 1) {
        std::vector<int32_t> order(size_t(m.vocabulary), 0);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int32_t p, int32_t q) { return m.logit(r, p) > m.logit(r, q); });
        for (int64_t i = 0; i < k; ++i) {
          EXPECT_NEAR(m.logit(r, top.ids[size_t(r * k + i)]), m.logit(r, order[size_t(i)]), 1e-4);
          for (int64_t j = 0; j < i; ++j) EXPECT_TRUE(top.ids[size_t(r * k + i)] != top.ids[size_t(r * k + j)]);
        }
      }
      for (const int64_t i : {0, 5}) {
        for (int64_t r = 0; r < m.rows; ++r) m.targets[size_t(r)] = top.ids[size_t(r * k + i)];
        m.forward();
        for (int64_t r = 0; r < m.rows; ++r) EXPECT_TRUE(same_bits(&m.logprobs[size_t(r)], &top.logprobs[size_t(r * k + i)], 1));
      }
    }
  });
}

TEST(of_equal_logits_the_lower_id_comes_first_and_all_tokens_can_be_listed) {
  NEEDS_DEVICE;
  Head m(2, 8, 600);
  for (int64_t v = 0; v < 600; ++v) std::fill_n(m.w.begin() + v * 8, 8, v % 2 ? 0.5f : -0.0f);
  std::fill(m.h.begin(), m.h.end(), 1.0f);
  const Listed top = top_of(m, 600);
  for (int32_t i = 0; i < 600; ++i) EXPECT_EQ(top.ids[size_t(600 + i)], i < 300 ? 2 * i + 1 : 2 * (i - 300));
  EXPECT_THROWS(top_of(m, 601), Code::kConfig);
}

#else
TEST(cuda_divergence) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_divergence_test
