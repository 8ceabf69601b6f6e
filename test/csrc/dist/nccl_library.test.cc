// NcclLibrary: opens NCCL by name and lists its capabilities; errors say what is missing and which command to
// run.
#include "dist/nccl_library.h"

#include <dlfcn.h>

#include "check.h"
#include "fake_nccl.h"

namespace dist_nccl_library_test {

using namespace hone;
using namespace hone::dist;

namespace {

hone::test::FakeNccl& fake(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return *reinterpret_cast<hone::test::FakeNccl* (*)()>(dlsym(library, "fake_nccl"))();
}

std::string refusal(const std::string& path) {
  try {
    NcclLibrary::open(path);
  } catch (const Error& error) {
    return std::string(code_name(error.code())) + " " + error.what();
  }
  return "opened";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST(a_whole_library_has_every_capability_with_the_version_that_brought_it) {
  fake(HONE_FAKE_NCCL).reset({});
  const NcclInfo info = query_nccl(HONE_FAKE_NCCL);
  EXPECT_EQ(info.version, std::string("2.27.3"));
  EXPECT_EQ(info.reason, std::string());
  std::string table;
  for (const NcclCapability& row : info.capabilities) table += row.name + " " + row.since + (row.available ? "; " : "!");
  EXPECT_EQ(table, std::string("collectives 2.0; abort and asynchronous errors 2.4; send and receive 2.7; bf16 2.10; "
                               "error texts 2.13; non-blocking initialisation 2.14; "));
}

TEST(a_version_code_reads_as_the_release_it_stands_for) {
  const std::pair<int, const char*> codes[] = {{21400, "2.14.0"}, {22707, "2.27.7"}, {23007, "2.30.7"}, {31201, "3.12.1"}};
  for (const auto& [code, text] : codes) {
    fake(HONE_FAKE_NCCL).reset({.version = code});
    EXPECT_EQ(NcclLibrary::open(HONE_FAKE_NCCL)->version(), std::string(text));
  }
}

TEST(a_library_too_old_is_named_with_what_needs_a_newer_one_and_the_next_command) {
  const std::pair<int, const char*> codes[] = {
      {21399, "is version 2.13.99; non-blocking initialisation needs 2.14 or later"},
      {21200, "is version 2.12.0; error texts needs 2.13 or later"},
      {2804, "is version 2.8.4; bf16 needs 2.10 or later"},  // versions up to 2.8 are encoded in this way
      {2304, "is version 2.3.4; abort and asynchronous errors needs 2.4 or later"}};
  for (const auto& [code, text] : codes) {
    fake(HONE_FAKE_NCCL).reset({.version = code});
    const std::string said = refusal(HONE_FAKE_NCCL);
    EXPECT_TRUE(has(said, "UNSUPPORTED nccl: ") && has(said, text) && has(said, "npx hone doctor"));
  }
  fake(HONE_FAKE_NCCL).reset({});
}

TEST(a_missing_symbol_is_named) {
  fake(HONE_FAKE_NCCL_PARTIAL).reset({});
  const std::string said = refusal(HONE_FAKE_NCCL_PARTIAL);
  EXPECT_TRUE(has(said, "(version 2.27.3) lacks the symbol ncclCommFinalize, needed for non-blocking initialisation"));
  EXPECT_TRUE(has(said, "npx hone doctor"));
}

TEST(no_library_and_another_library_are_told_apart) {
  EXPECT_TRUE(has(refusal("libnccl-that-is-not.so.2"), "UNSUPPORTED nccl: libnccl-that-is-not.so.2 cannot be opened"));
  EXPECT_TRUE(has(refusal("libm.so.6"), "UNSUPPORTED nccl: libm.so.6 has no usable ncclGetVersion"));
  const NcclInfo info = query_nccl("libnccl-that-is-not.so.2");
  EXPECT_EQ(info.version, std::string());
  EXPECT_TRUE(has(info.reason, "pip install nvidia-nccl-cu13"));
  EXPECT_EQ(info.capabilities.size(), size_t(0));
}

TEST(the_library_of_this_machine_is_usable_or_the_reason_why_not_is_said) {
  const NcclInfo info = query_nccl();
  EXPECT_EQ(info.version.empty(), !info.reason.empty());
  if (info.version.empty()) SKIP("no libnccl.so.2 here");
  EXPECT_EQ(info.capabilities.size(), size_t(6));
}

}  // namespace dist_nccl_library_test
