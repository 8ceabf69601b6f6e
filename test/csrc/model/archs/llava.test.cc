// Vision-language wrappers: their text model, with the wrapper's weight-tying flag. A fault put into the
// code, detected here: the wrapper's flag ignored.
#include "check.h"
#include "model/archs/fixture.h"

namespace model_archs_llava_test {
namespace {

using namespace hone;

Json wrapper(const char* type = "llava") {
  Json json = Json::object();
  json.set("model_type", Json::string(type));
  json.set("text_config", test::hf_config("mistral", "head_dim", "16"));
  json.set("vision_config", Json::parse(R"({"model_type": "pixtral", "hidden_size": 16})", "t"));
  json.set("image_token_index", Json::integer(10));
  return json;
}

TEST(the_text_model_is_what_remains) {
  for (const char* type : {"llava", "mistral3"}) {
    const model::ModelConfig c = test::parse(wrapper(type));
    EXPECT_EQ(c.arch, std::string("mistral"));
    EXPECT_EQ(c.head_dim, 16);
    EXPECT_TRUE(!c.tied_head);
  }
}

TEST(the_wrapper_decides_about_tying) {
  Json tied = wrapper();
  tied.set("tie_word_embeddings", Json::boolean(true));
  EXPECT_TRUE(test::parse(tied).tied_head);
}

TEST(errors_inside_name_their_place) {
  Json json = wrapper(), empty = Json::object(), odd = wrapper();
  json.set("text_config", test::hf_config("mistral", "hidden_act", "\"gelu\""));
  try {
    test::parse(json);
    test::report(__FILE__, __LINE__, "gelu was accepted");
  } catch (const Error& e) {
    EXPECT_TRUE(std::string(e.what()).find("text_config: hidden_act") != std::string::npos);
  }
  empty.set("model_type", Json::string("llava"));
  EXPECT_THROWS(test::parse(empty), Code::kConfig);
  odd.set("logit_softcap", Json::number(30.0));
  EXPECT_THROWS(test::parse(odd), Code::kUnsupported);
}

}  // namespace
}  // namespace model_archs_llava_test
