// Owns one NCCL communicator.
#pragma once

#include <memory>
#include <string>

#include "dist/nccl_library.h"

namespace hone::dist {

/// Empty until create(), and again after abort() or destroy(). Knows no lock and no clock: one thread at a time, and
/// no call blocks, because NCCL runs in its non-blocking mode.
class NcclHandle {
 public:
  explicit NcclHandle(std::shared_ptr<const NcclLibrary> library) : library_(std::move(library)) {}
  NcclHandle(const NcclHandle&) = delete;
  NcclHandle& operator=(const NcclHandle&) = delete;
  /// Aborts what is still open.
  ~NcclHandle() { abort(); }

  const NcclFunctions& functions() const { return library_->functions(); }
  /// The argument of a collective.
  NcclComm_t get() const { return comm_; }

  /// Start an operation; return kNcclInProgress, and poll() then reports its end, or the result if it is already known.
  NcclResult create(const NcclUniqueId& id, int rank, int size);
  NcclResult finalize();
  NcclResult poll() const;

  /// Release all resources. destroy() is for a finalized communicator; abort() for any, and does nothing without one.
  NcclResult destroy();
  void abort();

  /// NCCL's words for `result`, and its last message.
  std::string explain(NcclResult result) const;

 private:
  std::shared_ptr<const NcclLibrary> library_;
  NcclComm_t comm_ = nullptr;
};

}  // namespace hone::dist
