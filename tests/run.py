#!/usr/bin/env python3
"""Runs the text tests, tests/**/*.test. What a case looks like: tests/README.md.

run.py [--program P] [--config NAME|all|slice:K/N] [--update] [--list-configs] [FILTER]
FILTER: cases whose "file: name" contains it. Closing line: N passed, N failed.
"""
import argparse
import concurrent.futures
import difflib
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from program import ENV, TooLong, execute, known_ops

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
OPTIONS = {"limit", "passes", "at", "unordered", "refused", "plan", "same", "cmd", "expect-exit",
           "skip-configs", "grep", "codes"}


class Failure(Exception):
    """What to print about a case that failed."""


class Case:
    def __init__(self, path, name, options, line):
        self.path, self.name, self.options, self.line = path, name, options, line
        self.text, self.expected = [], []

    @property
    def label(self):
        return f"{self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path}: {self.name}"


def parse_options(words, where):
    options = {}
    for word in words:
        key, _, value = word.partition("=")
        if key not in OPTIONS:
            raise SystemExit(f"{where}: unknown option {key}")
        options[key] = value
    return options


def parse(path):
    """-> the names a file needs, its lines before the first case, its cases."""
    needs, head, cases = [], [], []
    in_expected = False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        where = f"{path}:{number}"
        if line.startswith("== "):
            name, *words = shlex.split(line[3:])
            if any(c.name == name for c in cases):
                raise SystemExit(f"{where}: a second case {name}")
            cases.append(Case(path, name, parse_options(words, where), line))
            in_expected = False
        elif not cases:
            head.append(line)
            if line.startswith("# needs:"):
                needs += line[len("# needs:"):].split()
        elif line == "----" and not in_expected:
            in_expected = True
        else:
            (cases[-1].expected if in_expected else cases[-1].text).append(line)
    for case in cases:
        while case.expected and not case.expected[-1].strip():
            case.expected.pop()
    return needs, head, cases


def write(path, head, cases):
    parts = ["\n".join(head)] if head else []
    for case in cases:
        parts.append("\n".join([case.line, *case.text, "----", *case.expected]) + "\n")
    path.write_text("\n".join(parts), encoding="utf-8")


# What the program prints, as readable lines.

def component_text(c):
    kind = c.get("kind")
    if kind == "none":
        return "none"
    if kind == "dataset":
        dims = ", ".join("?" if d is None else str(d) for d in c.get("shape", []))
        return f"dataset{f'[{dims}]' if dims else ''} of " + spec_text(c["element"])
    if kind == "optional":
        return "optional " + spec_text(c["element"])
    shape = c.get("shape")
    if shape is None:
        dims = "[...]"
    else:
        dims = "[" + ", ".join("?" if d is None or d < 0 else str(d) for d in shape) + "]" if shape else ""
    return (kind + " " if kind in ("ragged", "sparse") else "") + c["dtype"] + dims


def spec_text(components):
    """Components with paths -> `{image: uint8[?, ?, 3], label: int64}`."""
    def tree(items):
        if len(items) == 1 and not items[0][0]:
            return items[0][1]
        groups = {}
        for path, text in items:
            if not path:
                raise ValueError("a leaf and a structure at one path")
            groups.setdefault(path[0], []).append((path[1:], text))
        inner = {key: tree(group) for key, group in groups.items()}
        if list(inner) == [str(i) for i in range(len(inner))]:
            return "(" + ", ".join(inner.values()) + (",)" if len(inner) == 1 else ")")
        return "{" + ", ".join(f"{field(k)}: {t}" for k, t in inner.items()) + "}"

    def field(key):
        return key if re.fullmatch(r"[A-Za-z_]\w*", key) else json.dumps(key)

    flat = [(c["path"], component_text(c)) for c in components]
    try:
        return tree([(p.split("/") if p else [], t) for p, t in flat])
    except ValueError:  # keys with slashes that cannot be told from structure
        return "{" + ", ".join(f"{field(p)}: {t}" for p, t in flat) + "}"


def value_text(value):
    return json.dumps(value, ensure_ascii=False)


def outcome_text(x, codes_only):
    if "error" in x:
        return f"error {x['error']['code']}" + ("" if codes_only else f": {x['error'].get('message', '')}")
    return value_text(x["element"])


