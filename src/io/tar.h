// Members of a tar archive (ustar, GNU and pax long names), taken from memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

struct TarMember {
  enum class State {
    whole,  // all of it is there
    cut,    // more than the bytes given is needed: `bytes` of them
    end,    // the end mark
    bad,    // no header of an archive: `fault` says what is wrong
  };
  State state = State::whole;
  bool is_file = false;
  bool sparse = false;    // GNU's form of a file with holes: `data` are not its bytes
  std::string name;       // known when a header is whole, then also with state cut
  std::string_view data;  // of a whole one
  int64_t bytes = 0;      // headers, data and padding
  std::string fault;
};

// The member at the beginning of `bytes`.
TarMember read_tar_member(std::string_view bytes);

// "a/b.seg.png" is key "a/b" and extension "seg.png"; false for names without a dot.
bool split_tar_name(std::string_view name, std::string_view* key, std::string_view* extension);

}  // namespace penstock
