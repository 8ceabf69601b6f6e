// The tokens that a tokenizer adds around a text: bos, eos and the like.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json.h"

namespace hone::text {

struct PostProcessor {
  std::vector<int32_t> before, behind;  // ids

  /// Reads the "post_processor" of a tokenizer.json; null adds no tokens. Throws kUnsupported naming a type,
  /// field or template that is not known, kFormat naming a token without ids.
  static PostProcessor from_json(const Json& json, const std::string& where);
};

}  // namespace hone::text
