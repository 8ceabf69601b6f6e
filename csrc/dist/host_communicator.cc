#include "dist/host_communicator.h"

#include <utility>

#include "core/error.h"
#include "dist/buffers.h"
#include "dist/reduce.h"

namespace hone::dist {

void HostCommunicator::submit(const char* what, const Stream& stream, const TensorView& buffer, HostQueue::Job job) {
  if (stream.is_cuda()) fail(Code::kUnsupported, "%s: this communicator moves host memory, not a GPU's; use NCCL's.", what);
  queue_.submit(what, buffer.numel() > 0 ? std::move(job) : [] {});
}

void HostCommunicator::broadcast(const Stream& stream, const TensorView& buffer, int root) {
  expect_buffer("broadcast", buffer);
  expect_root("broadcast", root, size());
  submit("broadcast", stream, buffer, [=, this] { collectives_.broadcast(buffer, root); });
}

void HostCommunicator::all_reduce(const Stream& stream, const TensorView& buffer, ReduceOp op) {
  expect_buffer("all_reduce", buffer);
  expect_reducible("all_reduce", buffer.dtype);
  submit("all_reduce", stream, buffer, [=, this] { collectives_.all_reduce(buffer, op); });
}

void HostCommunicator::reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination,
                                      ReduceOp op) {
  expect_buffer("reduce_scatter", source);
  expect_buffer("reduce_scatter", destination);
  expect_parts("reduce_scatter", source, destination, size());
  expect_reducible("reduce_scatter", source.dtype);
  submit("reduce_scatter", stream, source, [=, this] { collectives_.reduce_scatter(source, destination, op); });
}

void HostCommunicator::all_gather(const Stream& stream, const TensorView& source, const TensorView& destination) {
  expect_buffer("all_gather", source);
  expect_buffer("all_gather", destination);
  expect_parts("all_gather", destination, source, size());
  submit("all_gather", stream, source, [=, this] { collectives_.all_gather(source, destination); });
}

void HostCommunicator::all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination) {
  expect_buffer("all_to_all", source);
  expect_buffer("all_to_all", destination);
  expect_exchange("all_to_all", source, destination, size());
  submit("all_to_all", stream, source, [=, this] { collectives_.all_to_all(source, destination); });
}

void HostCommunicator::team_all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination, int team) {
  expect_buffer("team_all_to_all", source);
  expect_buffer("team_all_to_all", destination);
  expect_team("team_all_to_all", team, size());
  expect_exchange("team_all_to_all", source, destination, team);
  submit("team_all_to_all", stream, source, [=, this] { collectives_.team_all_to_all(source, destination, team); });
}

}  // namespace hone::dist
