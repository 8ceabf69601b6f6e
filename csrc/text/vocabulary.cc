#include "text/vocabulary.h"

#include "core/error.h"

namespace hone::text {
namespace {

// limit of ids, so that a wrong id in a file cannot exhaust memory
constexpr int64_t kMostIds = int64_t(1) << 24;

}  // namespace

int32_t token_id(const Json& json, const std::string& where) {
  const int64_t id = json.as_int(where.c_str());
  if (id < 0 || id >= kMostIds) fail(Code::kFormat, "%s is %lld, expected 0 to %lld.", where.c_str(), (long long)id, (long long)kMostIds - 1);
  return int32_t(id);
}

void Vocabulary::enter(int32_t id, const std::string& name, const std::string& where) {
  if (size_t(id) >= names_.size()) names_.resize(size_t(id) + 1);
  const auto [entry, fresh] = ids_.emplace(name, id);
  const bool taken = fresh && !names_[size_t(id)].empty();
  if (taken || entry->second != id) {
    fail(Code::kFormat, "%s gives id %d to \"%s\", but %s.", where.c_str(), id, name.c_str(),
         taken ? "another token has it" : "that token has another id");
  }
  names_[size_t(id)] = name;
}

int32_t Vocabulary::id_of(const std::string& name) const {
  const auto found = ids_.find(name);
  return found == ids_.end() ? -1 : found->second;
}

}  // namespace hone::text
