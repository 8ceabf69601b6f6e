#include "dist/nccl_handle.h"

#include <utility>

namespace hone::dist {

NcclResult NcclHandle::create(const NcclUniqueId& id, int rank, int size) {
  NcclConfig config;
  return functions().init_rank_config(&comm_, size, id, rank, &config);
}

NcclResult NcclHandle::finalize() { return functions().finalize(comm_); }

NcclResult NcclHandle::poll() const {
  NcclResult error = kNcclSuccess;
  const NcclResult result = functions().get_async_error(comm_, &error);
  return result == kNcclSuccess ? error : result;
}

NcclResult NcclHandle::destroy() { return functions().destroy(std::exchange(comm_, nullptr)); }

void NcclHandle::abort() {
  if (comm_) functions().abort(std::exchange(comm_, nullptr));
}

std::string NcclHandle::explain(NcclResult result) const {
  std::string text = std::string("NCCL says: ") + functions().get_error_string(result);
  const char* detail = comm_ ? functions().get_last_error(comm_) : nullptr;
  if (detail && *detail) text += std::string(" (") + detail + ")";
  return text;
}

}  // namespace hone::dist
