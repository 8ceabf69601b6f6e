// The byte-level alphabet: vocabularies represent each byte by a printable character.
#pragma once

#include <string>

namespace hone::text {

/// Sets `bytes` to the bytes that `name` represents. Returns false, and leaves `bytes` unspecified, if a
/// character of `name` represents no byte. Source: openai/gpt-2, encoder.py, bytes_to_unicode.
bool bytes_of(const std::string& name, std::string& bytes);

}  // namespace hone::text
