// Reads golden reference data of models.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json.h"
#include "golden_files.h"
#include "model/durable_file.h"
#include "model/safetensors.h"

namespace hone::test {

inline Json read_json(const std::string& path) { return Json::parse(model::read_text(path), path.c_str()); }
inline const Json& at(const Json& json, const char* key) {
  const Json* found = json.find(key);
  if (!found) fail(Code::kFormat, "golden: %s is missing", key);
  return *found;
}
template <class T>
std::vector<T> numbers(const Json& json) {
  std::vector<T> out;
  for (const Json& item : json.items("golden")) out.push_back(static_cast<T>(item.as_double("golden")));
  return out;
}
template <class T>
std::vector<T> numbers(const Json& json, const char* key) { return numbers<T>(at(json, key)); }

/// An F64 or F32 entry of a safetensors file as doubles.
inline std::vector<double> doubles(const model::SafetensorsFile& file, const std::string& name) {
  const auto* entry = file.find(name);
  if (!entry) fail(Code::kFormat, "golden: no tensor %s", name.c_str());
  std::vector<double> out;
  const bool wide = entry->dtype == DType::kF64;
  for (int64_t i = 0; i < entry->bytes / dtype_bytes(entry->dtype); ++i) {
    double value;
    float narrow;
    if (wide) std::memcpy(&value, static_cast<const char*>(entry->data) + 8 * i, 8);
    else {
      std::memcpy(&narrow, static_cast<const char*>(entry->data) + 4 * i, 4);
      value = double(narrow);
    }
    out.push_back(value);
  }
  return out;
}

/// A temporary folder of this process, removed by the destructor.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / ("hone-" + name + "-" + std::to_string(::getpid()) + "-" + number())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }
  size_t count() const {
    size_t n = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) n += entry.exists();
    return n;
  }

 private:
  static std::string number() {
    static int made = 0;
    return std::to_string(made++);
  }
  std::filesystem::path path_;
};

}  // namespace hone::test
