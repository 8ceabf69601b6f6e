#include "dist/nccl_communicator.h"

#include "dist/buffers.h"

namespace hone::dist {
namespace {

NcclDataType nccl_type(const char* what, DType dtype) {
  switch (dtype) {
    case DType::kF32: return kNcclFloat32;
    case DType::kBF16: return kNcclBfloat16;
    case DType::kF16: return kNcclFloat16;
    case DType::kF64: return kNcclFloat64;
    case DType::kI32: return kNcclInt32;
    case DType::kI64: return kNcclInt64;
    case DType::kU8: return kNcclUint8;
    case DType::kU32: return kNcclUint32;
    default: break;
  }
  fail(Code::kShape, "%s: dtype %s cannot be exchanged.", what, dtype_name(dtype));
}

NcclRedOp nccl_op(ReduceOp op) { return op == ReduceOp::kSum ? kNcclSum : kNcclMax; }

}  // namespace

NcclUniqueId NcclCommunicator::make_id(const NcclLibrary& library) {
  NcclUniqueId id{};
  const NcclResult result = library.functions().get_unique_id(&id);
  if (result != kNcclSuccess) {
    fail(Code::kCollective, "make_id: NCCL says: %s.", library.functions().get_error_string(result));
  }
  return id;
}

void NcclCommunicator::exchange(const char* what, const TensorView& a, const TensorView& b, const NcclGroup::Call& call) {
  group_.enqueue(what, [&](const NcclFunctions& nccl, NcclComm_t comm) {
    expect_buffer(what, a);
    expect_buffer(what, b);
    return a.numel() == 0 ? kNcclSuccess : call(nccl, comm);
  });
}

void NcclCommunicator::broadcast(const Stream& stream, const TensorView& buffer, int root) {
  exchange("broadcast", buffer, buffer, [&](const NcclFunctions& nccl, NcclComm_t comm) {
    expect_root("broadcast", root, size());
    return nccl.broadcast(buffer.data, buffer.data, size_t(buffer.numel()), nccl_type("broadcast", buffer.dtype), root,
                          comm, stream.handle);
  });
}

void NcclCommunicator::all_reduce(const Stream& stream, const TensorView& buffer, ReduceOp op) {
  exchange("all_reduce", buffer, buffer, [&](const NcclFunctions& nccl, NcclComm_t comm) {
    return nccl.all_reduce(buffer.data, buffer.data, size_t(buffer.numel()), nccl_type("all_reduce", buffer.dtype),
                           nccl_op(op), comm, stream.handle);
  });
}

void NcclCommunicator::reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination,
                                  ReduceOp op) {
  exchange("reduce_scatter", source, destination, [&](const NcclFunctions& nccl, NcclComm_t comm) {
    expect_parts("reduce_scatter", source, destination, size());
    return nccl.reduce_scatter(source.data, destination.data, size_t(destination.numel()),
                               nccl_type("reduce_scatter", source.dtype), nccl_op(op), comm, stream.handle);
  });
}

void NcclCommunicator::all_gather(const Stream& stream, const TensorView& source, const TensorView& destination) {
  exchange("all_gather", source, destination, [&](const NcclFunctions& nccl, NcclComm_t comm) {
    expect_parts("all_gather", destination, source, size());
    return nccl.all_gather(source.data, destination.data, size_t(source.numel()), nccl_type("all_gather", source.dtype),
                           comm, stream.handle);
  });
}

void NcclCommunicator::all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination) {
  exchange_parts("all_to_all", stream, source, destination, size());
}

void NcclCommunicator::team_all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination, int team) {
  exchange_parts("team_all_to_all", stream, source, destination, team);
}

void NcclCommunicator::exchange_parts(const char* what, const Stream& stream, const TensorView& source,
                                      const TensorView& destination, int team) {
  exchange(what, source, destination, [&](const NcclFunctions& nccl, NcclComm_t comm) {
    expect_team(what, team, size());
    expect_exchange(what, source, destination, team);
    const NcclDataType type = nccl_type(what, source.dtype);
    const int first = rank() / team * team;
    const int64_t part = source.numel() / team, bytes = part * dtype_bytes(source.dtype);
    NcclResult first_bad = nccl.group_start();
    const auto note = [&](NcclResult result) {
      if (first_bad == kNcclSuccess && result != kNcclInProgress) first_bad = result;
    };
    for (int peer = 0; peer < team && first_bad == kNcclSuccess; ++peer) {
      note(nccl.send(source.as<char>() + peer * bytes, size_t(part), type, first + peer, comm, stream.handle));
      note(nccl.recv(destination.as<char>() + peer * bytes, size_t(part), type, first + peer, comm, stream.handle));
    }
    // called even after an error, since NCCL's group belongs to this thread
    const NcclResult end = nccl.group_end();
    return first_bad == kNcclSuccess ? end : first_bad;
  });
}

}  // namespace hone::dist
