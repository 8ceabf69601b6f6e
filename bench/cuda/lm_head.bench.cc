// Measures the FP32 head on a GPU. Log-probs, entropies and gradient: TFLOP/s, counting the bf16 operations. Sampling: the
// time in which a copy reads the weights once, measured in the same run, as a share of the time that sampling takes. Uses wgmma where available, mma.sync with HONE_CUDA_PORTABLE=1.
// `--json` prints lines of JSON, a word selects rows by name, `--smoke` takes small shapes.
#include "kernels/lm_head.h"

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
/// The target for a bf16 pass, for wgmma only; an f32 head makes three such passes for the statistics.
double target() { return kernels::cuda::has_wgmma() ? 600 : 0; }

const Shape kSmoke[] = {{"smoke", 64, 700, false}, {"smoke tied", 64, 700, true}};

template <class T>
T* filled(const Stream& stream, Arena& arena, int64_t n, const std::function<T(int64_t)>& value) {
  std::vector<T> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(value(i));
  T* const out = arena.take_array<T>(n);
  upload(stream, out, values.data(), n * int64_t(sizeof(T)));
  return out;
}

constexpr float kWeightScale = 0.05f, kHiddenScale = 2.0f;

/// The largest relative error of two random rows' log-probs against f64. Sums the logits over the whole vocabulary from
/// the random operands.
double error_of(const Stream& stream, const Shape& s, const LmHeadArgs& f, int64_t rows) {
  const bench::RandomValues hidden(kHiddenScale);
  const std::vector<float> weights = s.tied ? bench::RandomValues(kWeightScale).line(0, bench::kPeriod)
                                            : bench::random_block<float>(bench::kPeriod, kWeightScale);
  std::vector<float> logprobs(static_cast<size_t>(rows));
  std::vector<int32_t> targets(logprobs.size());
  download(stream, logprobs.data(), f.logprobs.data, rows * 4);
  download(stream, targets.data(), f.targets.data, rows * 4);
  bench::Difference difference;
  for (const int64_t r : bench::random_indices(rows, 2)) {
    const std::vector<float> h = hidden.line(r * s.width, s.width);
    double total = 0, own = 0;
    for (int64_t v = 0; v < s.vocabulary; ++v) {
      double z = 0;
      size_t at = size_t(v * s.width) % weights.size();
      for (const float x : h) {
        z += double(x) * double(weights[at]);
        if (++at == weights.size()) at = 0;
      }
      total += std::exp(z);  // z is far below f64's overflow
      if (v == targets[size_t(r)]) own = z;
    }
    difference.add(double(logprobs[size_t(r)]), own - std::log(total));
  }
  return difference.share();
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
  const auto statistics = [&](int) { lm_head(stream, f); };
  statistics(0);
  report.add({.name = "statistics " + label, .flops = pass * (s.tied ? 1 : 3), .target_teraflops = target(),
              .error = error_of(stream, s, f, rows), .most_error = 1e-5},
             statistics);
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
  report.add({.name = "gradient " + label, .flops = pass * (s.tied ? 3 : 4), .target_teraflops = target()},
             [&](int) { lm_head_grad(stream, b); });
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
  report.add({.name = name, .flops = 2 * double(rows) * weights * (s.tied ? 1 : 3), .bytes = weights * (s.tied ? 2 : 4),
              .target_of_floor = top_p < 1.0f ? 0.0 : rows < 8 ? 0.6 : 0.8},
             [&](int) { lm_head_sample(stream, a); });
}

void measure(Report& report, const Shape& s, int64_t rows) {
  const Stream& stream = report.stream;
  const int64_t weights = s.width * s.vocabulary;
  Arena arena(weights * 8 + rows * s.width * 4 + (int64_t(16) << 20), "bench", Memory::kDevice);
  PackedMatrix w;
  w.n = s.vocabulary;
  w.k = s.width;
  w.storage = s.tied ? DType::kBF16 : DType::kF32;
  w.panels = bench::numbers(stream, arena, w.storage, {weights}, kWeightScale).data;
  uint16_t* const h = bench::numbers(stream, arena, DType::kBF16, {rows, s.width}, kHiddenScale).as<uint16_t>();
  for (const int64_t n : {1, 16, 64, 256}) decoding(report, s, arena, w, h, n, 1.0f);
  decoding(report, s, arena, w, h, 64, 0.95f);
  training(report, s, arena, w, h, rows);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run("lm_head", bench::parse_options(argc, argv), [](Report& report) {
    if (report.smoke()) {
      for (const Shape& s : kSmoke) measure(report, s, 64);
      return;
    }
    for (const Shape& s : kShapes) report.tried(s.name, [&] { measure(report, s, 4096); });
  });
}
