// Packed and paged attention against f64 sums, their gradient against central differences, and the rule that
// a row's bits do not depend on packing, paging, batch, prefill split or threads.
//
// Faults put into the code, each detected by the test named: one key too many or too few for rows of a tile,
// a window one too long, a window's first block unmasked (matches_f64); the triangle of a tile skipped or
// started one key late (matches_f64, paged); either split's state merged without rescaling (matches_f64); a
// tile's triangle applied in a split that is not the last (gradient, paged); lanes beyond the last key
// unmasked (matches_f64, NaN pages); delta or scale left out of ds, dk summed from p (gradient); a key tile's
// rows taken from the wrong start, or cut 15 rows short of a window (gradient); a panel that starts at its
// own split, or omits a tile's last one (matches_f64); keys and values truncated instead of rounded (bf16
// pages); grouped heads decoded as if each had its own key head, the normaliser off by 1e-5 in the paged op
// only, a key written to a wrong lane (paged).
#include "kernels/attention.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "attention_reference.h"
#include "each_isa.h"
namespace kernels_attention_test {
using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

const Shape kShapes[] = {
    {{1}, 1, 1, 1},
    {{1, 1, 2, 3}, 2, 1, 2},
    {{5, 17, 16, 1, 33}, 4, 4, 24},
    {{0, 37, 0, 20, 64, 0}, 3, 3, 32},
    {{37, 9}, 6, 2, 10},
    {{70, 130}, 8, 2, 64, 40},
    {{19, 3}, 5, 1, 130},
    {{48, 21}, 4, 2, 96, 7},
    {{66, 1, 40}, 2, 2, 25, 1},
    {{18}, 1, 1, 256},
    {{18}, 2, 1, 512},
    {{640, 30}, 1, 1, 18},
    {{560}, 1, 1, 8, 530},
    {{700}, 1, 1, 8, 100},  // windows of neighbouring rows that start in different splits
};

/// A batch of only sequence s of `p`.
Packed alone(const Packed& p, size_t s) {
  Packed one({{p.shape.lengths[s]}, p.shape.heads, p.shape.kv_heads, p.shape.head_dim, p.shape.window});
  const auto part = [&](const std::vector<float>& x, int64_t stride) {
    return std::vector<float>(x.begin() + p.starts[s] * stride, x.begin() + p.starts[s + 1] * stride);
  };
  one.q = part(p.q, p.q_stride());
  one.k = part(p.k, p.k_stride());
  one.v = part(p.v, p.k_stride());
  one.dout = part(p.dout, p.shape.heads * p.shape.head_dim);
  return one;
}

bool same(const std::vector<float>& whole, int64_t offset, const std::vector<float>& part) {
  return same_bits(whole.data() + offset, part.data(), int64_t(part.size()));
}

/// The KV cache of one layer, NaN wherever nothing was written, and block tables of shuffled page ids.
struct Cache {
  KvPages pages;
  std::vector<float> keys, values;  // sized for f32; read as bf16, both halves are NaN too
  std::vector<int32_t> tables;
  int64_t table_width = 0;

