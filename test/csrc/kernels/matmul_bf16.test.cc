// Products in bf16 arithmetic have, to the bit, the sums that integer arithmetic rounds step by step, on
// every instruction set of this CPU: by vdpbf16ps and by its emulation.
//
// Faults put into the code, each detected: the low half of a pair first; denormal sums kept; denormal
// operands kept; 2^-126 as the threshold of a vanishing sum; x truncated; 0 instead of -0 next to the last of
// an odd number; the sum restarted after a block.
#include "kernels/cpu/matmul_bf16_block.h"

#include <algorithm>
#include <cmath>

#include "each_isa.h"
#include "kernels/matmul.h"

namespace kernels_matmul_bf16_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;
using cpu::Isa;
namespace baseline = cpu::baseline;  // HONE_PICK_BF16 names them so
#if defined(__aarch64__)
namespace neon = cpu::neon;
#else
namespace avx2 = cpu::avx2;
namespace avx512 = cpu::avx512;
namespace avx512bf16 = cpu::avx512bf16;
#endif

namespace {

using DotPairs = void (*)(const uint32_t*, const uint32_t*, float*);
using RoundRow = void (*)(const float*, int64_t, uint32_t*);

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
float of_bits(uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
float wide(uint32_t half) { return of_bits(half << 16); }

bool is_tiny(float x) { return (bits_of(x) & 0x7f800000u) == 0; }
float flushed(float x) { return is_tiny(x) ? std::copysign(0.0f, x) : x; }

/// The exact number (-1)^negative m 2^e.
struct Exact {
  bool negative;
  unsigned __int128 m;
  int e;
};
Exact exact(float x) {
  const uint32_t bits = bits_of(x);
  return {bool(bits >> 31), (bits & 0x7fffffu) | 0x800000u, int(bits >> 23 & 255) - 150};
}

/// Rounds to 24 bits, ties to even, with an unlimited exponent; results below 2^-126 then become 0, and those
/// from 2^128 on infinity.
float rounded(Exact x) {
  int length = 0;
  while (x.m >> length) ++length;
  const int cut = length - 24;
  uint64_t kept = cut > 0 ? uint64_t(x.m >> cut) : uint64_t(x.m) << -cut;
  int e = x.e + cut;
  if (cut > 0) {
    const unsigned __int128 rest = x.m & (((unsigned __int128)1 << cut) - 1), half = (unsigned __int128)1 << (cut - 1);
    if (rest > half || (rest == half && kept % 2 == 1)) ++kept;
    if (kept >> 24) kept >>= 1, ++e;
  }
  const uint32_t sign = x.negative ? 0x80000000u : 0;
  if (e < -149) return of_bits(sign);
  if (e > 104) return of_bits(sign | 0x7f800000u);
  return of_bits(sign | uint32_t(e + 150) << 23 | uint32_t(kept & 0x7fffffu));
}

/// a b + c with the semantics of vdpbf16ps: rounded once, denormal numbers as zeros.
float step(float a, float b, float c) {
  a = flushed(a), b = flushed(b), c = flushed(c);
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c) || a == 0 || b == 0) {
    return a == 0 || b == 0 || std::isfinite(c) ? a * b + c : double(a) * double(b) + double(c);
  }
  const Exact x = exact(a), y = exact(b);
  Exact product{x.negative != y.negative, x.m * y.m, x.e + y.e}, sum = exact(c);
  if (c == 0) return rounded(product);
  // The number with the higher last place is shifted to the other's last place, or far below the last place
  // that matters.
  Exact& high = product.e > sum.e ? product : sum;
  Exact& low = product.e > sum.e ? sum : product;
  if (high.e - low.e > 70) {
    low = {low.negative, 1, high.e - 70};
  }
  high.m <<= high.e - low.e;
  if (high.negative == low.negative) return rounded({high.negative, high.m + low.m, low.e});
  if (high.m == low.m) return 0.0f;
  if (high.m > low.m) return rounded({high.negative, high.m - low.m, low.e});
  return rounded({low.negative, low.m - high.m, low.e});
}

bool same(float a, float b) { return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b)); }

/// The bf16 number nearest to x, the even one in a tie; denormal numbers are zeros.
uint32_t nearest(float x) {
  x = flushed(x);
  const uint32_t down = bits_of(x) >> 16;
  if (std::isinf(x)) return down;
  const double below = std::fabs(double(x) - double(wide(down)));
  const double next = down % 0x8000 == 0x7f7f ? std::copysign(0x1p128, x) : double(wide(down + 1));
  const double above = std::fabs(next - double(x));
  return below < above || (below == above && down % 2 == 0) ? down : down + 1;
}

