// A plan is its canonical print, and its JSON: read back, both give the same plan.

#include <doctest/doctest.h>

#include <random>

#include "base/error.h"
#include "plan/build.h"
#include "plan/canonical.h"
#include "plan/format.h"
#include "plan/json_form.h"
#include "plan/parser.h"
#include "plan/unparse.h"

namespace penstock {

void register_datasets();  // of a room above this one

namespace {

PlanPtr build(const std::string& text) {
  register_datasets();
  return build_plan(std::make_shared<const Source>(Source{"t.pipe", text})).plan;
}

std::string print(const PlanNode& plan) { return format_program(unparse(plan)); }

// `text` to a plan, and that to text and JSON and back.
std::string round_trip(const std::string& text) {
  CAPTURE(text);
  const PlanPtr plan = build(text);
  const std::string printed = print(*plan);
  CAPTURE(printed);
  PlanPtr again;
  try {
    again = build(printed);
  } catch (const Error& e) {
    FAIL_CHECK(e.message());
    return printed;
  }
  CHECK(equivalent(*again, *plan));
  CHECK(print(*again) == printed);
  CHECK(same_plan(*build(printed), *again));
  CHECK(format_program(parse_program(std::make_shared<const Source>(Source{"t.pipe", printed}))) ==
        printed);

  const std::string json = plan_to_json(*plan).dump();
  try {
    const PlanPtr read = plan_from_json(nlohmann::json::parse(json));
    CHECK(same_plan(*read, *plan));
    CHECK(read->spec == plan->spec);
    CHECK(plan_to_json(*read).dump() == json);
    CHECK(fingerprint(*read).identity == fingerprint(*plan).identity);
  } catch (const Error& e) {
    FAIL_CHECK(e.message());
  }
  CHECK(fingerprint(*again).identity == fingerprint(*plan).identity);
  CHECK(fingerprint(*again).sharing == fingerprint(*plan).sharing);
  return printed;
}

// The text is its own canonical print.
void is_canonical(const std::string& text) { CHECK(round_trip(text) == text + "\n"); }

TEST_CASE("unparse: stages and arguments") {
  is_canonical("range(10)");
  is_canonical("range(2, 10)");
  is_canonical("range(10, step=2)");
  is_canonical("range(10, dtype=int32)\n| batch(3, drop_remainder=true)");
  CHECK(round_trip("range(0, 10, 1) | batch(3, false, num_parallel_calls=auto)") ==
        "range(0, 10)\n| batch(3)\n");
  CHECK(round_trip("range(9) | shuffle(5, 7)") == "range(9)\n| shuffle(5, seed=7)\n");
  CHECK(round_trip("range(9) | shuffle(5)").find("seed=") != std::string::npos);
  is_canonical("range(10)\n| map(x -> x, num_parallel_calls=4, deterministic=false)");
  is_canonical("range(-3, 4)\n| reduce(0, (s, x) -> s + x)");
}

TEST_CASE("unparse: lists of datasets and failure policies") {
  is_canonical("sample_from_datasets([range(3), range(4)], weights=[0.5, 0.5], seed=1)");
  is_canonical(
      "sample_from_datasets([range(3), range(4)], seed=1, weights=from_list([(0.5, 0.5)]))");
  is_canonical(
      "choose_from_datasets([range(3)], choice_dataset=range(1), stop_on_empty_dataset=false)");
  is_canonical("let d1 = range(3)\n\nchoose_from_datasets([d1, range(9), d1], choice_dataset=d1)");
  is_canonical("range(3)\n| map(x -> (x, \"b\"))\n| replace_errors((1, \"a\"), max_count=3)");
  CHECK(round_trip("range(3) | map(x -> uint8(x), on_error=replace(1))") ==
        "range(3)\n| map(x -> uint8(x))\n| replace_errors(uint8(1))\n");
  CHECK(round_trip(
            "range(3) | take(1, on_error=skip(2, max_rate=0.5)) | skip(1, on_error=\"raise\")") ==
        "range(3)\n| take(1)\n| ignore_errors(max_count=2, max_rate=0.5)\n| skip(1)\n");
  round_trip(
      "counter(2, 3, int32) | scan({n: 0}, (s, x) -> (s, (s.n, x))) | take_while(x -> true)");
}

TEST_CASE("unparse: several inputs and shared nodes") {
  is_canonical("zip(range(3), range(4))");
  is_canonical("zip({a: range(3), b: (range(4), range(5))})");
  is_canonical("zip(range(3))");
  is_canonical("zip(((range(3), range(4)),))");
  is_canonical("range(3)\n| concatenate(range(4))");
  is_canonical("let d1 = range(3)\n\nzip(d1, d1)");
  round_trip("let d = range(3) | map(x -> x * 2); let e = zip(d, d); zip(e, d) | map(((a, b), c) "
             "-> a + b + c)");
}

TEST_CASE("unparse: patterns and names") {
  is_canonical("from_list([(1,), (2,)])\n| map(((x,)) -> x + 1)");
  CHECK(round_trip("from_list([(1,)]) | map(x -> x + 1)") ==
        "from_list([(1,)])\n| map(((x,)) -> x + 1)\n");
  is_canonical("range(3)\n| map(x -> {image: x, \"image/class/label\": x + 1})\n"
               "| map({image, \"image/class/label\": label} -> (label, image))");
  is_canonical("range(3)\n| map(x -> {a: x, b: x})\n| map({b, **_} -> b)");
  is_canonical("zip(range(3), range(4))\n| map((a, _) -> a)");
  is_canonical("range(3)\n| map(_ -> 1)");
  is_canonical("range(3)\n| map(x -> (x,))\n| map(((x,)) -> x)");
  round_trip("range(3) | map(let_ -> {float32: let_}) | map({float32: float32} -> float32)");
  is_canonical("range(3)\n| map(x -> let y = x * x; y + y)");
  CHECK(round_trip("range(3) | map(x -> let y = x * 2; y + 1)") ==
        "range(3)\n| map(x -> x * 2 + 1)\n");
}

TEST_CASE("unparse: constants keep their dtype") {
  is_canonical("range(3)\n| map(x -> (x + 1, 1 - x, 0.5, int32(1), float64([0.1, 0.2]), "
               "uint8([[1], [2]])))");
  is_canonical("range(3)\n| map(x -> let y = int32(x); (y + 1, y * -2, y - y // 3))");
  is_canonical("range(3)\n| map(x -> float32(x) * 0.1)");
  is_canonical("range(3)\n| map(x -> float16(x) * 0.1)");
  is_canonical("range(3)\n| map(x -> where(x > 1, x, -1))");
  is_canonical("range(3)\n| map(_ -> (inf, -inf, nan, -0.0, float64(-inf), float64(nan)))");
  is_canonical("range(3)\n| map(_ -> (-9223372036854775808, uint64(18446744073709551615)))");
  is_canonical("range(3)\n| map(_ -> [uint64(1), uint64(18446744073709551615)])");
  is_canonical("range(3)\n| map(_ -> (int32([]), float32([]), bytes([]), bool([]), zeros([2, 0]), "
               "zeros([0, 3], dtype=int8)))");
  is_canonical("range(3)\n| map(_ -> reshape(bytes([]), [2, 0]))");
  is_canonical("range(3)\n| map(_ -> (true, [true, false], \"text\\n\", b\"\\x00\\xff\", [\"a\", "
               "b\"\\xff\"]))");
  is_canonical("range(3)\n| map(_ -> fill([1000], int32(7)))");
  is_canonical("range(3)\n| map(_ -> (1e-45, 3.4028235e+38, 1.1754944e-38, 16777216.0))");
}

TEST_CASE("unparse: operators") {
  is_canonical("range(3)\n| map(x -> (x + 1) * 2 - -x)");
  is_canonical("range(3)\n| map(x -> (-x) ** 2 ** x)");
  is_canonical("range(3)\n| filter(x -> not (x > 1 and x < 2 or x == 3))");
  is_canonical("range(3)\n| map(x -> [x, 1][::-1])");
  is_canonical(
      "range(3)\n| batch(2)\n| map(x -> (x[1:3, ..., none], x[1], x[x[0]:], x[:-1:2], x[...]))");
  is_canonical("range(3)\n| batch(2)\n| map(x -> (sum(x), sum(x, axis=0), stack(x, x, axis=1), "
               "concat(x, [1, 2])))");
  // A right side that may fail is computed where the left one does not decide.
  round_trip("range(3) | filter(x -> x > 0 and 7 // x > 2)");
  round_trip("range(3) | batch(2) | map(x -> x > 0 and 7 // x > 2)");
  is_canonical("range(3)\n| map(x -> random_uniform(seed=7) + random_uniform(high=2.0, seed=7) + "
               "float32(x))");
}

TEST_CASE("unparse: outputs of one op") {
  is_canonical(
      "tfrecord(\"a\")\n| map(r -> parse_example(r, {label: int64, \"image/encoded\": bytes}))");
  is_canonical("tfrecord(\"a\")\n| map(r -> parse_example(r, {label: int64, x: float32}).label)");
  is_canonical(
      "tfrecord(\"a\")\n| map(r -> parse_example(r, {label: int64, \"a/b\": bytes})[\"a/b\"])");
  is_canonical("tfrecord(\"a\")\n| map(r ->\n  let {a, \"b/c\": c, **_} = parse_example(r, {a: "
               "int64, \"b/c\": bytes, d: feature(float32, [2])});\n"
               "  (c, a)\n)");
  round_trip("tfrecord(\"a\") | map(r -> parse_example(r, {a: feature(int64, kind=\"var\"), b: "
             "feature(bytes, [], \"x\")}))");
  round_trip("tfrecord(\"a\") | map(r -> let {a} = parse_example(r, {a: bytes}); "
             "(random_resized_crop(decode_jpeg(a, 3), 224, 224), a))");
  is_canonical("range(3)\n| map(_ -> sample_distorted_bounding_box([8, 8, 3], zeros([1, 0, 4]), "
               "seed=5)[0])");
}

TEST_CASE("unparse: conditionals") {
  is_canonical("range(3)\n| map(x -> if x > 1 then x else 0)");
  is_canonical(
      "range(3)\n| map(x -> if x > 1 then let y = x * x; y + y else if x > 0 then 1 else x)");
  is_canonical("range(3)\n| map(x -> let y = x * x; if x > 1 then (y, 1.0) else (-y, 2.0))");
  round_trip("range(3) | map(x -> let y = x * x; (if x > 1 then {a: y, b: y + 1} else {a: 1, b: "
             "x}).b + (if y > 2 then 1 else 2))");
  round_trip("range(3) | map(x -> let c = if x > 1 then {a: x, b: x + 1} else {a: 1, b: x}; c.a + "
             "c.b + c.a)");
  round_trip("range(3) | map(x -> let t = [x, x + 1]; if x > 1 then t else (if x == 0 then [1, 2] "
             "else t * 2))");
  round_trip("range(3) | map(x -> (if x > 1 then int32(x) else 0))");
}

TEST_CASE("unparse: pipelines inside functions") {
  is_canonical("files(\"*\", seed=3)\n| interleave(f -> tfrecord(f), cycle_length=4)");
  is_canonical("range(3)\n| flat_map(n -> range(n) | map(x -> x + n))");
  is_canonical("range(3)\n| flat_map(n -> range(n + 1) | take(n))");
  round_trip("range(3) | flat_map(n -> let m = n * 2; range(m) | map(x -> x + m) | flat_map(y -> "
             "range(y) | map(z -> z + m + n)))");
  round_trip("from_tensors(range(9)) | flat_map(w -> w | map(x -> x + 1) | batch(3))");
  round_trip("from_tensors((range(9), {a: range(4)})) | flat_map((a, {a: b}) -> zip(a, b, a))");
  round_trip("range(3) | flat_map(n -> let d = range(n) | shuffle(n); zip(d, d))");
  round_trip("range(3) | flat_map(n -> if n > 1 then range(n) else range(2) | map(x -> x + n))");
  round_trip("range(3) | map(n -> (n, range(n), range(n * 2) | map(x -> x * n)))");
  round_trip("range(3) | flat_map(n -> from_tensors({a: n, b: (n + 1, 2)}))");
  is_canonical("from_list([\"a\"])\n"
               "| map(s -> lookup(table(from_list([(\"a\", 1)]), default=-1), s))");
  is_canonical(
      "from_list([\"a\"])\n| map(s -> lookup(table(from_list([\"a\"]), oov_buckets=2), s))");
}

PlanPtr mapped(const FunctionPtr& f) {
  return make_node("map", {build("range(9)")}, {}, {{"f", f}});
}

TEST_CASE("unparse: functions made by rewrites") {
  auto function = [](const std::string& text) {
    return build("range(9) | map(" + text + ")")->function("f");
  };
  const FunctionPtr a =
      function("x -> let y = x * 2; {a: y + 1, b: (y, random_uniform(seed=3)), c: 1}");
  const PlanPtr with_a = mapped(a);
  const auto b = [&](const std::string& text) {
    return build_function(parse_expression(std::make_shared<const Source>(Source{"f", text})),
                          with_a->spec);
  };
  for (const char* text :
       {"{b: (p, q), **_} -> if p > 1 then q else 2.5", "{a, b: (p, q), c} -> (c, q, a, p, c + 1)",
        "{a, **_} -> range(a) | map(x -> x + a)"}) {
    const PlanPtr composed = mapped(compose(*a, *b(text)));
    const std::string printed = print(*composed);
    CAPTURE(printed);
    CHECK(equivalent(*build(printed), *composed));
    CHECK(print(*build(printed)) == printed);
    CHECK(same_plan(*plan_from_json(plan_to_json(*composed)), *composed));
  }
  const PlanPtr kept = mapped(
      keep_results(*a, Spec::tuple({a->output.items[1].items[0], a->output.items[0]}), {1, 0}));
  CHECK(print(*kept) == "range(9)\n| map(x -> let y = x * 2; (y, y + 1))\n");
  CHECK(format_expression(*unparse_function(*a)).starts_with("x -> let y"));
}

TEST_CASE("fingerprints") {
  auto of = [](const std::string& text) { return fingerprint(*build(text)); };
  const Fingerprints a = of("range(9) | map(x -> let y = x * 2; y + y) | shuffle(4, seed=1)");
  CHECK(a.identity.size() == 32);
  const Fingerprints renamed = of(
      "let k = 2; range(9) | map(z -> z * k + z * k, num_parallel_calls=3) | shuffle(4, seed=1)");
  CHECK(a.identity == renamed.identity);
  CHECK(a.sharing == renamed.sharing);
  const Fingerprints seeded = of("range(9) | map(x -> let y = x * 2; y + y) | shuffle(4, seed=2)");
  CHECK(a.identity != seeded.identity);
  CHECK(a.sharing == seeded.sharing);
  CHECK(a.sharing != of("range(9) | map(x -> x * 2 + x) | shuffle(4, seed=1)").sharing);
  CHECK(of("range(9)").identity != of("range(9, dtype=int32)").identity);
  // Order in the text is no order of the data.
  CHECK(of("range(9) | map(x -> let a = x * 2; let b = x + 3; b - a)").identity ==
        of("range(9) | map(x -> (x + 3) - x * 2)").identity);
  const std::string drawn = "range(9) | map(_ -> let a = random_uniform(seed=1); ";
  CHECK(of(drawn + "a - a)").sharing != of(drawn + "a - random_uniform(seed=2))").sharing);
}

TEST_CASE("json: what is no plan") {
  const PlanPtr plan =
      build("range(9) | map(x -> let y = x * 2; if y > 3 then {a: y, b: 1} else {a: x, b: 2}) "
            "| flat_map({a, b} -> range(a) | map(z -> [z, b, 1][0:2] + 2)) | batch(3)");
  const nlohmann::json good = plan_to_json(*plan);
  CHECK(same_plan(*plan_from_json(good), *plan));
  // Every value replaced by others: an error or a plan, never anything else.
  const nlohmann::json flat = good.flatten();
  const std::vector<nlohmann::json> others{nullptr,
                                           true,
                                           -1,
                                           0,
                                           1,
                                           1000000,
                                           1.5,
                                           "x",
                                           nlohmann::json::array(),
                                           nlohmann::json::object(),
                                           18446744073709551615u};
  int refused = 0;
  for (const auto& [pointer, value] : flat.items()) {
    for (const nlohmann::json& other : others) {
      nlohmann::json bad = good;
      bad[nlohmann::json::json_pointer(pointer)] = other;
      CAPTURE(pointer);
      CAPTURE(other.dump());
      try {
        plan_from_json(bad);
      } catch (const Error& e) {
        CHECK(e.code() == Code::invalid_argument);
        CHECK(e.message().starts_with("plan"));
        ++refused;
      }
    }
  }
  CHECK(refused > 500);
  nlohmann::json deep = nullptr;
  for (int i = 0; i < 1000; ++i) deep = nlohmann::json::array({deep});
  nlohmann::json form = plan_to_json(*build("range(9)"));
  form["plan"]["args"]["start"] = deep;
  CHECK_THROWS_AS(plan_from_json(form), Error);
}

TEST_CASE("long chains") {
  std::string text = "range(9)";
  for (int i = 0; i < 3000; ++i) text += "\n| take(" + std::to_string(i) + ")";
  is_canonical(text);
  round_trip("let d = " + text + "; zip(d, d | take(1), zip(range(3), d | skip(1)))");
}

// Random plans: expressions of known dtypes over what is in scope, and stages around them.
class Generator {
 public:
  explicit Generator(uint64_t seed) : random_(seed) {}