  Cache(const Packed& p, int64_t page_tokens, DType storage) {
    const int64_t longest = *std::max_element(p.shape.lengths.begin(), p.shape.lengths.end());
    table_width = (longest + page_tokens - 1) / page_tokens + 1;
    const int64_t count = table_width * int64_t(p.shape.lengths.size()) + 2;
    const int64_t floats = p.shape.kv_heads * page_tokens * p.shape.head_dim;
    keys = poison(count * floats);
    values = poison(count * floats);
    if (storage == DType::kBF16) {
      for (auto* x : {&keys, &values}) std::memset(x->data(), 0xff, x->size() * sizeof(float));
    }
    pages = {{keys.data(), storage, {count, floats}}, {values.data(), storage, {count, floats}}, p.shape.kv_heads,
             page_tokens, p.shape.head_dim};
    tables.resize(size_t(table_width) * p.shape.lengths.size());
    std::iota(tables.begin(), tables.end(), 1);
    std::shuffle(tables.begin(), tables.end(), hone::test::random());
  }
  TensorView table_view(int64_t rows) const { return i32(tables.data(), {rows, table_width}); }
};

/// Rows for one call: q, k and v, and the rows' sequences and positions.
struct Rows {
  std::vector<float> q, k, v, out;
  std::vector<int32_t> sequence, position;
};

/// Runs all sequences through the cache in random chunks of random sequences; returns out [T, H, D].
std::vector<float> run_paged(const Packed& p, int64_t page_tokens, int64_t most_rows, const Stream& stream,
                             DType storage = DType::kF32) {
  Cache cache(p, page_tokens, storage);
  const int64_t S = int64_t(p.shape.lengths.size()), width = p.shape.heads * p.shape.head_dim;
  std::vector<float> out = poison(p.shape.tokens() * width);
  std::vector<int> done(size_t(S), 0);
  for (int64_t left = p.shape.tokens(); left > 0;) {
    Rows rows;
    std::vector<int64_t> tokens;
    for (int64_t s = 0; s < S; ++s) {
      const int64_t take = std::min<int64_t>(random_int(0, most_rows), p.shape.lengths[size_t(s)] - done[size_t(s)]);
      for (int64_t i = 0; i < take; ++i) {
        const int64_t t = p.starts[size_t(s)] + done[size_t(s)];
        tokens.push_back(t);
        rows.sequence.push_back(int32_t(s));
        rows.position.push_back(done[size_t(s)]++);
        const auto append = [t](std::vector<float>* to, const std::vector<float>& from, int64_t stride, int64_t n) {
          to->insert(to->end(), from.begin() + t * stride, from.begin() + t * stride + n);
        };
        append(&rows.q, p.q, p.q_stride(), width);
        append(&rows.k, p.k, p.k_stride(), p.shape.kv_heads * p.shape.head_dim);
        append(&rows.v, p.v, p.k_stride(), p.shape.kv_heads * p.shape.head_dim);
      }
    }
    const int64_t R = int64_t(tokens.size()), H = p.shape.heads, K = p.shape.kv_heads, D = p.shape.head_dim;
    if (R == 0) continue;
    rows.out = poison(R * width);
    const TensorView sequence = i32(rows.sequence.data(), {R}), position = i32(rows.position.data(), {R});
    kv_write(stream, {f32(rows.k.data(), {R, K, D}), f32(rows.v.data(), {R, K, D}), sequence, position,
                      cache.table_view(S), cache.pages});
    attention_paged(stream, {f32(rows.q.data(), {R, H, D}), sequence, position, cache.table_view(S), cache.pages,
                             f32(rows.out.data(), {R, H, D}), p.shape.scale(), p.shape.window, {}, {}, {}, 0.0f, p.sinks_view()});
    for (int64_t i = 0; i < R; ++i) std::copy_n(rows.out.begin() + i * width, width, out.begin() + tokens[size_t(i)] * width);
    left -= R;
  }
  return out;
}

}  // namespace

// The tolerance covers two f32 sums (of D terms, and of up to 640 terms below 1), and an error of exp of
// 2e-7.
TEST(forward_matches_f64) {
  for (const Shape& shape : kShapes) {
    Packed p(shape);
    std::vector<double> lse, out, row;
    const int64_t step = shape.tokens() > 500 ? 13 : 1;
    for (int64_t t = 0; t < shape.tokens(); t += step) {
      for (int64_t head = 0; head < shape.heads; ++head) {
        lse.push_back(reference_row(p, t, head, &row));
        out.insert(out.end(), row.begin(), row.end());
      }
    }
    const size_t H = size_t(shape.heads), width = H * size_t(shape.head_dim);
    each_isa([&] {
      p.clear();
      p.forward();
      for (size_t i = 0; i < lse.size(); ++i) EXPECT_NEAR(p.lse[i / H * size_t(step) * H + i % H], lse[i], 5e-6);
      for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(p.out[i / width * size_t(step) * width + i % width], out[i], 5e-6);
    });
  }
}

TEST(gradient_matches_central_differences_of_f64) {
  for (const Shape& shape : kShapes) {
    Packed p(shape);
    const std::vector<Derivative> derivatives = drawn_derivatives(p, shape.tokens() > 500 ? 3 : 24);
    each_isa([&] {
      p.clear();
      p.forward();
      p.backward();
      for (const Derivative& d : derivatives) EXPECT_NEAR((p.*d.gradient)[d.at], d.wanted, 2e-4);
    });
  }
}

