// RMS norm on a device, compared with the CPU op on the same bf16 values.
//
// The CPU op's own error is 1e-6 (rms_norm.test.cc); here every output is also rounded once to bf16. Faults
// put into the code, each detected: no barrier in block_sum (matches, rows of a block); the last value of a
// tail not loaded (matches, width 41); r^2 for r^3 (matches); the first strip left out of dweight (matches);
// accumulate ignored (added); sums written beyond the width, rows read beyond the last strip, a head's
// columns taken by row (AddressSanitizer).
#include "kernels/rms_norm.h"

#include "device.h"
#include "kernels/cuda/scratch.h"

namespace kernels_cuda_rms_norm_test {

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

struct Shape {
  int64_t rows, width, gap;
  bool centered = false;
};
// A single value, tails, unaligned rows, more rows than a strip, the widest row that a warp takes, rows that
// a block takes. All with their mean and less it.
const Shape kShapes[] = {{1, 1, 0}, {3, 8, 8}, {70, 64, 16}, {5, 41, 3}, {33, 40, 4}, {2, 1024, 0}, {3, 1032, 8}, {35, 2053, 1},
                         {1, 1, 0, true}, {3, 8, 8, true}, {70, 64, 16, true}, {5, 41, 3, true}, {33, 40, 4, true}, {2, 1024, 0, true},
                         {3, 1032, 8, true}, {35, 2053, 1, true}};

struct Norm {
  Shape shape;
  float eps = 1e-3f;
  std::vector<float> x, weight, dy, y, dx, dweight;

  /// Centered rows have a mean of twice their deviation.
  explicit Norm(Shape s)
      : shape(s), x(rounded_to_bf16(random_floats(size()))), weight(random_floats(s.width)),
        dy(rounded_to_bf16(random_floats(size()))) {
    if (s.centered) for (float& v : x) v += 2.0f;
    x = rounded_to_bf16(x);
  }
  int64_t stride() const { return shape.width + shape.gap; }
  int64_t size() const { return shape.rows * stride(); }
  TensorView view(std::vector<float>& v) const {
    return with_stride(f32(v.data(), {shape.rows, shape.width}), stride());
  }
  TensorView view(const DeviceArray<uint16_t>& v) const {
    return with_stride(v.view(DType::kBF16, {shape.rows, shape.width}), stride());
  }

  /// Computes y, dx and dweight by the CPU op.
  void reference(bool accumulate) {
    y = poison(size());
    dx = accumulate ? rounded_to_bf16(x) : poison(size());
    dweight.assign(size_t(shape.width), 0.5f);
    const TensorView w = f32(weight.data(), {shape.width});
    rms_norm({}, {view(x), w, view(y), eps, 0.0f, shape.centered});
    rms_norm_grad({}, {view(x), w, view(dy), view(dx), f32(dweight.data(), {shape.width}), eps, accumulate, nullptr, 0.0f, shape.centered});
  }
};

struct Scratch {
  Arena arena;
  Scratch(int64_t rows, int64_t width)
      : arena(std::max<int64_t>(64, rms_norm_grad_scratch_bytes(device_stream(), rows, width)), "test", Memory::kDevice) {}
};

struct Result {
  std::vector<uint16_t> y, dx;
  std::vector<float> dweight;
};

Result on_device(const Norm& m, bool accumulate) {
  const DeviceArray<uint16_t> x(to_bf16(m.x)), dy(to_bf16(m.dy)), y(m.size());
  const DeviceArray<uint16_t> dx = accumulate ? DeviceArray<uint16_t>(to_bf16(m.x)) : DeviceArray<uint16_t>(m.size());
  const DeviceArray<float> weight(m.weight), dweight(std::vector<float>(size_t(m.shape.width), 0.5f));
  const TensorView w = weight.view(DType::kF32, {m.shape.width});
  Scratch scratch(m.shape.rows, m.shape.width);
  rms_norm(device_stream(), {m.view(x), w, m.view(y), m.eps, 0.0f, m.shape.centered});
  rms_norm_grad(device_stream(), {m.view(x), w, m.view(dy), m.view(dx), dweight.view(DType::kF32, {m.shape.width}), m.eps,
                                  accumulate, &scratch.arena, 0.0f, m.shape.centered});
  return {y.download(), dx.download(), dweight.download()};
}

}  // namespace

