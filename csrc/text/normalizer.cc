#include "text/normalizer.h"

#include "core/config_fields.h"
#include "core/error.h"
#include "text/unicode.h"

namespace hone::text {

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (;;) {
    const size_t found = from.empty() ? text.npos : text.find(from);
    out.append(text.substr(0, found));
    if (found == text.npos) return out;
    out.append(to);
    text.remove_prefix(found + from.size());
  }
}

std::string literal_pattern(const Json& pattern, const std::string& where) {
  ConfigFields fields(pattern, where);
  if (const Json* regex = fields.value("Regex")) {
    fail(Code::kUnsupported, "%s: the regular expression %s is not supported here.", where.c_str(), regex->dump().c_str());
  }
  const std::string text = fields.text("String");
  fields.finish();
  if (text.empty()) fail(Code::kFormat, "%s: String is missing or empty.", where.c_str());
  return text;
}

Normalizer Normalizer::from_json(const Json& json, const std::string& where) {
  Normalizer out;
  if (!json.is_null()) out.add(json, where);
  return out;
}

void Normalizer::add(const Json& json, const std::string& where) {
  ConfigFields fields(json, where);
  const std::string type = fields.text("type");
  if (type == "Sequence") {
    const Json* list = fields.value("normalizers");
    if (!list) fail(Code::kFormat, "%s: normalizers is missing.", where.c_str());
    int index = 0;
    for (const Json& each : list->items(where.c_str())) add(each, where + ".normalizers[" + std::to_string(index++) + "]");
  } else if (type == "NFC") {
    steps_.push_back({Step::Kind::kNfc, "", ""});
  } else if (type == "Prepend") {
    steps_.push_back({Step::Kind::kPrepend, "", fields.text("prepend")});
  } else if (type == "Replace") {
    const Json* pattern = fields.value("pattern");
    if (!pattern) fail(Code::kFormat, "%s: pattern is missing.", where.c_str());
    steps_.push_back({Step::Kind::kReplace, literal_pattern(*pattern, where + ".pattern"), fields.text("content")});
  } else {
    fields.only("type", {"NFC", "Prepend", "Replace", "Sequence"});
    fail(Code::kFormat, "%s: type is missing.", where.c_str());
  }
  fields.finish();
}

std::string Normalizer::apply(std::string_view text) const {
  std::string out(text);
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Step::Kind::kNfc: out = nfc(out); break;
      case Step::Kind::kPrepend: if (!out.empty()) out.insert(0, step.to); break;
      case Step::Kind::kReplace: out = replaced(out, step.from, step.to); break;
    }
  }
  return out;
}

}  // namespace hone::text
