// Finds the golden reference data, which lie next to the repository and may be absent.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/json.h"

namespace hone::test {

/// The folder of golden data: HONE_SHARED, or ../shared from the repository root; empty if there is none.
inline std::string goldens() {
  namespace fs = std::filesystem;
  const char* given = std::getenv("HONE_SHARED");
  const fs::path root = fs::path(__FILE__).parent_path() / ".." / "..";
  const fs::path shared = given ? fs::path(given) : root / ".." / "shared";
  const fs::path found = shared / "reference" / "goldens";
  return fs::is_directory(found) ? fs::canonical(found).string() : "";
}

inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) fail(Code::kIo, "cannot open %s", path.c_str());
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// The text of a file in the repository, by its path under test/fixtures/.
inline std::string fixture_text(const std::string& name) {
  return file_text((std::filesystem::path(__FILE__).parent_path() / ".." / "fixtures" / name).string());
}

/// Parses a file that has one JSON value per line.
inline std::vector<Json> json_lines(const std::string& path) {
  std::istringstream lines(file_text(path));
  std::vector<Json> out;
  for (std::string line; std::getline(lines, line);) out.push_back(Json::parse(line, path.c_str()));
  return out;
}

}  // namespace hone::test
