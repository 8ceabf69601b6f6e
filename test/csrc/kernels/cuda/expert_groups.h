// Rows that are sorted by expert, for tests of mixtures of experts on a device.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "device.h"
#include "kernels/experts.h"

namespace hone::test {

inline void expect_near(const std::vector<float>& got, const std::vector<float>& wanted, double slack, const char* what) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::fabs(double(got[i]) - double(wanted[i])) <= slack * (1.0 + std::fabs(double(wanted[i])))) continue;
    report(what, int(i), "is " + show(got[i]) + ", expected " + show(wanted[i]));
  }
}

/// Rows with k of E experts each, sorted on the CPU and on the device.
struct Grouped {
  int64_t rows, experts, k;
  std::vector<int32_t> chosen, begins, row_of, pairs;
  DeviceArray<int32_t> device_chosen, device_begins, device_rows, device_pairs;

  /// used: the number of experts that rows go to; the others have none.
  Grouped(int64_t r, int64_t e, int64_t n, int64_t used)
      : rows(r), experts(e), k(n), chosen(choice(r, e, n, used)), begins(size_t(e + 1), -1), row_of(size_t(r * n), -1), pairs(size_t(r * n), -1), device_chosen(chosen),
        device_begins(e + 1), device_rows(r * n), device_pairs(r * n) {
    kernels::group_rows({}, {i32(chosen.data(), {r, n}), i32(begins.data(), {e + 1}), i32(row_of.data(), {r * n}), i32(pairs.data(), {r, n})});
    kernels::group_rows(device_stream(), {device_chosen.view(DType::kI32, {r, n}), begin_view(), row_view(), pair_view()});
  }
  TensorView begin_view() const { return device_begins.view(DType::kI32, {experts + 1}); }
  TensorView row_view() const { return device_rows.view(DType::kI32, {rows * k}); }
  TensorView pair_view() const { return device_pairs.view(DType::kI32, {rows, k}); }
  TensorView host_begins() const { return i32(begins.data(), {experts + 1}); }
  TensorView host_rows() const { return i32(row_of.data(), {rows * k}); }
  TensorView host_pairs() const { return i32(pairs.data(), {rows, k}); }
  int64_t expert_of(int64_t pair) const { return std::upper_bound(begins.begin(), begins.end(), int32_t(pair)) - begins.begin() - 1; }

 private:
  static std::vector<int32_t> choice(int64_t rows, int64_t experts, int64_t k, int64_t used) {
    std::vector<int32_t> out, all(size_t(experts), 0);
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), test::random());
    all.resize(size_t(used));
    for (int64_t r = 0; r < rows; ++r) {
      std::shuffle(all.begin(), all.end(), test::random());
      std::vector<int32_t> mine(all.begin(), all.begin() + k);
      std::sort(mine.begin(), mine.end());
      out.insert(out.end(), mine.begin(), mine.end());
    }
    return out;
  }
};

}  // namespace hone::test
