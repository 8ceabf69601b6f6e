// Ops on a GPU that only move memory: norms, rotation, SwiGLU, embedding, gathering, casts, the optimizer. Each as a
// share of the time that its bytes (every operand once) take at the copy bandwidth of the same run; every operand
// exceeds the second-level cache. `--json` prints lines of JSON, a word selects rows by name, `--smoke` takes small
// shapes.
#include <random>

#include "kernels/attention.h"
#include "kernels/cast.h"
#include "kernels/embedding.h"
#include "kernels/gather.h"
#include "kernels/optimizer.h"
#include "kernels/rms_norm.h"
#include "kernels/rope.h"
#include "kernels/swiglu.h"
#include "report.h"

using namespace hone;
using namespace hone::kernels;
using bench::integers;
using bench::numbers;
using bench::Report;

namespace {

constexpr double kTarget = 0.85;

/// T tokens of a model of width C with N heads of D in q and k together, an MLP of F and a vocabulary of V.
struct Shape {
  int64_t tokens, width, heads, head_dim, mlp, vocabulary, parameters;
};
const Shape kShape{16384, 5120, 40, 128, 14336, 131072, int64_t(1) << 28}, kSmoke{64, 128, 16, 16, 192, 500, 40000};

std::string sized(const char* op, int64_t rows, int64_t columns) {
  return std::string(op) + " " + std::to_string(rows) + "x" + std::to_string(columns);
}
std::vector<int32_t> random_ids(int64_t n, int64_t below) {
  std::mt19937 random(3);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < n; ++i) ids.push_back(int32_t(random() % uint32_t(below)));
  return ids;
}

/// `rows` of `width`, as whole rows or, for q/k norm, as heads.
void norm(Report& report, int64_t rows, int64_t width) {
  const Stream& stream = report.stream;
  Arena memory(4 * rows * width * 2 + 3 * width * 4 + rms_norm_grad_scratch_bytes(stream, rows, width) + 4096, "bench",
               Memory::kDevice);
  const auto values = [&] { return numbers(stream, memory, DType::kBF16, {rows, width}); };
  const TensorView x = values(), y = memory.take_view(DType::kBF16, {rows, width});
  const TensorView dy = values(), dx = memory.take_view(DType::kBF16, {rows, width});
  const TensorView w = numbers(stream, memory, DType::kF32, {width}), dw = numbers(stream, memory, DType::kF32, {width});
  const double n = double(rows * width);
  report.add({.name = sized("rms_norm", rows, width), .bytes = 4 * n, .target_of_floor = kTarget},
             [&](int) { rms_norm(stream, {x, w, y}); });
  report.add({.name = sized("rms_norm_grad", rows, width), .bytes = 6 * n, .target_of_floor = kTarget},
             [&](int) { rms_norm_grad(stream, {x, w, dy, dx, dw, 1e-5f, false, &memory}); });
}

void norms(Report& report, const Shape& s) {
  norm(report, s.tokens, s.width);
  norm(report, s.tokens * s.heads, s.head_dim);
}

void heads(Report& report, const Shape& s) {
  const Stream& stream = report.stream;
  const int64_t T = s.tokens, N = s.heads, D = s.head_dim, P = 4096;
  Arena memory(T * (N + 8) * D * 2 + P * D * 4 + T * 4 + 2 * D * 4 + 4096, "bench", Memory::kDevice);
  const TensorView qk = numbers(stream, memory, DType::kBF16, {T, N, D}), v = numbers(stream, memory, DType::kBF16, {T, 8, D});
  const TensorView table = numbers(stream, memory, DType::kF32, {P, D}), positions = integers(stream, memory, random_ids(T, P), {T});
  const TensorView q_norm = numbers(stream, memory, DType::kF32, {D}), k_norm = numbers(stream, memory, DType::kF32, {D});
  const double bytes = 4 * double(T * N * D);
  report.add({.name = sized("rope", T, N * D), .bytes = bytes, .target_of_floor = kTarget},
             [&](int) { rope(stream, {qk, positions, table}); });
  // The op takes the number of key heads from v.
  report.add({.name = sized("prepare_heads (norm, rope)", T, N * D), .bytes = bytes, .target_of_floor = kTarget},
             [&](int) { prepare_heads(stream, {qk, v, q_norm, k_norm, 1e-5f, positions, table}); });
}

void mlp(Report& report, const Shape& s) {
  const Stream& stream = report.stream;
  const int64_t T = s.tokens, F = s.mlp;
  Arena memory(6 * T * F * 2 + 4096, "bench", Memory::kDevice);
  const TensorView gate_up = numbers(stream, memory, DType::kBF16, {T, 2 * F}), dy = numbers(stream, memory, DType::kBF16, {T, F});
  const TensorView y = memory.take_view(DType::kBF16, {T, F}), out = memory.take_view(DType::kBF16, {T, 2 * F});
  const double n = double(T * F);
  report.add({.name = sized("swiglu", T, F), .bytes = 6 * n, .target_of_floor = kTarget}, [&](int) { swiglu(stream, {gate_up, y}); });
  report.add({.name = sized("swiglu_grad", T, F), .bytes = 10 * n, .target_of_floor = kTarget},
             [&](int) { swiglu_grad(stream, {gate_up, dy, out}); });
}

