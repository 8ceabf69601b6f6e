// A head that is stored in bf16, which represents its values exactly, against one stored in f32, bit for bit: packed, as the
// rows of its transpose, and as an embedding.
// Mutants tried, all killed: a half panel of zeros at the last columns, a sum that restarts at every piece of the reduction, a
// bias at every piece.
#include <numeric>

#include "each_isa.h"
#include "kernels/embedding.h"
#include "kernels/lm_head.h"

namespace kernels_lm_head_bf16_test {
using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

/// How the matrix and its transpose are stored.
struct Stored {
  std::vector<float> panels, panels_t;  // memory of either type
  PackedMatrix w, w_t;
};

struct Sizes {
  int64_t rows, width, vocabulary;
};
/// Widths and vocabularies that end within a panel, a piece of the transpose, a pass over the reduction; and rows beyond one block.
const Sizes kSizes[] = {{1, 20, 50}, {3, 64, 1001}, {19, 130, 600}, {170, 33, 1100}, {200, 96, 520}};

struct Head {
  Sizes s;
  std::vector<float> h, w, a, b;
  std::vector<uint16_t> narrow;  // w
  std::vector<int32_t> targets;

  explicit Head(const Sizes& sizes)
      : s(sizes), h(random_floats(s.rows * s.width)), w(random_floats(s.vocabulary * s.width, 0.3f)), a(random_floats(s.rows)), b(random_floats(s.rows)) {
    for (float& x : w) narrow.push_back(f32_to_bf16(x)), x = bf16_to_f32(narrow.back());
    for (int64_t i = 0; i < s.rows; ++i) targets.push_back(int32_t(random_int(0, s.vocabulary - 1)));
  }
  Stored packed(DType storage) const {
    Stored out;
    out.panels.resize(size_t(packed_bytes({}, s.vocabulary, s.width, storage)) / 4 + 16);
    out.panels_t.resize(size_t(packed_bytes({}, s.width, s.vocabulary, storage)) / 4 + 16);
    out.w = {s.vocabulary, s.width, storage, out.panels.data()};
    out.w_t = {s.width, s.vocabulary, storage, out.panels_t.data()};
    pack_matrix({}, {f32(w.data(), {s.vocabulary, s.width}), false, out.w});
    pack_matrix({}, {f32(w.data(), {s.vocabulary, s.width}), true, out.w_t});
    return out;
  }
  /// The transpose as the rows of the matrix.
  PackedMatrix rows_of_transpose(DType storage) const {
    void* const data = storage == DType::kF32 ? static_cast<void*>(const_cast<float*>(w.data())) : const_cast<uint16_t*>(narrow.data());
    return {s.width, s.vocabulary, storage, data, true};
  }
};

/// All results of the head's operations, one after another.
struct Results {
  std::vector<float> values;
  std::vector<int32_t> ids;

