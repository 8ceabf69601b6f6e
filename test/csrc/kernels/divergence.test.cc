// The divergence from a teacher in the output head's backward, compared with f64: values, and gradients by
// central differences of the whole loss, over the vocabulary and over the teacher's likeliest tokens; equal
// bits for any threads and chunks.
//
// Faults put into the code, each detected: beta and 1 - beta exchanged (gradient); mean of the gap left out
// (gradient); a mixture of logits in place of probabilities (values); the student's whole mass assigned to
// its likeliest tokens (likeliest); the teacher's or the student's soft cap left out (capped).
#include "kernels/divergence.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "each_isa.h"
#include "kernels/lm_head.h"

namespace kernels_divergence_test {
using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

struct Packed {
  std::vector<float> panels;
  PackedMatrix matrix;
  Packed(std::vector<float>& w, int64_t n, int64_t k, bool transpose)
      : panels(size_t(packed_bytes({}, transpose ? k : n, transpose ? n : k, DType::kF32)) / 4) {
    matrix = {transpose ? k : n, transpose ? n : k, DType::kF32, panels.data()};
    pack_matrix({}, {f32(w.data(), {n, k}), transpose, matrix});
  }
};

struct Taught {
  int64_t rows, width, vocabulary, teacher_width, teacher_vocabulary, k;
  float beta, temperature = 0.8f, softcap = 0.0f, teacher_softcap = 0.0f;
  bool rest = false;
  std::vector<float> h, w, hidden, head, a, b, slopes, top_logprobs;
  std::vector<int32_t> targets, ids;
  std::vector<float> logprobs, entropies, lse, divergences, dh, dw;

