// What the GPU benches share: the device's clock, its copy bandwidth, and a table that is also JSON.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/arena.h"
#include "core/device.h"
#include "core/json.h"

namespace hone::bench {

/// Median microseconds of `f` by the device's clock, after a warm-up.
inline double median_us(const Stream& stream, const std::function<void()>& f) {
  constexpr int kRuns = 11;
  const auto handle = static_cast<cudaStream_t>(stream.handle);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int i = 0; i < 3; ++i) f();
  std::vector<float> times;
  for (int i = 0; i < kRuns; ++i) {
    float ms = 0;
    cudaEventRecord(begin, handle);
    f();
    cudaEventRecord(end, handle);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    times.push_back(ms);
  }
  cudaEventDestroy(begin);
  cudaEventDestroy(end);
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return double(times[kRuns / 2]) * 1e3;
}

/// `--json` prints one JSON object, a word selects rows by name.
class Report {
 public:
  Report(const Stream& on, bool as_json, const char* only) : stream(on), json_(as_json), filter_(only) {
    const int64_t bytes = int64_t(1) << 30;
    Arena two(2 * bytes, "copy bandwidth", Memory::kDevice);
    std::byte* const from = two.take_array<std::byte>(bytes);
    std::byte* const to = two.take_array<std::byte>(bytes);
    zero(stream, from, bytes);
    copy_ = 2 * double(bytes) / median_us(stream, [&] { copy(stream, to, from, bytes); }) * 1e-3;
    if (!json_) std::printf("copy bandwidth, read + write: %.0f GB/s\n", copy_);
  }
  bool wants(const std::string& name) const { return std::strstr(name.c_str(), filter_) != nullptr; }
  /// flops: of all passes; bytes: what must be moved, 0 where the arithmetic is the floor; target: TFLOP/s, 0: none.
  void add(const std::string& name, double flops, double bytes, const std::function<void()>& f, double target = 0) {
    if (!wants(name)) return;
    const double us = median_us(stream, f), floor_us = bytes / copy_ * 1e-3;
    Json row = Json::object();
    row.set("name", Json::string(name));
    row.set("microseconds", Json::number(us));
    row.set("teraflops", Json::number(flops / us * 1e-6));
    if (bytes > 0) {
      row.set("gigabytesPerSecond", Json::number(bytes / us * 1e-3));
      row.set("fractionOfFloor", Json::number(floor_us / us));
    }
    if (target > 0) row.set("fractionOfTarget", Json::number(flops / us * 1e-6 / target));
    rows_.push(std::move(row));
    if (json_) return;
    std::printf("%-52s %10.1f us %7.0f TFLOP/s", name.c_str(), us, flops / us * 1e-6);
    if (bytes > 0) {
      std::printf(" %6.0f GB/s, %5.1f %% of the floor (%.1f us)", bytes / us * 1e-3, 100 * floor_us / us, floor_us);
    }
    if (target > 0) std::printf(", %5.1f %% of the target", 100 * flops / us * 1e-6 / target);
    std::printf("\n");
  }
  void print() {
    Json out = Json::object();
    cudaDeviceProp device;
    cudaGetDeviceProperties(&device, 0);
    out.set("device", Json::string(device.name));
    out.set("copyGigabytesPerSecond", Json::number(copy_));
    out.set("rows", std::move(rows_));
    if (json_) std::printf("%s\n", out.dump().c_str());
  }

  const Stream& stream;

 private:
  bool json_;
  const char* filter_;
  double copy_ = 0;
  Json rows_ = Json::array();
};

}  // namespace hone::bench
