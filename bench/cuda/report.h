// Shared by the GPU benches: random operands, the device's clock, its copy bandwidth, and the rows of a table.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../options.h"
#include "core/arena.h"
#include "core/cuda/check.h"
#include "core/device.h"
#include "core/json.h"

namespace hone::bench {

inline constexpr int64_t kPeriod = (1 << 22) + 1;

/// Random values, n of them or at most one period.
template <class T>
std::vector<T> random_block(int64_t n, float scale) {
  std::vector<T> block(static_cast<size_t>(std::min(n, kPeriod)));
  uint32_t state = 1;
  for (T& x : block) {
    state = state * 1664525u + 1013904223u;
    const float value = (float(state >> 8) * 0x1p-23f - 1.0f) * scale;
    if constexpr (sizeof(T) == 2) x = f32_to_bf16(value);
    else x = value;
  }
  return block;
}

/// Fills with random bf16 or f32 values in [-scale, scale) by repeating one block of odd length, so that rows differ.
/// Never zeros: with those a tensor core uses less power and runs faster.
template <class T>
void fill_random(const Stream& stream, T* to, int64_t n, float scale = 1.0f) {
  const std::vector<T> block = random_block<T>(n, scale);
  const int64_t length = int64_t(block.size());
  upload(stream, to, block.data(), length * int64_t(sizeof(T)));
  for (int64_t at = length; at < n; at += length) copy(stream, to + at, to, std::min(length, n - at) * int64_t(sizeof(T)));
  synchronize(stream);
}

/// The values that fill_random wrote in bf16, by index, without a copy from the device; references are computed from
/// them.
class RandomValues {
 public:
  explicit RandomValues(float scale = 1.0f) {
    for (const uint16_t x : random_block<uint16_t>(kPeriod, scale)) values_.push_back(bf16_to_f32(x));
  }
  float operator[](int64_t i) const { return values_[size_t(i) % values_.size()]; }
  /// `count` values, `step` apart.
  std::vector<float> line(int64_t first, int64_t count, int64_t step = 1) const {
    std::vector<float> out;
    for (int64_t i = 0; i < count; ++i) out.push_back((*this)[first + i * step]);
    return out;
  }

 private:
  std::vector<float> values_;
};

/// Distinct indices below n in order, `count` of them or all.
inline std::vector<int64_t> random_indices(int64_t n, int64_t count) {
  std::vector<int64_t> all(static_cast<size_t>(n)), out;
  std::iota(all.begin(), all.end(), int64_t(0));
  static std::mt19937_64 random(7);
  std::sample(all.begin(), all.end(), std::back_inserter(out), count, random);
  return out;
}

/// The largest difference between values and a reference, as a share of the reference's largest value. NaN counts as
/// the largest.
class Difference {
 public:
  void add(double value, double reference) {
    const double d = std::fabs(value - reference);
    most_ = d <= most_ ? most_ : d;
    size_ = std::max(size_, std::fabs(reference));
  }
  double share() const { return most_ / size_; }

