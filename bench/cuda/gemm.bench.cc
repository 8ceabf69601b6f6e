// Matrix products on the GPU: TFLOP/s of training shapes, GB/s of decode shapes, beside cublasLt in the same run.
// `bench_cuda_gemm [words that a row's name must hold] [--json] [--smoke] [--peer FILE | --no-peer]`.
// Operands are random: on zeros a GPU clocks higher. Without a device it says so and measures nothing.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/cuda/check.h"
#include "core/json.h"
#include "kernels/cuda/cublaslt.h"
#include "kernels/cuda/matmul.h"
#include "kernels/matmul.h"

using namespace hone;
using kernels::LinearArgs;
using kernels::LinearGradWeightArgs;

namespace {

enum class Kind { kForward, kGradInput, kGradWeight };

struct Row {
  const char* what;
  Kind kind;
  int64_t m, n, k;
};

/// The linear layers of a 15B model (width 5120, 32 + 2 x 8 heads of 128, MLP 14336).
std::vector<Row> all_rows() {
  std::vector<Row> rows{{"square", Kind::kForward, 8192, 8192, 8192}};
  struct Layer { const char* name; int64_t n, k; };
  const Layer layers[] = {{"qkv", 6144, 5120}, {"o", 5120, 4096}, {"gate|up", 28672, 5120}, {"down", 5120, 14336}};
  for (const Layer& l : layers) {
    for (const int64_t m : {8192, 32768}) {
      rows.push_back({l.name, Kind::kForward, m, l.n, l.k});
      rows.push_back({l.name, Kind::kGradInput, m, l.k, l.n});
      rows.push_back({l.name, Kind::kGradWeight, m, l.n, l.k});
    }
  }
  for (const Layer& l : layers) {
    for (const int64_t m : {1, 8, 16, 32, 64, 128, 256}) rows.push_back({l.name, Kind::kForward, m, l.n, l.k});
  }
  return rows;
}

bool decodes(const Row& r) { return r.m <= 256; }
double flops(const Row& r) { return 2.0 * double(r.m) * double(r.n) * double(r.k); }
/// What must cross the memory bus: bf16 operands once, the output once (a weight gradient is f32, read and written).
double bytes(const Row& r) {
  const double m = double(r.m), n = double(r.n), k = double(r.k);
  return r.kind == Kind::kGradWeight ? 2 * m * (n + k) + 8 * n * k : 2 * (m * k + n * k + m * n);
}
std::string name_of(const Row& r) {
  const char* const kinds[] = {"forward", "dX", "dW"};
  return std::string(decodes(r) ? "decode " : kinds[int(r.kind)]) + (decodes(r) ? "" : " ") + r.what + " " +
         std::to_string(r.m) + "x" + std::to_string(r.n) + "x" + std::to_string(r.k);
}

struct Device {
  Stream stream;
  cudaEvent_t start, stop;
  double flops_per_second = 0;  // of the data sheet: multiprocessors x clock x tensor-core rate
  double bytes_per_second = 0;  // of a copy in this run, read and written
  std::string name;

  static int attribute(cudaDeviceAttr which) {
    int value = 0;
    cuda::check(cudaDeviceGetAttribute(&value, which, 0), "bench");
    return value;
  }
  Device() {
    cudaStream_t handle = nullptr;
    cuda::check(cudaStreamCreate(&handle), "bench");
    stream.backend = Stream::Backend::kCuda;
    stream.handle = handle;
    cuda::check(cudaEventCreate(&start), "bench");
    cuda::check(cudaEventCreate(&stop), "bench");
    cudaDeviceProp properties;
    cuda::check(cudaGetDeviceProperties(&properties, 0), "bench");
    name = properties.name;
    const int major = attribute(cudaDevAttrComputeCapabilityMajor);
    const int minor = attribute(cudaDevAttrComputeCapabilityMinor);
    const double rate = major == 9 ? 4096 : major == 8 && minor == 0 ? 2048 : 1024;  // dense bf16 per clock
    flops_per_second = attribute(cudaDevAttrMultiProcessorCount) * 1e3 * attribute(cudaDevAttrClockRate) * rate;
  }
  /// Seconds of one call: the median of `repeats`, each of `calls` in a row.
  template <class F>
  double seconds(int repeats, int calls, const F& call) const {
    std::vector<double> all;
    const auto handle = static_cast<cudaStream_t>(stream.handle);
    for (int i = 0; i <= repeats; ++i) {  // the first warms up
      cuda::check(cudaEventRecord(start, handle), "bench");
      for (int c = 0; c < calls; ++c) call(c);
      cuda::check(cudaEventRecord(stop, handle), "bench");
      cuda::check(cudaEventSynchronize(stop), "bench");
      float ms = 0;
      cuda::check(cudaEventElapsedTime(&ms, start, stop), "bench");
      if (i > 0) all.push_back(1e-3 * double(ms) / calls);
    }
    std::nth_element(all.begin(), all.begin() + repeats / 2, all.end());
    return all[size_t(repeats / 2)];
  }
};

/// Fills [to, to + n) with random bf16 numbers around 0: one block of them over and over.
void fill(uint16_t* to, int64_t n) {
  static const std::vector<uint16_t> block = [] {
    std::vector<uint16_t> values((1 << 22) + 1);  // odd, so that rows differ
    uint32_t state = 1;
    for (uint16_t& v : values) {
      state = state * 1664525u + 1013904223u;
      v = f32_to_bf16(float(state >> 8) * 0x1p-24f - 0.5f);
    }
    return values;
  }();
  for (int64_t at = 0; at < n; at += int64_t(block.size())) {
    const int64_t count = std::min(n - at, int64_t(block.size()));
    cuda::check(cudaMemcpy(to + at, block.data(), size_t(count) * 2, cudaMemcpyHostToDevice), "bench");
  }
}

/// A row's operands. A decode step's weights are several copies in turn, so that no cache holds them.
struct Operands {
  Row row;
  int copies;
  Arena memory, scratch;
  uint16_t *x, *dy, *w;
  void* y;

