// The "model" of a tokenizer.json as byte-pair encoding.
#pragma once

#include "core/json.h"
#include "text/bpe.h"
#include "text/vocabulary.h"

namespace hone::text {

/// Enters the model's tokens in `vocabulary`. `byte_level`: names spell bytes in the alphabet of ByteLevel. Throws
/// kUnsupported naming a type or field it does not know, kFormat naming a token or merge that is malformed.
Bpe read_bpe(const Json& model, bool byte_level, Vocabulary& vocabulary);

}  // namespace hone::text
