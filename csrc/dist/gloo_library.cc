#include "dist/gloo_library.h"

#include <dlfcn.h>

#include "core/error.h"

namespace hone::dist {
namespace {

constexpr const char* kGlooRemedy = "Install its headers (apt-get install libgloo-dev), then run: npx hone build";

}  // namespace

std::string GlooLibrary::default_path() {
  Dl_info self{};
  dladdr(reinterpret_cast<void*>(&GlooLibrary::default_path), &self);
  const std::string file = self.dli_fname ? self.dli_fname : "";
  return file.substr(0, file.find_last_of('/') + 1) + "hone_gloo.so";
}

std::shared_ptr<const GlooLibrary> GlooLibrary::open(const std::string& path) {
  std::shared_ptr<GlooLibrary> library(new GlooLibrary());
  library->handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle_) fail(Code::kUnsupported, "gloo: %s cannot be opened (%s). %s", path.c_str(), dlerror(), kGlooRemedy);
  using Entry = const HoneGlooFunctions* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(library->handle_, "hone_gloo"));
  const HoneGlooFunctions* const functions = entry ? entry() : nullptr;
  if (!functions || functions->version != kHoneGlooVersion) {
    fail(Code::kUnsupported, "gloo: %s belongs to another version of this package. Run: npx hone build", path.c_str());
  }
  library->functions_ = functions;
  return library;
}

GlooLibrary::~GlooLibrary() {
  if (handle_) dlclose(handle_);
}

GlooInfo query_gloo(const std::string& path) {
  GlooInfo info;
  try {
    info.version = GlooLibrary::open(path)->functions().gloo;
  } catch (const Error& error) {
    info.reason = error.what();
  }
  return info;
}

}  // namespace hone::dist
