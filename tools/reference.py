#!/usr/bin/env python3
"""Writes docs/operators.md, docs/functions.md and the rules of docs/optimizations.md from the program and its tests.

reference.py [--program P] [--check]

For an operator: its signature from `penstock ops`, the paragraph at the head of src/datasets/NAME.cc, and an
example with its output. For an op: signature, one line, example. An example is the case called NAME in
tests/datasets/ or tests/functions/ (in examples_*.test before others; else the first of NAME.test there): tests run it,
so it is correct. Arguments of every stage are described by the head of their .test file; calls that exist in C++ only, by a
function of tests/outside/outside.cc with the comment above it.
--check writes nothing: it names pages that are out of date and operators without an example.
Closing line: N passed, N failed.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests"))
import run as text_tests  # noqa: E402

EVERYWHERE = {"on_error": "map(input, f, on_error=\"raise\" | skip(...) | replace(value))", "apply": "apply(input, f)"}
CPP = {"generator": "static Dataset Dataset::generator(const ElementType& element, std::function<RowSource()> open,\n"
                    "                                  const std::string& identity = {})",
       "from_memory_source": "static Dataset Dataset::from_memory(const std::vector<Array>& columns,\n"
                             "                                    const std::vector<std::string>& keys = {},\n"
                             "                                    const std::string& identity = {})"}
NOTE = "Written by `tools/reference.py`; edit the sources and tests that it reads."
LONGEST = 12  # lines of an example's output


def examples(folder):
    """-> the case for each name: pipeline and output lines."""
    named, first = {}, {}
    paths = (ROOT / "tests" / folder).glob("*.test")
    for path in sorted(paths, key=lambda p: (not p.name.startswith("examples_"), p)):
        _, _, cases = text_tests.parse(path)
        for case in cases:
            if set(case.options) - {"limit", "unordered", "passes"}:
                continue
            named.setdefault(case.name, case)
            first.setdefault(path.stem, case)
    return {**first, **named}


def paragraph(path):
    """The comment at the head of a file, without its signature (`name(args): `)."""
    lines = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    parts = ["\n".join(textwrap.wrap(" ".join(p.split("\n")), 104)) for p in "\n".join(lines).split("\n\n")]
    return "\n\n".join(parts)


def test_head(path):
    """The text of a .test file before its first case."""
    return path.read_text(encoding="utf-8").split("\n== ", 1)[0].strip()


def cpp_example(name):
    """-> (paragraph, body) of `void NAME()` in tests/outside/outside.cc."""
    text = (ROOT / "tests/outside/outside.cc").read_text(encoding="utf-8")
    comment, body = re.search(r"((?:^//[^\n]*\n)+)void " + name + r"\(\) \{\n(.*?)^\}", text, re.M | re.S).groups()
    about = " ".join(line[2:].strip() for line in comment.split("\n"))
    return "\n".join(textwrap.wrap(about, 104)), textwrap.dedent(body).rstrip()


def everywhere(cases):
    """The section about things that are not operators."""
    out = ["## With any stage", ""]
    for name, signature in EVERYWHERE.items():
        out += [f"### `{name}`", "", "```", signature, "```", "",
                test_head(ROOT / "tests/datasets" / f"{name}.test"), "", example_text(cases[name]), ""]
    out += ["## In C++", ""]
    for name, signature in CPP.items():
        about, body = cpp_example(name)
        called = re.search(r"::(\w+)\(", signature)[1]
        out += [f"### `{called}`", "", "```cpp no-test", signature, "```", "", about, "", "```cpp no-test", body, "```", ""]
    return "\n".join(out)


def example_text(case):
    out = [x for x in case.expected if not x.startswith("spec ")]
    if out and out[-1] == "end":
        out.pop()
    shown = out[:LONGEST] + ["..."] * (len(out) > LONGEST)
    return "\n".join(["```pipe", *case.text, "```", "gives", "", "```", *(shown or ["nothing"]), "```"])


def page(title, about, entries, cases, sources):
    out, missing = [f"# {title}", "", NOTE, "", about, ""], []
    groups = {}
    for e in entries:
        groups.setdefault(e["group"], []).append(e)
    for group, members in groups.items():
        out += [f"## {group[0].upper()}{group[1:]}", ""]
        for e in members:
            out += [f"### `{e['name']}`", "", "```", e["signature"], "```", ""]
            source = sources(e["name"])
            out += [paragraph(source) if source else e["doc"] + ("" if e["doc"].endswith(".") else "."), ""]
            if e["effects"] != "pure":
                out += [f"Effects: {e['effects']}.", ""]
            if e["name"] in cases:
                out += [example_text(cases[e["name"]]), ""]
            else:
                missing.append(e["name"])
    return "\n".join(out).rstrip() + "\n", missing


def rules_text(program):
    """The rules in their order: what each does to its example, and what keeps it from applying."""
    def call(*args, text=""):
        return subprocess.run([program, *args], input=text, stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout
    out = []
    for rule in json.loads(call("optimize", "--list-rules", "--json"))["rules"]:
        after = call("show", "-", "--plan", "--tune", "off", "--only-rule", rule["name"], text=rule["example"])
        before = call("fmt", "-", text=rule["example"])
        out += [f"### `{rule['name']}`", "", f"{rule['doc'] if '(' in rule['doc'].split()[0] else rule['doc'][0].upper() + rule['doc'][1:]}.", "", "```pipe", before.strip(), "```",
                "becomes", "", "```pipe no-test", after.strip(), "```", ""]
        for i, condition in enumerate(rule["conditions"]):
            out += ["It needs, besides:", ""] * (i == 0)
            example = " ".join(line.strip() for line in condition["example"].split("\n"))
            out += [f"- `{condition['name']}`: {condition['doc']}. Not in `{example}`."]
        out += [""] * bool(rule["conditions"])
    return "\n".join(out)


def between_marks(path, text):
    """The page with `text` in place of what stands between its marks."""
    begin, end = "<!-- rules: written by tools/reference.py -->\n", "<!-- end of rules -->\n"
    head, rest = path.read_text(encoding="utf-8").split(begin)
    return head + begin + "\n" + text + "\n" + end + rest.split(end)[1]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--program", default=str(ROOT / "build/release/penstock"))
    ap.add_argument("--check", action="store_true")
    a = ap.parse_args()
    known = json.loads(subprocess.run([a.program, "ops", "--json"], stdout=subprocess.PIPE, check=True).stdout)["ops"]
    stages = [e for e in known if e["group"] in ("source", "stage", "sink")]
    ops = [e for e in known if e not in stages]

    def source(name):
        path = ROOT / "src/datasets" / f"{name}.cc"
        return path if path.exists() else None

    datasets = examples("datasets")
    operators, missing = page("Operators", "Datasets: sources, stages, sinks. What they all share, errors and "
                              "randomness above all, is in [differences.md](differences.md) and [format/pipe.md]"
                              "(format/pipe.md).", stages, datasets, source)
    pages = {
        "operators": (operators + "\n" + everywhere(datasets).rstrip() + "\n", missing),
        "functions": page("Functions", "Ops of expressions, as `map` and `filter` use them.", ops,
                          examples("functions"), lambda name: None),
        "optimizations": (between_marks(ROOT / "docs/optimizations.md", rules_text(a.program)), []),
    }
    passed = failed = 0
    for name, (text, missing) in pages.items():
        path = ROOT / "docs" / f"{name}.md"
        if not a.check:
            path.write_text(text, encoding="utf-8")
        good = path.exists() and path.read_text(encoding="utf-8") == text
        passed, failed = passed + good, failed + (not good)
        if not good:
            print(f"FAIL docs/{name}.md is out of date: run tools/reference.py")
        # Every operator has an example; ops without one are named.
        if name == "operators":
            for what in missing:
                failed += 1
                print(f"FAIL {what}: no case of that name in tests/datasets/")
        elif missing:
            print(f"{len(missing)} of {len(ops)} ops without an example: {', '.join(missing)}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
