// Speed of the matrix products as a share of the peak that this program measures first, in registers: FMA's peak, or
// vdpbf16ps's for bf16 products where they use it. `bench_gemm` prints a table; `--json` one JSON object; `--smoke`
// repeats less; another word selects rows.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/json.h"
#include "kernels/matmul.h"
#include "options.h"
#include "peak.h"

using namespace hone;
using namespace hone::kernels;

namespace {

enum class Kind { kLinear, kLinearBf16, kBf16Linear, kGradWeight, kBf16GradWeight, kPack, kPackTransposed };

struct Row {
  const char* what;
  Kind kind;
  int64_t m, n, k;
  double floor;  // share of peak on one thread; 0: no floor
};

const Row kRows[] = {
    {"issue bar", Kind::kLinear, 2048, 256, 256, 0.85},
    {"large", Kind::kLinear, 4096, 512, 512, 0.85},
    {"mlp down", Kind::kLinear, 1024, 512, 2048, 0.8},
    {"large", Kind::kLinear, 2048, 2048, 2048, 0.8},
    {"large bf16", Kind::kLinearBf16, 4096, 512, 512, 0.8},
    {"0.6B up", Kind::kLinear, 512, 6144, 1024, 0.8},
    {"0.6B up", Kind::kLinearBf16, 512, 6144, 1024, 0.8},
    {"0.6B up", Kind::kBf16Linear, 512, 6144, 1024, 0.75},
    {"0.6B down", Kind::kBf16Linear, 512, 1024, 3072, 0.75},
    {"large", Kind::kBf16Linear, 4096, 512, 512, 0.7},
    {"0.6B up, decode", Kind::kLinearBf16, 32, 6144, 1024, 0},
    {"0.6B up, decode", Kind::kBf16Linear, 32, 6144, 1024, 0},
    {"0.6B up, decode", Kind::kBf16Linear, 8, 6144, 1024, 0},
    {"dW 0.6B up", Kind::kGradWeight, 1024, 6144, 1024, 0.75},
    {"dW 0.6B up", Kind::kBf16GradWeight, 1024, 6144, 1024, 0.6},
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

/// With two threads: no floor below 50 MFLOP, where a product is too short to divide; a lower one above, because both
/// cores rarely reach their peak together.
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

bool in_bf16(Kind kind) { return kind == Kind::kBf16Linear || kind == Kind::kBf16GradWeight; }
Arithmetic arithmetic_of(Kind kind) { return in_bf16(kind) ? Arithmetic::kBF16 : Arithmetic::kF32; }

/// The seconds of one call.
double measure(const Stream& stream, const Row& r, int repeats) {
  const std::vector<float> x = numbers(r.m * r.k), w = numbers(r.n * r.k);
  std::vector<float> y = numbers(r.m * r.n), dw(size_t(r.n * r.k));
  const DType storage = r.kind == Kind::kLinearBf16 || r.kind == Kind::kBf16Linear ? DType::kBF16 : DType::kF32;
  Arena memory(packed_bytes(stream, r.n, r.k, storage), "bench");
  const PackedMatrix packed{r.n, r.k, storage, memory.take(packed_bytes(stream, r.n, r.k, storage)), false,
                            storage == DType::kBF16 ? arithmetic_of(r.kind) : Arithmetic::kF32};
  Arena turned_memory(packed_bytes(stream, r.k, r.n, storage), "bench");
  const PackedMatrix turned{r.k, r.n, storage, turned_memory.take(turned_memory.capacity()), false, packed.arithmetic};
  const PackMatrixArgs pack{f32(w.data(), {r.n, r.k}), false, packed};
  pack_matrix(stream, pack);
  const int inner = int(std::clamp(1e8 / (flops_of(r) + 1e6), 1.0, 100.0));
  const auto call = [&] {
    for (int i = 0; i < inner; ++i) {
      if (r.kind == Kind::kPack) {
        pack_matrix(stream, pack);
      } else if (r.kind == Kind::kPackTransposed) {
        transpose_packed(stream, packed, turned);
      } else if (r.kind == Kind::kGradWeight || r.kind == Kind::kBf16GradWeight) {
        linear_grad_weight(stream, {f32(y.data(), {r.m, r.n}), f32(x.data(), {r.m, r.k}), f32(dw.data(), {r.n, r.k}), {}, arithmetic_of(r.kind)});
      } else {
        linear(stream, {f32(x.data(), {r.m, r.k}), packed, {}, f32(y.data(), {r.m, r.n})});
      }
    }
  };
  return bench::best_seconds(repeats, call) / inner;
}

std::string name_of(const Row& r, int threads) {
  char text[128];
  const char* kind = r.kind == Kind::kGradWeight       ? "dW "
                     : r.kind == Kind::kBf16GradWeight ? "bf16 products dW "
                     : r.kind == Kind::kLinearBf16     ? "bf16 "
                     : r.kind == Kind::kBf16Linear     ? "bf16 products "
                                                       : "";
  std::snprintf(text, sizeof text, "%s%lldx%lldx%lld %s, %d thread%s", kind, (long long)r.m, (long long)r.n,
                (long long)r.k, r.what, threads, threads > 1 ? "s" : "");
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  const auto [json, smoke, filter] = bench::parse_options(argc, argv);
  const int repeats = smoke ? 2 : 30;
  ThreadPool pool(2);
  Json report = Json::object(), rows = Json::array();
  for (const Stream& stream : {Stream{}, Stream{.pool = &pool}}) {
    const int threads = stream.threads();
    const double peak = bench::peak_gflops(stream, 3 * repeats);
    report.set(threads == 1 ? "peakGflops" : "peakGflopsTwoThreads", Json::number(peak));
    const double bf16_peak = bench::peak_bf16_gflops(stream, 3 * repeats);
    report.set(threads == 1 ? "peakBf16Gflops" : "peakBf16GflopsTwoThreads", Json::number(bf16_peak));
    if (!json) {
      std::printf("FMA peak, %s, %d thread(s): %.0f GFLOP/s; of bf16 products %.0f\n", cpu::isa_name(cpu::isa()), threads, peak, bf16_peak);
    }
    for (const Row& r : kRows) {
      const std::string name = name_of(r, threads);
      if (!std::strstr(name.c_str(), filter)) continue;
      const double seconds = measure(stream, r, repeats);
      const double gflops = flops_of(r) / seconds * 1e-9, share = gflops / (in_bf16(r.kind) ? bf16_peak : peak), floor = floor_of(r, threads);
      Json row = Json::object();
      row.set("name", Json::string(name));
      row.set("microseconds", Json::number(seconds * 1e6));
      if (gflops > 0) {
        row.set("gflops", Json::number(gflops));
        row.set("fractionOfPeak", Json::number(share));
      }
      if (floor > 0) row.set("floor", Json::number(floor));
      rows.push(std::move(row));
      if (!json) {
        std::printf("%-46s %9.1f us %6.0f GFLOP/s %5.1f %% (floor %2.0f)\n", name.c_str(), seconds * 1e6, gflops,
                    100 * share, 100 * floor);
      }
    }
  }
  report.set("isa", Json::string(cpu::isa_name(cpu::isa())));
  report.set("rows", std::move(rows));
  if (json) std::printf("%s\n", report.dump().c_str());
}
