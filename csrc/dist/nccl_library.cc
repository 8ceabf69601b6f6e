#include "dist/nccl_library.h"

#include <dlfcn.h>

#include <functional>

#include "core/error.h"

namespace hone::dist {
namespace {

constexpr const char* kNcclRemedy = "Install NCCL (pip install nvidia-nccl-cu13, or your system's libnccl2), put its lib "
                                "folder (pip's is site-packages/nvidia/nccl/lib) on LD_LIBRARY_PATH, then run: npx "
                                "hone doctor";

/// A function of NCCL: bind() sets its pointer, and returns false if the library does not have the symbol.
struct Symbol {
  const char* name;
  std::function<bool(void* library, NcclFunctions&)> bind;
};

template <class Pointer>
Symbol symbol(const char* name, Pointer NcclFunctions::*slot) {
  return {name, [name, slot](void* library, NcclFunctions& functions) {
            functions.*slot = reinterpret_cast<Pointer>(dlsym(library, name));
            return functions.*slot != nullptr;
          }};
}

struct Feature {
  const char* name;
  int since;  // major * 10000 + minor * 100
  std::vector<Symbol> symbols;
};

/// All functions that are used, with the NCCL version that introduced them. All are required, so the newest
/// version in the table is the oldest supported one.
const std::vector<Feature>& features() {
  using F = NcclFunctions;
  static const std::vector<Feature> all = {
      {"collectives", 20000,
       {symbol("ncclGetUniqueId", &F::get_unique_id), symbol("ncclGetErrorString", &F::get_error_string),
        symbol("ncclBroadcast", &F::broadcast), symbol("ncclAllReduce", &F::all_reduce),
        symbol("ncclReduceScatter", &F::reduce_scatter), symbol("ncclAllGather", &F::all_gather),
        symbol("ncclGroupStart", &F::group_start), symbol("ncclGroupEnd", &F::group_end),
        symbol("ncclCommDestroy", &F::destroy)}},
      {"abort and asynchronous errors", 20400,
       {symbol("ncclCommAbort", &F::abort), symbol("ncclCommGetAsyncError", &F::get_async_error)}},
      {"send and receive", 20700, {symbol("ncclSend", &F::send), symbol("ncclRecv", &F::recv)}},
      {"bf16", 21000, {}},
      {"error texts", 21300, {symbol("ncclGetLastError", &F::get_last_error)}},
      {"non-blocking initialisation", 21400,
       {symbol("ncclCommInitRankConfig", &F::init_rank_config), symbol("ncclCommFinalize", &F::finalize)}},
  };
  return all;
}

std::string short_version(int code) { return std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100); }

/// Converts a version code to major * 10000 + minor * 100 + patch; up to 2.8 NCCL's code is major * 1000 +
/// minor * 100 + patch.
int normalised(int code) { return code < 10000 ? code / 1000 * 10000 + code % 1000 : code; }

}  // namespace

std::shared_ptr<const NcclLibrary> NcclLibrary::open(const std::string& path) {
  std::shared_ptr<NcclLibrary> library(new NcclLibrary());
  library->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle_) fail(Code::kUnsupported, "nccl: %s cannot be opened (%s). %s", path.c_str(), dlerror(), kNcclRemedy);
  library->resolve(path);
  for (const NcclCapability& capability : library->capabilities_) {
    if (capability.available) continue;
    if (!capability.missing.empty()) {
      fail(Code::kUnsupported, "nccl: %s (version %s) lacks the symbol %s, needed for %s. %s", path.c_str(),
           library->version_.c_str(), capability.missing.c_str(), capability.name.c_str(), kNcclRemedy);
    }
    fail(Code::kUnsupported, "nccl: %s is version %s; %s needs %s or later. %s", path.c_str(),
         library->version_.c_str(), capability.name.c_str(), capability.since.c_str(), kNcclRemedy);
  }
  return library;
}

void NcclLibrary::resolve(const std::string& path) {
  int code = 0;
  const Symbol version = symbol("ncclGetVersion", &NcclFunctions::get_version);
  if (!version.bind(handle_, functions_) || functions_.get_version(&code) != kNcclSuccess || code <= 0) {
    fail(Code::kUnsupported, "nccl: %s has no usable ncclGetVersion. %s", path.c_str(), kNcclRemedy);
  }
  code = normalised(code);
  version_ = short_version(code) + "." + std::to_string(code % 100);
  for (const Feature& feature : features()) {
    NcclCapability row{feature.name, short_version(feature.since), code >= feature.since, ""};
    for (const Symbol& wanted : feature.symbols) {
      if (wanted.bind(handle_, functions_) || !row.available) continue;
      row.available = false;
      row.missing = wanted.name;
    }
    capabilities_.push_back(std::move(row));
  }
}

NcclLibrary::~NcclLibrary() {
  if (handle_) dlclose(handle_);
}

NcclInfo query_nccl(const std::string& path) {
  NcclInfo info;
  try {
    const auto library = NcclLibrary::open(path);
    info.version = library->version();
    info.capabilities = library->capabilities();
  } catch (const Error& error) {
    info.reason = error.what();
  }
  return info;
}

}  // namespace hone::dist