  static int64_t need(const Row& r, int copies) {
    return Arena::rounded(2 * r.m * r.k) + Arena::rounded(2 * r.m * r.n) + copies * Arena::rounded(2 * r.n * r.k) +
           Arena::rounded(r.kind == Kind::kGradWeight ? 4 * r.n * r.k : 2 * r.m * r.n) + 256;
  }
  Operands(const Stream& stream, const Row& r)
      : row(r), copies(decodes(r) ? int((int64_t(512) << 20) / (2 * r.n * r.k) + 1) : 1),
        memory(need(r, copies), "bench operands", Memory::kDevice),
        scratch(kernels::linear_scratch_bytes(stream, r.m, r.n, r.k) + 64, "bench scratch", Memory::kDevice) {
    x = memory.take_array<uint16_t>(r.m * r.k);
    dy = memory.take_array<uint16_t>(r.m * r.n);
    w = memory.take_array<uint16_t>(copies * Arena::rounded(2 * r.n * r.k) / 2);
    y = memory.take(r.kind == Kind::kGradWeight ? 4 * r.n * r.k : 2 * r.m * r.n);
    fill(x, r.m * r.k);
    fill(dy, r.m * r.n);
    fill(w, copies * Arena::rounded(2 * r.n * r.k) / 2);
    clear();
  }
  void clear() {
    cuda::check(cudaMemset(y, 0, size_t(row.kind == Kind::kGradWeight ? 4 * row.n * row.k : 2 * row.m * row.n)), "bench");
  }
  LinearArgs linear_args(int call) {
    uint16_t* const weights = w + call % copies * (Arena::rounded(2 * row.n * row.k) / 2);
    return {{x, DType::kBF16, {row.m, row.k}}, {row.n, row.k, DType::kBF16, weights, row.kind == Kind::kGradInput}, {},
            {y, DType::kBF16, {row.m, row.n}}, false, &scratch};
  }
  LinearGradWeightArgs grad_args() {
    return {{dy, DType::kBF16, {row.m, row.n}}, {x, DType::kBF16, {row.m, row.k}}, {y, DType::kF32, {row.n, row.k}}, {}};
  }
  /// Some of the result: enough to see that two ways of computing it mean the same.
  std::vector<float> sample() const {
    cuda::check(cudaDeviceSynchronize(), "bench");
    const bool wide = row.kind == Kind::kGradWeight;
    std::vector<float> out(size_t(std::min<int64_t>(wide ? row.n * row.k : row.m * row.n, 1 << 16)));
    if (wide) {
      cuda::check(cudaMemcpy(out.data(), y, out.size() * 4, cudaMemcpyDeviceToHost), "bench");
      return out;
    }
    std::vector<uint16_t> bits(out.size());
    cuda::check(cudaMemcpy(bits.data(), y, bits.size() * 2, cudaMemcpyDeviceToHost), "bench");
    std::transform(bits.begin(), bits.end(), out.begin(), bf16_to_f32);
    return out;
  }
};

struct Run {
  double seconds;
  std::vector<float> sample;
};

template <class Linear, class GradWeight>
Run measure(const Device& device, Operands& o, int repeats, const Linear& linear, const GradWeight& grad_weight) {
  const auto call = [&](int i) {
    if (o.row.kind == Kind::kGradWeight) grad_weight(o.grad_args());
    else linear(o.linear_args(i));
  };
  o.clear();
  call(0);
  std::vector<float> sample = o.sample();
  return {device.seconds(repeats, decodes(o.row) ? 20 : 2, call), std::move(sample)};
}

/// Largest difference of two results, as a share of the largest result.
double difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0, size = 1e-30;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::fabs(double(a[i]) - b[i]));
    size = std::max(size, std::fabs(double(b[i])));
  }
  return most / size;
}

struct Options {
  bool json = false, smoke = false, peer = true;
  std::string library;
  const char* filter = "";
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) o.json = true;
    else if (std::strcmp(argv[i], "--smoke") == 0) o.smoke = true;
    else if (std::strcmp(argv[i], "--no-peer") == 0) o.peer = false;
    else if (std::strcmp(argv[i], "--peer") == 0 && i + 1 < argc) o.library = argv[++i];
    else o.filter = argv[i];
  }
  return o;
}

