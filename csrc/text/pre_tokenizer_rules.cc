#include "text/pre_tokenizer_rules.h"

#include "core/config_fields.h"
#include "core/error.h"
#include "text/normalizer.h"

namespace hone::text {
namespace {

using Step = PreTokenizerRules::Step;
using Behavior = PreTokenizerRules::Behavior;

/// Index in `names` of the field's text; kUnsupported listing `names` if it is none of them or missing.
int choice(ConfigFields& fields, const char* field, std::initializer_list<const char*> names) {
  const std::string found = fields.text(field);
  int index = 0;
  for (const char* name : names) {
    if (found == name) return index;
    ++index;
  }
  fields.only(field, names);
  fail(Code::kFormat, "%s is missing.", fields.path(field).c_str());
}

void add_split(PreTokenizerRules& rules, ConfigFields& fields) {
  Step step{Step::Kind::kScan};
  const bool invert = fields.boolean("invert", false);
  step.behavior = Behavior(
      choice(fields, "behavior", {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"}));
  const Json* pattern = fields.value("pattern");
  if (!pattern) fail(Code::kFormat, "%s is missing.", fields.path("pattern").c_str());
  if (const Json* regex = pattern->find("Regex")) {
    ConfigFields inside(*pattern, fields.path("pattern"));
    const std::string text = inside.text("Regex");
    inside.finish();
    step.scan = scanner_of(text);
    if (!step.scan) {
      fail(Code::kUnsupported, "%s: the regular expression %s is none of the known ones (%s).",
           fields.path("pattern").c_str(), regex->dump().c_str(), kKnownPatterns);
    }
    // "Removed" with invert: the gaps are removed and the matches stay.
    if (step.behavior != Behavior::kIsolated && !(step.behavior == Behavior::kRemoved && invert)) {
      fail(Code::kUnsupported, "%s: with a regular expression only \"Isolated\" is supported.",
           fields.path("behavior").c_str());
    }
  } else {
    step.kind = Step::Kind::kLiteral;
    step.literal = literal_pattern(*pattern, fields.path("pattern"));
    if (invert) fail(Code::kUnsupported, "%s is true; with a string only false is supported.", fields.path("invert").c_str());
  }
  rules.steps.push_back(step);
}

void add_metaspace(PreTokenizerRules& rules, ConfigFields& fields) {
  Step step{Step::Kind::kMetaspace};
  step.literal = fields.text("replacement");
  if (step.literal.empty()) fail(Code::kFormat, "%s is missing.", fields.path("replacement").c_str());
  // Older files have only add_prefix_space; if prepend_scheme is present, it takes precedence.
  const bool prepend = fields.boolean("add_prefix_space", true);
  step.prepend = prepend ? Step::Prepend::kAlways : Step::Prepend::kNever;
  if (fields.value("prepend_scheme")) {
    step.prepend = Step::Prepend(choice(fields, "prepend_scheme", {"always", "first", "never"}));
  }
  step.behavior = Behavior::kMergedWithNext;
  const bool split = fields.boolean("split", true);
  rules.steps.push_back(step);
  if (!split) return;
  step.kind = Step::Kind::kLiteral;
  rules.steps.push_back(step);
}

void add_byte_level(PreTokenizerRules& rules, ConfigFields& fields) {
  if (fields.boolean("add_prefix_space", true)) rules.steps.push_back({Step::Kind::kPrefixSpace});
  if (fields.boolean("use_regex", true)) rules.steps.push_back({Step::Kind::kScan, scan_gpt2});
  fields.ignore({"trim_offsets"});
  rules.byte_level = true;
}

void add(PreTokenizerRules& rules, const Json& json, const std::string& where) {
  ConfigFields fields(json, where);
  if (rules.byte_level) fail(Code::kUnsupported, "%s: nothing may follow ByteLevel.", where.c_str());
  switch (choice(fields, "type", {"Sequence", "Split", "Digits", "Metaspace", "ByteLevel"})) {
    case 0: {
      const Json* list = fields.value("pretokenizers");
      if (!list) fail(Code::kFormat, "%s: pretokenizers is missing.", where.c_str());
      int index = 0;
      for (const Json& each : list->items(where.c_str())) {
        add(rules, each, where + ".pretokenizers[" + std::to_string(index++) + "]");
      }
      break;
    }
    case 1: add_split(rules, fields); break;
    case 2: {
      Step step{Step::Kind::kDigits};
      step.behavior = fields.boolean("individual_digits", false) ? Behavior::kIsolated : Behavior::kContiguous;
      rules.steps.push_back(step);
      break;
    }
    case 3: add_metaspace(rules, fields); break;
    default: add_byte_level(rules, fields);
  }
  fields.finish();
}

}  // namespace

PreTokenizerRules PreTokenizerRules::from_json(const Json& json, const std::string& where) {
  PreTokenizerRules out;
  if (!json.is_null()) add(out, json, where);
  return out;
}

}  // namespace hone::text
