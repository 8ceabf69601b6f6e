// The pre-tokenizer patterns of published tokenizers as scanners: what a backtracking regular expression would
// match next, found in one pass.
#pragma once

#include <cstddef>
#include <string_view>

namespace hone::text {

/// End of the match that starts at `at` < text.size(). Every pattern matches at least one character everywhere.
/// Scanning a whole text from match to match takes time linear in its bytes. Trusts that text is well-formed UTF-8.
using Scan = size_t (*)(std::string_view text, size_t at);

/// The scanner of exactly this pattern text; nullptr if it is not one of the known ones: GPT-2, Llama 3, Qwen 2,
/// Tekken. Source: "pre_tokenizer" of the tokenizer.json of those models.
Scan scanner_of(std::string_view pattern);

/// The pattern of GPT-2, which the ByteLevel pre-tokenizer implies.
size_t scan_gpt2(std::string_view text, size_t at);

}  // namespace hone::text