TEST(every_gradient_element_is_written_and_gaps_are_not) {
  each_isa([] {
    for (const Shape& shape : kShapes) {
      Packed p(shape);
      p.forward();
      p.backward();
      for (int64_t t = 0; t < shape.tokens(); ++t) {
        for (int64_t i = 0; i < p.q_stride(); ++i) {
          EXPECT_EQ(std::isnan(p.dq[size_t(t * p.q_stride() + i)]), i >= shape.heads * shape.head_dim);
        }
        for (int64_t i = 0; i < p.k_stride(); ++i) {
          EXPECT_EQ(std::isnan(p.dk[size_t(t * p.k_stride() + i)]), i >= shape.kv_heads * shape.head_dim);
          EXPECT_EQ(std::isnan(p.dv[size_t(t * p.k_stride() + i)]), i >= shape.kv_heads * shape.head_dim);
        }
      }
    }
  });
}

TEST(a_sequence_has_the_same_bits_alone_packed_and_on_two_threads) {
  each_isa([] {
    for (const Shape& shape : kShapes) {
      Packed p(shape), threaded = p;
      p.forward();
      p.backward();
      threaded.forward(two_threads());
      threaded.backward(two_threads());
      EXPECT_TRUE(same(p.out, 0, threaded.out) && same(p.lse, 0, threaded.lse));
      EXPECT_TRUE(same(p.dq, 0, threaded.dq) && same(p.dk, 0, threaded.dk) && same(p.dv, 0, threaded.dv));
      for (size_t s = 0; s < shape.lengths.size(); ++s) {
        Packed one = alone(p, s);
        if (shape.lengths[s] == 0) continue;
        one.forward();
        one.backward();
        EXPECT_TRUE(same(p.out, p.starts[s] * shape.heads * shape.head_dim, one.out));
        EXPECT_TRUE(same(p.lse, p.starts[s] * shape.heads, one.lse));
        EXPECT_TRUE(same(p.dq, p.starts[s] * p.q_stride(), one.dq));
        EXPECT_TRUE(same(p.dk, p.starts[s] * p.k_stride(), one.dk));
        EXPECT_TRUE(same(p.dv, p.starts[s] * p.k_stride(), one.dv));
      }
    }
  });
}

// Holds for any prefill split, rows per call, page size and table; NaN in unwritten cache memory must have no
// effect. Pages of bf16 give the result of packed attention on keys and values rounded to bf16.
TEST(paged_equals_packed_to_the_bit) {
  each_isa([] {
    for (const Shape& shape : kShapes) {
      const Packed given(shape);
      for (DType storage : {DType::kF32, DType::kBF16}) {
        Packed p = given;
        for (auto* x : {&p.k, &p.v}) {
          for (float& value : *x) value = storage == DType::kF32 ? value : bf16_to_f32(f32_to_bf16(value));
        }
        p.forward();
        for (int64_t page_tokens : {16, 48}) {
          for (int64_t rows : {1, 7, 40}) {
            if (rows != 40 && (shape.tokens() > 500 || storage == DType::kBF16)) continue;
            if (page_tokens == 16 && storage == DType::kBF16) continue;
            const Stream stream = rows == 7 ? two_threads() : Stream{};
            EXPECT_TRUE(same(p.out, 0, run_paged(given, page_tokens, rows, stream, storage)));
          }
        }
      }
    }
  });
}

/// A batch whose sinks range from far below every score to far above.
Packed with_sinks(const Shape& shape) {
  Packed p(shape);
  for (int64_t h = 0; h < shape.heads; ++h) p.sinks.push_back(float(h % 4) * 3.0f - 5.0f);
  p.forward();
  return p;
}

TEST(sinks_take_their_share_of_a_row_and_pages_have_its_bits) {
  each_isa([] {
    for (const Shape& shape : kShapes) {
      const Packed p = with_sinks(shape);
      if (shape.tokens() < 100) {
        std::vector<double> out;
        for (int64_t t = 0; t < shape.tokens(); ++t) {
          for (int64_t h = 0; h < shape.heads; ++h) {
            EXPECT_NEAR(p.lse[size_t(t * shape.heads + h)], reference_row(p, t, h, &out), 1e-5);
            for (int64_t d = 0; d < shape.head_dim; ++d) EXPECT_NEAR(p.out[size_t((t * shape.heads + h) * shape.head_dim + d)], out[size_t(d)], 1e-5);
          }
        }
      }
      EXPECT_TRUE(same(p.out, 0, run_paged(p, 16, 7, Stream{}, DType::kF32)));
    }
  });
}