  std::string plan() {
    std::string out = pick(3) == 0 ? "range(2, 9)" : "range(9)";
    for (int i = pick(4); i >= 0; --i) out += stage("");
    return out;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  template <typename T>
  const T& one(const std::vector<T>& from) {
    return from[static_cast<size_t>(pick(static_cast<int>(from.size())))];
  }

  // `outer`: an int64 scalar of the function around, or nothing. Elements are int64 scalars.
  std::string stage(const std::string& outer) {
    const std::string n = outer.empty() || pick(2) ? std::to_string(1 + pick(5)) : outer;
    switch (pick(8)) {
      case 0: return " | take(" + n + ")";
      case 1: return " | shuffle(" + n + ")";
      case 2: return " | filter(" + function(outer, "bool") + ")";
      case 3:
        return " | map(x -> {a: x, \"b/c\": " + expr({"x"}, "int64", 2) +
               "}) | map({a, \"b/c\": k} -> " + expr({"a", "k"}, "int64", 3) + ")";
      case 4: {
        if (depth_ > 1) return " | take(3)";
        ++depth_;
        const std::string name = "n" + std::to_string(depth_);
        std::string inner = " | flat_map(" + name + " -> range(" + expr({name}, "int64", 1) + ")";
        for (int i = pick(3); i > 0; --i) inner += stage(name);
        --depth_;
        return inner + ")";
      }
      default: return " | map(" + function(outer, "int64") + ")";
    }
  }

  std::string function(const std::string& outer, const std::string& dtype) {
    std::vector<std::string> scope{"x"};
    if (!outer.empty()) scope.push_back(outer);
    std::string lets;
    for (int i = pick(3); i > 0; --i) {
      const std::string name = "y" + std::to_string(i);
      lets += "let " + name + " = " + expr(scope, "int64", 3) + "; ";
      scope.push_back(name);
    }
    return "x -> " + lets + expr(scope, dtype, 4);
  }

  // A scalar of the dtype; names in scope are int64.
  std::string expr(const std::vector<std::string>& scope, const std::string& dtype, int depth) {
    auto sub = [&](const std::string& d) { return expr(scope, d, depth - 1); };
    if (dtype == "bool") {
      if (depth <= 0) return one(scope) + " > 1";
      switch (pick(5)) {
        case 0: return "not (" + sub("bool") + ")";
        case 1: return "(" + sub("bool") + ") and (" + sub("bool") + ")";
        case 2: return "(" + sub("bool") + ") or (" + sub("bool") + ")";
        default: {
          const std::string d = one(numbers_);
          return "(" + sub(d) + ") " + one(std::vector<std::string>{"<", "<=", "==", "!="}) + " (" +
                 sub(d) + ")";
        }
      }
    }
    const bool real = dtype.starts_with("f");
    if (depth <= 0 || pick(8) == 0) {
      if (pick(3) > 0) return dtype == "int64" ? one(scope) : dtype + "(" + one(scope) + ")";
      const std::string literal = real
                                      ? one(std::vector<std::string>{"0.1", "2.5", "-1e-3", "1e10"})
                                      : std::to_string(pick(100));
      return dtype + "(" + literal + ")";
    }
    const std::string literal = real && pick(2) ? "0.3" : std::to_string(1 + pick(9));
    switch (pick(9)) {
      case 0: return "(" + sub(dtype) + ") + (" + sub(dtype) + ")";
      case 1: return "(" + sub(dtype) + ") * " + literal;
      case 2: return literal + " - (" + sub(dtype) + ")";
      case 3: return "(" + sub(dtype) + ") // " + literal;
      case 4: return "(if " + sub("bool") + " then " + sub(dtype) + " else " + sub(dtype) + ")";
      case 5: return "where(" + sub("bool") + ", " + sub(dtype) + ", " + literal + ")";
      case 6: return dtype + "(" + sub(one(numbers_)) + ")";
      case 7: return "sum([" + sub(dtype) + ", " + literal + "])";
      default:
        return real && dtype == "float32" ? "random_uniform() + (" + sub(dtype) + ")"
                                          : "-(" + sub(dtype) + ")";
    }
  }

  std::mt19937_64 random_;
  int depth_ = 0;
  const std::vector<std::string> numbers_{"int64", "int32", "float32", "float64", "int8"};
};

TEST_CASE("random plans survive the round trip") {
  int refused = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    const std::string text = Generator(seed).plan();
    try {
      build(text);
    } catch (const Error& e) {
      ++refused;  // a literal that folds to something out of range
      continue;
    }
    round_trip(text);
  }
  CHECK(refused < 60);
}

}  // namespace
}  // namespace penstock
