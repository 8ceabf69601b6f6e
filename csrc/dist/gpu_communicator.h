// A group of ranks with a GPU each that reach one another over their hosts too.
#pragma once

#include <memory>
#include <string>

#include "dist/nccl_communicator.h"

namespace hone::dist {

/// What lies in a GPU's memory goes over NCCL, what lies in the host's over the hosts' group, by the stream of the call.
/// NCCL's group is formed over the other one in the first collective of a GPU's stream, which all ranks then make together:
/// team_all_to_all is no such one, and throws kState where it would be.
/// States, time-outs and errors are those of the group that carries a call.
class GpuCommunicator final : public Communicator {
 public:
  /// hosts: connected; no other thread calls it meanwhile, and it is closed and aborted with this one. Throws nothing.
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
