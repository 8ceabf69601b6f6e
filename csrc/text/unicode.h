// Character classes and canonical normalization, from tables made by scripts/unicode-tables.mjs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::text {

/// Bits of the class byte of a code point. Source: Unicode Character Database, by general category and
/// property.
enum CharClass : uint8_t {
  kLetter = 1,    // L
  kNumber = 2,    // N
  kSpace = 4,     // White_Space
  kUpperish = 8,  // Lu, Lt, Lm, Lo, M
  kLowerish = 16, // Ll, Lm, Lo, M
  kWord = 32,     // \w of regular expressions: Alphabetic, M, Nd, Pc, Join_Control
  kSymbol = 64,   // P, S
  kActive = 128,  // NFC may change it or compose it with preceding characters
};

/// Table of 0x110000 class bytes, by code point; 0 for unassigned code points.
const uint8_t* char_classes();

/// Normalization form C. `text` must be well-formed UTF-8 (not checked). Source: Unicode Standard Annex 15.
std::string nfc(std::string_view text);

}  // namespace hone::text
