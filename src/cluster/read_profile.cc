#include "cluster/read_profile.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "cluster/chakra.h"
#include "cluster/clocks.h"
#include "cluster/gaps.h"
#include "cluster/kineto.h"
#include "cluster/profile_json.h"
#include "cluster/run_metadata.h"
#include "io/input_stream.h"

namespace penstock::cluster {
namespace {

constexpr size_t kMostBytes = size_t{512} << 20;
constexpr size_t kMostFiles = 100'000;

bool is_gzip(const std::string& path) {
  std::array<std::byte, 2> magic{};
  return File(path).pread(magic, 0) == 2 && magic[0] == std::byte{0x1f} &&
         magic[1] == std::byte{0x8b};
}

std::string contents(const std::string& path) {
  const auto in = open_input_stream(path, is_gzip(path) ? Compression::gzip : Compression::none);
  std::string out;
  constexpr size_t kChunk = size_t{1} << 20;
  for (;;) {
    const size_t before = out.size();
    if (before > kMostBytes) {
      throw Error(Code::resource_exhausted,
                  "profile: " + path + ": more than 512 MiB: record fewer steps a file");
    }
    out.resize(before + kChunk);
    const int64_t got = in->read({reinterpret_cast<std::byte*>(out.data()) + before, kChunk});
    out.resize(before + static_cast<size_t>(got));
    if (static_cast<size_t>(got) < kChunk) return out;
  }
}

bool is_step_file(std::string name) {
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".pb") || name.ends_with(".pbtxt");
}

bool is_chakra_file(std::string_view name) {
  return name.ends_with(".et") || name.ends_with(".et.gz");
}

// Recognises PyTorch's execution trace, the other half of a Kineto trace.
bool is_execution_trace(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 1000);
  return head.starts_with('{') && head.find("\"schema\"") != std::string_view::npos &&
         head.find("\"nodes\"") != std::string_view::npos;
}

Profile read_folder(const std::string& path) {
  std::vector<std::string> files, kinetos, chakras;
  const ResolvedName folder = resolve_name("profile", path);
  for (const FolderEntry& entry : folder.files->list(folder.name)) {
    const std::string& name = entry.name;
    const std::string file = joined_name(path, name);
    if (is_step_file(name) && file_status(file).is_file()) files.push_back(file);
    if (name.ends_with("kineto.json") || name.ends_with("kineto.json.gz")) kinetos.push_back(file);
    if (is_chakra_file(name)) chakras.push_back(file);
    if (files.size() + kinetos.size() + chakras.size() > kMostFiles)
      throw Error(Code::resource_exhausted, "profile: " + path + ": more than 100000 files");
  }
  // One rank: w1 sorts before w2_rank0.
  if (!kinetos.empty()) {
    const std::string& kineto = *std::ranges::min_element(kinetos);
    return read_kineto(kineto, contents(kineto));
  }
  if (files.empty() && !chakras.empty()) {
    const std::string& chakra = *std::ranges::min_element(chakras);
    return read_chakra(chakra, contents(chakra));
  }
  if (files.empty()) {
    throw Error(Code::invalid_argument,
                "profile: " + path +
                    ": the folder holds no .pb, .pb.gz or .pbtxt file (one a step), no "
                    "*kineto.json and no .et file, each with .gz or without");
  }
  std::ranges::sort(files);
  Profile out;
  for (const std::string& f : files) read_run_metadata(f, contents(f), &out);
  return out;
}

}  // namespace

Profile read_profile(const std::string& path) {
  Profile out;
  if (file_status(path).is_folder()) {
    out = read_folder(path);
  } else {
    const std::string bytes = contents(path);
    if (is_profile_json(bytes)) {
      out = read_profile_json(path, bytes);
    } else if (is_kineto(bytes)) {
      out = read_kineto(path, bytes);
    } else if (is_chakra(bytes)) {
      out = read_chakra(path, bytes);
    } else if (is_execution_trace(bytes)) {
      throw Error(Code::invalid_argument,
                  "profile: " + path +
                      ": an execution trace of PyTorch has no times: give the Kineto trace that "
                      "was recorded beside it, or the folder of both");
    } else {
      read_run_metadata(path, bytes, &out);
    }
  }
  out.source = path;
  fill_gaps(&out);
  align_clocks(&out);
  check(out);
  return out;
}

}  // namespace penstock::cluster
