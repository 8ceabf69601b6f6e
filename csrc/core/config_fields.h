// Reads a JSON object of settings (config.json, tokenizer.json) field by field and reports the fields that were not read.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/json.h"

namespace hone {

/// Collects all problems of one file's settings, so that the user sees them at once.
struct ConfigProblems {
  struct Problem {
    Code code;
    std::string text;
  };
  std::vector<Problem> found;
  std::vector<std::string> unknown;  // "<where>: <field> = <value>", fields that were not read

  void add(Code code, std::string text) { found.push_back({code, std::move(text)}); }
  /// Throws one error whose message has the texts of all problems and whose code is the first problem's. Does
  /// nothing if there is none.
  void raise() const;
};

/// A view of one JSON object. Every read marks its field as known, so that finish() and unread() report the
/// rest. Each error names "<where>: <field>", the value found and the values allowed. With `problems`, errors
/// are appended to it and a failing read returns its fallback (1 for an integer that has none); without
/// `problems`, errors are thrown.
class ConfigFields {
 public:
  /// Throws kFormat if json is not an object. json and problems must outlive this object.
  ConfigFields(const Json& json, std::string where, ConfigProblems* problems = nullptr);

  /// Throws kConfig if the field is absent or null.
  int64_t integer(const char* field);
  int64_t integer(const char* field, int64_t fallback);
  double number(const char* field, double fallback);
  bool boolean(const char* field, bool fallback);
  /// Returns an empty string if the field is absent or null.
  std::string text(const char* field);
  /// True if the file has the field, even as null. Does not count as a read.
  bool present(const char* field) const { return json_.find(field) != nullptr; }
  /// The field's value, or nullptr if the field is absent or null.
  const Json* value(const char* field);

  /// The elements of an array; empty if the field is absent or null.
  std::vector<int64_t> integers(const char* field);
  std::vector<double> numbers(const char* field);
  std::vector<std::string> texts(const char* field);

  /// Throws kUnsupported unless the field is absent, null or equal to an allowed value.
  void only(const char* field, bool allowed);
  void only(const char* field, double allowed);
  void only(const char* field, std::initializer_list<const char*> allowed);
  /// Marks fields as understood without reading them.
  void ignore(std::initializer_list<const char*> fields);
  /// Throws kUnsupported naming the first field that is neither read nor null.
  void finish() const;
  /// Fields that are neither read nor null, in the file's order; the values live as long as the JSON object.
  std::vector<std::pair<std::string, const Json*>> unread() const;
  /// Throws the problem, or appends it to `problems` if that was given.
  void problem(Code code, const std::string& text) const;

  ConfigProblems* problems() const { return problems_; }
  const std::string& where() const { return where_; }
  std::string path(const char* field) const { return where_ + ": " + field; }

 private:
  /// Returns read(). With `problems`, appends an error that read() throws and returns the fallback.
  template <class T, class Read>
  T guarded(T fallback, Read read) const;
  template <class T, class Read>
  std::vector<T> list(const char* field, Read read);

  const Json& json_;
  std::string where_;
  ConfigProblems* problems_;
  std::vector<std::string> read_;
};

/// ConfigFields::value(field), or a null value if the field is absent.
const Json& value_or_null(ConfigFields& fields, const char* field);

}  // namespace hone