  Taught(int64_t r, int64_t c, int64_t v, float beta_, int64_t k_ = 0)
      : rows(r), width(c), vocabulary(v), teacher_width(c + 3), teacher_vocabulary(v + 2), k(k_), beta(beta_), h(random_floats(r * c)),
        w(random_floats(v * c, 2.0f / std::sqrt(float(c)))), hidden(random_floats(r * teacher_width)),
        head(random_floats(teacher_vocabulary * teacher_width, 2.0f / std::sqrt(float(c)))), a(random_floats(r)), b(random_floats(r)), slopes(random_floats(r, 0.3f)) {
    for (int64_t i = 0; i < r; ++i) targets.push_back(int32_t(random_int(0, v - 1)));
    for (int64_t i = 0; i < r; ++i) {
      std::vector<int32_t> all(size_t(v), 0);
      std::iota(all.begin(), all.end(), 0);
      for (int64_t j = 0; j < k; ++j) {
        std::swap(all[size_t(j)], all[size_t(random_int(j, v - 1))]);
        ids.push_back(all[size_t(j)]), top_logprobs.push_back(-4.0f * std::fabs(random_floats(1)[0]) - 0.1f);
      }
    }
  }
  TensorView floats(std::vector<float>& x) { return f32(x.data(), {rows}); }
  void run(const Stream& stream = {}, Arena* scratch = nullptr) {
    Packed packed(w, vocabulary, width, false), packed_t(w, vocabulary, width, true), teacher(head, teacher_vocabulary, teacher_width, false);
    logprobs = entropies = lse = divergences = poison(rows);
    lm_head(stream, {f32(h.data(), {rows, width}), packed.matrix, i32(targets.data(), {rows}), floats(logprobs), floats(entropies),
                     floats(lse), temperature, nullptr, softcap});
    dh = poison(rows * width), dw.assign(size_t(vocabulary * width), 0.25f);
    const Divergence divergence{.beta = beta, .hidden = f32(hidden.data(), {rows, teacher_width}), .head = teacher.matrix, .softcap = teacher_softcap,
                                .ids = k > 0 ? i32(ids.data(), {rows, k}) : TensorView{}, .logprobs = f32(top_logprobs.data(), {rows, k}),
                                .rest = rest, .scratch = scratch};
    lm_head_grad(stream, {.h = f32(h.data(), {rows, width}), .w = packed.matrix, .w_t = packed_t.matrix, .targets = i32(targets.data(), {rows}),
                          .lse = floats(lse), .entropies = floats(entropies), .a = floats(a), .b = floats(b),
                          .dh = f32(dh.data(), {rows, width}), .dw = f32(dw.data(), {vocabulary, width}), .temperature = temperature,
                          .softcap = softcap, .teacher = &divergence,
                          .slopes = floats(slopes), .divergences = floats(divergences)});
  }
};

std::vector<double> log_softmax(std::vector<double> z) {
  const double top = *std::max_element(z.begin(), z.end());
  double total = 0;
  for (double x : z) total += std::exp(x - top);
  for (double& x : z) x -= top + std::log(total);
  return z;
}

std::vector<double> logits(const std::vector<float>& h, const std::vector<float>& w, int64_t row, int64_t width, int64_t n, double cap,
                           double temperature) {
  std::vector<double> z(static_cast<size_t>(n), 0.0);
  for (int64_t v = 0; v < n; ++v) {
    for (int64_t i = 0; i < width; ++i) z[size_t(v)] += double(h[size_t(row * width + i)]) * double(w[size_t(v * width + i)]);
    if (cap > 0) z[size_t(v)] = cap * std::tanh(z[size_t(v)] / cap);
    z[size_t(v)] /= temperature;
  }
  return z;
}

double reference_divergence(const Taught& m, int64_t r) {
  const double T = double(m.temperature), beta = double(m.beta);
  std::vector<double> student = logits(m.h, m.w, r, m.width, m.vocabulary, double(m.softcap), T);
  std::vector<double> teacher = logits(m.hidden, m.head, r, m.teacher_width, m.vocabulary, double(m.teacher_softcap), T);
  if (m.rest) {
    const std::vector<double> whole = log_softmax(student);
    double ours = 1, theirs = 1, sum = 0;
    for (int64_t i = r * m.k; i < (r + 1) * m.k; ++i) {
      const double s = whole[size_t(m.ids[size_t(i)])], t = double(m.top_logprobs[size_t(i)]);
      ours -= std::exp(s), theirs -= std::exp(t), sum += std::exp(s) * (s - t);
    }
    return sum + ours * std::log(ours / theirs);
  }
  if (m.k > 0) {
    std::vector<double> some;
    teacher.clear();
    for (int64_t i = r * m.k; i < (r + 1) * m.k; ++i) some.push_back(student[size_t(m.ids[size_t(i)])]), teacher.push_back(double(m.top_logprobs[size_t(i)]));
    student = some;
  }
  student = log_softmax(student), teacher = log_softmax(teacher);
  double sum = 0;
  for (size_t v = 0; v < student.size(); ++v) {
    const double s = student[v], t = teacher[v], mixed = std::log(beta * std::exp(t) + (1 - beta) * std::exp(s));
    sum += beta == 0 ? std::exp(t) * (t - s) : beta == 1 ? std::exp(s) * (s - t) : beta * std::exp(t) * (t - mixed) + (1 - beta) * std::exp(s) * (s - mixed);
  }
  return sum;
}

double reference_loss(const Taught& m) {
  double loss = 0;
  for (int64_t r = 0; r < m.rows; ++r) {
    const std::vector<double> p = log_softmax(logits(m.h, m.w, r, m.width, m.vocabulary, double(m.softcap), double(m.temperature)));
    double entropy = 0;
    for (double x : p) entropy -= std::exp(x) * x;
    loss += double(m.a[size_t(r)]) * p[size_t(m.targets[size_t(r)])] + double(m.b[size_t(r)]) * entropy + double(m.slopes[size_t(r)]) * reference_divergence(m, r);
  }
  return loss;
}

const float kBetas[] = {0.0f, 0.1f, 0.5f, 0.9f, 1.0f};

}  // namespace

TEST(divergences_match_f64_over_the_vocabulary_and_over_the_likeliest) {
  each_isa([] {
    for (const float beta : kBetas) {
      for (const int64_t k : {0, 5}) {
        for (const int64_t v : {19, 226, 9001}) {
          Taught m(v > 1000 ? 3 : 70, 12, v, beta, k);
          m.run();
          for (int64_t r = 0; r < m.rows; r += 1 + m.rows / 7) EXPECT_NEAR(m.divergences[size_t(r)], reference_divergence(m, r), 3e-5);
        }
      }
    }
  });
}

