// How byte-level vocabularies write bytes: each as a printable character.
#pragma once

#include <string>

namespace hone::text {

/// The bytes that `name` stands for; false, and `bytes` unspecified, if a character of it stands for none.
/// Source: openai/gpt-2, encoder.py, bytes_to_unicode.
bool bytes_of(const std::string& name, std::string& bytes);

}  // namespace hone::text
