// The FP32 head on a GPU, by the portable kernels and, on a Hopper, by wgmma: statistics and gradient in TFLOP/s of bf16
// work, sampling as a share of the time that reading the weights takes at the copy bandwidth measured in the same run.
// `--json` prints one JSON object, a word selects rows by name, `--smoke` takes small shapes.
#include "kernels/lm_head.h"

#include "../options.h"
#include "kernels/cuda/matmul.h"
#include "report.h"

using namespace hone;
using namespace hone::kernels;
using bench::Report;

namespace {

struct Shape {
  const char* name;
  int64_t width, vocabulary;
  bool tied;
};
const Shape kShapes[] = {{"0.6B", 1024, 151936, true}, {"4B", 2560, 151936, true},
                         {"8B", 4096, 151936, false}, {"15B", 5120, 131072, false}};
// Of a pass in bf16, on Hopper; an f32 head makes three of them for the statistics.
constexpr double kTargetTeraflops = 600;

const Shape kSmoke[] = {{"smoke", 256, 4000, false}, {"smoke tied", 256, 4000, true}};

/// Never zeros: a GPU draws less power on those, and is faster.
template <class T>
T* random_on(const Stream& stream, Arena& arena, int64_t n, float scale) {
  std::vector<T> values(static_cast<size_t>(n));
  uint32_t state = 1;
  for (T& x : values) {
    state = state * 1664525u + 1013904223u;
    const float u = (float(state >> 8) * 0x1p-24f - 0.5f) * scale;
    if constexpr (sizeof(T) == 2) x = f32_to_bf16(u);
    else x = u;
  }
  T* const out = arena.take_array<T>(n);
  upload(stream, out, values.data(), n * int64_t(sizeof(T)));
  return out;
}

template <class T>
T* filled(const Stream& stream, Arena& arena, int64_t n, const std::function<T(int64_t)>& value) {
  std::vector<T> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(value(i));
  T* const out = arena.take_array<T>(n);
  upload(stream, out, values.data(), n * int64_t(sizeof(T)));
  return out;
}

const char* way() { return kernels::cuda::has_wgmma() ? ", wgmma" : ", mma.sync"; }

void training(Report& report, const Shape& s, Arena& arena, const PackedMatrix& w, uint16_t* h, int64_t rows) {
  const Stream& stream = report.stream;
  const int64_t C = s.width, V = s.vocabulary;
  Arena scratch(lm_head_scratch_bytes(stream, rows, C, V), "bench scratch", Memory::kDevice);
  LmHeadArgs f;
  f.h = {h, DType::kBF16, {rows, C}};
  f.w = w;
  f.targets = i32(filled<int32_t>(stream, arena, rows, [&](int64_t i) { return int32_t(i * 7919 % V); }), {rows});
  f.logprobs = arena.take_view(DType::kF32, {rows});
  f.entropies = arena.take_view(DType::kF32, {rows});
  f.lse = arena.take_view(DType::kF32, {rows});
  f.scratch = &scratch;
  const double pass = 2 * double(rows) * double(C) * double(V);
  const std::string label = std::string(s.name) + ", " + std::to_string(rows) + " rows" + way();
  report.add("statistics " + label, pass * (s.tied ? 1 : 3), 0, [&] { lm_head(stream, f); }, kTargetTeraflops);
  LmHeadGradArgs b;
  b.h = f.h;
  b.w = w;
  b.targets = f.targets;
  b.lse = f.lse;
  b.entropies = f.entropies;
  b.a = f32(filled<float>(stream, arena, rows, [](int64_t i) { return 1e-3f * float(i % 7 - 3); }), {rows});
  b.dh = arena.take_view(DType::kBF16, {rows, C});
  b.dw = arena.take_view(DType::kF32, {V, C});
  zero(stream, b.dw.data, V * C * 4);
  b.scratch = &scratch;
  report.add("gradient " + label, pass * (s.tied ? 3 : 4), 0, [&] { lm_head_grad(stream, b); }, kTargetTeraflops);
}

void decoding(Report& report, const Shape& s, Arena& arena, const PackedMatrix& w, uint16_t* h, int64_t rows, float top_p) {
  const Stream& stream = report.stream;
  Arena scratch(lm_head_scratch_bytes(stream, rows, s.width, s.vocabulary), "bench scratch", Memory::kDevice);
  LmHeadSampleArgs a;
  a.h = {h, DType::kBF16, {rows, s.width}};
  a.w = w;
  a.params = filled<SamplingParams>(stream, arena, rows, [&](int64_t) { return SamplingParams{1.0f, 0, top_p, 0.0f}; });
  a.keys = filled<SampleKey>(stream, arena, rows, [](int64_t i) { return SampleKey{7, uint32_t(i), 0, 1}; });
  a.tokens = arena.take_view(DType::kI32, {rows});
  a.logprobs = arena.take_view(DType::kF32, {rows});
  a.entropies = arena.take_view(DType::kF32, {rows});
  a.scratch = &scratch;
  const double weights = double(s.width) * double(s.vocabulary);
  std::string name = std::string("sample ") + s.name + ", " + std::to_string(rows) + " rows";
  if (top_p < 1.0f) name += ", top-p";
  name += way();
  report.add(name, 2 * double(rows) * weights * (s.tied ? 1 : 3), weights * (s.tied ? 2 : 4),
             [&] { lm_head_sample(stream, a); });
}

void measure(Report& report, const Shape& s, int64_t rows) {
  const Stream& stream = report.stream;
  const int64_t weights = s.width * s.vocabulary;
  Arena arena(weights * 8 + rows * s.width * 4 + (int64_t(16) << 20), "bench", Memory::kDevice);
  PackedMatrix w;
  w.n = s.vocabulary;
  w.k = s.width;
  w.storage = s.tied ? DType::kBF16 : DType::kF32;
  if (s.tied) w.panels = random_on<uint16_t>(stream, arena, weights, 0.1f);
  else w.panels = random_on<float>(stream, arena, weights, 0.1f);
  uint16_t* const h = random_on<uint16_t>(stream, arena, rows * s.width, 4.0f);
  const int64_t inputs = arena.mark();
  for (const bool portable : {true, false}) {
    kernels::cuda::force_portable(portable);
    if (!portable && !kernels::cuda::has_wgmma()) continue;
    for (const int64_t n : {1, 16, 64, 256}) decoding(report, s, arena, w, h, n, 1.0f);
    decoding(report, s, arena, w, h, 64, 0.95f);
    training(report, s, arena, w, h, rows);
    arena.release(inputs);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto [json, smoke, only] = bench::parse_options(argc, argv);
  try {
    const Device device(Stream::Backend::kCuda, nullptr);
    Report report(device.stream(), json, only);
    if (smoke) {
      for (const Shape& s : kSmoke) measure(report, s, 256);
    } else {
      for (const Shape& s : kShapes) measure(report, s, 4096);
    }
    report.print();
  } catch (const Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
