// Reads the "model" of a tokenizer.json as byte-pair encoding.
#pragma once

#include "core/json.h"
#include "text/bpe.h"
#include "text/vocabulary.h"

namespace hone::text {

/// Reads the model and enters its tokens in `vocabulary`. `byte_level`: tokens' names represent bytes in the
/// alphabet of ByteLevel. Throws kUnsupported naming a type or field that is not known, kFormat naming a
/// malformed token or merge.
Bpe read_bpe(const Json& model, bool byte_level, Vocabulary& vocabulary);

}  // namespace hone::text
