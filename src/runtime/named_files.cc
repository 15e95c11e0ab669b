#include "runtime/named_files.h"

#include <xxhash.h>

#include <algorithm>
#include <set>

#include "io/file_system.h"
#include "io/glob.h"

namespace penstock {
namespace {

constexpr int64_t kLongestName = 4096;

class Names {
 public:
  void add_stage(const PlanNode& node) {
    const bool patterns = node.op->source && node.op->literal == Literal::none;
    for (const auto& [name, value] : node.args) add(value, patterns);
    for (const auto& [name, f] : node.functions) add(*f);
  }
  std::vector<FileState> files() const { return {found_.begin(), found_.end()}; }

 private:
  // Whether folders and patterns count besides files.
  void add(const Attr& attr, bool patterns) {
    if (attr.is_tensor()) add(attr.tensor(), patterns);
    for (const Attr& item : attr.items()) add(item, patterns);
  }
  void add(const Tensor& t, bool patterns) {
    if (t.dtype() != DType::bytes || t.object()) return;
    for (int64_t i = 0; i < t.entries_count(); ++i) {
      const std::string_view text = bytes_at(t, i);
      if (!text.empty() && static_cast<int64_t>(text.size()) <= kLongestName &&
          text.find('\0') == std::string_view::npos)
        add(std::string(text), patterns);
    }
  }
  void add(const std::string& name, bool patterns) {
    if (!patterns || name.find_first_of("*?[") == std::string::npos)
      return add_path(name, patterns);
    try {
      for (const std::string& path : match_files({name})) add_path(path, true);
    } catch (const Error&) {
      // No pattern of files, or none that matches.
    }
  }
  void add(const Function& f) {
    for (const FunctionNode& node : f.nodes) {
      if (node.kind == FunctionNode::Kind::constant) add(node.constant, false);
      for (const auto& [name, value] : node.attrs) add(value, false);
      for (const FunctionPtr& body : node.bodies) add(*body);
      if (!node.dataset) continue;
      for (const PlanNode* stage : topological(*node.dataset)) add_stage(*stage);
    }
  }
  void add_path(const std::string& path, bool folders) {
    FileStatus status = file_status(path);
    if (status.is_file()) {
      found_.insert({path, status.bytes, status.time_ns, std::move(status.etag)});
    } else if (folders && status.is_folder()) {
      add_folder(path);
    }
  }
  // A folder that may not be read is left out.
  void add_folder(const std::string& path) {
    try {
      const ResolvedName at = resolve_name("list", path);
      walk_folder(*at.files, at.name, [this](const std::string& name, FileStatus::Kind kind) {
        if (kind != FileStatus::Kind::folder) add_path(name, false);
      });
    } catch (const Error&) {
    }
  }

  std::set<FileState> found_;
};

}  // namespace

std::vector<FileState> named_files(const PlanNode& stage) {
  Names names;
  names.add_stage(stage);
  return names.files();
}

std::string identity_with_files(const PlanNode& plan) {
  std::string text = fingerprint(plan).identity;
  std::set<FileState> files;
  for (const PlanNode* stage : topological(plan)) {
    for (FileState& f : named_files(*stage)) files.insert(std::move(f));
  }
  for (const FileState& f : files)
    text +=
        f.path + '\0' + std::to_string(f.bytes) + ' ' + std::to_string(f.time_ns) + f.etag + '\0';
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  XXH128_canonical_t digest;
  XXH128_canonicalFromHash(&digest, hash);
  std::string out;
  for (const unsigned char byte : digest.digest) {
    for (const int half : {byte >> 4, byte & 15}) out += "0123456789abcdef"[half];
  }
  return out;
}

}  // namespace penstock
