// RE2: linear in the text whatever the pattern; compiled once.

#include <re2/re2.h>

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

class Replace final : public StringRewrite {
 public:
  explicit Replace(const Attrs& attrs)
      : pattern_(compile(attrs)),
        rewrite_(attrs["rewrite"].as_string()),
        all_(attrs["replace_global"].as_bool()) {}
  void append(std::string_view text, std::string* out) const override {
    std::string copy(text);
    if (all_) {
      RE2::GlobalReplace(&copy, *pattern_, rewrite_);
    } else {
      RE2::Replace(&copy, *pattern_, rewrite_);
    }
    *out += copy;
  }

 private:
  std::unique_ptr<RE2> pattern_;
  std::string rewrite_;
  bool all_;
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
  void append(std::string_view text, std::string* out) const override {
    std::vector<re2::StringPiece> groups(group_ + 1);
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
  std::string problem;
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
