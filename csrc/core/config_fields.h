// Reads a JSON object of settings (config.json, tokenizer.json) field by field and reports what nobody asked for.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "core/json.h"

namespace hone {

/// A view of one JSON object. Every read marks its field as understood; finish() throws kUnsupported naming
/// the first field that was neither read nor is known to leave the result alone.
/// All errors name "<where>: <field>", the value found and what is possible.
class ConfigFields {
 public:
  /// Throws kFormat if json is not an object. Borrows json.
  ConfigFields(const Json& json, std::string where);

  /// Throws kConfig if the field is absent or null.
  int64_t integer(const char* field);
  int64_t integer(const char* field, int64_t fallback);
  double number(const char* field, double fallback);
  bool boolean(const char* field, bool fallback);
  /// Empty if absent or null.
  std::string text(const char* field);
  /// The value, or nullptr if absent or null.
  const Json* value(const char* field);

  /// The field may be absent, null or exactly this; throws kUnsupported otherwise.
  void only(const char* field, bool allowed);
  void only(const char* field, double allowed);
  void only(const char* field, std::initializer_list<const char*> allowed);
  /// Marks fields as understood without reading them.
  void ignore(std::initializer_list<const char*> fields);
  void finish(std::initializer_list<const char*> harmless) const;

  const std::string& where() const { return where_; }
  std::string path(const char* field) const { return where_ + ": " + field; }

 private:
  const Json& json_;
  std::string where_;
  std::vector<std::string> read_;
};

}  // namespace hone
