#include "job/text_edits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

#include "job/traced_run.h"
#include "plan/parser.h"

namespace penstock {
namespace {

struct Edit {
  size_t begin = 0, end = 0;  // bytes of the text that `with` stands for
  std::string with;
};

bool is_knob(const Param& p) { return p.performance && p.fallback.is_auto(); }

// Calls by the place at which they begin.
std::map<size_t, const Expr*> calls_of(const Program& program) {
  std::map<size_t, const Expr*> out;
  std::vector<const Expr*> open{program.result.get()};
  for (const Statement& s : program.statements) open.push_back(s.value.get());
  while (!open.empty()) {
    const Expr* e = open.back();
    open.pop_back();
    if (!e) continue;
    if (e->kind == Expr::Kind::call) out[e->span.begin] = e;
    open.push_back(e->operand.get());
    for (const ExprPtr& item : e->items) open.push_back(item.get());
    for (const Entry& entry : e->entries) open.push_back(entry.value.get());
  }
  return out;
}

LoadedPipeline loaded_like(const LoadedPipeline& pipeline, const std::string& text,
                           const PipelineChoices& choices) {
  const std::string& name = pipeline.built.sources.back()->name;
  return load_pipeline(std::make_shared<const Source>(Source{name, text}), choices);
}

class TextEditor {
 public:
  TextEditor(const SourcePtr& source, const PlanPtr& found)
      : source_(*source), text_(source->text), program_(parse_program(source)) {
    calls_ = calls_of(program_);
    for (const PlanNode* node : topological(*found)) {
      // A prefetch that was added has the span of the stage before it.
      if (node->span.source == &source_ && !node->op->reads_ahead) found_[node->span.begin] = node;
      if (!node->op->caches || node->span.source) continue;
      const Span below = node->inputs[0]->span;
      if (below.source != &source_) fail();
      caches_.insert(below.begin);
    }
  }

  // Sets knobs from `written` on, users before inputs.
  void edit(const PlanPtr& written, const PlanPtr& found) {
    const bool ahead = found->op->reads_ahead;
    // Joined maps stand where the last of them was written: those below have its knobs.
    std::vector<std::pair<const PlanNode*, const PlanNode*>> open{{written.get(), nullptr}};
    std::unordered_set<const PlanNode*> done;
    while (!open.empty()) {
      auto [node, like] = open.back();
      open.pop_back();
      if (!done.insert(node).second) continue;
      const auto at = node->span.source == &source_ ? found_.find(node->span.begin) : found_.end();
      if (at != found_.end()) like = at->second;
      edit_node(*node, like, ahead && node == written.get());
      for (const PlanPtr& input : node->inputs) open.emplace_back(input.get(), like);
    }
    if (ahead && !written->op->reads_ahead) add_stage(program_.result->span, call_text(*found));
    if (ahead && written->op->reads_ahead) replace(*written, call_text(*found));
  }

  std::optional<std::string> text() {
    if (failed_) return std::nullopt;
    std::ranges::stable_sort(edits_, {}, &Edit::begin);
    std::string out;
    size_t at = 0;
    for (const Edit& e : edits_) {
      if (e.begin < at) return std::nullopt;
      out.append(text_, at, e.begin - at).append(e.with);
      at = e.end;
    }
    return out.append(text_, at);
  }

 private:
  void fail() { failed_ = true; }

  const Expr* call(const PlanNode& node) {
    const auto at = node.span.source == &source_ ? calls_.find(node.span.begin) : calls_.end();
    if (at == calls_.end()) fail();
    return at == calls_.end() ? nullptr : at->second;
  }

  static std::string call_text(const PlanNode& node) {
    std::string out = node.op->name + "(";
    for (const Param& p : node.op->params) {
      const Attr& value = node.arg(p.name);
      if (is_knob(p) && !value.is_auto())
        out += (out.back() == '(' ? "" : ", ") + p.name + "=" + std::to_string(value.as_int());
    }
    return out + ")";
  }
  void edit_node(const PlanNode& node, const PlanNode* like, bool stays) {
    if (node.op->reads_ahead && !stays) remove(node);
    if (!node.op->reads_ahead) set_knobs(node, like);
    if (caches_.contains(node.span.begin) && node.span.source == &source_) {
      if (const Expr* e = call(node)) add_stage(e->span, "cache()");
    }
  }

