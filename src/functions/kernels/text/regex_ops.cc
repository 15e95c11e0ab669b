// RE2: linear in the text whatever the pattern; compiled once.

#include <re2/re2.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <array>

#include "data/charged.h"
#include "functions/kernels/text/string_map.h"
#include "functions/kernels/text/text_ops.h"

namespace penstock {
namespace {

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

std::unique_ptr<RE2> compile(const Attrs& attrs) {
  RE2::Options options(RE2::Quiet);
  auto out = std::make_unique<RE2>(attrs["pattern"].as_string(), options);
  if (!out->ok()) {
    throw Error(Code::invalid_argument,
                "pattern " + quoted(attrs["pattern"].as_string()) + ": " + out->error());
  }
  return out;
}

void check_pattern(const InferContext& context) {
  try {
    compile(context.attrs);
  } catch (const Error& error) {
    context.fail(error.what());
  }
}

// Bytes of the character that a text begins with; 1 where it begins with none.
size_t character_size(std::string_view text) {
  int32_t n = 0;
  UChar32 code = 0;
  const auto size = static_cast<int32_t>(std::min<size_t>(text.size(), U8_MAX_LENGTH));
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  U8_NEXT(bytes, n, size, code);  // NOLINT(bugprone-inc-dec-in-conditions): ICU's macro
  return code < 0 ? 1 : static_cast<size_t>(n);
}

class Replace final : public StringRewrite {
 public:
  explicit Replace(const Attrs& attrs)
      : pattern_(compile(attrs)),
        rewrite_(attrs["rewrite"].as_string()),
        all_(attrs["replace_global"].as_bool()) {}
  void append(std::string_view text, ChargedString* out) const override {
    // RE2's own GlobalReplace, whose std::string grows without a limit.
    std::array<re2::StringPiece, kMostGroups> groups;
    if (text.empty()) text = "";  // what is empty may stand nowhere
    const char* at = text.data();
    const char* const end = at + text.size();
    const char* last_end = nullptr;
    while (at <= end) {
      if (!pattern_->Match(piece(text), static_cast<size_t>(at - text.data()), text.size(),
                           RE2::UNANCHORED, groups.data(), groups_)) {
        break;
      }
      const re2::StringPiece& match = groups[0];
      out->append(at, match.data());
      at = match.data();
      if (at == last_end && match.empty()) {  // no empty match at the end of the one before
        if (at == end) return;
        const size_t n = character_size({at, static_cast<size_t>(end - at)});
        out->append(at, n);
        at += n;
        continue;
      }
      const size_t before = out->size();
      if (!append_rewritten(groups, out) && !all_) {
        out->resize(before);
        out->append(match.data(), match.size());
      }
      at = last_end = match.data() + match.size();
      if (!all_) break;
    }
    if (at < end) out->append(at, end);
  }

 private:
  static constexpr int kMostGroups = 10;  // \0 to \9

  // As RE2::Rewrite: false, in the middle, where a backslash stands before anything else.
  bool append_rewritten(const std::array<re2::StringPiece, kMostGroups>& groups,
                        ChargedString* out) const {
    for (size_t i = 0; i < rewrite_.size(); ++i) {
      if (rewrite_[i] != '\\') {
        *out += rewrite_[i];
        continue;
      }
      const char c = ++i < rewrite_.size() ? rewrite_[i] : '\0';
      if (c == '\\') {
        *out += c;
      } else if (c >= '0' && c - '0' < groups_) {
        const re2::StringPiece& group = groups[static_cast<size_t>(c - '0')];
        if (!group.empty()) out->append(group.data(), group.size());
      } else {
        return false;
      }
    }
    return true;
  }

  std::unique_ptr<RE2> pattern_;
  std::string rewrite_;  // bounded: written in the pipeline
  bool all_;
  int groups_ = 1 + std::min(RE2::MaxSubmatch(rewrite_), pattern_->NumberOfCapturingGroups());
};

class Match final : public StringMap<bool> {
 public:
  Match(const Attrs& attrs, RE2::Anchor anchor) : pattern_(compile(attrs)), anchor_(anchor) {}
  bool value(std::string_view text) const override {
    return pattern_->Match(piece(text), 0, text.size(), anchor_, nullptr, 0);
  }

