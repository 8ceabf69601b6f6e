// Crash-safe files and folders: after a crash each is either complete on the disk or absent.
#pragma once

#include <cstdint>
#include <string>

#include "model/sha256.h"

namespace hone::model {

/// Writes <path>.tmp and hashes the bytes; commit() renames it to <path>. The destructor removes an
/// uncommitted file.
/// Throws kIo naming the path, the operation and the system's reason (disk full, no permission, ...).
class DurableFile {
 public:
  explicit DurableFile(std::string path);
  ~DurableFile();
  DurableFile(const DurableFile&) = delete;
  DurableFile& operator=(const DurableFile&) = delete;

  void write(const void* bytes, int64_t size);
  void write(const std::string& bytes) { write(bytes.data(), int64_t(bytes.size())); }
  /// Makes the file durable at `path`: fsync, close, rename, fsync of the directory. Returns the sha256 of
  /// its contents in hex.
  std::string commit();
  int64_t size() const { return size_; }

 private:
  std::string path_, temporary_;
  int descriptor_ = -1;
  int64_t size_ = 0;
  Sha256 hash_;
};

/// A folder that appears as a whole: its files are written to <path>.tmp-<process> until commit() puts it at
/// `path` in one step, replacing any folder there. The destructor removes an uncommitted folder. Throws kIo
/// naming the path.
class DurableFolder {
 public:
  explicit DurableFolder(const std::string& path);
  ~DurableFolder();
  DurableFolder(const DurableFolder&) = delete;
  DurableFolder& operator=(const DurableFolder&) = delete;

  /// The folder's path until commit().
  const std::string& path() const { return temporary_; }
  /// Path at which to write a file of the folder; creates parent folders.
  std::string file(const std::string& name) const;
  /// Writes a small file; returns its sha256 in hex.
  std::string write(const std::string& name, const std::string& text) const;
  void commit();

 private:
  std::string path_, temporary_;
};

/// Makes entries that were created or renamed in a directory durable (fsync). Throws kIo.
void sync_directory(const std::string& directory);
/// Returns false only if the system reports that the path does not exist; true after any other error, which
/// opening the file then reports.
bool exists(const std::string& path);
/// Opens a regular file for reading. Returns a descriptor, which the caller closes, and sets `size` to its
/// size in bytes. Throws kIo if it cannot be opened or is a folder, pipe, device or socket, whose reads may
/// never end; does not wait for a pipe's writer.
int open_plain(const std::string& path, int64_t& size);
/// Reads a whole file. Throws kIo as open_plain, and kFormat, before reading, for a file of more than 2^30
/// bytes.
std::string read_text(const std::string& path);
/// Returns the sha256 of a file in hex and sets its size. Throws kIo as open_plain.
std::string hash_file(const std::string& path, int64_t& size);
/// Moves the complete directory `from` to `to` in one atomic step, removing what was at `to`. Throws kIo.
void replace_directory(const std::string& from, const std::string& to);

}  // namespace hone::model
