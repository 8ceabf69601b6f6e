// NativeTokenizer(path of a tokenizer.json) and NativeDecodeStream(tokenizer, skipSpecial).
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <vector>

#include "text/tokenizer.h"

namespace hone::addon {

/// Methods: vocabularySize, encode(text, addSpecial, spellSpecial): Int32Array, decode(ids, skipSpecial),
/// nameOf(id), idOf(name), tokenBytes(): Uint8Array[]. All run on the calling thread.
class TokenizerObject : public Napi::ObjectWrap<TokenizerObject> {
 public:
  static Napi::Function define(Napi::Env env);
  /// The tokenizer of a JavaScript object of this class; throws kConfig for any other value.
  static const std::shared_ptr<text::Tokenizer>& from(const Napi::Value& value);

  explicit TokenizerObject(const Napi::CallbackInfo& info);

 private:
  Napi::Value vocabulary_size(const Napi::CallbackInfo& info);
  Napi::Value encode(const Napi::CallbackInfo& info);
  Napi::Value decode(const Napi::CallbackInfo& info);
  Napi::Value name_of(const Napi::CallbackInfo& info);
  Napi::Value id_of(const Napi::CallbackInfo& info);
  Napi::Value token_bytes(const Napi::CallbackInfo& info);

  std::shared_ptr<text::Tokenizer> tokenizer_;
  std::vector<int32_t> ids_;  // reused between calls
};

/// Methods: step(id): string, finish(): string. Keeps its tokenizer alive.
class DecodeStreamObject : public Napi::ObjectWrap<DecodeStreamObject> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit DecodeStreamObject(const Napi::CallbackInfo& info);

 private:
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value finish(const Napi::CallbackInfo& info);

  std::shared_ptr<text::Tokenizer> tokenizer_;
  std::optional<text::DecodeStream> stream_;
};

}  // namespace hone::addon
