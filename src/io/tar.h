// Parses members of a tar archive (ustar, GNU and pax long names) in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

struct TarMember {
  enum class State {
    whole,  // the member is complete
    cut,    // needs more bytes: `bytes` of them
    end,    // the end mark
    bad,    // not a header of an archive: `fault` says why
  };
  State state = State::whole;
  bool is_file = false;
  bool sparse = false;    // GNU's format for files with holes: `data` is not their contents
  std::string name;       // set once a header is complete, also with state cut
  std::string_view data;  // of a complete member
  int64_t bytes = 0;      // headers, data and padding
  std::string fault;
};

// Returns the member at the start of `bytes`.
TarMember read_tar_member(std::string_view bytes);

// Splits "a/b.seg.png" into key "a/b" and extension "seg.png"; returns false for names without a
// dot.
bool split_tar_name(std::string_view name, std::string_view* key, std::string_view* extension);

}  // namespace penstock
