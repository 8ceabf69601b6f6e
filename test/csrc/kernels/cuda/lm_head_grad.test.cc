// The head's gradient by chunks of rows: which partial sums dW consists of. lm_head.test.cc tests its values.
//
// Faults put into the code, each detected in the host shim: chunks of 2048 rows whatever was requested; dW of
// the first chunk only; the first chunk's inputs used for all. Of passes within a chunk (detected by
// chunks_of_rows_add_up of lm_head.test.cc): all write dz of the first pass; only the first pass runs.
#include "head.h"

namespace kernels_cuda_lm_head_grad_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

#ifdef HONE_HAVE_CUDA

// Only the chunk size determines the order in which dW's rows are summed: each chunk from zero, and chunks in
// order.
TEST(a_chunk_of_any_size_is_one_sum_of_dw) {
  NEEDS_DEVICE;
  for (const bool tied : {false, true}) {
    Head m(150, 24, 40, tied);
    m.forward();
    Gradient whole{random_floats(m.rows), random_floats(m.rows), {}, {}};
    m.chunk = 64;
    m.backward(whole, false);
    std::vector<float> dw(m.w.size(), m.before), dh;
    for (int64_t first = 0; first < m.rows; first += m.chunk) {
      const int64_t count = std::min(m.chunk, m.rows - first);
      Head part = m.part(first, count);
      const auto rows = [&](const std::vector<float>& of) {
        return std::vector(of.begin() + first, of.begin() + first + count);
      };
      part.lse = rows(m.lse), part.entropies = rows(m.entropies), part.before = 0.0f, part.chunk = 1 << 20;
      Gradient g{rows(whole.a), rows(whole.b), {}, {}};
      part.backward(g, false);
      for (size_t i = 0; i < dw.size(); ++i) dw[i] += g.dw[i];
      dh.insert(dh.end(), g.dh.begin(), g.dh.end());
    }
    EXPECT_TRUE(same_bits(whole.dw.data(), dw.data(), int64_t(dw.size())));
    EXPECT_TRUE(same_bits(whole.dh.data(), dh.data(), int64_t(dh.size())));
  }
}

TEST(a_chunk_has_a_row_at_least) {
  NEEDS_DEVICE;
  Head m(2, 8, 5);
  m.forward();
  Gradient g{{1.0f, 1.0f}, {}, {}, {}};
  m.chunk = 0;
  EXPECT_THROWS(m.backward(g, false), Code::kConfig);
}

#else
TEST(cuda_head_gradient) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_lm_head_grad_test