double copy_bandwidth(const Device& device) {
  const int64_t size = int64_t(1) << 30;
  Arena memory(2 * size, "bench copy", Memory::kDevice);
  void *const from = memory.take(size), *const to = memory.take(size);
  const double seconds = device.seconds(5, 4, [&](int) {
    cuda::check(cudaMemcpyAsync(to, from, size_t(size), cudaMemcpyDeviceToDevice,
                                static_cast<cudaStream_t>(device.stream.handle)), "bench");
  });
  return 2.0 * double(size) / seconds;
}

struct Bench {
  Options options;
  Device device;
  std::unique_ptr<Arena> workspace;
  std::unique_ptr<kernels::cuda::CublasLt> peer;
  std::string peer_text;
  Json rows = Json::array();

  explicit Bench(const Options& o) : options(o) {
    device.bytes_per_second = copy_bandwidth(device);
    if (!options.peer) return;
    const int64_t size = int64_t(64) << 20;
    workspace = std::make_unique<Arena>(size, "cublasLt workspace", Memory::kDevice);
    try {
      peer = std::make_unique<kernels::cuda::CublasLt>(workspace->take(size), size, options.library);
      peer_text = "cublasLt " + std::to_string(peer->version());
    } catch (const Error& e) {
      peer_text = e.what();
    }
  }

  void report(const Row& r, const char* way, const Run& run, const Run* reference) {
    // The slower of the two floors binds: arithmetic of the data sheet, bytes of this run's copy.
    const double floor = std::max(flops(r) / device.flops_per_second, bytes(r) / device.bytes_per_second);
    Json row = Json::object();
    row.set("name", Json::string(name_of(r) + ", " + way));
    row.set("microseconds", Json::number(run.seconds * 1e6));
    row.set("tflops", Json::number(flops(r) / run.seconds * 1e-12));
    row.set("gigabytesPerSecond", Json::number(bytes(r) / run.seconds * 1e-9));
    row.set("fractionOfFloor", Json::number(floor / run.seconds));
    if (reference) {
      row.set("timesPeer", Json::number(reference->seconds / run.seconds));
      row.set("differenceFromPeer", Json::number(difference(run.sample, reference->sample)));
    }
    rows.push(std::move(row));
    if (options.json) return;
    std::printf("%-36s %-9s %9.1f us %6.0f TFLOP/s %6.0f GB/s %5.1f %% of the floor", name_of(r).c_str(), way,
                run.seconds * 1e6, flops(r) / run.seconds * 1e-12, bytes(r) / run.seconds * 1e-9, 100 * floor / run.seconds);
    if (reference) std::printf("  %.2f x peer, differs by %.1e", reference->seconds / run.seconds, difference(run.sample, reference->sample));
    std::printf("\n");
  }

  void run(const Row& r) {
    Operands operands(device.stream, r);
    const int repeats = options.smoke ? 1 : 5;
    std::unique_ptr<Run> reference;
    if (peer) {
      reference = std::make_unique<Run>(measure(
          device, operands, repeats, [&](const LinearArgs& a) { peer->linear(device.stream, a); },
          [&](const LinearGradWeightArgs& a) { peer->linear_grad_weight(device.stream, a); }));
      report(r, "cublasLt", *reference, nullptr);
    }
    for (const bool portable : {true, false}) {
      kernels::cuda::force_portable(portable);
      if (!portable && !kernels::cuda::uses_wgmma(r.n, r.k)) continue;
      const Run ours = measure(
          device, operands, repeats, [&](const LinearArgs& a) { kernels::linear(device.stream, a); },
          [&](const LinearGradWeightArgs& a) { kernels::linear_grad_weight(device.stream, a); });
      report(r, portable ? "mma.sync" : "wgmma", ours, reference.get());
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf(options.json ? "{\"device\":null,\"reason\":\"no device\",\"rows\":[]}\n" : "no device\n");
    return 0;
  }
  Bench bench(options);
  if (!options.json) {
    std::printf("%s: %.0f TFLOP/s by the data sheet, copies at %.0f GB/s; peer: %s\n", bench.device.name.c_str(),
                bench.device.flops_per_second * 1e-12, bench.device.bytes_per_second * 1e-9, bench.peer_text.c_str());
  }
  for (const Row& r : all_rows()) {
    if (std::strstr(name_of(r).c_str(), options.filter)) bench.run(r);
  }
  if (!options.json) return 0;
  Json report = Json::object();
  report.set("device", Json::string(bench.device.name));
  report.set("peakTflops", Json::number(bench.device.flops_per_second * 1e-12));
  report.set("copyGigabytesPerSecond", Json::number(bench.device.bytes_per_second * 1e-9));
  report.set("peer", Json::string(bench.peer_text));
  report.set("rows", std::move(bench.rows));
  std::printf("%s\n", report.dump().c_str());
}
