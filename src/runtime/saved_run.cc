#include "runtime/saved_run.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/crc32c.h"
#include "io/file.h"
#include "runtime/checkpoint.h"

namespace penstock {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;

std::string checksum_of(const std::string& body) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", crc32c(std::as_bytes(std::span(body))));
  return text;
}

Json stages_of(const PlanNode& plan) {
  Json out = Json::array();
  for (const PlanNode* node : topological(plan))
    out.push_back({{"stage", node->op->name}, {"identity", fingerprint(*node).identity}});
  return out;
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

// Sources first: the first stage that differs is where the change was made.
void check_stages(const Json& saved, const Json& now) {
  for (size_t i = 0; i < now.size() || i < saved.size(); ++i) {
    const bool here = i < now.size(), there = i < saved.size();
    if (here && there && saved[i] == now[i]) continue;
    const std::string is = here ? "`" + now[i]["stage"].get<std::string>() + "`" : "nothing";
    const std::string was = there ? "`" + member<std::string>(saved[i], "stage") + "`" : "nothing";
    throw Error(Code::failed_precondition,
                "the pipeline has changed since the checkpoint was taken: stage " +
                    std::to_string(i + 1) + " from the source " +
                    (is == was ? "is " + is + " with other arguments or files"
                               : "was " + was + " and is " + is + " now") +
                    "; remove the checkpoint to start anew");
  }
}

}  // namespace

std::string checkpoint_text(const PlanNode& plan, const SavedRun& run) {
  const Json body{{"penstock_checkpoint", kVersion},
                  {"stages", stages_of(plan)},
                  {"iterator", run.from.iterator},
                  {"elements", run.elements},
                  {"digest", run.ordered.text()},
                  {"digest_unordered", run.unordered.text()},
                  {"position", Json::parse(write_position(run.from.position))}};
  std::string text = body.dump();
  text += "\n" + checksum_of(text) + "\n";
  return text;
}

SavedRun parse_checkpoint(const std::string& text, const PlanNode& plan) {
  const size_t end = text.find('\n');
  const std::string body = text.substr(0, end);
  if (end == std::string::npos || text.substr(end + 1) != checksum_of(body) + "\n")
    throw Error(Code::data_loss, "the checkpoint is damaged: its checksum is wrong");
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) throw Error(Code::data_loss, "the checkpoint is damaged: it is no JSON");
  if (const int version = member<int>(json, "penstock_checkpoint"); version != kVersion) {
    throw Error(Code::failed_precondition, "the checkpoint has format " + std::to_string(version) +
                                               ", this program reads " + std::to_string(kVersion));
  }
  check_stages(member<Json>(json, "stages"), stages_of(plan));
  SavedRun out;
  out.from.iterator = member<uint64_t>(json, "iterator");
  out.elements = member<int64_t>(json, "elements");
  out.ordered = digest_of(json, "digest");
  out.unordered = digest_of(json, "digest_unordered");
  out.from.position = read_position(member<Json>(json, "position").dump());
  return out;
}

void write_checkpoint(const std::string& path, const PlanNode& plan, const SavedRun& run) {
  write_file_atomically(path, checkpoint_text(plan, run));
}

std::optional<SavedRun> read_checkpoint(const std::string& path, const PlanNode& plan) {
  std::string text;
  try {
    const File file(path);
    text.resize(static_cast<size_t>(file.size()));
    file.pread(std::as_writable_bytes(std::span(text)), 0);
  } catch (const Error& e) {
    if (e.code() == Code::not_found) return std::nullopt;
    throw;
  }
  try {
    return parse_checkpoint(text, plan);
  } catch (const Error& e) {
    throw Error(e.code(), path + ": " + e.message());
  }
}

}  // namespace penstock
