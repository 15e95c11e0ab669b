// Inputs on which each op is measured: bench/ops.txt and the documented examples.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace penstock::bench {

class OpCases {
 public:
  explicit OpCases(const std::filesystem::path& root) : root_(root) {
    std::vector<std::pair<bool, std::filesystem::path>>
        paths;  // in the order of tools/reference.py
    for (const auto& entry : std::filesystem::directory_iterator(root / "tests/functions")) {
      const bool other = !entry.path().filename().string().starts_with("examples_");
      if (entry.path().extension() == ".test") paths.emplace_back(other, entry.path());
    }
    std::ranges::sort(paths);
    for (const auto& [other, path] : paths) read_examples(path);
    read_own(root / "bench/ops.txt");
  }

  // Returns the reason why an op has no line; null if it should have one.
  const std::string* reason(const std::string& op) const { return find(reasons_, op); }

  std::string pipeline(const std::string& op) const {
    const std::string* own = find(own_, op);
    const std::string* named = own ? own : find(examples_, op);
    const std::string* found = named ? named : find(firsts_, op);
    if (!found)
      throw std::runtime_error("no example in tests/functions/ and none in bench/ops.txt");
    return *found;
  }

 private:
  using Texts = std::map<std::string, std::string>;

  static const std::string* find(const Texts& texts, const std::string& name) {
    const auto at = texts.find(name);
    return at == texts.end() ? nullptr : &at->second;
  }

  // Cases of a text test: "== NAME", the pipeline, "----".
  void read_examples(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line, name;
    bool inside = false, first = true;
    while (std::getline(file, line)) {
      if (line.starts_with("== ")) {
        name = line.substr(3, line.find(' ', 3) - 3);
        inside = !examples_.contains(name);
      } else if (line == "----" && inside) {
        if (first) firsts_.emplace(path.stem().string(), examples_[name]);
        inside = first = false;
      } else if (inside) {
        examples_[name] += with_root(line) + "\n";
      }
    }
  }

  // "input NAME = DATASET", "OP: INPUT -> EXPRESSION", "OP: | PIPELINE", "OP: none: REASON".
  void read_own(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    Texts inputs;
    while (std::getline(file, line)) {
      if (line.empty() || line[0] == '#') continue;
      line = with_root(line);
      if (line.starts_with("input ")) {
        const size_t equals = line.find(" = ");
        inputs[line.substr(6, equals - 6)] = line.substr(equals + 3);
        continue;
      }
      const size_t colon = line.find(": ");
      if (colon == std::string::npos) throw std::runtime_error("bench/ops.txt: " + line);
      const std::string op = line.substr(0, colon), rest = line.substr(colon + 2);
      const size_t arrow = rest.find(" -> ");
      if (rest.starts_with("none: ")) {
        reasons_[op] = rest.substr(6);
      } else if (rest.starts_with("| ")) {
        own_[op] = rest.substr(2);
      } else if (arrow != std::string::npos && inputs.contains(rest.substr(0, arrow))) {
        own_[op] = inputs[rest.substr(0, arrow)] + " | map(" + rest + ")";
      } else {
        throw std::runtime_error("bench/ops.txt: no such input: " + line);
      }
    }
  }

  std::string with_root(std::string line) const {
    for (size_t at; (at = line.find("$ROOT")) != std::string::npos;)
      line.replace(at, 5, root_.string());
    return line;
  }

  std::filesystem::path root_;
  Texts examples_, firsts_, own_, reasons_;
};

}  // namespace penstock::bench