TEST(the_gradient_of_sinks_and_what_they_leave_of_keys_is_that_of_f64_differences) {
  each_isa([] {
    const Shape shape{{5, 9}, 4, 2, 10, 6};
    Packed p = with_sinks(shape);
    p.backward();
    std::vector<float> dsinks(4, 0.5f);
    attention_sinks_grad({}, {.sinks = p.sinks_view(), .out = p.out_view(p.out), .dout = p.out_view(p.dout), .lse = f32(p.lse.data(), {14, 4}), .dsinks = f32(dsinks.data(), {4})});
    const auto slope = [&](float& x, const Span& span) {
      const float was = x, h = 1e-2f;
      x = was + h;
      const double above = reference_loss(p, span);
      x = was - h;
      const double below = reference_loss(p, span);
      x = was;
      return (above - below) / (2.0 * double(h));
    };
    for (int64_t h = 0; h < 4; ++h) EXPECT_NEAR(dsinks[size_t(h)] - 0.5f, slope(p.sinks[size_t(h)], {0, 14, h, h + 1}), 1e-4);
    for (int64_t d = 0; d < 10; ++d) {
      EXPECT_NEAR(p.dq[size_t(7 * p.q_stride() + d)], slope(p.q[size_t(7 * p.q_stride() + d)], moved_by_query(7, 0)), 1e-4);
      EXPECT_NEAR(p.dk[size_t(6 * p.k_stride() + d)], slope(p.k[size_t(6 * p.k_stride() + d)], moved_by_key(p, 6, 0)), 1e-4);
      EXPECT_NEAR(p.dv[size_t(6 * p.k_stride() + d)], slope(p.v[size_t(6 * p.k_stride() + d)], moved_by_key(p, 6, 0)), 1e-4);
    }
  });
}

TEST(lse_is_optional) {
  Packed p(kShapes[2]), without = p;
  p.forward();
  attention_packed({}, {without.q_view(without.q), without.k_view(without.k), without.k_view(without.v), without.cu(),
                        without.out_view(without.out), {}, without.shape.scale(), 0});
  EXPECT_TRUE(same(p.out, 0, without.out));
}

TEST(a_nan_reaches_the_rows_that_read_it_and_no_other) {
  each_isa([] {
    for (size_t which : {0, 1}) {
      Packed p({{40, 30}, 2, 1, 24});
      (which ? p.v : p.k)[size_t(20 * p.k_stride() + 3)] = std::nanf("");
      p.forward();
      for (int64_t t = 0; t < 70; ++t) {
        EXPECT_EQ(std::isnan(p.out[size_t(t * 48 + 3)]), t >= 20 && t < 40);
      }
    }
  });
}

TEST(large_scores_do_not_overflow) {
  each_isa([] {
    Packed p({{600}, 1, 1, 16});
    for (float& x : p.q) x *= 100;
    p.forward();
    std::vector<double> out;
    for (int64_t t : {0, 300, 599}) {
      reference_row(p, t, 0, &out);
      // Scores near 1000 have f32 errors of 1e-4, which the softmax turns into relative errors of that size.
      for (int64_t d = 0; d < 16; ++d) EXPECT_NEAR(p.out[size_t(t * 16 + d)], out[size_t(d)], 2e-3);
    }
  });
}

TEST(wrong_arguments_are_named) {
  Packed p({{3}, 3, 2, 4});
  EXPECT_THROWS(p.forward(), Code::kShape);
  Packed wide({{3}, 1, 1, 513});
  EXPECT_THROWS(wide.forward(), Code::kShape);
  Packed good({{3}, 2, 1, 4});
  EXPECT_THROWS(attention_packed({}, {good.q_view(good.q), good.k_view(good.k), good.q_view(good.q), good.cu(),
                                      good.out_view(good.out), {}, 1.0f, 0}), Code::kShape);
  Cache cache(good, 16, DType::kF32);
  cache.pages.page_tokens = 8;
  const int32_t zero = 0;
  EXPECT_THROWS(kv_write({}, {f32(good.k.data(), {1, 1, 4}), f32(good.v.data(), {1, 1, 4}), i32(&zero, {1}),
                              i32(&zero, {1}), cache.table_view(1), cache.pages}), Code::kShape);
}

}  // namespace kernels_attention_test
