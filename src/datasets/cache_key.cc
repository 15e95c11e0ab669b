#include "datasets/cache_key.h"

#include <sys/stat.h>
#include <xxhash.h>

#include <filesystem>
#include <set>

#include "io/glob.h"

namespace penstock {
namespace {

constexpr int64_t kLongestName = 4096;

// Every constant text in a plan, its functions and the plans in them.
class Texts {
 public:
  void add(const PlanNode& root) {
    for (const PlanNode* node : topological(root)) {
      for (const auto& [name, value] : node->args) add(value);
      for (const auto& [name, f] : node->functions) add(*f);
    }
  }
  const std::set<std::string>& found() const { return found_; }

 private:
  void add(const Attr& attr) {
    if (attr.is_tensor()) add(attr.tensor());
    for (const Attr& item : attr.items()) add(item);
  }
  void add(const Tensor& t) {
    if (t.dtype() != DType::bytes || t.object()) return;
    for (int64_t i = 0; i < t.entries_count(); ++i) {
      const std::string_view text = bytes_at(t, i);
      if (!text.empty() && static_cast<int64_t>(text.size()) <= kLongestName &&
          text.find('\0') == std::string_view::npos)
        found_.emplace(text);
    }
  }
  void add(const Function& f) {
    for (const FunctionNode& node : f.nodes) {
      if (node.kind == FunctionNode::Kind::constant) add(node.constant);
      for (const auto& [name, value] : node.attrs) add(value);
      for (const FunctionPtr& body : node.bodies) add(*body);
      if (node.dataset) add(*node.dataset);
    }
  }

  std::set<std::string> found_;
};

// Path, size and time of what is there.
void describe(const std::string& path, std::string* out) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) return;
  *out += path + '\0' + std::to_string(status.st_size) + ' ' +
          std::to_string(status.st_mtim.tv_sec) + '.' + std::to_string(status.st_mtim.tv_nsec) +
          '\0';
  if (!S_ISDIR(status.st_mode)) return;
  std::error_code ignored;
  std::set<std::string> inside;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path, ignored)) {
    if (entry.is_regular_file(ignored)) inside.insert(entry.path().string());
  }
  for (const std::string& file : inside) describe(file, out);
}

void describe_matches(const std::string& name, std::string* out) {
  if (name.find_first_of("*?[") == std::string::npos) return describe(name, out);
  try {
    for (const std::string& path : match_files({name})) describe(path, out);
  } catch (const Error&) {
    // No pattern of files, or none that matches.
  }
}

}  // namespace

std::string cache_key(const PlanNode& plan) {
  std::string text = fingerprint(plan).identity;
  Texts texts;
  texts.add(plan);
  for (const std::string& name : texts.found()) describe_matches(name, &text);
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
