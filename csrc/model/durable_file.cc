#include "model/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"

namespace hone::model {
namespace {

/// Limit for a config, an index of shards or a tokenizer: the largest published ones have some tens of megabytes.
constexpr int64_t kMostTextBytes = int64_t(1) << 30;

[[noreturn]] void refuse(const char* operation, const std::string& path, int reason = errno) {
  fail(Code::kIo, "%s %s: %s.", operation, path.c_str(), std::generic_category().message(reason).c_str());
}

std::string parent(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

/// A file descriptor, closed by the destructor.
struct Descriptor {
  explicit Descriptor(int descriptor) : value(descriptor) {}
  explicit Descriptor(const std::string& path, int flags) : value(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (value < 0) refuse("open", path);
  }
  ~Descriptor() { ::close(value); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value;
};

const char* kind_of(const struct stat& status) {
  if (S_ISDIR(status.st_mode)) return "a folder";
  if (S_ISFIFO(status.st_mode)) return "a named pipe";
  return S_ISSOCK(status.st_mode) ? "a socket" : "a device";
}

template <class Sink>
void read_all(const std::string& path, int64_t most_bytes, Sink sink) {
  int64_t size = 0;
  const Descriptor file(open_plain(path, size));
  if (size > most_bytes) {
    fail(Code::kFormat, "%s has %lld bytes; such a file has %lld at most.", path.c_str(), (long long)size, (long long)most_bytes);
  }
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const ssize_t n = ::read(file.value, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse("read", path);
    if (n == 0) return;
    sink(buffer.data(), size_t(n));
  }
}

}  // namespace

DurableFile::DurableFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".tmp") {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor_ < 0) refuse("create", temporary_);
}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void DurableFile::write(const void* bytes, int64_t size) {
  const char* at = static_cast<const char*>(bytes);
  for (int64_t left = size; left > 0;) {
    // Chunks of 1 MiB: hashing then reads them from the cache, and one call writes less than its limit of 2
    // GiB.
    const ssize_t n = ::write(descriptor_, at, size_t(std::min<int64_t>(left, 1 << 20)));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse("write", temporary_);
    hash_.update(at, size_t(n));
    at += n;
    left -= n;
  }
  size_ += size;
}

std::string DurableFile::commit() {
  if (::fsync(descriptor_) != 0) refuse("fsync", temporary_);
  if (::close(std::exchange(descriptor_, -1)) != 0) refuse("close", temporary_);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) refuse("rename to", path_);
  temporary_.clear();
  sync_directory(parent(path_));
  return hash_.hex();
}

DurableFolder::DurableFolder(const std::string& path) : path_(path) {
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  temporary_ = path_ + ".tmp-" + std::to_string(::getpid());
  std::error_code error;
  std::filesystem::remove_all(temporary_, error);
  std::filesystem::create_directories(temporary_, error);
  if (error) refuse("create", temporary_, error.value());
}

DurableFolder::~DurableFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(temporary_, ignored);
}

std::string DurableFolder::file(const std::string& name) const {
  const std::string path = temporary_ + "/" + name;
  std::error_code error;
  std::filesystem::create_directories(parent(path), error);
  if (error) refuse("create", parent(path), error.value());
  return path;
}

std::string DurableFolder::write(const std::string& name, const std::string& text) const {
  DurableFile out(file(name));
  out.write(text);
  return out.commit();
}

void DurableFolder::commit() { replace_directory(temporary_, path_); }

void sync_directory(const std::string& directory) {
  const Descriptor handle(directory, O_RDONLY | O_DIRECTORY);
  // Some file systems cannot sync a directory and report EINVAL; nothing more can be done there.
  if (::fsync(handle.value) != 0 && errno != EINVAL) refuse("fsync", directory);
}

bool exists(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::status(path, unknown).type() != std::filesystem::file_type::not_found;
}

int open_plain(const std::string& path, int64_t& size) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) refuse("open", path);
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    size = int64_t(status.st_size);
    return descriptor;
  }
  const int reason = errno;
  ::close(descriptor);
  if (!known) refuse("look at", path, reason);
  fail(Code::kIo, "%s is %s, not a file.", path.c_str(), kind_of(status));
}

std::string read_text(const std::string& path) {
  std::string out;
  read_all(path, kMostTextBytes, [&](const char* bytes, size_t n) { out.append(bytes, n); });
  return out;
}

std::string hash_file(const std::string& path, int64_t& size) {
  Sha256 hash;
  size = 0;
  read_all(path, INT64_MAX, [&](const char* bytes, size_t n) {
    hash.update(bytes, n);
    size += int64_t(n);
  });
  return hash.hex();
}

void replace_directory(const std::string& from, const std::string& to) {
  sync_directory(from);
  if (std::rename(from.c_str(), to.c_str()) == 0) return sync_directory(parent(to));
  if (errno != ENOTEMPTY && errno != EEXIST) refuse("rename to", to);
  // Exchanges the old and the new directory atomically, then removes the old one.
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) refuse("exchange", to);
  sync_directory(parent(to));
  std::error_code ignored;
  std::filesystem::remove_all(from, ignored);
}

}  // namespace hone::model
