#include "dist/gpu_communicator.h"

namespace hone::dist {

Communicator& GpuCommunicator::of(const Stream& stream) {
  if (!stream.is_cuda()) return *hosts_;
  if (gpus_.state() == State::kUninitialised) form();
  return gpus_;
}

Communicator& GpuCommunicator::formed(const Stream& stream) {
  if (stream.is_cuda() && gpus_.state() == State::kUninitialised) {
    fail(Code::kState, "team_all_to_all: all ranks form NCCL's group together, in a collective of theirs, and none came before.");
  }
  return of(stream);
}

void GpuCommunicator::form() {
  NcclUniqueId id{};
  if (rank() == 0) id = NcclCommunicator::make_id(*library_);
  hosts_->broadcast({}, {&id, DType::kU8, {int64_t(sizeof(id))}}, 0);
  hosts_->wait({});
  gpus_.initialise(id, rank(), size());
}

void GpuCommunicator::wait(const Stream& stream) {
  if (!stream.is_cuda()) return hosts_->wait(stream);
  if (gpus_.state() != State::kUninitialised) gpus_.wait(stream);
}

/// Closes the hosts' group even if closing NCCL's group fails, since the hosts' group holds connections.
void GpuCommunicator::close() {
  try {
    gpus_.close();
  } catch (...) {
    hosts_->close();
    throw;
  }
  hosts_->close();
}

void GpuCommunicator::abort(const std::string& reason) {
  gpus_.abort(reason);
  hosts_->abort(reason);
}

}  // namespace hone::dist
