#include "cli/explain_rewrites.h"

#include "report/table.h"

namespace penstock::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string heading_of(const Rewrite& r) {
  return (r.place.empty() ? "" : r.place + ": ") + r.stage + ": " + std::string(r.rule);
}

Json rewrite_json(const Rewrite& r) {
  return {
      {"rule", r.rule}, {"stage", r.stage}, {"place", r.place.empty() ? Json() : Json(r.place)}};
}

std::string lines_of(const std::vector<Rewrite>& list, const std::string& lead) {
  std::string out;
  for (const Rewrite& r : list)
    out += "  " + heading_of(r) + "\n      " + wrapped(lead + std::string(r.doc), 74, 6) + "\n";
  return out;
}

}  // namespace

std::string rewrites_text(const Rewrites& rewrites) {
  std::string out = rewrites.applied.empty() ? "no rule applies\n" : "applied:\n";
  out += lines_of(rewrites.applied, "");
  if (!rewrites.stopped.empty()) out += "\nnot applied, for want of a condition:\n";
  out += lines_of(rewrites.stopped, "needs: ");
  return out + "\nthe plan that runs:\n" + rewrites.program;
}

Json rewrites_json(const Rewrites& rewrites) {
  Json applied = Json::array(), stopped = Json::array();
  for (const Rewrite& r : rewrites.applied) applied.push_back(rewrite_json(r));
  for (const Rewrite& r : rewrites.stopped) {
    Json entry = rewrite_json(r);
    entry["condition"] = r.condition;
    entry["needs"] = r.doc;
    stopped.push_back(std::move(entry));
  }
  return {{"applied", applied}, {"stopped", stopped}, {"program", rewrites.program}};
}

}  // namespace penstock::cli
