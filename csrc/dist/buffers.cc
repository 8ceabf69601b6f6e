#include "dist/buffers.h"

namespace hone::dist {

void expect_buffer(const char* what, const TensorView& view) {
  if (!view.contiguous()) fail(Code::kShape, "%s: the rows of a buffer must lie side by side.", what);
  if (view.empty() && view.numel() > 0) {
    fail(Code::kShape, "%s: a buffer of %lld elements has no memory.", what, (long long)view.numel());
  }
}

void expect_root(const char* what, int root, int size) {
  if (root < 0 || root >= size) fail(Code::kShape, "%s: root %d of %d ranks.", what, root, size);
}

void expect_parts(const char* what, const TensorView& larger, const TensorView& smaller, int size) {
  if (larger.dtype != smaller.dtype || larger.numel() != smaller.numel() * size) {
    fail(Code::kShape, "%s: %s[%lld] and %s[%lld] do not fit together over %d ranks.", what, dtype_name(larger.dtype),
         (long long)larger.numel(), dtype_name(smaller.dtype), (long long)smaller.numel(), size);
  }
}

void expect_exchange(const char* what, const TensorView& source, const TensorView& destination, int size) {
  if (source.dtype != destination.dtype || source.numel() != destination.numel() || source.numel() % size != 0) {
    fail(Code::kShape, "%s: %s[%lld] and %s[%lld] are not %d parts each.", what, dtype_name(source.dtype),
         (long long)source.numel(), dtype_name(destination.dtype), (long long)destination.numel(), size);
  }
}

void expect_team(const char* what, int team, int size) {
  if (team < 1 || size % team != 0) fail(Code::kShape, "%s: %d ranks are not teams of %d.", what, size, team);
}

}  // namespace hone::dist
