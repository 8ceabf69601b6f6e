// Files appear completely or not at all, and every failure that the system reports is a kIo error. Faults put
// into the code: no unlink in the destructor, write errors ignored, exchange without removal. Each is
// detected.
#include "model/durable_file.h"

#include <csignal>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "model/goldens.h"
#include "model/safetensors.h"

namespace model_durable_file_test {
namespace {
int files_synced = 0, folders_synced = 0;
}

/// Replaces the C library's fsync: counts the call and then syncs.
extern "C" int fsync(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) == 0) ++(S_ISDIR(status.st_mode) ? folders_synced : files_synced);
  return int(syscall(SYS_fsync, descriptor));
}

namespace {

using namespace hone;
namespace fs = std::filesystem;
using model::DurableFile;

/// While an object exists, limits the size of files that this process may write, which acts like a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

/// The message of the error that `work` throws with `code`; "" if it throws none.
template <class Work>
std::string error_of(Code code, Work work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code() == code ? error.what() : std::string("another code: ") + error.what();
  }
  return "";
}

TEST(a_file_and_its_name_are_on_the_disk_before_it_counts) {
  const test::TemporaryFolder folder("synced");
  DurableFile file(folder / "a");
  file.write("text");
  files_synced = folders_synced = 0;
  file.commit();
  EXPECT_EQ(files_synced, 1);
  EXPECT_EQ(folders_synced, 1);
}

TEST(what_may_never_end_is_no_file) {
  const test::TemporaryFolder folder("plain");
  const std::string pipe = folder / "pipe";
  EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  int64_t size = 0;
  const std::pair<std::string, std::string> cases[] = {{pipe, "a named pipe"}, {"/dev/zero", "a device"}, {folder / "", "a folder"}};
  for (const auto& [path, kind] : cases) {
    const std::string told = path + " is " + kind + ", not a file.";
    EXPECT_EQ(error_of(Code::kIo, [&] { model::read_text(path); }), told);
    EXPECT_EQ(error_of(Code::kIo, [&] { model::hash_file(path, size); }), told);
    EXPECT_EQ(error_of(Code::kIo, [&] { model::SafetensorsFile file(path); }), told);
  }
}

TEST(a_text_longer_than_any_is_refused_before_it_is_read) {
  const test::TemporaryFolder folder("sparse");
  DurableFile(folder / "text").commit();
  fs::resize_file(folder / "text", uintmax_t(1) << 40);  // a sparse file takes no bytes on the disk
  const std::string told = error_of(Code::kFormat, [&] { model::read_text(folder / "text"); });
  EXPECT_TRUE(told.find("has 1099511627776 bytes; such a file has 1073741824 at most.") != std::string::npos);
}

TEST(a_committed_file_is_there_with_its_hash) {
  const test::TemporaryFolder folder("durable");
  DurableFile file(folder / "a");
  file.write("hello ");
  file.write("world", 5);
  EXPECT_TRUE(!fs::exists(folder / "a"));
  EXPECT_EQ(file.commit(), model::sha256_hex("hello world"));
  EXPECT_EQ(model::read_text(folder / "a"), std::string("hello world"));
  EXPECT_EQ(file.size(), 11);
  int64_t size = 0;
  EXPECT_EQ(model::hash_file(folder / "a", size), model::sha256_hex("hello world"));
  EXPECT_EQ(size, 11);
  EXPECT_EQ(folder.count(), size_t(1));
}

TEST(an_abandoned_file_leaves_the_old_one) {
  const test::TemporaryFolder folder("abandoned");
  { DurableFile file(folder / "a"); file.write("old"); file.commit(); }
  { DurableFile file(folder / "a"); file.write("new"); }
  EXPECT_EQ(model::read_text(folder / "a"), std::string("old"));
  EXPECT_EQ(folder.count(), size_t(1));
}

TEST(a_full_disk_is_an_error_and_leaves_nothing) {
  const test::TemporaryFolder folder("full");
  {
    const FullDisk full(100000);
    DurableFile file(folder / "a");
    const std::string block(60000, 'x');
    file.write(block);
    EXPECT_THROWS(file.write(block), Code::kIo);
  }
  EXPECT_EQ(folder.count(), size_t(0));
}

TEST(paths_that_cannot_be_used_are_named) {
  EXPECT_THROWS(DurableFile("/nowhere/at/all"), Code::kIo);
  EXPECT_THROWS(model::read_text("/nowhere/at/all"), Code::kIo);
  int64_t size = 0;
  EXPECT_THROWS(model::hash_file("/nowhere", size), Code::kIo);
  EXPECT_THROWS(model::sync_directory("/nowhere"), Code::kIo);
  try {
    model::read_text("/nowhere/at/all");
  } catch (const Error& e) {
    EXPECT_TRUE(std::string(e.what()).find("/nowhere/at/all") != std::string::npos);
  }
}

TEST(a_folder_appears_whole_or_not_at_all) {
  const test::TemporaryFolder folder("folder");
  {
    const model::DurableFolder unfinished(folder / "a");
    unfinished.write("x", "1");
  }
  EXPECT_EQ(folder.count(), size_t(0));
  for (const char* text : {"1", "2"}) {
    model::DurableFolder whole(folder / "a//");
    EXPECT_EQ(whole.write("sub/x", text), model::sha256_hex(text));
    EXPECT_TRUE(!fs::exists(folder / "a/sub/x") || model::read_text(folder / "a/sub/x") == "1");
    whole.commit();
    EXPECT_EQ(model::read_text(folder / "a/sub/x"), std::string(text));
  }
  EXPECT_EQ(folder.count(), size_t(1));
  EXPECT_THROWS(model::DurableFolder("/proc/nowhere"), Code::kIo);
}

TEST(a_directory_takes_the_place_of_another) {
  const test::TemporaryFolder folder("replace");
  const auto make = [&](const char* name, const char* text) {
    fs::create_directories(folder / name);
    DurableFile file(folder / name + "/f");
    file.write(text);
    file.commit();
  };
  make("one", "1");
  model::replace_directory(folder / "one", folder / "target");
  EXPECT_EQ(model::read_text(folder / "target/f"), std::string("1"));
  make("two", "2");
  model::replace_directory(folder / "two", folder / "target");
  EXPECT_EQ(model::read_text(folder / "target/f"), std::string("2"));
  EXPECT_EQ(folder.count(), size_t(1));
  EXPECT_THROWS(model::replace_directory(folder / "absent", folder / "target"), Code::kIo);
}

}  // namespace
}  // namespace model_durable_file_test
