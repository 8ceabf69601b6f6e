// A group of ranks, one GPU each, that exchange tensors.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/stream.h"
#include "core/tensor.h"
#include "dist/nccl_group.h"

namespace hone::dist {

enum class ReduceOp : uint8_t { kSum, kMax };

/// What a group exchanges: each collective checks its buffers, then queues one operation on the stream. States,
/// time-outs and errors are those of NcclGroup; a collective also throws kShape for buffers that do not fit together.
/// Buffers must live until wait() has returned, or the communicator has failed.
class Communicator {
 public:
  explicit Communicator(std::shared_ptr<const NcclLibrary> library, CommunicatorOptions options = {})
      : group_(std::move(library), options) {}

  /// Made by one rank and passed to initialise() by all of them. That rank must outlive their call.
  static NcclUniqueId make_id(const NcclLibrary& library);

  void initialise(const NcclUniqueId& id, int rank, int size) { group_.join(id, rank, size); }
  void wait(const Stream& stream) { group_.wait(stream); }
  void close() { group_.leave(); }
  void abort(const std::string& reason) { group_.abort(reason); }

  /// All ranks call the same in the same order.
  /// `buffer` of rank root is copied into everybody else's.
  void broadcast(const Stream& stream, const TensorView& buffer, int root);
  /// In place.
  void all_reduce(const Stream& stream, const TensorView& buffer, ReduceOp op);
  /// source [size * n] -> destination [n]: this rank's part of the sum or maximum.
  void reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination, ReduceOp op);
  /// source [n] -> destination [size * n], rank after rank.
  void all_gather(const Stream& stream, const TensorView& source, const TensorView& destination);
  /// source [size * n] -> destination [size * n]: part p goes to rank p, part p of the result came from rank p.
  void all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination);

  State state() const { return group_.state(); }
  int rank() const { return group_.rank(); }
  int size() const { return group_.size(); }

 private:
  void exchange(const char* what, const TensorView& a, const TensorView& b, const NcclGroup::Call& call);

  NcclGroup group_;
};

}  // namespace hone::dist
