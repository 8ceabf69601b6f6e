#include "core/tensor.h"

#include <string>

namespace hone {
namespace {

std::string shape_text(DType dtype, const int64_t* dims, int rank) {
  std::string text = std::string(dtype_name(dtype)) + "[";
  for (int i = 0; i < rank; ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

}  // namespace

int64_t dtype_bytes(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kI64:
    case DType::kU64: return 8;
    case DType::kF32:
    case DType::kI32:
    case DType::kU32: return 4;
    case DType::kBF16:
    case DType::kF16:
    case DType::kI16:
    case DType::kU16: return 2;
    case DType::kU8:
    case DType::kI8:
    case DType::kBool:
    case DType::kF8E4M3:
    case DType::kF8E5M2: return 1;
  }
  return 0;
}

const char* dtype_name(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "f32";
    case DType::kBF16: return "bf16";
    case DType::kF16: return "f16";
    case DType::kF64: return "f64";
    case DType::kI32: return "i32";
    case DType::kI64: return "i64";
    case DType::kU8: return "u8";
    case DType::kU32: return "u32";
    case DType::kBool: return "bool";
    case DType::kI8: return "i8";
    case DType::kI16: return "i16";
    case DType::kU16: return "u16";
    case DType::kU64: return "u64";
    case DType::kF8E4M3: return "f8_e4m3";
    case DType::kF8E5M2: return "f8_e5m2";
  }
  return "?";
}

TensorView::TensorView(void* memory, DType type, std::initializer_list<int64_t> dims)
    : data(memory), dtype(type), rank(static_cast<int>(dims.size())) {
  int i = 0;
  for (int64_t d : dims) shape[i++] = d;
  row_stride = 1;
  for (int j = 1; j < rank; ++j) row_stride *= shape[j];
}

int64_t TensorView::numel() const {
  int64_t n = 1;
  for (int i = 0; i < rank; ++i) n *= shape[i];
  return n;
}

bool TensorView::contiguous() const {
  int64_t inner = 1;
  for (int j = 1; j < rank; ++j) inner *= shape[j];
  return rank == 0 || shape[0] <= 1 || row_stride == inner;
}

void expect(const TensorView& view, DType dtype, std::initializer_list<int64_t> dims, const char* op,
            const char* arg) {
  bool same = view.dtype == dtype && view.rank == static_cast<int>(dims.size());
  int i = 0;
  int64_t wanted = 1;
  for (int64_t d : dims) {
    same = same && view.shape[i++] == d;
    wanted *= d;
  }
  if (same && (view.data != nullptr || wanted == 0)) return;
  const std::string expected = shape_text(dtype, dims.begin(), static_cast<int>(dims.size()));
  if (view.data == nullptr) {
    fail(Code::kShape, "%s: %s is null, expected %s.", op, arg, expected.c_str());
  }
  fail(Code::kShape, "%s: %s is %s, expected %s.", op, arg,
       shape_text(view.dtype, view.shape, view.rank).c_str(), expected.c_str());
}

void expect_contiguous(const TensorView& view, DType dtype, std::initializer_list<int64_t> dims,
                       const char* op, const char* arg) {
  expect(view, dtype, dims, op, arg);
  if (!view.contiguous()) {
    fail(Code::kShape, "%s: %s has row stride %lld; it must be contiguous.", op, arg,
         static_cast<long long>(view.row_stride));
  }
}

}  // namespace hone