 private:
  double most_ = 0, size_ = 1e-30;
};

/// Takes device memory and fills it with random values.
inline TensorView numbers(const Stream& stream, Arena& memory, DType dtype, std::initializer_list<int64_t> dims,
                          float scale = 1.0f) {
  const TensorView view = memory.take_view(dtype, dims);
  if (dtype == DType::kBF16) fill_random(stream, view.as<uint16_t>(), view.numel(), scale);
  else fill_random(stream, view.as<float>(), view.numel(), scale);
  return view;
}
inline TensorView integers(const Stream& stream, Arena& memory, const std::vector<int32_t>& values,
                           std::initializer_list<int64_t> dims) {
  const TensorView view = memory.take_view(DType::kI32, dims);
  upload(stream, view.data, values.data(), int64_t(values.size()) * 4);
  return view;
}

/// One line of the table: what is counted, and its floor, target and peer.
struct Row {
  std::string name;
  double flops = 0;            // over all passes
  double bytes = 0;            // bytes that must cross the memory bus
  double target_teraflops = 0;  // 0: none
  double target_of_floor = 0;   // 0: none
  double peer_us = 0;          // another library's time in this run; 0: none
  double difference = -1;      // largest difference from the peer's result, as a share of the largest value; -1: none
  double tokens = 0;           // tokens of a whole model; 0: no model
  double error = -1;           // largest error of random elements against f64 sums, as a share; -1: not compared
  double most_error = 0;       // an error above it fails the bench
};

/// `--json`: prints a line for the device and one for each row as soon as it is measured, and the table on stderr. A
/// word selects rows by name, `--smoke` runs each once.
class Report {
 public:
  Report(const Stream& on, const char* bench, const Options& options) : stream(on), bench_(bench), options_(options) {
    cudaDeviceProp device;
    cuda::check(cudaGetDeviceProperties(&device, 0), "bench");
    int clock = 0, processors = 0;
    cuda::check(cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0), "bench");
    cuda::check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "bench");
    const double rate = device.major == 9 ? 4096 : device.major == 8 && device.minor == 0 ? 2048 : 1024;  // FLOP per clock in bf16
    peak_ = processors * 1e3 * clock * rate * 1e-12;
    const int64_t bytes = options.smoke ? int64_t(1) << 16 : int64_t(1) << 30;
    Arena two(2 * bytes, "copy bandwidth", Memory::kDevice);
    auto* const from = two.take_array<uint16_t>(bytes / 2);
    std::byte* const to = two.take_array<std::byte>(bytes);
    fill_random(stream, from, bytes / 2);
    copy_ = 2 * double(bytes) / median_us([&](int) { copy(stream, to, from, bytes); }) * 1e-3;
    std::fprintf(table(), "%s: %.0f TFLOP/s at its highest clock, copies at %.0f GB/s (read + write)\n", device.name, peak_, copy_);
    Json line = head();
    line.set("device", Json::string(device.name));
    line.set("peakTeraflops", Json::number(peak_));
    line.set("copyGigabytesPerSecond", Json::number(copy_));
    print(line);
  }
  bool smoke() const { return options_.smoke; }
  bool wants(const std::string& name) const { return std::strstr(name.c_str(), options_.filter) != nullptr; }

  /// The median microseconds of a call by the device's clock. `call` gets its number, so that calls can cycle through
  /// buffers; short calls are timed many in a row.
  double median_us(const std::function<void(int)>& call) const {
    if (options_.smoke) return timed_us(1, call);
    const double once = (timed_us(1, call), timed_us(2, call));  // the first call warms up
    const int calls = int(std::clamp(400.0 / once, 1.0, 40.0)), runs = once > 2e5 ? 3 : 11;
    timed_us(calls, call);
    std::vector<double> times;
    for (int i = 0; i < runs; ++i) times.push_back(timed_us(calls, call));
    std::nth_element(times.begin(), times.begin() + runs / 2, times.end());
    return times[size_t(runs / 2)];
  }

  void add(const Row& r, const std::function<void(int)>& call) {
    if (!wants(r.name)) return;
    tried(r.name, [&] { add(r, median_us(call)); });
  }
  void add(const Row& r, double us) const {
    // The larger of the two floors counts: FLOP at the highest clock, bytes at this run's copy bandwidth.
    const double floor = std::max(r.bytes / copy_ * 1e-3, r.flops / peak_ * 1e-6);
    const double teraflops = r.flops / us * 1e-6, gigabytes = r.bytes / us * 1e-3;
    Json line = head();
    line.set("name", Json::string(r.name));
    line.set("microseconds", Json::number(us));
    if (r.flops > 0) line.set("teraflops", Json::number(teraflops));
    if (r.bytes > 0) line.set("gigabytesPerSecond", Json::number(gigabytes));
    if (floor > 0) line.set("ofFloor", Json::number(floor / us));
    if (r.tokens > 0) line.set("tokensPerSecond", Json::number(r.tokens / us * 1e6));
    if (r.target_teraflops > 0) line.set("targetTeraflops", Json::number(r.target_teraflops));
    if (r.target_of_floor > 0) line.set("targetOfFloor", Json::number(r.target_of_floor));
    if (r.peer_us > 0) line.set("peerMicroseconds", Json::number(r.peer_us));
    if (r.difference >= 0) line.set("differenceFromPeer", Json::number(r.difference));
    const bool wrong = r.error >= 0 && !(r.error <= r.most_error);
    if (r.error >= 0 || wrong) line.set("error", Json::number(r.error));
    if (wrong) line.set("wrong", Json::boolean(true));
    wrong_ = wrong_ || wrong;
    print(line);
    std::fprintf(table(), "%-52s %10.1f us", r.name.c_str(), us);
    if (r.flops > 0) std::fprintf(table(), " %7.1f TFLOP/s", teraflops);
    if (r.bytes > 0) std::fprintf(table(), " %6.0f GB/s", gigabytes);
    if (r.tokens > 0) std::fprintf(table(), " %9.0f tokens/s", r.tokens / us * 1e6);
    if (floor > 0) std::fprintf(table(), " %5.1f %% of the floor", 100 * floor / us);
    if (r.target_of_floor > 0) std::fprintf(table(), " (target %.0f)", 100 * r.target_of_floor);
    if (r.target_teraflops > 0) std::fprintf(table(), ", target %.0f", r.target_teraflops);
    if (r.peer_us > 0) std::fprintf(table(), ", %.2f x peer", r.peer_us / us);
    if (r.difference >= 0) std::fprintf(table(), ", differs by %.1e", r.difference);
    if (wrong) std::fprintf(table(), ", WRONG: error %.1e, at most %.1e", r.error, r.most_error);
    std::fprintf(table(), "\n");
  }
  /// True if a row's values were wrong.
  bool wrong() const { return wrong_; }
  /// Runs `work`. If memory or a library is missing, reports that as a row; an error that disables the device ends the
  /// bench.
  template <class Work>
  void tried(const std::string& name, const Work& work) const {
    try {
      work();
    } catch (const Error& e) {
      if (cudaDeviceSynchronize() != cudaSuccess) throw;
      Json line = head();
      line.set("name", Json::string(name));
      line.set("problem", Json::string(e.what()));
      print(line);
      std::fprintf(table(), "%-52s %s\n", name.c_str(), e.what());
    }
  }

  const Stream& stream;

 private:
  std::FILE* table() const { return options_.json ? stderr : stdout; }
  Json head() const {
    Json line = Json::object();
    line.set("bench", Json::string(bench_));
    return line;
  }
  void print(const Json& line) const {
    if (!options_.json) return;
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }
  double timed_us(int calls, const std::function<void(int)>& call) const {
    const auto handle = static_cast<cudaStream_t>(stream.handle);
    cudaEvent_t begin, end;
    cuda::check(cudaEventCreate(&begin), "bench");
    cuda::check(cudaEventCreate(&end), "bench");
    cuda::check(cudaEventRecord(begin, handle), "bench");
    for (int c = 0; c < calls; ++c) call(c);
    cuda::check(cudaEventRecord(end, handle), "bench");
    cuda::check(cudaEventSynchronize(end), "bench");
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, begin, end), "bench");
    cuda::check(cudaEventDestroy(begin), "bench");
    cuda::check(cudaEventDestroy(end), "bench");
    return double(ms) * 1e3 / calls;
  }

  const char* bench_;
  Options options_;
  mutable bool wrong_ = false;
  double peak_ = 0, copy_ = 0;  // in TFLOP/s and GB/s
};

/// Runs a bench on the first GPU; returns main's exit code.
inline int run(const char* name, const Options& options, const std::function<void(Report&)>& work) {
  try {
    const Device device(Stream::Backend::kCuda, nullptr);
    Report report(device.stream(), name, options);
    work(report);
    return report.wrong() ? 1 : 0;
  } catch (const Error& e) {
    std::fprintf(stderr, "%s: %s\n", code_name(e.code()), e.what());
    return 1;
  }
}

}  // namespace hone::bench
