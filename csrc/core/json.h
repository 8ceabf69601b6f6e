// A small JSON value: enough for safetensors headers, config.json and option records.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace hone {

/// A JSON value. Objects keep the order of their keys. Numbers also keep their text, so that 64-bit integers
/// stay exact.
class Json {
 public:
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };

  /// Throws kFormat "<where>: <what> at byte N". Errors are duplicate keys, trailing text, bad UTF-8 escapes, nesting
  /// over 64, numbers that are not JSON and more than `max_values` values: a value takes some 200 bytes of memory, but
  /// as few as two bytes of hostile text.
  static Json parse(std::string_view text, const char* where, int64_t max_values = INT64_MAX);

  Json() = default;
  static Json object() { Json j; j.kind_ = Kind::kObject; return j; }
  static Json array() { Json j; j.kind_ = Kind::kArray; return j; }
  static Json string(std::string s) { Json j; j.kind_ = Kind::kString; j.text_ = std::move(s); return j; }
  static Json number(double v);
  static Json integer(int64_t v);
  static Json boolean(bool v) { Json j; j.kind_ = Kind::kBool; j.bool_ = v; return j; }

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::kNull; }
  /// Read a value of a given type. Throw kFormat naming `where` (a path such as "config.json: rope_theta") if
  /// the value has another type.
  bool as_bool(const char* where) const;
  double as_double(const char* where) const;
  int64_t as_int(const char* where) const;
  const std::string& as_string(const char* where) const;
  const std::vector<Json>& items(const char* where) const;
  const std::vector<std::pair<std::string, Json>>& members(const char* where) const;

  /// The object's member, or nullptr if there is none.
  const Json* find(std::string_view key) const;
  void set(std::string key, Json value);
  void push(Json value);
  /// Serializes the value as JSON without white space.
  std::string dump() const;

 private:
  friend class JsonParser;
  void write(std::string& out) const;

  Kind kind_ = Kind::kNull;
  bool bool_ = false;
  double number_ = 0;
  std::string text_;  // a string's content, or a number as it was written
  std::vector<Json> items_;
  std::vector<std::pair<std::string, Json>> members_;
};

/// Parses a config.json, in which Python's json module may have written NaN, Infinity or -Infinity: each is read as the
/// object that transformers 5 writes instead, {"__float__": "Infinity"}. Throws as Json::parse does.
Json parse_config_json(std::string_view text, const char* where);

}  // namespace hone
