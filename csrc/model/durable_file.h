// Files that are either complete and on the disk, or not there.
#pragma once

#include <cstdint>
#include <string>

#include "model/sha256.h"

namespace hone::model {

/// Writes <path>.tmp, hashing as it goes; commit() makes it <path>. Without commit the destructor removes it.
/// Throws kIo naming the path, the operation and the system's reason (disk full, no permission, ...).
class DurableFile {
 public:
  explicit DurableFile(std::string path);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* bytes, int64_t size);
  void write(const std::string& bytes) { write(bytes.data(), int64_t(bytes.size())); }
  /// fsync, close, rename, fsync of the directory. Returns the sha256 of the contents in hex.
  std::string commit();
  int64_t size() const { return size_; }

 private:
  std::string path_, temporary_;
  int descriptor_ = -1;
  int64_t size_ = 0;
  Sha256 hash_;
};

/// A folder that appears complete, as <path>.tmp-<process> until commit() puts it at `path` in one step, in place of a
/// folder that is there. Without commit the destructor removes it. Throws kIo naming the path.
class DurableFolder {
 public:
  explicit DurableFolder(const std::string& path);
  ~DurableFolder();
  DurableFolder(const DurableFolder&) = delete;
  DurableFolder& operator=(const DurableFolder&) = delete;

  /// Path of the folder until commit().
  const std::string& path() const { return temporary_; }
  /// Path at which to write a file of the folder; makes the folders in between.
  std::string file(const std::string& name) const;
  /// Writes a small file; returns its sha256 in hex.
  std::string write(const std::string& name, const std::string& text) const;
  void commit();

 private:
  std::string path_, temporary_;
};

/// Makes entries created or renamed in a directory durable. Throws kIo.
void sync_directory(const std::string& directory);
/// False only if the system says that nothing is there; after any other error true, and opening the file reports it.
bool exists(const std::string& path);
/// Opens a file for reading: a descriptor, which the caller closes, and its size in bytes. Does not wait for a pipe's
/// writer. Throws kIo for what cannot be opened, or is a folder, a pipe, a device or a socket: those may never end.
int open_plain(const std::string& path, int64_t& size);
/// Whole file. Throws kIo as open_plain, kFormat for one of more than 2^30 bytes, before it is read.
std::string read_text(const std::string& path);
/// sha256 of a file in hex, and its size. Throws kIo as open_plain.
std::string hash_file(const std::string& path, int64_t& size);
/// Puts the complete directory `from` at `to` in one atomic step, removing what was there. Throws kIo.
void replace_directory(const std::string& from, const std::string& to);

}  // namespace hone::model