def readable(stdout, codes_only):
    """-> lines. A refusal at construction gives the lines of its message."""
    lines = []
    for text in stdout.split("\n"):
        if not text.strip():
            continue
        try:
            x = json.loads(text)
        except ValueError:
            raise Failure(f"not a line of JSON: {text[:200]}")
        if "spec" in x:
            n = {-1: "infinite", -2: "unknown"}.get(x["cardinality"], x["cardinality"])
            lines.append(f"spec {spec_text(x['spec'])} cardinality {n}")
        elif "pass" in x:
            lines.append(f"pass {x['pass']}")
        elif "end" in x:
            lines.append("end")
        elif isinstance(x.get("error"), dict) and x["error"].get("at") == "construction":
            lines += ["refused " + line if i == 0 else line
                      for i, line in enumerate(x["error"].get("message", "").split("\n"))]
        elif isinstance(x.get("at"), int):
            lines.append(f"at {x['at']}: {outcome_text(x, codes_only)}")
        elif "value" in x:
            lines.append("value " + value_text(x["value"]))
        else:
            lines.append(outcome_text(x, codes_only))
    return [line.rstrip() for line in "\n".join(lines).split("\n")] if lines else []


# Running.

def run_once(program, case, config, text):
    """-> exit status and lines of one call of the program."""
    tmp = tempfile.mkdtemp(prefix="penstock-test-")
    try:
        def fill(s):
            return s.replace("$TMP", tmp).replace("$ROOT", str(ROOT))

        text = fill(text)
        o = case.options
        env = {**os.environ, **ENV, "TMPDIR": tmp, **config.get("env", {})}
        args = list(config.get("args", []))
        plain = "cmd" in o or "plan" in o
        if "cmd" in o:
            words = shlex.split(fill(o["cmd"]))
            if "$PIPE" in words:
                pipe = pathlib.Path(tmp, "case.pipe")
                pipe.write_text(text, encoding="utf-8")
                words = [str(pipe) if w == "$PIPE" else w for w in words]
            elif text.strip() and "-" not in words:
                words.append("-")
            command = [program, words[0], *args, *words[1:]]
        elif "plan" in o:
            command = [program, "show", "--plan", "--threads", "2", *args, "-"]
        else:
            command = [program, "show", "--jsonl", *args]
            if "limit" in o:
                command += ["--limit", o["limit"]]
            if "passes" in o:
                command += ["--passes", o["passes"]]
            if "at" in o:
                command.append("--at=" + o["at"])
            command.append("-")
        try:
            status, out, err = execute(command, text, case.path.parent, env)
        except TooLong as e:
            raise Failure(str(e)) from None
        if status < 0 or status in (66, 99) or "Sanitizer" in err or "runtime error:" in err:
            raise Failure(f"exit {status}\n{err[-4000:]}")
        out = out.replace(tmp, "$TMP").replace(str(ROOT), "$ROOT")
        err = err.replace(tmp, "$TMP").replace(str(ROOT), "$ROOT")
        if plain:
            lines = [line.rstrip() for line in (out + (err if status else "")).split("\n")]
        else:
            lines = readable(out, "codes" in o)
            if status == 2 and not any(line.startswith("refused") for line in lines):
                lines += ["refused " + line if i == 0 else line
                          for i, line in enumerate(err.rstrip("\n").split("\n"))]
            elif status not in (0, 1, 2):
                raise Failure(f"exit {status}\n{err[-2000:]}")
        while lines and not lines[-1]:
            lines.pop()
        if "grep" in o:
            lines = [line for line in lines if re.search(o["grep"], line)]
        return status, lines, err
    finally:
        shutil.rmtree(tmp, ignore_errors=True)


def expect_exit(case, lines):
    o = case.options
    if "expect-exit" in o:
        return {int(o["expect-exit"])}
    if "cmd" in o or "plan" in o:
        return {0}
    if "refused" in o:
        return {2}
    if not any(re.match(r"(at -?\d+: )?error ", line) for line in lines):
        return {0}
    return {0, 1} if "at" in o else {1}


def agrees_but_for_errors(expected, got, limited):
    """Whether `got` is `expected` with nothing but errors added. The spec line and messages may differ."""
    def key(line):
        m = re.match(r"error \w+", line)
        return m[0] if m else line

    expected, got = ([key(x) for x in lines if not x.startswith("spec ")] for lines in (expected, got))
    matched = added = 0
    for line in got:
        if matched < len(expected) and line == expected[matched]:
            matched += 1
        elif line.startswith("error "):
            added += 1
        else:
            return False
    return matched == len(expected) or (limited and added > 0)  # the limit counts errors, too


def differences(case, expected, got, compare):
    """-> None, or a diff of what was expected and what came."""
    if "unordered" in case.options or compare == "multiset":
        expected, got = sorted(expected), sorted(got)
    if expected == got:
        return None
    if compare == "subset-of-errors" and "cmd" not in case.options and "refused" not in case.options:
        if agrees_but_for_errors(expected, got, "limit" in case.options):
            return None
    return "\n".join(difflib.unified_diff(expected, got, "expected", "got", lineterm="", n=3))


