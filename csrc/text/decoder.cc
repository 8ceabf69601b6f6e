#include "text/decoder.h"

#include <utility>

#include "core/config_fields.h"
#include "core/error.h"
#include "core/utf8.h"
#include "text/byte_alphabet.h"
#include "text/normalizer.h"

namespace hone::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// The byte that a name such as "<0x41>" denotes, or -1.
int byte_of(const std::string& content) {
  if (content.size() != 6 || content.compare(0, 3, "<0x") != 0 || content[5] != '>') return -1;
  int value = 0;
  for (const char c : {content[3], content[4]}) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return -1;
    value = 16 * value + digit;
  }
  return value;
}

/// The order in which a decoder's steps may occur; each must be later than the previous one, but Replace may
/// repeat.
enum Stage { kReplace, kByteFallback, kFuse, kStrip, kEnd };

class RulesReader {
 public:
  DecoderRules rules;

  void read(const Json& json, const std::string& where) {
    ConfigFields fields(json, where);
    const std::string type = fields.text("type");
    if (type == "Sequence") {
      const Json* list = fields.value("decoders");
      if (!list) fail(Code::kFormat, "%s: decoders is missing.", where.c_str());
      int index = 0;
      for (const Json& each : list->items(where.c_str())) read(each, where + ".decoders[" + std::to_string(index++) + "]");
    } else if (type == "ByteLevel") {
      alone(where);
      rules.byte_level = true;
      fields.ignore({"add_prefix_space", "trim_offsets", "use_regex"});
    } else if (type == "Metaspace") {
      alone(where);
      read_metaspace(fields);
    } else if (type == "Replace") {
      enter(kReplace, where);
      stage_ = kReplace;
      const Json* pattern = fields.value("pattern");
      if (!pattern) fail(Code::kFormat, "%s: pattern is missing.", where.c_str());
      rules.replace.emplace_back(literal_pattern(*pattern, where + ".pattern"), fields.text("content"));
    } else if (type == "ByteFallback") {
      enter(kByteFallback, where);
      rules.byte_fallback = true;
    } else if (type == "Fuse") {
      enter(kFuse, where);
      fused_ = true;
    } else if (type == "Strip") {
      read_strip(fields);
    } else {
      fields.only("type", {"ByteLevel", "Metaspace", "Replace", "ByteFallback", "Fuse", "Strip", "Sequence"});
      fail(Code::kFormat, "%s: type is missing.", where.c_str());
    }
    fields.finish();
  }

 private:
  void enter(Stage stage, const std::string& where) {
    if (stage < stage_) {
      fail(Code::kUnsupported, "%s: decoders are supported in the order Replace, ByteFallback, Fuse, Strip; or one alone.",
           where.c_str());
    }
    stage_ = Stage(stage + 1);
  }
  void alone(const std::string& where) {
    if (stage_ != kReplace || !rules.replace.empty()) enter(kReplace, where);
    stage_ = kEnd;
  }
  void read_metaspace(ConfigFields& fields) {
    rules.metaspace = fields.text("replacement");
    if (rules.metaspace.empty()) fail(Code::kFormat, "%s is missing.", fields.path("replacement").c_str());
    const bool prefix = fields.boolean("add_prefix_space", true);
    fields.only("prepend_scheme", {"always", "first", "never"});
    const std::string scheme = fields.text("prepend_scheme");
    rules.metaspace_first = scheme.empty() ? prefix : scheme != "never";
    fields.ignore({"split"});
  }
  void read_strip(ConfigFields& fields) {
    enter(kStrip, fields.where());
    if (!fused_) fail(Code::kUnsupported, "%s: Strip is supported only behind Fuse.", fields.where().c_str());
    rules.strip = fields.text("content");
    if (rules.strip.empty()) fail(Code::kFormat, "%s is missing or empty.", fields.path("content").c_str());
    rules.strip_count = fields.integer("start");
    fields.only("stop", 0.0);
  }

  Stage stage_ = kReplace;
  bool fused_ = false;
};

}  // namespace

DecoderRules DecoderRules::from_json(const Json& json, const std::string& where) {
  RulesReader reader;
  if (json.is_null()) reader.rules.spaced = true;
  else reader.read(json, where);
  return std::move(reader.rules);
}

DecodedToken decoded_token(const DecoderRules& rules, const std::string& content, bool special) {
  DecodedToken out;
  out.exists = true;
  out.special = special;
  out.text = content;
  if (rules.byte_level && !bytes_of(content, out.text)) out.text = content;
  for (const auto& [from, to] : rules.replace) out.text = replaced(out.text, from, to);
  if (!rules.metaspace.empty()) out.text = replaced(out.text, rules.metaspace, " ");
  out.at_start = rules.metaspace_first ? replaced(content, rules.metaspace, "") : out.text;
  const int byte = rules.byte_fallback ? byte_of(out.text) : -1;
  if (byte >= 0) {
    out.is_byte = true;
    out.text = out.at_start = std::string(1, char(byte));
  }
  return out;
}

void DecodeStream::feed(int32_t id) {
  const bool known = id >= 0 && size_t(id) < tokens_->size() && (*tokens_)[size_t(id)].exists;
  if (!known) fail(Code::kData, "token id %d is not in the vocabulary of %zu.", id, tokens_->size());
  const DecodedToken& token = (*tokens_)[size_t(id)];
  if (skip_special_ && token.special) return;
  if (token.is_byte) {
    run_ += token.text;
  } else {
    end_run();
    if (rules_->spaced && !first_) waiting_ += ' ';
    waiting_ += first_ ? token.at_start : token.text;
  }
  first_ = false;
}

/// Ends a run of byte_fallback bytes: if they are well-formed UTF-8 they become text, otherwise each byte
/// becomes U+FFFD.
void DecodeStream::end_run() {
  if (run_.empty()) return;
  if (utf8_prefix(run_) == run_.size()) waiting_ += run_;
  else for (size_t i = 0; i < run_.size(); ++i) waiting_ += kReplacement;
  run_.clear();
}

/// True if the next token may still change the pending text, because that ends in U+FFFD or in an incomplete
/// character.
bool DecodeStream::uncertain() const {
  const std::string_view text = run_.empty() ? waiting_ : run_;
  if (!run_.empty() && utf8_prefix(run_) < run_.size()) return true;
  size_t last = text.size();
  while (last > 0 && text.size() - last < 4) {
    if ((uint8_t(text[--last]) & 0xC0) != 0x80) break;
  }
  const std::string_view tail = text.substr(last);
  return tail == kReplacement || utf8_prefix(tail) < tail.size();
}

std::string DecodeStream::step(int32_t id) {
  feed(id);
  return uncertain() ? std::string() : take();
}

std::string DecodeStream::finish() {
  std::string out = take();
  first_ = strips_ = true;
  stripped_ = 0;
  return out;
}

std::string DecodeStream::take() {
  end_run();
  std::string out;
  if (rules_->byte_level) append_lossy_utf8(out, waiting_);
  else out = std::move(waiting_);
  waiting_.clear();
  if (strips_ && !out.empty() && rules_->strip_count > 0) strip(out);
  return out;
}

void DecodeStream::strip(std::string& text) {
  size_t at = 0;
  while (stripped_ < rules_->strip_count && text.compare(at, rules_->strip.size(), rules_->strip) == 0) {
    at += rules_->strip.size();
    ++stripped_;
  }
  text.erase(0, at);
  strips_ = text.empty() && stripped_ < rules_->strip_count;
}

}  // namespace hone::text
