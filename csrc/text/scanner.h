// Scanners for the pre-tokenizer patterns of published tokenizers: each finds in one pass what a backtracking
// regular expression would match next.
#pragma once

#include <cstddef>
#include <string_view>

namespace hone::text {

/// End of the match that starts at offset `at` < text.size(); `at` itself if none starts there (only
/// DeepSeek's patterns leave gaps). Scanning a whole text from match to match takes time linear in its bytes.
/// `text` must be well-formed UTF-8 (not checked).
using Scan = size_t (*)(std::string_view text, size_t at);

/// The patterns that scanner_of knows, for error messages.
extern const char* const kKnownPatterns;

/// The scanner for exactly this pattern text, whose line ends may be raw or escaped; nullptr if the pattern
/// is not known. Source: "pre_tokenizer" of the models' tokenizer.json; pat_str of cl100k_base and
/// o200k_base.
Scan scanner_of(std::string_view pattern);

/// The pattern of GPT-2, which the ByteLevel pre-tokenizer implies.
size_t scan_gpt2(std::string_view text, size_t at);

}  // namespace hone::text