def run_case(program, case, config):
    """-> None, or what failed; with --update the new lines are kept in the case."""
    try:
        status, got, err = run_once(program, case, config, "\n".join(case.text) + "\n")
        if status not in expect_exit(case, got):
            raise Failure("\n".join([f"exit {status}, expected {expect_exit(case, got)}", *got[:20], err[-2000:]]))
        expected, compare = case.expected, config.get("compare", "same")
        if "same" in case.options:
            other_status, expected, _ = run_once(program, case, config, "\n".join(case.expected) + "\n")
            expected, got = ([x for x in lines if not x.startswith("spec ")] for lines in (expected, got))
            if other_status != status:
                raise Failure(f"exit {status} and {other_status}")
        case.got = got
        return differences(case, expected, got, compare)
    except Failure as e:
        return str(e)


# Configurations.

def load_configs(program):
    """-> name -> configuration; `each` makes one for every line that a command prints."""
    configs = {}
    for path in sorted((HERE / "configs").glob("*.json")):
        config = json.loads(path.read_text(encoding="utf-8"))
        if "each" not in config:
            configs[config["name"]] = config
            continue
        if not config.get("disabled"):
            p = subprocess.run([program, *config["each"]], stdout=subprocess.PIPE, text=True)
            if p.returncode:
                raise SystemExit(f"{path.name}: {' '.join(config['each'])}: exit {p.returncode}")
            for line in p.stdout.split("\n"):
                if line.strip():
                    item = line.split()[0]
                    configs[config["name"] + item] = {**config, "name": config["name"] + item, "args": [
                        a.replace("{}", item) for a in config["args"]]}
    return configs


def applies(case, config):
    o = case.options
    if config["name"] != "default":
        if "plan" in o or o.get("cmd", "run").split()[0] not in ("run", "show"):
            return False
    return not any(fnmatch.fnmatch(config["name"], p) for p in o.get("skip-configs", "").split(",") if p)


def select(configs, wanted, cases):
    """-> pairs of case and configuration."""
    active = [c for c in configs.values() if not c.get("disabled")]
    if wanted == "all":
        chosen = active
    elif m := re.fullmatch(r"slice:(\d+)/(\d+)", wanted):
        k, n = int(m[1]), int(m[2])
        others = [c for c in active if c["name"] != "default"]
        return [(case, c) for i, case in enumerate(cases) for j, c in enumerate(others)
                if (i + j) % n == k % n and applies(case, c)]
    elif wanted in configs:
        if configs[wanted].get("disabled"):
            raise SystemExit(f"{wanted}: {configs[wanted]['disabled']}")
        chosen = [configs[wanted]]
    else:
        raise SystemExit(f"no configuration {wanted}; there are: {', '.join(configs)}")
    return [(case, c) for c in chosen for case in cases if applies(case, c)]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("filter", nargs="?", default="")
    ap.add_argument("--program", default=str(ROOT / "build/dev/penstock"))
    ap.add_argument("--config", default="default", help="NAME, all, or slice:K/N: every configuration but "
                    "the default one, with the K-th of N parts of the cases")
    ap.add_argument("--tests", default=str(HERE), help="the folder of .test files")
    ap.add_argument("--update", action="store_true", help="write what came as what is expected")
    ap.add_argument("--list-configs", action="store_true")
    ap.add_argument("--jobs", type=int, default=2)
    a = ap.parse_args()
    program = os.path.abspath(a.program)
    if not os.access(program, os.X_OK):
        raise SystemExit(f"no program {program}; build it: ./dev build dev")
    if a.config == "default" and not a.list_configs:
        configs = {"default": json.loads((HERE / "configs/default.json").read_text(encoding="utf-8"))}
    else:
        configs = load_configs(program)
    if a.list_configs:
        for c in configs.values():
            print(c["name"] + (f" (disabled: {c['disabled']})" if c.get("disabled") else ""))
        return
    if a.update and a.config != "default":
        raise SystemExit("--update goes with the default configuration")

    files, cases, ops = [], [], None
    for path in sorted(pathlib.Path(a.tests).resolve().rglob("*.test")):
        needs, head, of_file = parse(path)
        if needs:
            ops = known_ops(program) if ops is None else ops
            missing = [n for n in needs if n not in ops]
            if missing:
                print(f"left out: {path.name} needs {', '.join(missing)}")
                continue
        files.append((path, head, of_file))
        cases += [c for c in of_file if a.filter in c.label]

    pairs = select(configs, a.config, cases)
    passed, failed, changed = 0, 0, set()
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = pool.map(lambda pair: run_case(program, *pair), pairs)
        for (case, config), bad in zip(pairs, results):
            if bad and a.update and "same" not in case.options and hasattr(case, "got"):
                case.expected, bad = case.got, None
                changed.add(case.path)
                print(f"updated {case.label}")
            if not bad:
                passed += 1
                continue
            failed += 1
            name = "" if config["name"] == "default" else f" ({config['name']})"
            print(f"FAIL {case.label}{name}\n" + "".join(f"    {x}\n" for x in bad.split("\n")), flush=True)
    for path, head, of_file in files:
        if path in changed:
            write(path, head, of_file)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
