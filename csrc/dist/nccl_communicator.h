// A group of ranks, one GPU each, over NCCL.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "dist/communicator.h"
#include "dist/nccl_group.h"

namespace hone::dist {

/// Each collective checks its buffers, then queues one NCCL operation on the stream. States, time-outs and
/// errors are those of NcclGroup.
class NcclCommunicator final : public Communicator {
 public:
  explicit NcclCommunicator(std::shared_ptr<const NcclLibrary> library, CommunicatorOptions options = {})
      : group_(std::move(library), options) {}

  /// One rank creates the id; all ranks pass it to initialise(). The rank that created it must not exit
  /// before all have returned from initialise().
  static NcclUniqueId make_id(const NcclLibrary& library);

  void initialise(const NcclUniqueId& id, int rank, int size) { group_.join(id, rank, size); }
  void wait(const Stream& stream) override { group_.wait(stream); }
  void close() override { group_.leave(); }
  void abort(const std::string& reason) override { group_.abort(reason); }

  void broadcast(const Stream& stream, const TensorView& buffer, int root) override;
  void all_reduce(const Stream& stream, const TensorView& buffer, ReduceOp op) override;
  void reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination, ReduceOp op) override;
  void all_gather(const Stream& stream, const TensorView& source, const TensorView& destination) override;
  void all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination) override;
  void team_all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination, int team) override;

  State state() const { return group_.state(); }
  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }

 private:
  void exchange(const char* what, const TensorView& a, const TensorView& b, const NcclGroup::Call& call);
  void exchange_parts(const char* what, const Stream& stream, const TensorView& source, const TensorView& destination, int team);

  NcclGroup group_;
};

}  // namespace hone::dist
