// A request in the engine: Group is its prompt, Sequence each attempt that continues the prompt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/recurrent_states.h"
#include "engine/request.h"
#include "engine/stop_matcher.h"

namespace hone::engine {

struct Group;

/// One attempt. Keys and values of positions [0, prompt + generated - 1) are cached: those of the last token
/// are written by the step that feeds it.
struct Sequence {
  enum class State : uint8_t {
    kPending,  // no token yet: the prompt is not fully prefilled
    kParked,   // has tokens but no slot; its pages are resident, saved, or not taken yet (then `pages` is
               // empty)
    kRunning,  // decodes in every step
    kEnded,
  };
  Group* group = nullptr;
  int32_t attempt = 0;  // 0 .. count-1
  State state = State::kPending;
  int32_t generated = 0, last_token = -1;
  int32_t table_row = -1;      // row of the block tables while running
  bool started = false;        // has had pages before
  uint32_t oldest_kv = 0;      // oldest weight version among its cached keys
  std::vector<int32_t> pages;  // ordered by position; the full pages of the prompt come first and are shared
  RecurrentState recurrent;    // empty before it starts and after it ends
  std::vector<std::byte> saved;   // private pages while they are in host memory
  int32_t saved_pages = 0;
  StopMatcher::State stop;

  bool resident() const { return !pages.empty(); }
  bool unfinished() const { return state != State::kEnded; }
  /// Order of sequences in every queue: by submission of the request, then by attempt.
  bool before(const Sequence& other) const;
  /// Position of the row that feeds last_token to the network.
  int32_t position() const;
  /// The weight version with which its next token must be sampled; no value: any version (or the sequence has
  /// ended).
  std::optional<uint32_t> needed_version() const;
  bool runnable(uint32_t version) const { return needed_version().value_or(version) == version; }
  /// Appends one sampled token. Returns why it was the last one, or kRunning.
  Finish accept(int32_t token, const std::vector<std::string>& token_bytes);
};

/// A submitted request: its prompt and its sequences.
struct Group {
  enum class Prompt : uint8_t { kWaiting, kPrefilling, kResident, kSaved };

  /// @param token_bytes bytes of each token id, needed if there are stop strings and the prompt ends with
  /// tokens sampled before.
  Group(Request submitted, uint64_t order, int32_t page_tokens, const std::vector<std::string>& token_bytes = {});

  Request request;
  uint64_t order = 0;  // number in order of submission
  std::vector<Sequence> members;
  StopMatcher matcher;
  Prompt prompt = Prompt::kWaiting;
  int32_t prefilled = 0;  // prompt tokens cached so far
  int32_t table_row = -1;
  // number of full pages of the prompt; the page after them, if any, is the partial one
  int32_t shared_pages = 0;
  // pages that the group holds references to; the last sequence to start takes over the partial page
  std::vector<int32_t> prompt_pages;
  // recurrent states after the prefilled tokens; sequences copy them, the last one to start takes them over
  RecurrentState recurrent;
  std::vector<uint8_t> routes;       // [prefilled, route_bytes] if the engine records routes
  std::vector<std::byte> saved_prompt;  // pages while they are in host memory
  int32_t saved_pages = 0;
  int32_t unstarted = 0;  // sequences that have had no pages yet
  int32_t unfinished = 0;

  int32_t prompt_tokens() const { return static_cast<int32_t>(request.prompt.size()); }
  bool planned() const { return !request.plan.empty(); }
  bool partial_page() const { return static_cast<int32_t>(prompt_pages.size()) > shared_pages; }
  /// True if the prefill or any sequence may continue under `version`.
  bool runnable(uint32_t version) const;
};

}  // namespace hone::engine
