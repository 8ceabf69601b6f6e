// NCCL as found at run time: opens the library by name, resolves the functions used, and reports its
// version's capabilities. No NCCL header is needed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace hone::dist {

// The part of NCCL's C interface that is used, declared here; names, values and layouts must match the
// library. Source: NCCL user guide, "NCCL API"; layouts are unchanged from version 2.14 to 2.30.
struct NcclComm;  // opaque to users of NCCL
using NcclComm_t = NcclComm*;

enum NcclResult : int {
  kNcclSuccess = 0,
  kNcclUnhandledCudaError = 1,
  kNcclSystemError = 2,
  kNcclInternalError = 3,
  kNcclInvalidArgument = 4,
  kNcclInvalidUsage = 5,
  kNcclRemoteError = 6,
  kNcclInProgress = 7,
};

enum NcclDataType : int {
  kNcclUint8 = 1,
  kNcclInt32 = 2,
  kNcclUint32 = 3,
  kNcclInt64 = 4,
  kNcclFloat16 = 6,
  kNcclFloat32 = 7,
  kNcclFloat64 = 8,
  kNcclBfloat16 = 9,
};

enum NcclRedOp : int { kNcclSum = 0, kNcclMax = 2 };

struct NcclUniqueId {
  char internal[128];
};

/// NCCL's configuration struct in its oldest layout that has `blocking`, that of 2.14: a newer library reads
/// only `size` bytes and uses defaults for later fields.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;
  int padding = 0;
};

struct NcclFunctions {
  NcclResult (*get_version)(int*) = nullptr;
  NcclResult (*get_unique_id)(NcclUniqueId*) = nullptr;
  const char* (*get_error_string)(NcclResult) = nullptr;
  const char* (*get_last_error)(NcclComm_t) = nullptr;
  NcclResult (*init_rank_config)(NcclComm_t*, int size, NcclUniqueId, int rank, NcclConfig*) = nullptr;
  NcclResult (*get_async_error)(NcclComm_t, NcclResult*) = nullptr;
  NcclResult (*finalize)(NcclComm_t) = nullptr;
  NcclResult (*destroy)(NcclComm_t) = nullptr;
  NcclResult (*abort)(NcclComm_t) = nullptr;
  NcclResult (*broadcast)(const void*, void*, size_t, NcclDataType, int root, NcclComm_t, void* stream) = nullptr;
  NcclResult (*all_reduce)(const void*, void*, size_t, NcclDataType, NcclRedOp, NcclComm_t, void* stream) = nullptr;
  NcclResult (*reduce_scatter)(const void*, void*, size_t, NcclDataType, NcclRedOp, NcclComm_t,
                               void* stream) = nullptr;
  NcclResult (*all_gather)(const void*, void*, size_t, NcclDataType, NcclComm_t, void* stream) = nullptr;
  NcclResult (*send)(const void*, size_t, NcclDataType, int peer, NcclComm_t, void* stream) = nullptr;
  NcclResult (*recv)(void*, size_t, NcclDataType, int peer, NcclComm_t, void* stream) = nullptr;
  NcclResult (*group_start)() = nullptr;
  NcclResult (*group_end)() = nullptr;
};

/// A capability of NCCL that depends on one function, and the NCCL version that introduced it.
struct NcclCapability {
  std::string name;     // "non-blocking initialisation"
  std::string since;    // "2.14"
  bool available = false;
  // first symbol that the library lacks; empty if available, or if the version is too old
  std::string missing;
};

class NcclLibrary {
 public:
  /// Opens a library by name or path. Throws kUnsupported if the library or a symbol is missing or the
  /// version is below 2.14; the message says which, and the next command to run. The library stays open as
  /// long as the object lives.
  static std::shared_ptr<const NcclLibrary> open(const std::string& path = kDefaultName);
  ~NcclLibrary();
  NcclLibrary(const NcclLibrary&) = delete;
  NcclLibrary& operator=(const NcclLibrary&) = delete;

  const NcclFunctions& functions() const { return functions_; }
  const std::string& version() const { return version_; }  // "2.27.3"
  const std::vector<NcclCapability>& capabilities() const { return capabilities_; }

  static constexpr const char* kDefaultName = "libnccl.so.2";

 private:
  NcclLibrary() = default;
  void resolve(const std::string& path);

  void* handle_ = nullptr;
  NcclFunctions functions_;
  std::string version_;
  std::vector<NcclCapability> capabilities_;
};

/// Availability of NCCL on this machine, for `hone doctor`.
struct NcclInfo {
  std::string version;                       // empty: no usable library
  std::string reason;                        // why there is no usable library
  std::vector<NcclCapability> capabilities;  // empty without a library
};
/// Tries to open the library. Never throws.
NcclInfo query_nccl(const std::string& path = NcclLibrary::kDefaultName);

}  // namespace hone::dist
