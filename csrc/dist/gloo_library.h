// Opens hone_gloo.so, the Gloo wrapper built on this machine, by name.
#pragma once

#include <memory>
#include <string>

#include "dist/gloo/abi.h"

namespace hone::dist {

class GlooLibrary {
 public:
  /// Opens the library at `path`; by default the one beside the addon. Throws kUnsupported with the reason and a
  /// remedy. The library stays open as long as the object lives.
  static std::shared_ptr<const GlooLibrary> open(const std::string& path = default_path());
  ~GlooLibrary();
  GlooLibrary(const GlooLibrary&) = delete;
  GlooLibrary& operator=(const GlooLibrary&) = delete;

  const HoneGlooFunctions& functions() const { return *functions_; }

  /// Path of hone_gloo.so in the folder of the library or program that contains this code.
  static std::string default_path();

 private:
  GlooLibrary() = default;

  void* handle_ = nullptr;
  const HoneGlooFunctions* functions_ = nullptr;
};

/// Availability of Gloo on this machine, for `hone doctor`.
struct GlooInfo {
  std::string version;  // empty: Gloo is not available
  std::string reason;   // why Gloo is not available
};
/// Tries to open the library. Never throws.
GlooInfo query_gloo(const std::string& path = GlooLibrary::default_path());

}  // namespace hone::dist
