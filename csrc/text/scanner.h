// The pre-tokenizer patterns of published tokenizers as scanners: what a backtracking regular expression would
// match next, found in one pass.
#pragma once

#include <cstddef>
#include <string_view>

namespace hone::text {

/// End of the match that starts at `at` < text.size(); `at` itself if none starts (only DeepSeek's patterns leave
/// gaps). Scanning a whole text from match to match takes time linear in its bytes. Trusts that text is well-formed
/// UTF-8.
using Scan = size_t (*)(std::string_view text, size_t at);

/// The patterns scanner_of knows, for messages.
extern const char* const kKnownPatterns;

/// The scanner of exactly this pattern text, with line ends raw or escaped; nullptr if it is not a known one. Source:
/// "pre_tokenizer" of the tokenizer.json of those models; pat_str of cl100k_base and o200k_base.
Scan scanner_of(std::string_view pattern);

/// The pattern of GPT-2, which the ByteLevel pre-tokenizer implies.
size_t scan_gpt2(std::string_view text, size_t at);

}  // namespace hone::text
