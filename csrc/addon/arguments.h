// Reads JavaScript values: every wrong type is a kConfig or kShape error that names the field.
#pragma once

#include <napi.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace hone::addon {

/// A JavaScript object of options. `where` names the object in messages ("engine", "step"). A missing field
/// equals an undefined one.
class Fields {
 public:
  /// Throws kConfig unless `value` is an object.
  Fields(const Napi::Value& value, const char* where);

  bool has(const char* name) const;
  Napi::Value get(const char* name) const { return object_.Get(name); }
  /// Read a required field. Throw kConfig if it is missing or of another type, or if a number is not an
  /// integer in range.
  double number(const char* name) const;
  bool boolean(const char* name) const;
  std::string text(const char* name) const;
  uint64_t bigint(const char* name) const;
  template <class Int>
  Int integer(const char* name) const {
    return static_cast<Int>(integer_between(name, double(std::numeric_limits<Int>::min()),
                                            double(std::numeric_limits<Int>::max())));
  }
  template <class Int>
  Int integer_or(const char* name, Int fallback) const {
    return has(name) ? integer<Int>(name) : fallback;
  }
  float number_or(const char* name, float fallback) const { return has(name) ? float(number(name)) : fallback; }
  /// Copies of array fields; empty if the field is missing (where it is not required).
  std::vector<int32_t> integers(const char* name) const;
  std::vector<std::string> texts(const char* name) const;
  /// Values of a required array of bigints in [0, 2^64).
  std::vector<uint64_t> bigints(const char* name) const;
  /// Index in `names` of the field's text. Throws kConfig listing `names` if it is none of them.
  int choice(const char* name, std::initializer_list<const char*> names) const;
  Fields fields(const char* name) const { return Fields(get(name), name); }
  const char* where() const { return where_; }

 private:
  double integer_between(const char* name, double low, double high) const;

  Napi::Object object_;
  const char* where_;
};

/// Copies a typed array of exactly this element type (Int32Array, Float32Array, Uint8Array), which may be a
/// subarray or lie in a SharedArrayBuffer. Throws kShape naming `name` for any other value.
void copy_array(const Napi::Value& value, const char* name, std::vector<int32_t>& out);
void copy_array(const Napi::Value& value, const char* name, std::vector<float>& out);
void copy_array(const Napi::Value& value, const char* name, std::vector<uint8_t>& out);

uint64_t to_uint64(const Napi::Value& value, const char* name);
std::string to_text(const Napi::Value& value, const char* name);
/// A safe non-negative integer, such as a request id.
uint64_t to_id(const Napi::Value& value, const char* name);

/// A new typed array with a copy of the data.
template <class Array, class T>
Array new_array(Napi::Env env, const std::vector<T>& data) {
  Array array = Array::New(env, data.size());
  if (!data.empty()) std::copy(data.begin(), data.end(), array.Data());
  return array;
}

}  // namespace hone::addon