TEST(gradients_of_a_divergence_beside_log_probs_and_entropies_match_central_differences_capped_or_not) {
  each_isa([] {
    for (const float beta : kBetas) {
      for (const int64_t k : {0, 4}) {
        for (const float cap : {0.0f, 2.0f}) {
          Taught m(5, 7, 19, beta, k);
          m.softcap = cap, m.teacher_softcap = 1.5f * cap;
          m.run();
          const auto check = [&](std::vector<float> Taught::*input, const std::vector<float>& gradient, double before) {
            for (size_t i = 0; i < (m.*input).size(); i += 1 + (m.*input).size() / 40) {
              Taught up = m, down = m;
              (up.*input)[i] += 0x1p-10f, (down.*input)[i] -= 0x1p-10f;
              const double step = double((up.*input)[i]) - double((down.*input)[i]);
              EXPECT_NEAR(double(gradient[i]) - before, (reference_loss(up) - reference_loss(down)) / step, 1e-4);
            }
          };
          check(&Taught::h, m.dh, 0.0);
          check(&Taught::w, m.dw, 0.25);
        }
      }
    }
  });
}

/// Changes the teacher's log-probs of each row's likeliest tokens so that their probabilities sum to `mass`.
void give_mass(Taught& m, double mass) {
  for (int64_t from = 0; from < m.rows * m.k; from += m.k) {
    double sum = 0;
    for (int64_t i = from; i < from + m.k; ++i) sum += std::exp(double(m.top_logprobs[size_t(i)]));
    for (int64_t i = from; i < from + m.k; ++i) m.top_logprobs[size_t(i)] += float(std::log(mass / sum));
  }
}

TEST(with_the_rest_as_one_token_values_and_gradients_are_those_of_the_coarser_distributions) {
  each_isa([] {
    for (const float cap : {0.0f, 2.0f}) {
      for (const int64_t v : {19, 226, 9001}) {
        Taught m(v > 1000 ? 3 : 5, 7, v, 1.0f, 4);
        m.rest = true, m.softcap = cap;
        give_mass(m, 0.7);
        m.run();
        for (int64_t r = 0; r < m.rows; ++r) EXPECT_NEAR(m.divergences[size_t(r)], reference_divergence(m, r), 3e-5);
        for (size_t i = 0; i < m.h.size(); ++i) {
          Taught up = m, down = m;
          up.h[i] += 0x1p-10f, down.h[i] -= 0x1p-10f;
          EXPECT_NEAR(double(m.dh[i]), (reference_loss(up) - reference_loss(down)) / (double(up.h[i]) - double(down.h[i])), 1e-4);
        }
        for (size_t i = 0; i < m.w.size(); i += 1 + m.w.size() / 40) {
          Taught up = m, down = m;
          up.w[i] += 0x1p-10f, down.w[i] -= 0x1p-10f;
          EXPECT_NEAR(double(m.dw[i]) - 0.25, (reference_loss(up) - reference_loss(down)) / (double(up.w[i]) - double(down.w[i])), 1e-4);
        }
      }
    }
  });
}

TEST(a_rest_that_rounds_to_nothing_is_finite_and_moves_nothing_where_both_agree) {
  each_isa([] {
    Taught m(4, 8, 5, 1.0f, 5);  // the likeliest tokens are the whole vocabulary
    m.rest = true;
    for (int64_t r = 0; r < 4; ++r) {
      const std::vector<double> p = log_softmax(logits(m.h, m.w, r, 8, 5, 0, double(m.temperature)));
      const int64_t to = r * 5;
      for (int64_t i = 0; i < 5; ++i) m.top_logprobs[size_t(to + i)] = float(p[size_t(m.ids[size_t(to + i)])]);
    }
    std::fill(m.a.begin(), m.a.end(), 0.0f), std::fill(m.b.begin(), m.b.end(), 0.0f);
    m.run();
    for (float x : m.divergences) EXPECT_NEAR(x, 0.0, 2e-6);
    for (float x : m.dh) EXPECT_NEAR(x, 0.0, 2e-6);
  });
}