TEST(rows_match_the_cpu_and_nothing_between_them_is_touched) {
  NEEDS_DEVICE;
  for (const Shape& s : kShapes) {
    Norm m(s);
    m.reference(false);
    const Result got = on_device(m, false);
    expect_rounded(got.y, m.y, 4e-6, "y");
    // The slack covers sums of up to 2053 products of a few units.
    expect_rounded(got.dx, m.dx, 4e-5, "dx");
    for (int64_t i = 0; i < s.width; ++i) EXPECT_NEAR(got.dweight[size_t(i)], m.dweight[size_t(i)], 1e-4);
  }
}

TEST(gradients_are_added_to_what_was_there) {
  NEEDS_DEVICE;
  for (const Shape& s : kShapes) {
    if (s.gap == 1) continue;  // here the gaps between rows contain values
    Norm m(s);
    m.reference(true);
    expect_rounded(on_device(m, true).dx, m.dx, 4e-5, "dx");
  }
}

TEST(a_row_alone_has_the_bits_it_has_among_others) {
  NEEDS_DEVICE;
  for (const Shape& s : kShapes) {
    Norm m(s);
    const Result whole = on_device(m, false), again = on_device(m, false);
    EXPECT_TRUE(whole.y == again.y && whole.dx == again.dx && whole.dweight == again.dweight);
    Norm last = m;
    last.shape.rows = 1;
    last.x.assign(m.x.end() - m.stride(), m.x.end());
    last.dy.assign(m.dy.end() - m.stride(), m.dy.end());
    const Result alone = on_device(last, false);
    EXPECT_TRUE(std::equal(alone.y.begin(), alone.y.begin() + s.width, whole.y.end() - m.stride()));
    EXPECT_TRUE(std::equal(alone.dx.begin(), alone.dx.begin() + s.width, whole.dx.end() - m.stride()));
  }
}

TEST(the_weight_gradient_of_many_strips_is_the_sum_in_f64) {
  NEEDS_DEVICE;
  // There are more strips than one block adds: a full block, and a second one with a whole and a partial
  // strip.
  const int64_t rows = kernels::cuda::kNormFan * kernels::cuda::kNormStrip + 33;
  Norm m({rows, 8, 0});
  const DeviceArray<uint16_t> x(to_bf16(m.x)), dy(to_bf16(m.dy)), dx(m.size());
  const DeviceArray<float> weight(m.weight);
  std::vector<double> sum(8, 0.5), size(8, 0.0);
  for (int64_t r = 0; r < rows; ++r) {
    const float *const in = &m.x[size_t(r * 8)], *const slope = &m.dy[size_t(r * 8)];
    double squares = 0.0;
    for (size_t c = 0; c < 8; ++c) squares += double(in[c]) * in[c];
    const double inverse = 1.0 / std::sqrt(squares / 8 + double(m.eps));
    for (size_t c = 0; c < 8; ++c) {
      sum[c] += double(slope[c]) * in[c] * inverse;
      size[c] += std::fabs(double(slope[c]) * in[c] * inverse);
    }
  }
  std::vector<float> first;
  for (int run = 0; run < 2; ++run) {
    const DeviceArray<float> dweight(std::vector<float>(8, 0.5f));
    Scratch scratch(rows, 8);
    rms_norm_grad(device_stream(), {m.view(x), weight.view(DType::kF32, {8}), m.view(dy), m.view(dx),
                                    dweight.view(DType::kF32, {8}), m.eps, false, &scratch.arena});
    const std::vector<float> got = dweight.download();
    if (run == 0) first = got;
    EXPECT_TRUE(got == first);
    // The tolerance covers an f32 sum of 32 terms, the row's factor, and one or two roundings at the end.
    for (size_t c = 0; c < 8; ++c) EXPECT_NEAR(got[c], sum[c], 4e-7 * size[c] + 1.2e-7 * std::fabs(sum[c]));
  }
}

TEST(a_wide_row_has_room_for_its_sums) {
  NEEDS_DEVICE;
  // With the 128 bytes of block_sum, widths from 12264 to 12288 slightly exceed the shared memory that a
  // launch has without opting in to more.
  for (const int64_t width : {12264, 12288}) {
    Norm m({2, width, 0});
    m.reference(false);
    expect_rounded(on_device(m, false).dx, m.dx, 2e-4, "dx");
  }
}

