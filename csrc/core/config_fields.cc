#include "core/config_fields.h"

#include <algorithm>
#include <utility>

namespace hone {

ConfigFields::ConfigFields(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
  json.members(where_.c_str());
}

const Json* ConfigFields::value(const char* field) {
  read_.emplace_back(field);
  const Json* found = json_.find(field);
  return found && !found->is_null() ? found : nullptr;
}

int64_t ConfigFields::integer(const char* field) {
  const Json* found = value(field);
  if (!found) fail(Code::kConfig, "%s is missing and has no default.", path(field).c_str());
  return found->as_int(path(field).c_str());
}

int64_t ConfigFields::integer(const char* field, int64_t fallback) {
  const Json* found = value(field);
  return found ? found->as_int(path(field).c_str()) : fallback;
}

double ConfigFields::number(const char* field, double fallback) {
  const Json* found = value(field);
  return found ? found->as_double(path(field).c_str()) : fallback;
}

bool ConfigFields::boolean(const char* field, bool fallback) {
  const Json* found = value(field);
  return found ? found->as_bool(path(field).c_str()) : fallback;
}

std::string ConfigFields::text(const char* field) {
  const Json* found = value(field);
  return found ? found->as_string(path(field).c_str()) : std::string();
}

void ConfigFields::only(const char* field, bool allowed) {
  if (boolean(field, allowed) != allowed) {
    fail(Code::kUnsupported, "%s is %s; only %s is supported.", path(field).c_str(), allowed ? "false" : "true",
         allowed ? "true" : "false");
  }
}

void ConfigFields::only(const char* field, double allowed) {
  const double found = number(field, allowed);
  if (found != allowed) {
    fail(Code::kUnsupported, "%s is %g; only %g is supported.", path(field).c_str(), found, allowed);
  }
}

void ConfigFields::only(const char* field, std::initializer_list<const char*> allowed) {
  const std::string found = text(field);
  if (found.empty()) return;
  std::string list;
  for (const char* name : allowed) {
    if (found == name) return;
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  fail(Code::kUnsupported, "%s is \"%s\"; supported: %s.", path(field).c_str(), found.c_str(), list.c_str());
}

void ConfigFields::ignore(std::initializer_list<const char*> fields) {
  for (const char* field : fields) read_.emplace_back(field);
}

void ConfigFields::finish(std::initializer_list<const char*> harmless) const {
  for (const auto& [name, found] : json_.members(where_.c_str())) {
    const bool known = found.is_null() || std::find(read_.begin(), read_.end(), name) != read_.end() ||
                       std::find(harmless.begin(), harmless.end(), name) != harmless.end();
    if (known) continue;
    fail(Code::kUnsupported,
         "%s: field \"%s\" = %s is not understood and may change the result. Remove it if it does not.",
         where_.c_str(), name.c_str(), found.dump().c_str());
  }
}

}  // namespace hone
