#include "addon/arguments.h"

#include <cmath>

#include "core/error.h"

namespace hone::addon {
namespace {

constexpr double kMaxSafeInteger = 9007199254740991.0;

template <class T>
void copy_typed(const Napi::Value& value, napi_typedarray_type wanted, const char* type_name, const char* name,
                std::vector<T>& out) {
  napi_typedarray_type type = napi_uint8_array;
  size_t length = 0;
  void* data = nullptr;
  // One raw N-API call is three times cheaper than the wrapper classes' calls.
  const bool typed = value.IsTypedArray() && napi_get_typedarray_info(value.Env(), value, &type, &length, &data,
                                                                       nullptr, nullptr) == napi_ok;
  if (!typed || type != wanted) fail(Code::kShape, "%s must be an %s.", name, type_name);
  const T* first = static_cast<const T*>(data);
  out.assign(first, first + length);
}

}  // namespace

Fields::Fields(const Napi::Value& value, const char* where) : where_(where) {
  if (!value.IsObject()) fail(Code::kConfig, "%s must be an object.", where);
  object_ = value.As<Napi::Object>();
}

bool Fields::has(const char* name) const { return !get(name).IsUndefined(); }

double Fields::number(const char* name) const {
  const Napi::Value value = get(name);
  if (!value.IsNumber()) fail(Code::kConfig, "%s.%s must be a number.", where_, name);
  return value.As<Napi::Number>().DoubleValue();
}

double Fields::integer_between(const char* name, double low, double high) const {
  const double value = number(name);
  if (!(value >= low && value <= high && value == std::trunc(value))) {
    fail(Code::kConfig, "%s.%s is %.17g; it must be an integer in [%.0f, %.0f].", where_, name, value, low, high);
  }
  return value;
}

bool Fields::boolean(const char* name) const {
  const Napi::Value value = get(name);
  if (!value.IsBoolean()) fail(Code::kConfig, "%s.%s must be true or false.", where_, name);
  return value.As<Napi::Boolean>();
}

std::string Fields::text(const char* name) const {
  return to_text(get(name), (std::string(where_) + "." + name).c_str());
}

uint64_t Fields::bigint(const char* name) const {
  return to_uint64(get(name), (std::string(where_) + "." + name).c_str());
}

std::vector<uint64_t> Fields::bigints(const char* name) const {
  const Napi::Value value = get(name);
  if (!value.IsArray()) fail(Code::kConfig, "%s.%s must be an array of bigints.", where_, name);
  const Napi::Array array = value.As<Napi::Array>();
  std::vector<uint64_t> out;
  for (uint32_t i = 0; i < array.Length(); ++i) {
    out.push_back(to_uint64(array.Get(i), (std::string(where_) + "." + name + "[" + std::to_string(i) + "]").c_str()));
  }
  return out;
}

std::vector<int32_t> Fields::integers(const char* name) const {
  std::vector<int32_t> out;
  const Napi::Value value = get(name);
  if (!value.IsArray()) fail(Code::kConfig, "%s.%s must be an array of integers.", where_, name);
  const Napi::Array array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) {
    const Napi::Value item = array.Get(i);
    const double number = item.IsNumber() ? item.As<Napi::Number>().DoubleValue() : NAN;
    if (!(number >= INT32_MIN && number <= INT32_MAX && number == std::trunc(number))) {
      fail(Code::kConfig, "%s.%s[%u] must be a 32-bit integer.", where_, name, i);
    }
    out.push_back(int32_t(number));
  }
  return out;
}

std::vector<std::string> Fields::texts(const char* name) const {
  std::vector<std::string> out;
  if (!has(name)) return out;
  const Napi::Value value = get(name);
  if (!value.IsArray()) fail(Code::kConfig, "%s.%s must be an array of strings.", where_, name);
  const Napi::Array array = value.As<Napi::Array>();
  for (uint32_t i = 0; i < array.Length(); ++i) out.push_back(to_text(array.Get(i), name));
  return out;
}

int Fields::choice(const char* name, std::initializer_list<const char*> names) const {
  const std::string given = text(name);
  std::string known;
  int index = 0;
  for (const char* candidate : names) {
    if (given == candidate) return index;
    known.append(index++ ? ", " : "").append(candidate);
  }
  fail(Code::kConfig, "%s.%s is \"%s\"; known: %s.", where_, name, given.c_str(), known.c_str());
}

void copy_array(const Napi::Value& value, const char* name, std::vector<int32_t>& out) {
  copy_typed(value, napi_int32_array, "Int32Array", name, out);
}
void copy_array(const Napi::Value& value, const char* name, std::vector<float>& out) {
  copy_typed(value, napi_float32_array, "Float32Array", name, out);
}
void copy_array(const Napi::Value& value, const char* name, std::vector<uint8_t>& out) {
  copy_typed(value, napi_uint8_array, "Uint8Array", name, out);
}

uint64_t to_uint64(const Napi::Value& value, const char* name) {
  bool lossless = false;
  if (!value.IsBigInt()) fail(Code::kConfig, "%s must be a bigint.", name);
  const uint64_t out = value.As<Napi::BigInt>().Uint64Value(&lossless);
  if (!lossless) fail(Code::kConfig, "%s must be in [0, 2^64).", name);
  return out;
}

std::string to_text(const Napi::Value& value, const char* name) {
  if (!value.IsString()) fail(Code::kConfig, "%s must be a string.", name);
  return value.As<Napi::String>().Utf8Value();
}

uint64_t to_id(const Napi::Value& value, const char* name) {
  const double id = value.IsNumber() ? value.As<Napi::Number>().DoubleValue() : NAN;
  if (!(id >= 0 && id <= kMaxSafeInteger && id == std::trunc(id))) {
    fail(Code::kConfig, "%s must be a non-negative safe integer.", name);
  }
  return uint64_t(id);
}

}  // namespace hone::addon
