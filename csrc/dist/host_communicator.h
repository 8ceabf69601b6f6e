// A group of ranks on hosts, over any transport.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "dist/host_collectives.h"
#include "dist/host_queue.h"

namespace hone::dist {

/// Collectives are checked, queued, and run in order by the communicator's own thread; wait() returns when
/// all have run. Sums are taken in rank order, so that they have the same bits on every rank and in every
/// run. Only for host memory: throws kUnsupported for a GPU stream. See also Communicator, HostQueue and
/// HostCollectives.
class HostCommunicator final : public Communicator {
 public:
  /// `transport` is connected. `timeout` limits each whole collective.
  HostCommunicator(std::unique_ptr<Transport> transport, std::chrono::milliseconds timeout)
      : collectives_(std::move(transport), timeout), queue_(collectives_.transport()) {}

  int rank() const override { return collectives_.rank(); }
  int size() const override { return collectives_.size(); }
  State state() const { return queue_.state(); }
  void wait(const Stream&) override { queue_.wait(); }
  void close() override { queue_.close([this] { collectives_.close(); }); }
  void abort(const std::string& reason) override { queue_.abort(reason); }

  void broadcast(const Stream& stream, const TensorView& buffer, int root) override;
  void all_reduce(const Stream& stream, const TensorView& buffer, ReduceOp op) override;
  void reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination, ReduceOp op) override;
  void all_gather(const Stream& stream, const TensorView& source, const TensorView& destination) override;
  void all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination) override;
  void team_all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination, int team) override;

 private:
  void submit(const char* what, const Stream& stream, const TensorView& buffer, HostQueue::Job job);

  HostCollectives collectives_;
  HostQueue queue_;
};

}  // namespace hone::dist
