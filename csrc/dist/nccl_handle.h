// Owns one NCCL communicator.
#pragma once

#include <memory>
#include <string>

#include "dist/nccl_library.h"

namespace hone::dist {

/// Empty until create(), and again after abort() or destroy(). Not thread-safe. No call blocks, because NCCL
/// runs in its non-blocking mode.
class NcclHandle {
 public:
  explicit NcclHandle(std::shared_ptr<const NcclLibrary> library) : library_(std::move(library)) {}
  NcclHandle(const NcclHandle&) = delete;
  NcclHandle& operator=(const NcclHandle&) = delete;
  /// Aborts the communicator if it is still open.
  ~NcclHandle() { abort(); }

  const NcclFunctions& functions() const { return library_->functions(); }
  /// The communicator, as NCCL's collectives take it.
  NcclComm_t get() const { return comm_; }

  /// create() and finalize() start an operation. They return kNcclInProgress, after which poll() reports the
  /// end, or the result if it is already known.
  NcclResult create(const NcclUniqueId& id, int rank, int size);
  NcclResult finalize();
  NcclResult poll() const;

  /// destroy() and abort() release all resources. destroy() takes a finalized communicator; abort() takes
  /// any, and does nothing if there is none.
  NcclResult destroy();
  void abort();

  /// NCCL's text for `result`, and the last error message that NCCL recorded.
  std::string explain(NcclResult result) const;

 private:
  std::shared_ptr<const NcclLibrary> library_;
  NcclComm_t comm_ = nullptr;
};

}  // namespace hone::dist
