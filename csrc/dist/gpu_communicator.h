// A group of ranks that have one GPU each and can also reach one another through their hosts.
#pragma once

#include <memory>
#include <string>

#include "dist/nccl_communicator.h"

namespace hone::dist {

/// Sends GPU memory over NCCL and host memory over `hosts`, depending on the stream of the call. The first
/// collective on a GPU stream, which all ranks must make together, sets up NCCL's group over `hosts`;
/// team_all_to_all cannot do so and throws kState if it comes first. States, time-outs and errors are those
/// of the communicator that runs the call.
class GpuCommunicator final : public Communicator {
 public:
  /// hosts: a connected communicator that no other thread uses; it is closed and aborted together with this
  /// one. Throws nothing.
  GpuCommunicator(std::shared_ptr<Communicator> hosts, std::shared_ptr<const NcclLibrary> library, CommunicatorOptions options = {})
      : hosts_(std::move(hosts)), library_(library), gpus_(std::move(library), options) {}

  int rank() const override { return hosts_->rank(); }
  int size() const override { return hosts_->size(); }

  void broadcast(const Stream& stream, const TensorView& buffer, int root) override { of(stream).broadcast(stream, buffer, root); }
  void all_reduce(const Stream& stream, const TensorView& buffer, ReduceOp op) override { of(stream).all_reduce(stream, buffer, op); }
  void reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination, ReduceOp op) override {
    of(stream).reduce_scatter(stream, source, destination, op);
  }
  void all_gather(const Stream& stream, const TensorView& source, const TensorView& destination) override {
    of(stream).all_gather(stream, source, destination);
  }
  void all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination) override {
    of(stream).all_to_all(stream, source, destination);
  }
  void team_all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination, int team) override {
    formed(stream).team_all_to_all(stream, source, destination, team);
  }

  void wait(const Stream& stream) override;
  void close() override;
  void abort(const std::string& reason) override;

 private:
  Communicator& of(const Stream& stream);
  Communicator& formed(const Stream& stream);
  void form();

  std::shared_ptr<Communicator> hosts_;
  std::shared_ptr<const NcclLibrary> library_;
  NcclCommunicator gpus_;
};

}  // namespace hone::dist
