#include "runtime/saved_run.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "io/file.h"
#include "plan/canonical.h"
#include "plan/deciding_stages.h"
#include "plan/user_code.h"
#include "runtime/checkpoint.h"
#include "runtime/named_files.h"

namespace penstock {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 3;

std::string checksum_of(const std::string& body) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", crc32c(std::as_bytes(std::span(body))));
  return text;
}

// A few files one by one, so that one that changed can be named; more would make a checkpoint
// large.
constexpr size_t kMostListed = 32;

Json files_json(const std::vector<FileState>& files) {
  std::string all;
  Json list = Json::array();
  int64_t newest_ns = 0;
  for (const FileState& f : files) {
    all +=
        f.path + '\0' + std::to_string(f.bytes) + ' ' + std::to_string(f.time_ns) + f.etag + '\0';
    newest_ns = std::max(newest_ns, f.time_ns);
    if (files.size() > kMostListed) continue;
    list.push_back({f.path, f.bytes, f.time_ns});
    if (!f.etag.empty()) list.back().push_back(f.etag);
  }
  const XXH128_hash_t hash = XXH3_128bits(all.data(), all.size());
  Json out{
      {"count", files.size()},
      {"hash", Digest128{(static_cast<unsigned __int128>(hash.high64) << 64) | hash.low64}.text()},
      {"newest_ns", newest_ns}};
  if (!list.empty()) out["list"] = std::move(list);
  return out;
}

// The stages of the plan, and the caches that are not among them.
Json stages_of(const PlanNode& plan) {
  const DecidingStages deciding(plan);
  Json out = Json::array();
  const std::vector<CanonicalHashes> hashes = all_canonical_hashes(deciding.root());
  for (const PlanNode* node : deciding.stages()) {
    out.push_back({{"stage", node->op->name}, {"identity", hex(hashes[out.size()].identity)}});
    if (node->op->deals_rows) {
      out.back()["num_shards"] = node->arg("num_shards").as_int();
      out.back()["index"] = node->arg("index").as_int();
    }
    const std::vector<FileState> files = named_files(*node);
    if (!files.empty()) out.back()["files"] = files_json(files);
  }
  return Json{{"stages", std::move(out)}, {"caches", deciding.caches()}};
}

template <typename T>
T member(const Json& in, const char* name) {
  try {
    return in.at(name).get<T>();
  } catch (const Json::exception&) {
    throw Error(Code::data_loss,
                "the checkpoint is damaged: `" + std::string(name) + "` is missing");
  }
}

Digest128 digest_of(const Json& in, const char* name) {
  const std::optional<Digest128> digest = Digest128::parse(member<std::string>(in, name));
  if (!digest)
    throw Error(Code::data_loss,
                "the checkpoint is damaged: `" + std::string(name) + "` is no digest");
  return *digest;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Code::failed_precondition, what + "; remove the checkpoint to start anew");
}

std::string stage_text(const Json& stages, size_t i) {
  return i < stages.size() ? "`" + member<std::string>(stages[i], "stage") + "`" : "nothing";
}

[[noreturn]] void refuse_file(const std::string& stage, const std::string& path, int64_t before,
                              int64_t now) {
  refuse("a file has changed since the checkpoint was taken: " + path + ", which " + stage +
         " reads, " +
         (before == now ? "has another time"
                        : "had " + std::to_string(before) + " bytes and has " +
                              std::to_string(now) + " now"));
}

