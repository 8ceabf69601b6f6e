#include "engine/sequence.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace hone::engine {
namespace {

uint32_t version_at(const std::vector<VersionRun>& plan, int32_t token) {
  uint32_t version = plan.front().version;
  for (const VersionRun& run : plan) {
    if (run.from_token > token) break;
    version = run.version;
  }
  return version;
}

}  // namespace

bool Sequence::before(const Sequence& other) const {
  if (group->order != other.group->order) return group->order < other.group->order;
  return attempt < other.attempt;
}

int32_t Sequence::position() const { return group->prompt_tokens() + generated - 1; }

std::optional<uint32_t> Sequence::needed_version() const {
  if (!group->planned() || !unfinished()) return std::nullopt;
  return version_at(group->request.plan[size_t(attempt)], generated);
}

Finish Sequence::accept(int32_t token, const std::vector<std::string>& token_bytes) {
  const Request& request = group->request;
  last_token = token;
  ++generated;
  if (std::find(request.stop_ids.begin(), request.stop_ids.end(), token) != request.stop_ids.end()) {
    return Finish::kEos;
  }
  if (!group->matcher.empty() && size_t(token) < token_bytes.size() &&
      group->matcher.advance(stop, token_bytes[size_t(token)])) {
    return Finish::kStop;
  }
  return generated >= request.max_tokens ? Finish::kLength : Finish::kRunning;
}

Group::Group(Request submitted, uint64_t submission, int32_t page_tokens, const std::vector<std::string>& token_bytes)
    : request(std::move(submitted)), order(submission), matcher(request.stop_strings) {
  StopMatcher::State begun = matcher.start();
  for (auto id = request.prompt.end() - request.begun; !matcher.empty() && id != request.prompt.end(); ++id) {
    if (size_t(*id) < token_bytes.size()) matcher.advance(begun, token_bytes[size_t(*id)]);
  }
  members.resize(size_t(request.count));
  for (int32_t i = 0; i < request.count; ++i) {
    Sequence& s = members[size_t(i)];
    s.group = this;
    s.attempt = i;
    s.stop = begun;
    s.pages.reserve(size_t((prompt_tokens() + request.max_tokens + page_tokens - 1) / page_tokens));
  }
  shared_pages = prompt_tokens() / page_tokens;
  unstarted = unfinished = request.count;
}

bool Group::runnable(uint32_t version) const {
  return std::any_of(members.begin(), members.end(),
                     [&](const Sequence& s) { return s.unfinished() && s.runnable(version); });
}

}  // namespace hone::engine