TEST(a_policy_that_is_its_teacher_is_not_moved) {
  each_isa([] {
    for (const float beta : kBetas) {
      Taught m(9, 8, 50, beta);
      m.teacher_width = 8, m.teacher_vocabulary = 50, m.head = m.w, m.hidden = m.h;
      std::fill(m.a.begin(), m.a.end(), 0.0f), std::fill(m.b.begin(), m.b.end(), 0.0f);
      m.run();
      for (float x : m.divergences) EXPECT_NEAR(x, 0.0, 1e-6);
      for (float x : m.dh) EXPECT_NEAR(x, 0.0, 1e-6);
    }
  });
}

TEST(bits_do_not_depend_on_threads_and_scratch_is_given_back) {
  each_isa([] {
    for (const auto& [k, rest] : {std::pair{int64_t(0), false}, {int64_t(20), false}, {int64_t(20), true}}) {
      Taught m(150, 48, 1001, rest ? 1.0f : 0.5f, k);
      m.rest = rest;
      Taught threaded = m;
      m.run();
      const Divergence of{.head = {.n = 1003, .k = 51}, .ids = k > 0 ? i32(m.ids.data(), {150, k}) : TensorView{}, .rest = rest};
      Arena scratch(divergence_scratch_bytes({}, 150, 1001, of), "test");
      threaded.run(two_threads(), &scratch);
      EXPECT_EQ(scratch.used(), 0);
      EXPECT_TRUE(same_bits(m.dh.data(), threaded.dh.data(), 150 * 48) && same_bits(m.dw.data(), threaded.dw.data(), 1001 * 48));
      EXPECT_TRUE(same_bits(m.divergences.data(), threaded.divergences.data(), 150));
    }
  });
}

TEST(the_likeliest_are_those_of_the_whole_distribution_with_its_log_probs) {
  each_isa([] {
    Taught m(70, 16, 500, 0.5f);
    Packed packed(m.w, 500, 16, false);
    std::vector<int32_t> ids(70 * 6, -1);
    std::vector<float> logprobs = poison(70 * 6);
    lm_head_top(two_threads(), {f32(m.h.data(), {70, 16}), packed.matrix, i32(ids.data(), {70, 6}), f32(logprobs.data(), {70, 6}), 0.8f});
    for (int64_t r = 0; r < 70; ++r) {
      const std::vector<double> p = log_softmax(logits(m.h, m.w, r, 16, 500, 0, double(0.8f)));
      std::vector<int32_t> order(500);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t x, int32_t y) { return p[size_t(x)] > p[size_t(y)]; });
      for (int64_t i = 0; i < 6; ++i) {
        EXPECT_EQ(ids[size_t(r * 6 + i)], order[size_t(i)]);
        EXPECT_NEAR(logprobs[size_t(r * 6 + i)], p[size_t(order[size_t(i)])], 2e-5);
      }
      m.targets[size_t(r)] = ids[size_t(r * 6 + 2)];
    }
    m.run();
    for (int64_t r = 0; r < 70; ++r) EXPECT_TRUE(same_bits(&m.logprobs[size_t(r)], &logprobs[size_t(r * 6 + 2)], 1));
  });
}

TEST(a_divergence_that_cannot_be_is_refused) {
  Taught wrong(3, 8, 20, 1.5f), small(3, 8, 20, 0.5f);
  small.teacher_vocabulary = 19;
  EXPECT_THROWS(wrong.run(), Code::kConfig);
  EXPECT_THROWS(small.run(), Code::kShape);
  Taught forward(3, 8, 20, 0.0f, 4);
  forward.rest = true;
  EXPECT_THROWS(forward.run(), Code::kConfig);
  Packed packed(wrong.w, 20, 8, false);
  std::vector<int32_t> ids(3 * 21);
  std::vector<float> logprobs(3 * 21);
  const LmHeadTopArgs many{f32(wrong.h.data(), {3, 8}), packed.matrix, i32(ids.data(), {3, 21}), f32(logprobs.data(), {3, 21})};
  EXPECT_THROWS(lm_head_top({}, many), Code::kConfig);
}
}  // namespace kernels_divergence_test
