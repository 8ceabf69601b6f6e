#include "core/json.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <unordered_set>

#include "core/utf8.h"

namespace hone {
namespace {

constexpr int kMaxDepth = 64;

void write_string(std::string& out, const std::string& text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (uint8_t(c) < 0x20) {
      out += "\\u00";
      out += kHex[uint8_t(c) >> 4];
      out += kHex[uint8_t(c) & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

const char* kind_name(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::kNull: return "null";
    case Json::Kind::kBool: return "a boolean";
    case Json::Kind::kNumber: return "a number";
    case Json::Kind::kString: return "a string";
    case Json::Kind::kArray: return "an array";
    case Json::Kind::kObject: return "an object";
  }
  return "?";
}

void expect_kind(Json::Kind kind, Json::Kind wanted, const char* where) {
  if (kind != wanted) fail(Code::kFormat, "%s is %s, expected %s.", where, kind_name(kind), kind_name(wanted));
}

/// Scans words, strings and numbers of RFC 8259 strictly.
class JsonScanner {
 public:
  JsonScanner(std::string_view text, const char* where) : text_(text), where_(where) {}

  [[noreturn]] void stop(const char* what) const { fail(Code::kFormat, "%s: %s at byte %zu.", where_, what, at_); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (peek() != c || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') ++at_;
  }
  bool at_end() const { return at_ >= text_.size(); }
  bool take_word(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string string() {
    std::string out;
    ++at_;
    for (;;) {
      if (at_ >= text_.size()) stop("the text ends inside a string");
      const char c = peek();
      if (c == '"') break;
      if (uint8_t(c) < 0x20) stop("a control character inside a string");
      if (c == '\\') {
        ++at_;
        escape(out);
        continue;
      }
      const int length = utf8_length(text_.substr(at_, 4));
      if (length == 0) stop("bytes that are not UTF-8");
      out.append(text_, at_, size_t(length));
      at_ += size_t(length);
    }
    ++at_;
    return out;
  }

  /// Scans a number and returns its text.
  std::string number() {
    const size_t begin = at_;
    if (peek() != '-' && !(peek() >= '0' && peek() <= '9')) stop("an unexpected character");
    take('-');
    if (!take('0')) skip_digits();
    if (take('.')) skip_digits();
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (!take('+')) take('-');
      skip_digits();
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

 private:
  void escape(std::string& out) {
    static constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    const char c = peek();
    if (c == 'u') {
      ++at_;
      uint32_t code = hex4();
      if (code >= 0xDC00 && code <= 0xDFFF) stop("a low surrogate without its high one");
      if (code >= 0xD800 && code <= 0xDBFF) {
        if (!take_word("\\u")) stop("a high surrogate without its low one");
        const uint32_t low = hex4();
        if (low < 0xDC00 || low > 0xDFFF) stop("a high surrogate without its low one");
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      }
      return append_utf8(out, code);
    }
    const size_t i = at_ < text_.size() ? kNames.find(c) : std::string_view::npos;
    if (i == std::string_view::npos) stop("an unknown escape");
    out += kValues[i];
    ++at_;
  }

  uint32_t hex4() {
    uint32_t code = 0;
    for (int i = 0; i < 4; ++i, ++at_) {
      const char c = peek();
      if (c >= '0' && c <= '9') code = code << 4 | uint32_t(c - '0');
      else if (c >= 'a' && c <= 'f') code = code << 4 | uint32_t(c - 'a' + 10);
      else if (c >= 'A' && c <= 'F') code = code << 4 | uint32_t(c - 'A' + 10);
      else stop("four hexadecimal digits are expected");
    }
    return code;
  }

  void skip_digits() {
    if (!(peek() >= '0' && peek() <= '9')) stop("a digit is expected");
    while (peek() >= '0' && peek() <= '9') ++at_;
  }

  std::string_view text_;
  const char* where_;
  size_t at_ = 0;
};

}  // namespace

/// Recursive descent over the grammar of RFC 8259.
class JsonParser {
 public:
  JsonParser(std::string_view text, const char* where, int64_t max_values, bool takes_infinities = false)
      : scan_(text, where), values_left_(max_values), takes_infinities_(takes_infinities) {}

  Json document() {
    Json value = parse_value(0);
    scan_.skip_space();
    if (!scan_.at_end()) scan_.stop("text after the value");
    return value;
  }

 private:
  Json parse_value(int depth) {
    if (depth > kMaxDepth) scan_.stop("nesting deeper than 64");
    if (--values_left_ < 0) scan_.stop("too many values");
    scan_.skip_space();
    if (scan_.at_end()) scan_.stop("the text ends where a value is expected");
    switch (scan_.peek()) {
      case '{': return parse_object(depth);
      case '[': return parse_array(depth);
      case '"': return Json::string(scan_.string());
      case 't': if (scan_.take_word("true")) return Json::boolean(true); break;
      case 'f': if (scan_.take_word("false")) return Json::boolean(false); break;
      case 'n': if (scan_.take_word("null")) return Json(); break;
      default: return parse_number();
    }
    scan_.stop("an unknown word");
  }


  Json parse_object(int depth) {
    Json object = Json::object();
    std::unordered_set<std::string> seen;
    scan_.take('{');
    scan_.skip_space();
    if (scan_.take('}')) return object;
    do {
      scan_.skip_space();
      if (scan_.peek() != '"') scan_.stop("a key in double quotes is expected");
      std::string key = scan_.string();
      if (!seen.insert(key).second) scan_.stop("a key appears twice, the second time ending");
      scan_.skip_space();
      if (!scan_.take(':')) scan_.stop("':' is expected");
      object.members_.emplace_back(std::move(key), parse_value(depth + 1));
      scan_.skip_space();
    } while (scan_.take(','));
    if (!scan_.take('}')) scan_.stop("',' or '}' is expected");
    return object;
  }

  Json parse_array(int depth) {
    Json array = Json::array();
    scan_.take('[');
    scan_.skip_space();
    if (scan_.take(']')) return array;
    do {
      array.items_.push_back(parse_value(depth + 1));
      scan_.skip_space();
    } while (scan_.take(','));
    if (!scan_.take(']')) scan_.stop("',' or ']' is expected");
    return array;
  }

  Json parse_number() {
    if (takes_infinities_) {
      for (const char* word : {"NaN", "Infinity", "-Infinity"}) {
        if (scan_.take_word(word)) return named_float(word);
      }
    }
    Json number;
    number.kind_ = Json::Kind::kNumber;
    number.text_ = scan_.number();
    const char* const end = number.text_.data() + number.text_.size();
    const auto result = std::from_chars(number.text_.data(), end, number.number_);
    if (result.ec == std::errc::result_out_of_range) {
      // from_chars leaves the value unset; strtod gives 0 for an underflow and infinity for an overflow.
      number.number_ = std::strtod(number.text_.c_str(), nullptr);
      if (!std::isfinite(number.number_)) scan_.stop("a number beyond the range of a double, ending");
    }
    return number;
  }

  static Json named_float(const char* word) {
    Json object = Json::object();
    object.set("__float__", Json::string(word));
    return object;
  }

  JsonScanner scan_;
  int64_t values_left_;
  bool takes_infinities_;
};

Json Json::parse(std::string_view text, const char* where, int64_t max_values) {
  return JsonParser(text, where, max_values).document();
}

Json parse_config_json(std::string_view text, const char* where) {
  return JsonParser(text, where, INT64_MAX, true).document();
}

Json Json::number(double v) {
  if (!std::isfinite(v)) fail(Code::kInternal, "JSON has no NaN and no infinity; the caller must not write one.");
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, v).ptr;
  Json j;
  j.kind_ = Kind::kNumber;
  j.number_ = v;
  j.text_.assign(text, end);
  return j;
}

Json Json::integer(int64_t v) {
  Json j;
  j.kind_ = Kind::kNumber;
  j.number_ = double(v);
  j.text_ = std::to_string(v);
  return j;
}

bool Json::as_bool(const char* where) const {
  expect_kind(kind_, Kind::kBool, where);
  return bool_;
}

double Json::as_double(const char* where) const {
  expect_kind(kind_, Kind::kNumber, where);
  return number_;
}

int64_t Json::as_int(const char* where) const {
  expect_kind(kind_, Kind::kNumber, where);
  int64_t value = 0;
  const char* const end = text_.data() + text_.size();
  const auto result = std::from_chars(text_.data(), end, value);
  if (result.ec == std::errc() && result.ptr == end) return value;
  // Numbers such as 8192.0 and 1e6 count as integers if a double holds them exactly.
  if (result.ec == std::errc() && std::fabs(number_) <= 0x1p53 && number_ == std::floor(number_)) {
    return int64_t(number_);
  }
  fail(Code::kFormat, "%s is %s, expected a 64-bit integer.", where, text_.c_str());
}

const std::string& Json::as_string(const char* where) const {
  expect_kind(kind_, Kind::kString, where);
  return text_;
}

const std::vector<Json>& Json::items(const char* where) const {
  expect_kind(kind_, Kind::kArray, where);
  return items_;
}

const std::vector<std::pair<std::string, Json>>& Json::members(const char* where) const {
  expect_kind(kind_, Kind::kObject, where);
  return members_;
}

const Json* Json::find(std::string_view key) const {
  for (const auto& [name, value] : members_) {
    if (name == key) return &value;
  }
  return nullptr;
}

void Json::set(std::string key, Json value) {
  expect_kind(kind_, Kind::kObject, "Json::set");
  for (auto& [name, old] : members_) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  members_.emplace_back(std::move(key), std::move(value));
}

void Json::push(Json value) {
  expect_kind(kind_, Kind::kArray, "Json::push");
  items_.push_back(std::move(value));
}

std::string Json::dump() const {
  std::string out;
  write(out);
  return out;
}

void Json::write(std::string& out) const {
  switch (kind_) {
    case Kind::kNull: out += "null"; return;
    case Kind::kBool: out += bool_ ? "true" : "false"; return;
    case Kind::kNumber: out += text_; return;
    case Kind::kString: return write_string(out, text_);
    case Kind::kArray:
      out += '[';
      for (size_t i = 0; i < items_.size(); ++i) {
        if (i) out += ',';
        items_[i].write(out);
      }
      out += ']';
      return;
    case Kind::kObject:
      out += '{';
      for (size_t i = 0; i < members_.size(); ++i) {
        if (i) out += ',';
        write_string(out, members_[i].first);
        out += ':';
        members_[i].second.write(out);
      }
      out += '}';
  }
}

}  // namespace hone
