// A request as the engine stores it: one prompt, and the sequences that continue it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/request.h"
#include "engine/stop_matcher.h"

namespace hone::engine {

struct Group;

/// One attempt. Its cached keys and values are positions [0, prompt + generated - 1): the step that feeds the last
/// token writes that token's.
struct Sequence {
  enum class State : uint8_t {
    kPending,  // no token yet: the prompt is not prefilled
    kParked,   // has tokens, no slot; pages resident, saved, or not its own yet (then `pages` is empty)
    kRunning,  // decodes in every step
    kEnded,
  };
  Group* group = nullptr;
  int32_t attempt = 0;  // 0 .. count-1
  State state = State::kPending;
  int32_t generated = 0, last_token = -1;
  int32_t table_row = -1;      // of the block tables while running
  bool started = false;        // has had pages before
  uint32_t oldest_kv = 0;      // oldest version among its cached keys
  std::vector<int32_t> pages;  // by position / W; the full prompt pages come first and are shared
  std::vector<float> recurrent;   // recurrent states of all layers; empty before it starts and after it ends
  std::vector<std::byte> saved;   // private pages, while swapped out
  int32_t saved_pages = 0;
  StopMatcher::State stop;

  bool resident() const { return !pages.empty(); }
  bool unfinished() const { return state != State::kEnded; }
  /// Order of sequences in every queue: by request, then by attempt.
  bool before(const Sequence& other) const;
  /// Position of the row that feeds last_token.
  int32_t position() const;
  /// The version its next token must be sampled with; none: any (or it has ended).
  std::optional<uint32_t> needed_version() const;
  bool runnable(uint32_t version) const { return needed_version().value_or(version) == version; }
  /// Records one sampled token; returns whether and why it was the last.
  Finish accept(int32_t token, const std::vector<std::string>& token_bytes);
};

/// A submitted request.
struct Group {
  enum class Prompt : uint8_t { kWaiting, kPrefilling, kResident, kSaved };

  /// @param token_bytes of the tokens that were sampled before, if there are stop strings.
  Group(Request submitted, uint64_t order, int32_t page_tokens, const std::vector<std::string>& token_bytes = {});

  Request request;
  uint64_t order = 0;  // of submission
  std::vector<Sequence> members;
  StopMatcher matcher;
  Prompt prompt = Prompt::kWaiting;
  int32_t prefilled = 0;  // prompt tokens cached so far
  int32_t table_row = -1;
  int32_t shared_pages = 0;          // full pages of the prompt; a page beyond them is the partial one
  std::vector<int32_t> prompt_pages; // the group's own references; the partial page goes to the last member
  std::vector<float> recurrent;      // states after the prefilled tokens; members copy, the last takes them
  std::vector<uint8_t> routes;       // [prefilled, route_bytes] if the engine records routes
  std::vector<std::byte> saved_prompt;  // while swapped out
  int32_t saved_pages = 0;
  int32_t unstarted = 0;  // members that have had no pages yet
  int32_t unfinished = 0;

  int32_t prompt_tokens() const { return static_cast<int32_t>(request.prompt.size()); }
  bool planned() const { return !request.plan.empty(); }
  bool partial_page() const { return static_cast<int32_t>(prompt_pages.size()) > shared_pages; }
  /// True if its prefill, or any member, may continue under `version`.
  bool runnable(uint32_t version) const;
};

}  // namespace hone::engine
