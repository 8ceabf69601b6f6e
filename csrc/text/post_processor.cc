#include "text/post_processor.h"

#include "core/config_fields.h"
#include "core/error.h"
#include "text/vocabulary.h"

namespace hone::text {
namespace {

void add_template(PostProcessor& out, const Json& single, const Json& specials, const std::string& where) {
  std::vector<int32_t> before, behind;
  int sequences = 0;
  for (const Json& item : single.items((where + ".single").c_str())) {
    if (const Json* sequence = item.find("Sequence")) {
      const Json* id = sequence->find("id");
      if (!id || id->as_string(where.c_str()) != "A") fail(Code::kUnsupported, "%s.single: a Sequence that is not A.", where.c_str());
      ++sequences;
      continue;
    }
    const Json* special = item.find("SpecialToken");
    const Json* name = special ? special->find("id") : nullptr;
    if (!name) fail(Code::kUnsupported, "%s.single: %s is neither Sequence nor SpecialToken.", where.c_str(), item.dump().c_str());
    const std::string& key = name->as_string(where.c_str());
    const Json* entry = specials.find(key);
    const Json* ids = entry ? entry->find("ids") : nullptr;
    if (!ids) fail(Code::kFormat, "%s.special_tokens has no ids for \"%s\".", where.c_str(), key.c_str());
    for (const Json& id : ids->items(where.c_str())) (sequences ? behind : before).push_back(token_id(id, where + ".special_tokens"));
  }
  if (sequences != 1) fail(Code::kUnsupported, "%s.single has the text %d times, expected once.", where.c_str(), sequences);
  out.before.insert(out.before.begin(), before.begin(), before.end());
  out.behind.insert(out.behind.end(), behind.begin(), behind.end());
}

void add(PostProcessor& out, const Json& json, const std::string& where) {
  if (json.is_null()) return;
  ConfigFields fields(json, where);
  fields.only("type", {"Sequence", "ByteLevel", "TemplateProcessing"});
  const std::string type = fields.text("type");
  if (type == "Sequence") {
    int index = 0;
    for (const Json& each : value_or_null(fields, "processors").items(fields.path("processors").c_str())) {
      add(out, each, where + ".processors[" + std::to_string(index++) + "]");
    }
  } else if (type == "TemplateProcessing") {
    add_template(out, value_or_null(fields, "single"), value_or_null(fields, "special_tokens"), where);
    fields.ignore({"pair"});  // the template for pairs of texts, which are not supported
  } else {
    fields.ignore({"add_prefix_space", "trim_offsets", "use_regex"});  // these fields affect only offsets
  }
  fields.finish();
}

}  // namespace

PostProcessor PostProcessor::from_json(const Json& json, const std::string& where) {
  PostProcessor out;
  add(out, json, where);
  return out;
}

}  // namespace hone::text
