// One NCCL communicator, owned: a call into NCCL, what it reports, and how it is given back.
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
  /// What a collective is called with.
  NcclComm_t get() const { return comm_; }

  /// Each begins what poll() later says the end of: kNcclInProgress, or the result if that is known already.
  NcclResult create(const NcclUniqueId& id, int rank, int size);
  NcclResult finalize();
  NcclResult poll() const;

  /// Gives everything back. destroy() is for a finalized communicator; abort() for any, also for none.
  NcclResult destroy();
  void abort();

  /// NCCL's words for `result`, and its last message.
  std::string explain(NcclResult result) const;

 private:
  std::shared_ptr<const NcclLibrary> library_;
  NcclComm_t comm_ = nullptr;
};

}  // namespace hone::dist