 private:
  std::unique_ptr<RE2> pattern_;
  RE2::Anchor anchor_;
};

class Extract final : public StringRewrite {
 public:
  explicit Extract(const Attrs& attrs)
      : pattern_(compile(attrs)), group_(static_cast<size_t>(attrs["group"].as_int())) {}
  void append(std::string_view text, ChargedString* out) const override {
    std::vector<re2::StringPiece> groups(group_ + 1);  // bounded: groups of the pattern
    if (pattern_->Match(piece(text), 0, text.size(), RE2::UNANCHORED, groups.data(),
                        static_cast<int>(groups.size())) &&
        groups[group_].data()) {
      out->append(groups[group_].data(), groups[group_].size());
    }
  }

 private:
  std::unique_ptr<RE2> pattern_;
  size_t group_;
};

template <Spec (*infer)(const InferContext&)>
Spec infer_checked(const InferContext& context) {
  check_pattern(context);
  return infer(context);
}

Spec infer_replace(const InferContext& context) {
  check_pattern(context);
  std::string problem;  // bounded: written in the pipeline
  if (!compile(context.attrs)->CheckRewriteString(context.attrs["rewrite"].as_string(), &problem) &&
      problem.find("groups") != std::string::npos) {
    throw TypeError{-1, "rewrite", problem};
  }
  return infer_string_rewrite(context);
}

Spec infer_extract(const InferContext& context) {
  check_pattern(context);
  const int64_t group = context.attrs["group"].as_int();
  const int most = compile(context.attrs)->NumberOfCapturingGroups();
  if (group < 0 || group > most) {
    throw TypeError{
        -1, "group",
        "must lie between 0 and " + std::to_string(most) + ": " + std::to_string(group)};
  }
  return infer_string_rewrite(context);
}

}  // namespace

void add_regex_ops(OpRegistry* registry) {
  const Param pattern = required("pattern", Param::Kind::text);
  OpDef replace = string_rewrite_op(
      "regex_replace", "s with each match of the RE2 pattern replaced; \\1 is the first group",
      {pattern, required("rewrite", Param::Kind::text),
       option("replace_global", Param::Kind::boolean, Attr::boolean(true))},
      [](const Attrs& a) -> std::shared_ptr<const StringRewrite> {
        return std::make_shared<Replace>(a);
      });
  replace.infer = infer_replace;
  replace.cost_ns = 500;
  registry->add(std::move(replace));
  OpDef full =
      string_map_op<bool>("regex_full_match", "whether the RE2 pattern matches all of s", {pattern},
                          [](const Attrs& a) -> std::shared_ptr<const StringMap<bool>> {
                            return std::make_shared<Match>(a, RE2::ANCHOR_BOTH);
                          });
  full.infer = infer_checked<infer_string_map<bool>>;
  full.cost_ns = 200;
  registry->add(std::move(full));
  OpDef partial =
      string_map_op<bool>("regex_partial_match", "whether the RE2 pattern matches anywhere in s",
                          {pattern}, [](const Attrs& a) -> std::shared_ptr<const StringMap<bool>> {
                            return std::make_shared<Match>(a, RE2::UNANCHORED);
                          });
  partial.infer = infer_checked<infer_string_map<bool>>;
  partial.cost_ns = 200;
  registry->add(std::move(partial));
  OpDef extract = string_rewrite_op(
      "regex_extract", "group (0: all) of the RE2 pattern's first match in s; empty without one",
      {pattern, optional("group", Param::Kind::integer, Attr::integer(0))},
      [](const Attrs& a) -> std::shared_ptr<const StringRewrite> {
        return std::make_shared<Extract>(a);
      });
  extract.infer = infer_extract;
  extract.cost_ns = 300;
  registry->add(std::move(extract));
}

}  // namespace penstock