// Names the file that has changed, where the checkpoint can tell.
[[noreturn]] void refuse_files(const std::string& stage, const Json& saved,
                               const std::vector<FileState>& now) {
  std::map<std::string, FileState> before;
  for (const Json& f : saved.value("list", Json::array()))
    before[f.at(0)] = {f.at(0), f.at(1), f.at(2), f.size() > 3 ? f.at(3).get<std::string>() : ""};
  const int64_t newest_ns = saved.value("newest_ns", int64_t{0});
  for (const FileState& f : now) {
    const auto it = before.find(f.path);
    if (it != before.end() && it->second != f)
      refuse_file(stage, f.path, it->second.bytes, f.bytes);
    if (it != before.end())
      before.erase(it);
    else if (saved.contains("list"))
      refuse("there is a new file since the checkpoint was taken: " + f.path + ", which " + stage +
             " reads");
    else if (f.time_ns > newest_ns)
      refuse_file(stage, f.path, f.bytes, f.bytes);
  }
  if (!before.empty()) {
    refuse("a file is gone since the checkpoint was taken: " + before.begin()->first + ", which " +
           stage + " read");
  }
  refuse("files have changed since the checkpoint was taken: " + stage + " read " +
         std::to_string(saved.value("count", int64_t{0})) + " and reads " +
         std::to_string(now.size()) + ", or sizes or times are others");
}

void check_files(const std::string& stage, const Json& saved, const PlanNode& node) {
  const std::vector<FileState> now = named_files(node);
  const Json before = saved.value("files", Json::object());
  if (before == (now.empty() ? Json::object() : files_json(now))) return;
  try {
    refuse_files(stage, before, now);
  } catch (const Json::exception&) {
    throw Error(Code::data_loss, "the checkpoint is damaged: `files`");
  }
}

// What a table or a model holds is part of its stage's identity, too: the file is the better name.
bool reads_same_paths(const Json& saved, const PlanNode& node) {
  const Json files = saved.value("files", Json::object());
  const std::vector<FileState> now = named_files(node);
  if (!files.is_object() || !files.contains("list") || files["list"].size() != now.size())
    return false;
  for (size_t i = 0; i < now.size(); ++i) {
    if (!files["list"][i].is_array() || files["list"][i].empty() ||
        files["list"][i][0] != now[i].path)
      return false;
  }
  return true;
}

void check_rank(const Json& saved, const PlanNode& shard) {
  const auto ranks = member<int64_t>(saved, "num_shards"), rank = member<int64_t>(saved, "index");
  const int64_t ranks_now = shard.arg("num_shards").as_int();
  const int64_t rank_now = shard.arg("index").as_int();
  if (ranks == ranks_now && rank == rank_now) return;
  throw Error(Code::failed_precondition,
              "the checkpoint is of rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                  ", this is rank " + std::to_string(rank_now) + " of " +
                  std::to_string(ranks_now) +
                  ": another number of ranks goes on from the checkpoints of all of them "
                  "(--resume-from)");
}

// Sources first: the first stage that differs is where the change was made.
void check_stages(const Json& saved, const DecidingStages& deciding) {
  if (!saved.is_array()) throw Error(Code::data_loss, "the checkpoint is damaged: `stages`");
  const std::vector<const PlanNode*>& nodes = deciding.stages();
  const std::vector<CanonicalHashes> hashes = all_canonical_hashes(deciding.root());
  for (size_t i = 0; i < nodes.size() || i < saved.size(); ++i) {
    const bool here = i < nodes.size(), there = i < saved.size();
    const std::string was = stage_text(saved, i);
    const std::string is = here ? "`" + nodes[i]->op->name + "`" : "nothing";
    if (here && there && is == was) {
      if (member<std::string>(saved[i], "identity") == hex(hashes[i].identity)) {
        check_files(is, saved[i], *nodes[i]);
        continue;
      }
      if (nodes[i]->op->deals_rows) check_rank(saved[i], *nodes[i]);
      if (const std::string code = find_unidentified_code_of_stage(*nodes[i]); !code.empty())
        refuse(code + "; until then a checkpoint is resumed only by the same dataset");
      if (reads_same_paths(saved[i], *nodes[i])) check_files(is, saved[i], *nodes[i]);
    }
    refuse("the pipeline has changed since the checkpoint was taken: stage " +
           std::to_string(deciding.number(i)) + " from the source " +
           (is == was ? "is " + is + " with other arguments"
                      : "was " + was + " and is " + is + " now"));
  }
}

