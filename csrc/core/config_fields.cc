#include "core/config_fields.h"

#include <algorithm>
#include <utility>

namespace hone {

void ConfigProblems::raise() const {
  if (found.empty()) return;
  std::string text = found.front().text;
  if (found.size() > 1) {
    text = std::to_string(found.size()) + " problems:";
    for (const Problem& problem : found) text += "\n  " + problem.text;
  }
  fail(found.front().code, "%s", text.c_str());
}

ConfigFields::ConfigFields(const Json& json, std::string where, ConfigProblems* problems)
    : json_(json), where_(std::move(where)), problems_(problems) {
  json.members(where_.c_str());
}

void ConfigFields::problem(Code code, const std::string& text) const {
  if (!problems_) fail(code, "%s", text.c_str());
  problems_->add(code, text);
}

const Json* ConfigFields::value(const char* field) {
  read_.emplace_back(field);
  const Json* found = json_.find(field);
  return found && !found->is_null() ? found : nullptr;
}

const Json& value_or_null(ConfigFields& fields, const char* field) {
  static const Json kNull;
  const Json* found = fields.value(field);
  return found ? *found : kNull;
}

template <class T, class Read>
T ConfigFields::guarded(T fallback, Read read) const {
  if (!problems_) return read();
  try {
    return read();
  } catch (const Error& error) {
    problems_->add(error.code(), error.what());
    return fallback;
  }
}

int64_t ConfigFields::integer(const char* field) {
  const Json* found = value(field);
  if (!found) problem(Code::kConfig, path(field) + " is missing and has no default.");
  return found ? guarded<int64_t>(1, [&] { return found->as_int(path(field).c_str()); }) : 1;
}

int64_t ConfigFields::integer(const char* field, int64_t fallback) {
  const Json* found = value(field);
  return found ? guarded(fallback, [&] { return found->as_int(path(field).c_str()); }) : fallback;
}

double ConfigFields::number(const char* field, double fallback) {
  const Json* found = value(field);
  return found ? guarded(fallback, [&] { return found->as_double(path(field).c_str()); }) : fallback;
}

bool ConfigFields::boolean(const char* field, bool fallback) {
  const Json* found = value(field);
  return found ? guarded(fallback, [&] { return found->as_bool(path(field).c_str()); }) : fallback;
}

std::string ConfigFields::text(const char* field) {
  const Json* found = value(field);
  return found ? guarded(std::string(), [&] { return found->as_string(path(field).c_str()); }) : std::string();
}

template <class T, class Read>
std::vector<T> ConfigFields::list(const char* field, Read read) {
  const Json* found = value(field);
  if (!found) return {};
  return guarded(std::vector<T>(), [&] {
    std::vector<T> out;
    for (const Json& item : found->items(path(field).c_str())) out.push_back(read(item, path(field).c_str()));
    return out;
  });
}

std::vector<int64_t> ConfigFields::integers(const char* field) {
  return list<int64_t>(field, [](const Json& item, const char* where) { return item.as_int(where); });
}

std::vector<double> ConfigFields::numbers(const char* field) {
  return list<double>(field, [](const Json& item, const char* where) { return item.as_double(where); });
}

std::vector<std::string> ConfigFields::texts(const char* field) {
  return list<std::string>(field, [](const Json& item, const char* where) { return item.as_string(where); });
}

void ConfigFields::only(const char* field, bool allowed) {
  if (boolean(field, allowed) == allowed) return;
  const char* const names[] = {"false", "true"};
  problem(Code::kUnsupported, path(field) + " is " + names[!allowed] + "; only " + names[allowed] + " is supported.");
}

void ConfigFields::only(const char* field, double allowed) {
  const double found = number(field, allowed);
  if (found == allowed) return;
  problem(Code::kUnsupported, path(field) + " is " + Json::number(found).dump() + "; only " + Json::number(allowed).dump() + " is supported.");
}

void ConfigFields::only(const char* field, std::initializer_list<const char*> allowed) {
  const std::string found = text(field);
  if (found.empty()) return;
  std::string list;
  for (const char* name : allowed) {
    if (found == name) return;
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  problem(Code::kUnsupported, path(field) + " is \"" + found + "\"; supported: " + list + ".");
}

void ConfigFields::ignore(std::initializer_list<const char*> fields) {
  for (const char* field : fields) read_.emplace_back(field);
}

std::vector<std::pair<std::string, const Json*>> ConfigFields::unread() const {
  std::vector<std::pair<std::string, const Json*>> out;
  for (const auto& [name, found] : json_.members(where_.c_str())) {
    if (!found.is_null() && std::find(read_.begin(), read_.end(), name) == read_.end()) out.emplace_back(name, &found);
  }
  return out;
}

void ConfigFields::finish() const {
  for (const auto& [name, found] : unread()) {
    problem(Code::kUnsupported, where_ + ": field \"" + name + "\" = " + found->dump() +
                                    " is not understood and may change the result. Remove it if it does not.");
  }
}

}  // namespace hone
