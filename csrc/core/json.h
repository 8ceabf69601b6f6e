// A small JSON value: enough for safetensors headers, config.json and option records.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace hone {

/// Object keys keep their order. Numbers keep their text too, so that 64-bit integers survive.
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
  /// Typed reads; throw kFormat naming `where` (a path such as "config.json: rope_theta") on another kind.
  bool as_bool(const char* where) const;
  double as_double(const char* where) const;
  int64_t as_int(const char* where) const;
  const std::string& as_string(const char* where) const;
  const std::vector<Json>& items(const char* where) const;
  const std::vector<std::pair<std::string, Json>>& members(const char* where) const;

  /// Member or nullptr.
  const Json* find(std::string_view key) const;
  void set(std::string key, Json value);
  void push(Json value);
  /// Compact text.
  std::string dump() const;

 private:
  friend class JsonParser;
  void write(std::string& out) const;

  Kind kind_ = Kind::kNull;
  bool bool_ = false;
  double number_ = 0;
  std::string text_;  // of a string, or of a number as written
  std::vector<Json> items_;
  std::vector<std::pair<std::string, Json>> members_;
};

}  // namespace hone
