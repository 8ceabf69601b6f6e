// Speed of the matrix products as a share of the FMA peak that this program measures first, in registers.
// `bench_gemm` prints a table; `--json` one JSON object; `--smoke` takes few repeats; another word filters rows.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/arena.h"
#include "core/json.h"
#include "kernels/cpu/dispatch.h"
#include "kernels/matmul.h"

using namespace hone;
using namespace hone::kernels;

namespace {

/// Wall time, or the time this thread had a core: what one thread costs on a machine that others use too.
double now(bool this_thread_only) {
  timespec t;
  clock_gettime(this_thread_only ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// Shortest of many runs: other processes only ever add time.
double best_seconds(const Stream& stream, int repeats, const std::function<void()>& f) {
  const bool alone = stream.threads() == 1;
  f();
  double best = 1e30;
  for (int i = 0; i < repeats; ++i) {
    const double start = now(alone);
    f();
    best = std::min(best, now(alone) - start);
  }
  return best;
}

constexpr int kPeakSteps = 40000;

#if defined(__x86_64__)
__attribute__((target("avx512f"))) double peak_flops_avx512() {
  __m512 acc[24];
  for (int i = 0; i < 24; ++i) acc[i] = _mm512_set1_ps(float(i));
  const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(1e-3f);
  for (int s = 0; s < kPeakSteps; ++s) {
#pragma GCC unroll 24
    for (int i = 0; i < 24; ++i) acc[i] = _mm512_fmadd_ps(acc[i], a, b);
  }
  volatile float keep = 0;
  for (int i = 0; i < 24; ++i) keep = keep + _mm512_cvtss_f32(acc[i]);
  return 2.0 * 24 * 16 * kPeakSteps;
}
__attribute__((target("avx2,fma"))) double peak_flops_avx2() {
  __m256 acc[12];
  for (int i = 0; i < 12; ++i) acc[i] = _mm256_set1_ps(float(i));
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(1e-3f);
  for (int s = 0; s < kPeakSteps; ++s) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) acc[i] = _mm256_fmadd_ps(acc[i], a, b);
  }
  volatile float keep = 0;
  for (int i = 0; i < 12; ++i) keep = keep + _mm256_cvtss_f32(acc[i]);
  return 2.0 * 12 * 8 * kPeakSteps;
}
#else
double peak_flops_avx512() { return 0; }
double peak_flops_avx2() { return 0; }
#endif

double peak_flops_plain() {
  float acc[32];
  for (int i = 0; i < 32; ++i) acc[i] = float(i);
  for (int s = 0; s < kPeakSteps; ++s) {
    for (int i = 0; i < 32; ++i) acc[i] = acc[i] * 0.999f + 1e-3f;
  }
  volatile float keep = 0;
  for (int i = 0; i < 32; ++i) keep = keep + acc[i];
  return 2.0 * 32 * kPeakSteps;
}

/// GFLOP/s of the registers of `threads` cores, on the instruction set the kernels use.
double measure_peak(const Stream& stream, int repeats) {
  const auto run = cpu::pick(&peak_flops_plain, &peak_flops_avx2, &peak_flops_avx512);
  const double flops = run() * stream.threads();
  const double seconds = best_seconds(
      stream, 3 * repeats, [&] { stream.parallel_for(stream.threads(), 1, [&](int64_t, int64_t) { run(); }); });
  return flops / seconds * 1e-9;
}

enum class Kind { kLinear, kLinearBf16, kGradWeight, kPack, kPackTransposed };

struct Row {
  const char* what;
  Kind kind;
  int64_t m, n, k;
  double floor;  // share of peak on one thread; 0: no bar
};

const Row kRows[] = {
    {"issue bar", Kind::kLinear, 2048, 256, 256, 0.85},
    {"large", Kind::kLinear, 4096, 512, 512, 0.85},
    {"mlp down", Kind::kLinear, 1024, 512, 2048, 0.8},
    {"large", Kind::kLinear, 2048, 2048, 2048, 0.8},
    {"large bf16", Kind::kLinearBf16, 4096, 512, 512, 0.8},
    {"quickstart qkv", Kind::kLinear, 9000, 96, 288, 0.7},
    {"quickstart up", Kind::kLinear, 4096, 512, 96, 0.7},
    {"quickstart up", Kind::kLinear, 4096, 96, 512, 0.7},
    {"quickstart", Kind::kLinear, 4096, 256, 96, 0.7},
    {"quickstart o", Kind::kLinear, 4096, 96, 96, 0.6},
    {"dW d96", Kind::kGradWeight, 4096, 96, 96, 0.6},
    {"dW d96 up", Kind::kGradWeight, 4096, 512, 96, 0.7},
    {"dW d96 down", Kind::kGradWeight, 4096, 96, 256, 0.7},
    {"dW d256", Kind::kGradWeight, 4096, 256, 256, 0.75},
    {"dW d512", Kind::kGradWeight, 4096, 512, 512, 0.75},
    {"dW d512 up", Kind::kGradWeight, 4096, 2816, 512, 0.75},
    {"dW head", Kind::kGradWeight, 512, 8192, 512, 0.7},
    {"decode d96", Kind::kLinear, 32, 288, 96, 0.6},
    {"decode d128", Kind::kLinear, 32, 128, 128, 0.6},
    {"decode d128 qkv", Kind::kLinear, 32, 384, 128, 0.6},
    {"decode d128 up", Kind::kLinear, 32, 704, 128, 0.6},
    {"decode d256", Kind::kLinear, 32, 256, 256, 0.6},
    {"decode d256 up", Kind::kLinear, 32, 1408, 256, 0.6},
    {"decode d512", Kind::kLinear, 32, 512, 512, 0.6},
    {"decode d512 up", Kind::kLinear, 32, 2816, 512, 0.6},
    {"decode d512 down", Kind::kLinear, 32, 512, 1408, 0.6},
    {"decode head d512", Kind::kLinear, 32, 8192, 512, 0.6},
    {"decode 8", Kind::kLinear, 8, 512, 512, 0.6},
    {"decode 4", Kind::kLinear, 4, 256, 256, 0.3},
    {"decode 2", Kind::kLinear, 2, 256, 256, 0.2},
    {"decode 1", Kind::kLinear, 1, 256, 256, 0.1},
    {"pack", Kind::kPack, 0, 512, 512, 0},
    {"pack transposed", Kind::kPackTransposed, 0, 512, 512, 0},
};

double flops_of(const Row& r) { return 2.0 * double(r.m) * double(r.n) * double(r.k); }

/// Two threads: no floor below 50 MFLOP, where a product is too short to be shared by all; less above,
/// since the peak of both cores is a rarer sight than that of one.
double floor_of(const Row& r, int threads) {
  if (threads == 1) return r.floor;
  return flops_of(r) < 5e7 ? 0.0 : 0.8 * r.floor;
}

std::vector<float> numbers(int64_t n) {
  std::vector<float> out(static_cast<size_t>(n));
  uint32_t state = 1;
  for (float& x : out) {
    state = state * 1664525u + 1013904223u;
    x = float(state >> 8) * 0x1p-24f - 0.5f;
  }
  return out;
}

/// Seconds of one call.
double measure(const Stream& stream, const Row& r, int repeats) {
  const std::vector<float> x = numbers(r.m * r.k), w = numbers(r.n * r.k);
  std::vector<float> y = numbers(r.m * r.n), dw(size_t(r.n * r.k));
  const DType storage = r.kind == Kind::kLinearBf16 ? DType::kBF16 : DType::kF32;
  Arena memory(packed_bytes(r.n, r.k, storage), "bench");
  const PackedMatrix packed{r.n, r.k, storage, memory.take(packed_bytes(r.n, r.k, storage))};
  const bool transpose = r.kind == Kind::kPackTransposed;
  const PackMatrixArgs pack{transpose ? f32(w.data(), {r.k, r.n}) : f32(w.data(), {r.n, r.k}), transpose, packed};
  pack_matrix(stream, pack);
  const int inner = int(std::clamp(1e8 / (flops_of(r) + 1e6), 1.0, 100.0));
  const auto call = [&] {
    for (int i = 0; i < inner; ++i) {
      if (r.kind == Kind::kPack || transpose) {
        pack_matrix(stream, pack);
      } else if (r.kind == Kind::kGradWeight) {
        linear_grad_weight(stream, {f32(y.data(), {r.m, r.n}), f32(x.data(), {r.m, r.k}), f32(dw.data(), {r.n, r.k}), {}});
      } else {
        linear(stream, {f32(x.data(), {r.m, r.k}), packed, {}, f32(y.data(), {r.m, r.n})});
      }
    }
  };
  return best_seconds(stream, repeats, call) / inner;
}

std::string name_of(const Row& r, int threads) {
  char text[128];
  const char* kind = r.kind == Kind::kGradWeight ? "dW " : r.kind == Kind::kLinearBf16 ? "bf16 " : "";
  std::snprintf(text, sizeof text, "%s%lldx%lldx%lld %s, %d thread%s", kind, (long long)r.m, (long long)r.n,
                (long long)r.k, r.what, threads, threads > 1 ? "s" : "");
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  bool json = false, smoke = false;
  const char* filter = "";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) json = true;
    else if (std::strcmp(argv[i], "--smoke") == 0) smoke = true;
    else filter = argv[i];
  }
  const int repeats = smoke ? 2 : 30;
  ThreadPool pool(2);
  Json report = Json::object(), rows = Json::array();
  for (const Stream& stream : {Stream{}, Stream{.pool = &pool}}) {
    const int threads = stream.threads();
    const double peak = measure_peak(stream, repeats);
    report.set(threads == 1 ? "peakGflops" : "peakGflopsTwoThreads", Json::number(peak));
    if (!json) std::printf("FMA peak, %s, %d thread(s): %.0f GFLOP/s\n", cpu::isa_name(cpu::isa()), threads, peak);
    for (const Row& r : kRows) {
      const std::string name = name_of(r, threads);
      if (!std::strstr(name.c_str(), filter)) continue;
      const double seconds = measure(stream, r, repeats);
      const double gflops = flops_of(r) / seconds * 1e-9, floor = floor_of(r, threads);
      Json row = Json::object();
      row.set("name", Json::string(name));
      row.set("microseconds", Json::number(seconds * 1e6));
      if (gflops > 0) {
        row.set("gflops", Json::number(gflops));
        row.set("fractionOfPeak", Json::number(gflops / peak));
      }
      if (floor > 0) row.set("floor", Json::number(floor));
      rows.push(std::move(row));
      if (!json) {
        std::printf("%-46s %9.1f us %6.0f GFLOP/s %5.1f %% (floor %2.0f)\n", name.c_str(), seconds * 1e6, gflops,
                    100 * gflops / peak, 100 * floor);
      }
    }
  }
  report.set("isa", Json::string(cpu::isa_name(cpu::isa())));
  report.set("rows", std::move(rows));
  if (json) std::printf("%s\n", report.dump().c_str());
}
