#include "kernels/squared_relu.h"

#include <algorithm>

namespace hone::kernels {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements that a thread takes at a time

void expect_cpu(const Stream& stream, const char* op) {
  if (stream.is_cuda()) fail(Code::kUnsupported, "%s: only the CPU has this activation; choose device \"cpu\".", op);
}

template <class Each>
void for_rows(const Stream& stream, int64_t rows, int64_t width, const Each& each) {
  stream.parallel_for(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(width, 1)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) each(r);
  });
}

}  // namespace

void squared_relu(const Stream& stream, const SquaredReluArgs& a) {
  const int64_t R = a.x.dim(0), F = a.x.dim(1);
  expect_cpu(stream, "squared_relu");
  expect(a.x, DType::kF32, {R, F}, "squared_relu", "x");
  expect(a.y, DType::kF32, {R, F}, "squared_relu", "y");
  for_rows(stream, R, F, [&](int64_t r) {
    const float* const x = a.x.row<float>(r);
    float* const y = a.y.row<float>(r);
    for (int64_t i = 0; i < F; ++i) y[i] = x[i] > 0.0f ? x[i] * x[i] : 0.0f;
  });
}

void squared_relu_grad(const Stream& stream, const SquaredReluGradArgs& a) {
  const int64_t R = a.x.dim(0), F = a.x.dim(1);
  const char* const op = "squared_relu_grad";
  expect_cpu(stream, op);
  for (const TensorView* view : {&a.x, &a.dy, &a.dx}) expect(*view, DType::kF32, {R, F}, op, "x, dy and dx");
  if (!a.y.empty()) expect(a.y, DType::kF32, {R, F}, op, "y");
  for_rows(stream, R, F, [&](int64_t r) {
    const float *x = a.x.row<float>(r), *dy = a.dy.row<float>(r);
    float *dx = a.dx.row<float>(r), *y = a.y.empty() ? nullptr : a.y.row<float>(r);
    for (int64_t i = 0; i < F; ++i) {
      const float positive = x[i] > 0.0f ? x[i] : 0.0f;
      if (y) y[i] = positive * positive;
      dx[i] = 2.0f * positive * dy[i];
    }
  });
}

}  // namespace hone::kernels