void by_index(Report& report, const Shape& s) {
  const Stream& stream = report.stream;
  const int64_t T = s.tokens, C = s.width, V = s.vocabulary, R = T / 2;
  Arena memory(V * C * (2 + 4) + 2 * T * C * 2 + 2 * T * 4 + 4096, "bench", Memory::kDevice);
  const TensorView table = numbers(stream, memory, DType::kBF16, {V, C}), dtable = numbers(stream, memory, DType::kF32, {V, C});
  const TensorView x = numbers(stream, memory, DType::kBF16, {T, C}), ids = integers(stream, memory, random_ids(T, V), {T});
  std::vector<int32_t> every_other;
  for (int64_t r = 0; r < R; ++r) every_other.push_back(int32_t(2 * r));
  const TensorView rows = integers(stream, memory, every_other, {R}), some = numbers(stream, memory, DType::kBF16, {R, C});
  const double n = double(T * C);
  report.add({.name = sized("embedding", T, C), .bytes = 4 * n, .target_of_floor = kTarget},
             [&](int) { embedding(stream, {ids, table, x}); });
  report.add({.name = sized("embedding_grad", T, C), .bytes = 10 * n, .target_of_floor = kTarget},
             [&](int) { embedding_grad(stream, {ids, x, dtable}); });
  report.add({.name = sized("gather_rows", R, C), .bytes = 2 * n, .target_of_floor = kTarget},
             [&](int) { gather_rows(stream, {x, rows, some}); });
  report.add({.name = sized("scatter_rows", R, C), .bytes = 3 * n, .target_of_floor = kTarget},
             [&](int) { scatter_rows(stream, {some, rows, x}); });
}

void optimizer(Report& report, const Shape& s) {
  const Stream& stream = report.stream;
  const int64_t n = s.parameters, C = s.width, scratch_bytes = std::max({adamw_scratch_bytes(stream, n),
      sum_of_squares_scratch_bytes(stream, n), muon_scratch_bytes(stream, C, C)});
  Arena memory(n * (4 * 4 + 2) + scratch_bytes + 4096, "bench", Memory::kDevice);
  const auto values = [&](float scale) { return numbers(stream, memory, DType::kF32, {n}, scale); };
  const TensorView p = values(0.05f), m = values(1e-3f), v = memory.take_view(DType::kF32, {n}), g = values(1e-3f);
  const TensorView packed = memory.take_view(DType::kBF16, {n}), total = memory.take_view(DType::kF64, {1});
  zero(stream, v.data, n * 4);  // second moments cannot be negative
  report.add({.name = sized("cast f32 to bf16", n / 1000, 1000), .bytes = 6 * double(n / 1000 * 1000), .target_of_floor = kTarget}, [&](int) {
    cast(stream, {{g.data, DType::kF32, {n / 1000, 1000}}, {packed.data, DType::kBF16, {n / 1000, 1000}}});
  });
  report.add({.name = "sum_of_squares " + std::to_string(n), .bytes = 4 * double(n), .target_of_floor = kTarget},
             [&](int) { sum_of_squares(stream, {g, total, &memory}); });
  AdamWArgs a{.param = p, .m = m, .v = v, .grad = g, .lr = 1e-6f};
  a.squared_change = total, a.scratch = &memory, a.packed = packed;
  report.add({.name = "adamw " + std::to_string(n), .bytes = 30 * double(n), .target_of_floor = kTarget}, [&](int) { adamw(stream, a); });
  const auto square = [&](const TensorView& view) { return TensorView(view.data, view.dtype, {C, C}); };
  MuonArgs u{.param = square(p), .momentum_buffer = square(m), .grad = square(g), .lr = 1e-6f};
  u.squared_change = total, u.scratch = &memory, u.packed = {packed.data, DType::kBF16, {C * C}};
  const double cube = double(C) * double(C) * double(C);
  report.add({.name = sized("muon", C, C), .flops = 6 * kNewtonSchulzSteps * cube}, [&](int) { muon(stream, u); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run("rows", bench::parse_options(argc, argv), [](Report& report) {
    const Shape& shape = report.smoke() ? kSmoke : kShape;
    using Group = std::pair<const char*, void (*)(Report&, const Shape&)>;
    for (const auto& [name, work] : {Group{"norms", norms}, {"heads", heads}, {"mlp", mlp}, {"by index", by_index}, {"optimizer", optimizer}}) {
      report.tried(name, [&] { work(report, shape); });
    }
  });
}