  void set_knobs(const PlanNode& node, const PlanNode* like) {
    for (const Param& p : node.op->params) {
      if (!is_knob(p)) continue;
      const bool known = like && like->op == node.op;
      const Attr value = known ? like->arg(p.name) : Attr::automatic();
      if (value == node.arg(p.name)) continue;
      const Expr* e = call(node);
      if (!e || e->entries.empty()) return fail();
      const auto entry = std::ranges::find_if(e->entries, [&](const Entry& x) {
        return x.kind == Entry::Kind::keyed && x.key == p.name;
      });
      const std::string with = value.is_auto() ? "" : p.name + "=" + std::to_string(value.as_int());
      if (entry == e->entries.end()) {
        if (with.empty()) return fail();  // given by its place
        const size_t end = e->entries.back().span.end;
        edits_.push_back({end, end, ", " + with});
      } else if (!with.empty()) {
        edits_.push_back({entry->span.begin, entry->span.end, with});
      } else {
        const bool first = entry == e->entries.begin();
        edits_.push_back(
            {first ? entry->span.begin : std::prev(entry)->span.end,
             first && e->entries.size() > 1 ? std::next(entry)->span.begin : entry->span.end, ""});
      }
    }
  }

  void replace(const PlanNode& node, const std::string& with) {
    if (const Expr* e = call(node)) edits_.push_back({e->span.begin, e->span.end, with});
  }

  // The stage and the bar before it; the whole line where it has one for itself.
  void remove(const PlanNode& node) {
    const Expr* e = call(node);
    if (!e) return;
    const size_t bar = text_.find_last_not_of(" \t\n", e->span.begin - 1);
    if (bar == std::string::npos || text_[bar] != '|') return fail();
    Edit edit{bar, e->span.end, ""};
    const size_t before = text_.find_last_not_of(" \t", bar - 1);
    const size_t after = text_.find_first_not_of(" \t", edit.end);
    if (before != std::string::npos && text_[before] == '\n' &&
        (after == std::string::npos || text_[after] == '\n'))
      edit = {before, after == std::string::npos ? text_.size() : after, ""};
    else if (before != std::string::npos && text_[before] != '\n')
      edit.begin = before + 1;
    edits_.push_back(edit);
  }

  // Comes after `span`, on a line of its own where the stage before it has one.
  void add_stage(Span span, const std::string& stage) {
    const size_t line = text_.rfind('\n', span.end - 1) + 1;  // 0 if there is none
    const size_t first = text_.find_first_not_of(" \t", line);
    const size_t rest = text_.find_first_not_of(" \t", span.end);
    const bool last = rest == std::string::npos || text_[rest] == '\n' || text_[rest] == '#';
    if (text_[first] != '|' || !last) {
      edits_.push_back({span.end, span.end, " | " + stage});
      return;
    }
    const size_t end = std::min(text_.find('\n', span.end), text_.size());
    edits_.push_back({end, end, "\n" + text_.substr(line, first - line) + "| " + stage});
  }

  const Source& source_;
  const std::string& text_;
  const Program program_;
  std::map<size_t, const Expr*> calls_;
  std::map<size_t, const PlanNode*> found_;  // by the place at which they were written
  std::unordered_set<size_t> caches_;        // places after which one is added
  std::vector<Edit> edits_;
  bool failed_ = false;
};

std::optional<RewrittenText> edited(const LoadedPipeline& pipeline, const PlanPtr& found) {
  TextEditor editor(pipeline.built.sources.back(), found);
  editor.edit(pipeline.built.plan, found);
  const std::optional<std::string> text = editor.text();
  if (!text) return std::nullopt;
  RewrittenText out{*text, loaded_like(pipeline, *text, pipeline.choices), true};
  const PlanPtr built = apply_rules(out.pipeline.built.plan, pipeline.prepare, nullptr);
  if (plan_text(built) != plan_text(found)) return std::nullopt;
  return out;
}

}  // namespace

RewrittenText rewritten_text(const LoadedPipeline& pipeline, const PlanPtr& found) {
  try {
    if (auto out = edited(pipeline, found)) return *std::move(out);
  } catch (const Error&) {  // a wrong edit is not the mistake of the user
  }
  PipelineChoices choices = pipeline.choices;
  choices.settings.clear();  // the values are in the text
  const std::string text = plan_text(found);
  return {text, loaded_like(pipeline, text, choices), false};
}

}  // namespace penstock