TEST(outputs_may_take_the_place_of_inputs) {
  NEEDS_DEVICE;
  Norm m({9, 72, 8});
  const Result apart = on_device(m, false);
  const DeviceArray<uint16_t> x(to_bf16(m.x)), same(to_bf16(m.x)), dy(to_bf16(m.dy));
  const DeviceArray<float> weight(m.weight), dweight(m.weight);
  const TensorView w = weight.view(DType::kF32, {72});
  Scratch scratch(9, 72);
  rms_norm(device_stream(), {m.view(same), w, m.view(same), m.eps});
  rms_norm_grad(device_stream(), {m.view(x), w, m.view(dy), m.view(dy), dweight.view(DType::kF32, {72}), m.eps, false,
                                  &scratch.arena});
  const std::vector<uint16_t> y = same.download(), dx = dy.download();
  for (size_t r = 0; r < 9; ++r) {
    EXPECT_TRUE(std::equal(y.begin() + long(r * 80), y.begin() + long(r * 80 + 72), apart.y.begin() + long(r * 80)));
    EXPECT_TRUE(std::equal(dx.begin() + long(r * 80), dx.begin() + long(r * 80 + 72), apart.dx.begin() + long(r * 80)));
  }
}

TEST(heads_of_a_row_are_normed_one_by_one_on_both_backends) {
  NEEDS_DEVICE;
  const int64_t T = 37, N = 3, stride = 3 * 64 + 40;
  for (const int64_t D : {int64_t(64), int64_t(20)}) {
    std::vector<float> x = rounded_to_bf16(random_floats(T * stride)), dy = rounded_to_bf16(random_floats(T * stride));
    std::vector<float> weight = random_floats(D), y = poison(T * stride), dx = y, dweight(static_cast<size_t>(D));
    const DeviceArray<uint16_t> ax(to_bf16(x)), ady(to_bf16(dy)), ay(T * stride), adx(T * stride);
    const DeviceArray<float> aw(weight), adw(dweight);
    const auto host = [&](std::vector<float>& v) { return with_stride(f32(v.data(), {T, N, D}), stride); };
    const auto device = [&](const DeviceArray<uint16_t>& v) { return with_stride(v.view(DType::kBF16, {T, N, D}), stride); };
    Scratch scratch(T * N, D);
    rms_norm({}, {host(x), f32(weight.data(), {D}), host(y)});
    rms_norm_grad({}, {host(x), f32(weight.data(), {D}), host(dy), host(dx), f32(dweight.data(), {D})});
    const TensorView w = aw.view(DType::kF32, {D});
    rms_norm(device_stream(), {device(ax), w, device(ay)});
    rms_norm_grad(device_stream(), {device(ax), w, device(ady), device(adx), adw.view(DType::kF32, {D}), 1e-5f, false,
                                    &scratch.arena});
    expect_rounded(ay.download(), y, 4e-6, "y");
    expect_rounded(adx.download(), dx, 4e-5, "dx");
    const std::vector<float> got = adw.download();
    for (size_t i = 0; i < size_t(D); ++i) EXPECT_NEAR(got[i], dweight[i], 1e-4);
  }
}

TEST(no_rows_are_no_work_and_wrong_arguments_are_named) {
  NEEDS_DEVICE;
  const DeviceArray<uint16_t> x(16);
  const DeviceArray<float> w(random_floats(8));
  const TensorView none = x.view(DType::kBF16, {0, 8}), weight = w.view(DType::kF32, {8});
  rms_norm(device_stream(), {none, weight, none});
  rms_norm_grad(device_stream(), {none, weight, none, none, weight});
  const TensorView two = x.view(DType::kBF16, {2, 8}), wrong = x.view(DType::kF32, {1, 8});
  EXPECT_THROWS(rms_norm(device_stream(), {wrong, weight, wrong}), Code::kShape);
  EXPECT_THROWS(rms_norm_grad(device_stream(), {two, weight, two, two, weight}), Code::kInternal);
}

}  // namespace kernels_cuda_rms_norm_test
