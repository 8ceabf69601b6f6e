// The native benches' shared command line.
#pragma once

#include <cstring>

namespace hone::bench {

/// `--json`: one JSON object; `--smoke`: a short run as a test; another word: only rows whose name contains it.
struct Options {
  bool json = false, smoke = false;
  const char* filter = "";
};

inline Options parse_options(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--json") == 0) o.json = true;
    else if (std::strcmp(argv[i], "--smoke") == 0) o.smoke = true;
    else o.filter = argv[i];
  }
  return o;
}

}  // namespace hone::bench
