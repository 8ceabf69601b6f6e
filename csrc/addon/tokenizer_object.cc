#include "addon/tokenizer_object.h"

#include <string>

#include "addon/arguments.h"
#include "addon/errors.h"
#include "core/error.h"
#include "model/durable_file.h"

namespace hone::addon {
namespace {

constexpr napi_type_tag kTokenizerTag = {0x2f6b7c1d9e084a53ull, 0xa40d5be81c973f62ull};

bool to_flag(const Napi::Value& value, const char* name) {
  if (!value.IsBoolean()) fail(Code::kConfig, "%s must be true or false.", name);
  return value.As<Napi::Boolean>();
}

/// Throws kData unless the value is an integer in [0, 2^31).
int32_t to_token(const Napi::Value& value) {
  const double id = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : -1;
  if (!(id >= 0 && id <= INT32_MAX && id == double(int32_t(id)))) fail(Code::kData, "a token id must be an integer, 0 or more.");
  return int32_t(id);
}

}  // namespace

Napi::Function TokenizerObject::define(Napi::Env env) {
  return DefineClass(env, "NativeTokenizer",
                     {InstanceAccessor<&TokenizerObject::vocabulary_size>("vocabularySize"),
                      InstanceMethod<&TokenizerObject::encode>("encode"), InstanceMethod<&TokenizerObject::decode>("decode"),
                      InstanceMethod<&TokenizerObject::name_of>("nameOf"), InstanceMethod<&TokenizerObject::id_of>("idOf"),
                      InstanceMethod<&TokenizerObject::token_bytes>("tokenBytes")});
}

const std::shared_ptr<text::Tokenizer>& TokenizerObject::from(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kTokenizerTag)) {
    fail(Code::kConfig, "the argument is not a NativeTokenizer.");
  }
  return Unwrap(value.As<Napi::Object>())->tokenizer_;
}

TokenizerObject::TokenizerObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<TokenizerObject>(info) {
  translated(info.Env(), [&] {
    tokenizer_ = std::make_shared<text::Tokenizer>(model::read_text(to_text(info[0], "tokenizer: path")));
  });
  info.This().As<Napi::Object>().TypeTag(&kTokenizerTag);
}

Napi::Value TokenizerObject::vocabulary_size(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), tokenizer_->vocabulary_size());
}

Napi::Value TokenizerObject::encode(const Napi::CallbackInfo& info) {
  return translated(info.Env(), [&]() -> Napi::Value {
    const text::EncodeOptions options{to_flag(info[1], "encode: addSpecial"), to_flag(info[2], "encode: spellSpecial")};
    ids_.clear();
    tokenizer_->encode(to_text(info[0], "encode: text"), options, ids_);
    return new_array<Napi::Int32Array>(info.Env(), ids_);
  });
}

Napi::Value TokenizerObject::decode(const Napi::CallbackInfo& info) {
  return translated(info.Env(), [&]() -> Napi::Value {
    copy_array(info[0], "decode: ids", ids_);
    return Napi::String::New(info.Env(), tokenizer_->decode(ids_.data(), ids_.size(), to_flag(info[1], "decode: skipSpecial")));
  });
}

Napi::Value TokenizerObject::name_of(const Napi::CallbackInfo& info) {
  return translated(info.Env(), [&]() -> Napi::Value {
    const std::string* name = tokenizer_->name_of(to_token(info[0]));
    if (!name) return info.Env().Undefined();
    return Napi::String::New(info.Env(), *name);
  });
}

Napi::Value TokenizerObject::id_of(const Napi::CallbackInfo& info) {
  return translated(info.Env(), [&]() -> Napi::Value {
    const int32_t id = tokenizer_->id_of(to_text(info[0], "idOf: name"));
    if (id < 0) return info.Env().Undefined();
    return Napi::Number::New(info.Env(), id);
  });
}

Napi::Value TokenizerObject::token_bytes(const Napi::CallbackInfo& info) {
  Napi::Array out = Napi::Array::New(info.Env(), size_t(tokenizer_->vocabulary_size()));
  for (int32_t id = 0; id < tokenizer_->vocabulary_size(); ++id) {
    const Napi::HandleScope scope(info.Env());
    const std::string& bytes = tokenizer_->bytes_of_token(id);
    const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
    out.Set(uint32_t(id), new_array<Napi::Uint8Array>(info.Env(), copy));
  }
  return out;
}

Napi::Function DecodeStreamObject::define(Napi::Env env) {
  return DefineClass(env, "NativeDecodeStream",
                     {InstanceMethod<&DecodeStreamObject::step>("step"), InstanceMethod<&DecodeStreamObject::finish>("finish")});
}

DecodeStreamObject::DecodeStreamObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<DecodeStreamObject>(info) {
  translated(info.Env(), [&] {
    tokenizer_ = TokenizerObject::from(info[0]);
    stream_.emplace(tokenizer_->stream(to_flag(info[1], "decode: skipSpecial")));
  });
}

Napi::Value DecodeStreamObject::step(const Napi::CallbackInfo& info) {
  return translated(info.Env(), [&]() -> Napi::Value {
    return Napi::String::New(info.Env(), stream_->step(to_token(info[0])));
  });
}

Napi::Value DecodeStreamObject::finish(const Napi::CallbackInfo& info) {
  return translated(info.Env(), [&]() -> Napi::Value { return Napi::String::New(info.Env(), stream_->finish()); });
}

}  // namespace hone::addon
