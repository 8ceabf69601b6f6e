// Device memory for tests. Device tests run on a GPU or, without one, in the host shim; if neither is built
// they are skipped.
#pragma once

#include <utility>
#include <vector>

#include "check.h"
#include "core/stream.h"
#include "core/tensor.h"

#ifdef HONE_HAVE_CUDA
#include "core/cuda/check.h"
#endif

namespace hone::test {

/// Whether kernels run in the host shim; some faults can only be seen there.
inline bool on_shim() {
#ifdef HONE_CUDA_SHIM
  return true;
#else
  return false;
#endif
}

#ifdef HONE_HAVE_CUDA

/// Whether kernels can run; every device test checks it first, by NEEDS_DEVICE.
inline bool has_device() {
#ifdef HONE_CUDA_SHIM
  static const bool seeded = (cuda_shim::seed(seed()), true);
  (void)seeded;
#endif
  int count = 0;
  const bool found = cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
  if (!found) cudaGetLastError();
  return found;
}

/// The stream that all device tests use.
inline Stream device_stream() {
  static cudaStream_t handle = [] {
    cudaStream_t s = nullptr;
    cuda::check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "test stream");
    return s;
  }();
  Stream stream;
  stream.backend = Stream::Backend::kCuda;
  stream.handle = handle;
  return stream;
}

inline void synchronize() {
  cuda::check(cudaStreamSynchronize(static_cast<cudaStream_t>(device_stream().handle)), "test");
}

/// n values of T on the device, in their own allocation, so that memory checkers see every access beyond it.
template <class T>
class DeviceArray {
 public:
  /// Sets all bits: NaN in f32 and bf16, -1 in i32.
  explicit DeviceArray(int64_t n) : n_(n) {
    if (n == 0) return;
    cuda::check(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "test upload");
    cuda::check(cudaMemset(data_, 0xff, bytes()), "test upload");
    cuda::check(cudaDeviceSynchronize(), "test upload");
  }
  DeviceArray(const std::vector<T>& values) : DeviceArray(int64_t(values.size())) {
    if (n_) cuda::check(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "test upload");
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), n_(other.n_) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(n_, other.n_);
    return *this;
  }

  T* data() const { return data_; }
  int64_t size() const { return n_; }
  TensorView view(DType dtype, std::initializer_list<int64_t> dims) const {
    return {const_cast<std::remove_const_t<T>*>(data_), dtype, dims};
  }
  /// Copies the values to the host, after waiting for the test stream.
  std::vector<T> download() const {
    synchronize();
    std::vector<T> out(static_cast<size_t>(n_));
    if (n_) cuda::check(cudaMemcpy(out.data(), data_, bytes(), cudaMemcpyDeviceToHost), "test download");
    return out;
  }

 private:
  size_t bytes() const { return size_t(n_) * sizeof(T); }
  T* data_ = nullptr;
  int64_t n_ = 0;
};

#else

inline bool has_device() { return false; }

// Stubs, so that tests compile on machines where kernels cannot run.
inline Stream device_stream() { return {}; }
inline void synchronize() {}
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(int64_t) {}
  DeviceArray(const std::vector<T>&) {}
  T* data() const { return nullptr; }
  int64_t size() const { return 0; }
  TensorView view(DType, std::initializer_list<int64_t>) const { return {}; }
  std::vector<T> download() const { return {}; }
};

#endif

/// In the host shim, defers the work of streams while an object exists, until something waits for it.
struct Deferred {
#ifdef HONE_CUDA_SHIM
  Deferred() { cuda_shim::defer_streams(true); }
  ~Deferred() { cuda_shim::defer_streams(false); }
#else
  ~Deferred() {}
#endif
};

/// Rounds every value to bf16, in place; a CPU op gets such inputs when the device's inputs are bf16.
inline std::vector<float> rounded_to_bf16(std::vector<float> values) {
  for (float& x : values) x = bf16_to_f32(f32_to_bf16(x));
  return values;
}
inline std::vector<uint16_t> to_bf16(const std::vector<float>& values) {
  std::vector<uint16_t> out;
  for (const float x : values) out.push_back(f32_to_bf16(x));
  return out;
}
inline std::vector<float> from_bf16(const std::vector<uint16_t>& bits) {
  std::vector<float> out;
  for (const uint16_t x : bits) out.push_back(bf16_to_f32(x));
  return out;
}


/// The view with rows that are `stride` elements apart.
inline TensorView with_stride(TensorView view, int64_t stride) {
  view.row_stride = stride;
  return view;
}
/// Slightly more than half a unit in the last place of bf16 at x: how much one rounding may change it.
inline double bf16_rounding(double x) { return std::fabs(x) * (0x1p-8 + 0x1p-16); }

/// Expects `got` to be `wanted`, up to an error of `slack`, rounded once to bf16; NaN exactly where `wanted`
/// is NaN.
inline void expect_rounded(const std::vector<uint16_t>& got, const std::vector<float>& wanted, double slack,
                           const char* what) {
  if (got.size() != wanted.size()) return report(what, 0, "sizes differ");
  for (size_t i = 0; i < got.size(); ++i) {
    const double a = double(bf16_to_f32(got[i])), b = double(wanted[i]);
    const bool same = std::isnan(b) ? std::isnan(a) : std::fabs(a - b) <= bf16_rounding(b) + slack;
    if (!same) report(what, int(i), "element is " + show(a) + ", expected " + show(b));
  }
}

}  // namespace hone::test

#define NEEDS_DEVICE \
  if (!hone::test::has_device()) SKIP("no device")