float drawn_sum() {
  constexpr uint32_t kSums[] = {0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x807fffff, 0x800000, 0x80800000, 0x800001,
                                0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf800001, 0x33800000};
  const auto any = uint32_t(random_int(0, 0xffff)) << 16 | uint32_t(random_int(0, 0xffff));
  return of_bits(random_int(0, 2) ? kSums[random_int(0, 15)] : any);
}
uint32_t drawn_number() {
  constexpr uint32_t kNumbers[] = {0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x8080, 0x7f80, 0xff80, 0x7fc0, 0x7f7f, 0xff7f, 0x3f80, 0xbf80,
                                   0x4000, 0x81, 0x2000, 0x1f80};
  return random_int(0, 2) ? kNumbers[random_int(0, 17)] : uint32_t(random_int(0, 0xffff));
}

/// Sixteen cases: arbitrary numbers or, if `near`, sums near the smallest normal number and products near its
/// last place.
struct Cases {
  uint32_t a[16], b[16];
  float sums[16];
  explicit Cases(bool near) {
    for (int i = 0; i < 16; ++i) {
      a[i] = drawn_number() << 16 | drawn_number(), b[i] = drawn_number() << 16 | drawn_number(), sums[i] = drawn_sum();
      if (!near) continue;
      const int64_t e = random_int(-60, -40), f = -148 - random_int(0, 6) - e;
      const uint32_t u = uint32_t(e + 127) << 7 | uint32_t(random_int(0, 1) ? random_int(0, 127) : 0);
      const uint32_t v = uint32_t(f + 127) << 7 | uint32_t(random_int(0, 1) ? random_int(0, 127) : 0) | uint32_t(random_int(0, 1)) << 15;
      const int at = random_int(0, 1) ? 16 : 0;
      a[i] = u << at, b[i] = v << at;
      sums[i] = of_bits(uint32_t(0x800000 + random_int(-2, 3)) | uint32_t(random_int(0, 1)) << 31);
    }
  }
};

/// Random numbers, of which some are 0, -0, denormal or exactly between two bf16 numbers.
std::vector<float> numbers(int64_t n) {
  std::vector<float> out = random_floats(n);
  for (int64_t i = 0; i < n; i += random_int(3, 30)) {
    const uint32_t kinds[] = {0, 0x80000000, 0x00000007, 0x807fffff, bits_of(out[size_t(i)]) & 0xffff0000u, (bits_of(out[size_t(i)]) & 0xffff0000u) | 0x8000u};
    out[size_t(i)] = of_bits(kinds[random_int(0, 5)]);
  }
  return out;
}

struct Pack {
  std::vector<uint8_t> memory;
  PackedMatrix w;
  Pack(const Stream& stream, const TensorView& source, int64_t n, int64_t k, bool transpose = false)
      : memory(size_t(packed_bytes(stream, n, k, DType::kBF16)) + 64, uint8_t(0xff)) {
    w = {n, k, DType::kBF16, memory.data(), false, Arithmetic::kBF16};
    pack_matrix(stream, {source, transpose, w});
  }
};

struct Shape { int64_t m, n, k; };
std::vector<Shape> shapes() {
  std::vector<Shape> out{{0, 5, 7}, {5, 0, 7}, {1, 1, 1}, {1, 1, 2}, {2, 33, 1}, {14, 32, 64}, {15, 33, 65}, {3, 40, 1025}, {171, 34, 19}};
  for (int64_t m : {1, 2, 3, 4, 7, 13, 29}) out.push_back({m, random_int(1, 150), random_int(1, 80)});
  return out;
}

TensorView matrix(const std::vector<float>& of, int64_t rows, int64_t columns) {
  return f32(const_cast<float*>(of.empty() ? reinterpret_cast<const float*>(&of) : of.data()), {rows, columns});
}

/// The expected sums of the product with weights [n, k], starting from `y`.
std::vector<float> chains(const Shape& s, const std::vector<float>& x, const std::vector<float>& w, std::vector<float> y) {
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      float& sum = y[size_t(i * s.n + j)];
      for (int64_t l = 0; l < s.k; ++l) {
        sum = step(wide(nearest(x[size_t(i * s.k + l)])), bf16_to_f32(f32_to_bf16(w[size_t(j * s.k + l)])), sum);
      }
    }
  }
  return y;
}
std::vector<float> turned(const std::vector<float>& w, int64_t rows, int64_t columns) {
  std::vector<float> out(w.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) out[size_t(j * rows + i)] = w[size_t(i * columns + j)];
  }
  return out;
}
int64_t differing(const std::vector<float>& a, const std::vector<float>& b) {
  int64_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += !same(a[i], b[i]);
  return count;
}

}  // namespace