Json read_body(const std::string& text) {
  const size_t end = text.find('\n');
  const std::string body = text.substr(0, end);
  if (end == std::string::npos || text.substr(end + 1) != checksum_of(body) + "\n")
    throw Error(Code::data_loss, "the checkpoint is damaged: its checksum is wrong");
  Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) throw Error(Code::data_loss, "the checkpoint is damaged: it is no JSON");
  if (const int version = member<int>(json, "penstock_checkpoint"); version != kVersion) {
    throw Error(Code::failed_precondition,
                "the checkpoint has format " + std::to_string(version) + ", this program reads " +
                    std::to_string(kVersion) +
                    "; finish the run with the program that wrote it, or remove the checkpoint to "
                    "start anew");
  }
  return json;
}

[[noreturn]] void rethrow_from(const std::string& path, const Error& e) {
  throw Error(e.code(), path + ": " + e.message());
}

}  // namespace

SavedStages::SavedStages(const PlanNode& plan) : json_(stages_of(plan).dump()) {}

std::string checkpoint_text(const SavedStages& stages, const SavedRun& run) {
  Json body = Json::parse(stages.json());
  body["penstock_checkpoint"] = kVersion;
  body["iterator"] = run.from.iterator;
  body["elements"] = run.elements;
  body["digest"] = run.ordered.text();
  body["digest_unordered"] = run.unordered.text();
  body["position"] = Json::parse(write_position(run.from.position));
  std::string text = body.dump();
  text += "\n" + checksum_of(text) + "\n";
  return text;
}

SavedRun parse_checkpoint(const std::string& text, const PlanNode& plan) {
  const Json json = read_body(text);
  const DecidingStages deciding(plan);
  check_stages(member<Json>(json, "stages"), deciding);
  SavedRun out;
  out.from.iterator = member<uint64_t>(json, "iterator");
  out.elements = member<int64_t>(json, "elements");
  out.ordered = digest_of(json, "digest");
  out.unordered = digest_of(json, "digest_unordered");
  out.from.position = read_position(member<Json>(json, "position").dump());
  // Marks of caches are those of the plan's caches only if both have the same.
  if (member<Json>(json, "caches") != Json(deciding.caches()))
    out.from.position = without_transparent(out.from.position);
  return out;
}

SavedRun parse_checkpoint(const std::string& text, const PlanNode& plan, const std::string& path) {
  try {
    return parse_checkpoint(text, plan);
  } catch (const Error& e) {
    rethrow_from(path, e);
  }
}

std::optional<SavedShard> saved_shard(const std::string& text, const PlanNode& plan,
                                      const PlanNode& shard, const std::string& path) {
  const size_t place = DecidingStages(plan).index_of(shard);
  try {
    const Json stages = member<Json>(read_body(text), "stages");
    if (!stages.is_array() || place >= stages.size() || !stages[place].contains("num_shards"))
      return std::nullopt;
    const SavedShard out{member<int64_t>(stages[place], "num_shards"),
                         member<int64_t>(stages[place], "index")};
    constexpr int64_t kMostRanks = 1 << 20;
    if (out.num_shards < 1 || out.num_shards > kMostRanks || out.index < 0 ||
        out.index >= out.num_shards)
      throw Error(Code::data_loss, "the checkpoint is damaged: `num_shards` or `index`");
    return out;
  } catch (const Error& e) {
    rethrow_from(path, e);
  }
}

void write_checkpoint(const std::string& path, const SavedStages& stages, const SavedRun& run) {
  write_file_atomically(path, checkpoint_text(stages, run));
}

std::optional<std::string> read_checkpoint_file(const std::string& path) {
  constexpr int64_t kMostBytes = 1 << 30;
  try {
    return read_regular("open", path, kMostBytes);
  } catch (const Error& e) {
    if (e.code() == Code::not_found) return std::nullopt;
    throw;
  }
}

std::optional<SavedRun> read_checkpoint(const std::string& path, const PlanNode& plan) {
  const std::optional<std::string> text = read_checkpoint_file(path);
  if (!text) return std::nullopt;
  return parse_checkpoint(*text, plan, path);
}

}  // namespace penstock
