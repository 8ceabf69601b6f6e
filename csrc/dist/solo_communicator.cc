#include "dist/solo_communicator.h"

#include "core/device.h"
#include "dist/buffers.h"

namespace hone::dist {
namespace {

void copy_all(const char* what, const Stream& stream, const TensorView& source, const TensorView& destination) {
  if (source.dtype != destination.dtype || source.numel() != destination.numel()) {
    fail(Code::kShape, "%s: %s[%lld] and %s[%lld] do not fit together over 1 rank.", what, dtype_name(source.dtype),
         (long long)source.numel(), dtype_name(destination.dtype), (long long)destination.numel());
  }
  if (source.data != destination.data) copy(stream, destination.data, source.data, source.numel() * dtype_bytes(source.dtype));
}

}  // namespace

void SoloCommunicator::reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination, ReduceOp) {
  copy_all("reduce_scatter", stream, source, destination);
}

void SoloCommunicator::all_gather(const Stream& stream, const TensorView& source, const TensorView& destination) {
  copy_all("all_gather", stream, source, destination);
}

void SoloCommunicator::all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination) {
  copy_all("all_to_all", stream, source, destination);
}

void SoloCommunicator::team_all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination, int team) {
  expect_team("team_all_to_all", team, 1);
  copy_all("team_all_to_all", stream, source, destination);
}

}  // namespace hone::dist