  float* floats(int64_t n) { return values.resize(values.size() + size_t(n), -7.0f), values.data() + values.size() - n; }
  int32_t* integers(int64_t n) { return ids.resize(ids.size() + size_t(n), -7), ids.data() + ids.size() - n; }
  bool same(const Results& other) const {
    return ids == other.ids && values.size() == other.values.size() && same_bits(values.data(), other.values.data(), int64_t(values.size()));
  }
};

void forward(const Head& m, const PackedMatrix& w, const PackedMatrix& w_t, const Stream& stream, Results& out) {
  const int64_t R = m.s.rows, C = m.s.width;
  out.values.reserve(size_t(4 * R + 2 * R * C + m.s.vocabulary * C + 4 * R));  // views stay valid
  float *const logprobs = out.floats(R), *const entropies = out.floats(R), *const lse = out.floats(R);
  float *const dlogprobs = out.floats(R * C), *const dh = out.floats(R * C), *const dw = out.floats(m.s.vocabulary * C);
  const TensorView h = f32(m.h.data(), {R, C}), targets = i32(m.targets.data(), {R});
  lm_head(stream, {.h = h, .w = w, .targets = targets, .logprobs = f32(logprobs, {R}), .entropies = f32(entropies, {R}), .lse = f32(lse, {R}),
                   .temperature = 0.8f, .w_t = w_t, .dh = f32(dlogprobs, {R, C})});
  lm_head_grad(stream, {.h = h, .w = w, .w_t = w_t, .targets = targets, .lse = f32(lse, {R}), .entropies = f32(entropies, {R}),
                        .a = f32(m.a.data(), {R}), .b = f32(m.b.data(), {R}), .dh = f32(dh, {R, C}), .dw = f32(dw, {m.s.vocabulary, C}),
                        .temperature = 0.8f});
}

void decode(const Head& m, const PackedMatrix& w, const Stream& stream, Results& out) {
  const int64_t R = m.s.rows;
  const std::vector<SamplingParams> params(size_t(R), SamplingParams{.temperature = 0.9f, .top_k = 40});
  std::vector<SampleKey> keys;
  for (int64_t r = 0; r < R; ++r) keys.push_back({77, uint32_t(r), 1, 2});
  int32_t* const tokens = out.integers(2 * R);
  float *const logprobs = out.floats(R), *const entropies = out.floats(R), *const likeliest = out.floats(R);
  const TensorView h = f32(m.h.data(), {R, m.s.width});
  lm_head_sample(stream, {.h = h, .w = w, .params = params.data(), .keys = keys.data(), .tokens = i32(tokens, {R}), .logprobs = f32(logprobs, {R}),
                          .entropies = f32(entropies, {R})});
  lm_head_top(stream, {.h = h, .w = w, .ids = i32(tokens + R, {R, 1}), .logprobs = f32(likeliest, {R, 1})});
}

Results all(const Head& m, const PackedMatrix& w, const PackedMatrix& w_t, const Stream& stream) {
  Results out;
  forward(m, w, w_t, stream, out);
  decode(m, w, stream, out);
  return out;
}

TEST(no_result_depends_on_how_a_head_of_bf16_values_is_stored) {
  for (const Sizes& sizes : kSizes) {
    const Head m(sizes);
    const Stored wide = m.packed(DType::kF32), narrow = m.packed(DType::kBF16);
    each_isa([&] {
      const Results expected = all(m, wide.w, wide.w_t, {});
      for (const Stream& stream : {Stream{}, two_threads()}) {
        EXPECT_TRUE(all(m, narrow.w, narrow.w_t, stream).same(expected));
        EXPECT_TRUE(all(m, wide.w, m.rows_of_transpose(DType::kF32), stream).same(expected));
        EXPECT_TRUE(all(m, narrow.w, m.rows_of_transpose(DType::kBF16), stream).same(expected));
      }
    });
  }
}

TEST(the_results_are_those_of_these_values) {
  Head m({5, 40, 90});
  const Results before = all(m, m.packed(DType::kBF16).w, m.rows_of_transpose(DType::kBF16), {});
  m.narrow[size_t(7 * 40 + 3)] ^= 0x40;  // read by the gradients alone
  EXPECT_TRUE(!all(m, m.packed(DType::kBF16).w, m.rows_of_transpose(DType::kBF16), {}).same(before));
}

TEST(an_embedding_in_bf16_gives_its_values_in_f32) {
  for (const Sizes& sizes : kSizes) {
    const Head m(sizes);
    const Stored narrow = m.packed(DType::kBF16);
    const int64_t R = m.s.rows, C = m.s.width, V = m.s.vocabulary;
    const TensorView ids = i32(m.targets.data(), {R}), table(const_cast<uint16_t*>(m.narrow.data()), DType::kBF16, {V, C});
    for (const Stream& stream : {Stream{}, two_threads()}) {
      std::vector<float> packed = poison(R * C), rows = poison(R * C);
      packed_embedding(stream, {.ids = ids, .w = narrow.w, .x = f32(packed.data(), {R, C})});
      embedding(stream, {.ids = ids, .table = table, .x = f32(rows.data(), {R, C})});
      for (int64_t r = 0; r < R; ++r) {
        const float* const expected = m.w.data() + m.targets[size_t(r)] * C;
        EXPECT_TRUE(same_bits(packed.data() + r * C, expected, C) && same_bits(rows.data() + r * C, expected, C));
      }
    }
  }
}

/// y (+)= x W^T + bias by W's panels, and by the rows of its transpose.
void check_product(int64_t rows, int64_t n, int64_t k, DType storage, bool accumulate) {
  const Head m({rows, n, k});  // its w is W^T
  const Stored stored = m.packed(storage);
  const std::vector<float> x = random_floats(rows * k), bias = random_floats(n), before = random_floats(rows * n);
  const auto product = [&](const PackedMatrix& w) {
    std::vector<float> y = before;
    linear({}, {.x = f32(x.data(), {rows, k}), .w = w, .bias = f32(bias.data(), {n}), .y = f32(y.data(), {rows, n}), .accumulate = accumulate});
    return y;
  };
  const std::vector<float> expected = product(stored.w_t), found = product(m.rows_of_transpose(storage));
  EXPECT_TRUE(same_bits(found.data(), expected.data(), rows * n));
  double sum = double(accumulate ? before.back() : 0.0f) + double(bias.back());
  for (int64_t i = 0; i < k; ++i) sum += double(x[size_t((rows - 1) * k + i)]) * double(m.w[size_t(i * n + n - 1)]);
  EXPECT_NEAR(double(found.back()), sum, 1e-5 * double(k));
}

TEST(a_product_by_the_rows_of_the_transpose_is_that_by_panels) {
  each_isa([] {
    for (const int64_t rows : {1, 5, 90, 171}) {
      for (const int64_t n : {1, 31, 64, 65, 130}) {
        for (const int64_t k : {1, 513, 1030}) {
          check_product(rows, n, k, DType::kF32, false), check_product(rows, n, k, DType::kBF16, true);
        }
      }
    }
  });
}

TEST(products_in_bf16_do_not_read_rows_of_a_transpose) {
  const Head m({3, 8, 10});
  PackedMatrix w_t = m.rows_of_transpose(DType::kBF16);
  w_t.arithmetic = Arithmetic::kBF16;
  std::vector<float> z(30), x(24);
  EXPECT_THROWS(linear({}, {.x = f32(z.data(), {3, 10}), .w = w_t, .bias = {}, .y = f32(x.data(), {3, 8})}), Code::kShape);
  PackedMatrix w = m.packed(DType::kBF16).w;
  w.arithmetic = Arithmetic::kBF16;
  EXPECT_THROWS(packed_embedding({}, {.ids = i32(m.targets.data(), {3}), .w = w, .x = f32(x.data(), {3, 8})}), Code::kShape);
}

}  // namespace
}  // namespace kernels_lm_head_bf16_test
