// Byte-level vocabularies represent each byte by a printable character.
#pragma once

#include <string>

namespace hone::text {

/// The bytes represented by `name`; false, and `bytes` unspecified, if a character of it represents none.
/// Source: openai/gpt-2, encoder.py, bytes_to_unicode.
bool bytes_of(const std::string& name, std::string& bytes);

}  // namespace hone::text