TEST(a_pair_is_two_steps_that_round_once_and_know_no_denormal_numbers) {
  each_bf16_isa([] {
    const DotPairs run = HONE_PICK_BF16(dot_pairs);
    int64_t wrong = 0;
    for (int i = 0; i < 20000; ++i) {
      const Cases of(i % 3 == 0);
      Cases got = of;
      run(got.a, got.b, got.sums);
      for (int l = 0; l < 16; ++l) {
        const float first = step(wide(of.a[l] >> 16), wide(of.b[l] >> 16), of.sums[l]);
        wrong += !same(got.sums[l], step(wide(of.a[l] & 0xffff), wide(of.b[l] & 0xffff), first));
      }
    }
    EXPECT_EQ(wrong, 0);
  });
}

TEST(numbers_are_rounded_to_the_nearest_bf16_of_all_there_are) {
  each_bf16_isa([] {
    const RoundRow run = HONE_PICK_BF16(round_row);
    int64_t wrong = 0;
    std::vector<float> x;
    for (uint32_t high = 0; high < 0x10000; ++high) {
      for (uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) x.push_back(of_bits(high << 16 | low));
    }
    x.push_back(1.5f);
    std::vector<uint32_t> pairs(x.size() / 2 + 1);
    run(x.data(), int64_t(x.size()), pairs.data());
    for (size_t i = 0; i < x.size(); ++i) {
      const uint32_t got = i % 2 ? pairs[i / 2] & 0xffff : pairs[i / 2] >> 16;
      wrong += std::isnan(x[i]) ? !std::isnan(wide(got)) : got != nearest(x[i]);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(pairs.back() & 0xffff, 0u);
  });
}

TEST(linear_is_one_ascending_chain_of_such_steps_on_every_set) {
  ThreadPool pool(2);
  for (const Shape& s : shapes()) {
    const std::vector<float> x = numbers(s.m * s.k), w = numbers(s.n * s.k), b = random_floats(s.n), before = numbers(s.m * s.n);
    const std::vector<float> w_t = turned(w, s.n, s.k);
    const std::vector<float> plain = chains(s, x, w, std::vector<float>(size_t(s.m * s.n), 0.0f));
    std::vector<float> on_top = chains(s, x, w, before);
    for (size_t i = 0; i < on_top.size(); ++i) on_top[i] = step(1.0f, on_top[i], b[i % size_t(s.n)]);
    each_bf16_isa([&] {
      const Stream stream{.pool = random_int(0, 1) ? &pool : nullptr};
      const Pack straight(stream, matrix(w, s.n, s.k), s.n, s.k), round(stream, matrix(w_t, s.k, s.n), s.n, s.k, true);
      EXPECT_TRUE(straight.memory == round.memory);
      std::vector<float> y = poison(s.m * s.n);
      linear(stream, {matrix(x, s.m, s.k), straight.w, {}, matrix(y, s.m, s.n)});
      EXPECT_EQ(differing(y, plain), 0);
      y = before;
      linear(stream, {matrix(x, s.m, s.k), round.w, matrix(b, 1, s.n).dim(1) ? f32(const_cast<float*>(b.data()), {s.n}) : TensorView{},
                      matrix(y, s.m, s.n), true});
      EXPECT_EQ(differing(y, on_top), 0);
    });
  }
}

TEST(a_row_has_the_same_bits_in_every_batch_and_with_any_number_of_threads) {
  const int64_t n = 150, k = 1201, most = 400;
  ThreadPool pool(2);
  const std::vector<float> x = numbers(most * k), w = numbers(n * k);
  std::vector<float> first;
  each_bf16_isa([&] {
    // skipped because it is slow; each set is compared with the expected sums anyway
    if (cpu::isa() == Isa::kBaseline) return;
    const Pack pack({}, matrix(w, n, k), n, k);
    std::vector<float> all = poison(most * n);
    linear({}, {matrix(x, most, k), pack.w, {}, matrix(all, most, n)});
    if (first.empty()) first = all;
    EXPECT_EQ(differing(all, first), 0);
    for (int64_t m : {1, 2, 3, 5, 8, 15, 31, 64, 169}) {
      const int64_t at = random_int(0, most - m);
      std::vector<float> some = poison(m * n);
      const Stream stream{.pool = random_int(0, 1) ? &pool : nullptr};
      linear(stream, {f32(const_cast<float*>(&x[size_t(at * k)]), {m, k}), pack.w, {}, matrix(some, m, n)});
      EXPECT_TRUE(same_bits(some.data(), &all[size_t(at * n)], m * n));
    }
  });
}

TEST(a_weight_gradient_is_one_chain_over_the_rows_on_every_set) {
  ThreadPool pool(2);
  for (const Shape& s : {Shape{1, 3, 5}, Shape{2, 33, 16}, Shape{7, 70, 40}, Shape{401, 20, 35}, Shape{64, 5, 520}, Shape{770, 40, 3}}) {
    const std::vector<float> dy = numbers(s.m * s.n), x = numbers(s.m * s.k), before = numbers(s.n * s.k), bias = random_floats(s.n);
    std::vector<float> expected = before, sums = bias;
    for (int64_t l = 0; l < s.m; ++l) {
      for (int64_t i = 0; i < s.n; ++i) {
        sums[size_t(i)] += dy[size_t(l * s.n + i)];
        for (int64_t j = 0; j < s.k; ++j) {
          float& sum = expected[size_t(i * s.k + j)];
          sum = step(wide(nearest(dy[size_t(l * s.n + i)])), wide(nearest(x[size_t(l * s.k + j)])), sum);
        }
      }
    }
    each_bf16_isa([&] {
      std::vector<float> dw = before, dbias = bias, parts = before;
      const Stream stream{.pool = random_int(0, 1) ? &pool : nullptr};
      const auto add = [&](int64_t first, int64_t rows, std::vector<float>& to, const TensorView& db) {
        linear_grad_weight(stream, {f32(const_cast<float*>(&dy[size_t(first * s.n)]), {rows, s.n}),
                                    f32(const_cast<float*>(&x[size_t(first * s.k)]), {rows, s.k}), matrix(to, s.n, s.k), db, Arithmetic::kBF16});
      };
      add(0, s.m, dw, f32(dbias.data(), {s.n}));
      EXPECT_EQ(differing(dw, expected), 0);
      EXPECT_NEAR(dbias[0], sums[0], 1e-4);
      const int64_t cut = random_int(0, s.m - 1);  // dividing at an odd number of rows changes nothing
      if (cut > 0) add(0, cut, parts, {});
      add(cut, s.m - cut, parts, {});
      EXPECT_EQ(differing(parts, expected), 0);
    });
  }
}

TEST(an_odd_number_of_rows_changes_no_negative_zero) {
  each_bf16_isa([] {
    const std::vector<float> dy{-0.0f}, x{1.0f};
    std::vector<float> dw{-0.0f};
    linear_grad_weight({}, {matrix(dy, 1, 1), matrix(x, 1, 1), matrix(dw, 1, 1), {}, Arithmetic::kBF16});
    EXPECT_TRUE(std::signbit(dw[0]));
  });
}

TEST(denormal_numbers_are_as_before_after_a_product) {
  each_bf16_isa([] {
    const std::vector<float> one{1.0f, 1.0f};
    const Pack pack({}, matrix(one, 1, 2), 1, 2);
    std::vector<float> y{0.0f};
    linear({}, {matrix(one, 1, 2), pack.w, {}, matrix(y, 1, 1)});
    EXPECT_EQ(y[0], 2.0f);
    volatile float tiny = 0x1p-140f;
    EXPECT_EQ(tiny * 2.0f, 0x1p-139f);
  });
}

TEST(the_instruction_is_used_only_where_it_gives_these_bits) {
  if (!cpu::isa_supported(Isa::kAvx512Bf16)) SKIP("this CPU has no AVX512-BF16");
  EXPECT_TRUE(cpu::instruction_gives_our_bits());
}

TEST(bf16_products_of_f32_weights_are_refused) {
  std::vector<float> w(48), y(24);
  const PackedMatrix packed{6, 8, DType::kF32, w.data(), false, Arithmetic::kBF16};
  EXPECT_THROWS(pack_matrix({}, {matrix(w, 6, 8), false, packed}), Code::kShape);
  EXPECT_THROWS(linear({}, {matrix(w, 4, 8), packed, {}, matrix(y, 4, 6)}), Code::kShape);
}

TEST(an_arithmetic_has_a_name) {
  EXPECT_EQ(std::string(arithmetic_name(Arithmetic::kF32)), std::string("f32"));
  EXPECT_EQ(std::string(arithmetic_name(Arithmetic::kBF16)), std::string("bf16"));
}

}  // namespace kernels_matmul_bf16_test
