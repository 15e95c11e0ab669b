#!/usr/bin/env python3
"""Checks the code without running it: format, include direction, memory that kernels take, how files are opened,
names of operators, clang-tidy, links in the docs, words of comments and docs.

lint.py [--all] [--seconds S] [--only CHECK]

clang-tidy takes the C++ files that differ from main (or, on main, from the commit before) first, then
others in an order that changes with the commit, and begins no file after S seconds (default 300);
--all takes every file. It reads build/dev/compile_commands.json. "words" reads the lines added since
main (or, on main, since the commit before). --only runs the check of that name. Files over 400 lines are
listed; they do not fail. Closing line: N passed, N failed, over the nine checks.
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONG = 400


def output(*command):
    p = subprocess.run(list(map(str, command)), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       errors="replace")
    return p.returncode, p.stdout


def cpp_files():
    return [f for folder in ("src", "include", "bench", "fuzz", "tests", "examples", "python")
            for f in sorted((ROOT / folder).rglob("*")) if f.suffix in (".h", ".cc")]


def check_format(_):
    files = cpp_files()
    _, found = output("clang-format-19", "--dry-run", *files)
    lines = sorted(set(re.findall(r"^(\S+?):\d+:\d+: warning", found, re.M)))
    return [f"{pathlib.Path(f).relative_to(ROOT)}: not in the project's format; ./dev format" for f in lines]


def check_includes(_):
    status, found = output(sys.executable, "tools/check_includes.py")
    return found.rstrip().split("\n") if status else []


# Calls that take a name to the system: only the local file system makes them (src/io, base/open_file). Sockets of processes
# and what /proc says of these are local, too.
LOCAL_FILES = ("open_file", "attach_directory", "attached_process")
RAW_OPEN = re.compile(
    r"(?<!\w)::open\(|\bf?open(?:at|dir)\(|\bfopen\(|\b[io]?fstream\b|(?<![\w.>:])(?:::)?l?stat\(|(?<![\w.>])::(?:unlink"
    r"|rename|mkdir|rmdir|access|truncate|symlink|utimensat)\(|(?<![\w.>:])access\(|\bopen_(?:path|regular)\("
    r"|\b(?:recursive_)?directory_iterator\b|\b(?:std::filesystem|fs)::(?!path\b)|\bstd::(?:remove|rename)\(\w+\.c_str")
CONSTANT_NAME = re.compile(r'fopen\("/proc|file\("/proc/|open\(proc_path|"/proc/cpuinfo"|"/sys/fs/cgroup|v1\(v1_path\)')
RAW_GOOD = ("run(file.open(x));", "files->status(name)", "at.files->rename(a, b);", "std::filesystem::path p;", "table.access(i)",
            "LookupTable::open(attr)", "context.open(node)", "std::remove(line, line + size, '\\r')")
RAW_BAD = ("::open(path, 0)", "stat(path.c_str(), &s)", "::stat(p, &s)", "std::ifstream in(path);", "fs::exists(p)", "fopen(p, m)",
           "std::filesystem::create_directories(f)", "::unlink(p.c_str())", "access(p, F_OK)", "open_regular(c, p)", "::opendir(p)")


def check_file_names(_):
    """Names of files reach storage through io/file_system.h and io/file.h, which know all file systems."""
    bad = [f"tools/lint.py: RAW_OPEN misses {line}" for line in RAW_BAD if not RAW_OPEN.search(line)]
    bad += [f"tools/lint.py: RAW_OPEN finds {line}" for line in RAW_GOOD if RAW_OPEN.search(line)]
    for file in sorted([*(ROOT / "src").rglob("*.cc"), *(ROOT / "src").rglob("*.h")]):
        if file.stem.endswith("_test") or file.is_relative_to(ROOT / "src/io") or file.stem in LOCAL_FILES:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            code = line.split("//")[0]
            if RAW_OPEN.search(code) and not code.startswith("#include") and not CONSTANT_NAME.search(code):
                bad.append(f"{file.relative_to(ROOT)}:{number}: goes past the file systems; see io/file_system.h: "
                           f"{code.strip()}")
    return bad


# Comparisons of a name with a literal, lists of names, tables from a name to a constant or a function.
NAME_TEST = re.compile(r'\.?\bis\("(\w+)"\)|(?:\bname|\bop|\bstage|\w_name)(?:\(\))? [!=]= "(\w+)"'
                       r'|\bname(?:\(\))?\.(?:find|contains|starts_with|ends_with)\("(\w+)"|"(\w+)" [!=]= \w*name\b')
NAME_LIST = re.compile(r'\bstring_view (?:\w+ : |k\w+\[\] = )\{([^{}]*)\}|\bset<[^;=]*>>? \w+[ ={]+([^{};]*)\}')
NAME_TABLE = re.compile(r'\{"(\w+)", &?\w+::\w+\}')
NAME_GOOD = ('op.name = "take";', 'make_node("take", inputs)', 'args["take"]', 'key == "take"', 'node.is("none")',
             'node.op->name == def.name', '{"take", "x"}')
NAME_BAD = ('node.is("take")', 'if (op->name == "take")', 's.op != "take"', 'def_name == "take"', '{"take", Kind::same},',
            'for (const std::string_view name : {"x", "take"})', 'op->name.find("take")')
# The grammar of text: how ops are written, and forms that are no calls of an op or an operator.
NAME_TABLES = {"src/plan/spelling.cc", "src/plan/elaborate_special.cc", "src/plan/parse_expression.cc"}


def op_names():
    """Names of all operators and ops, of those in no document too."""
    pages = "".join((ROOT / f"docs/{page}.md").read_text(encoding="utf-8") for page in ("operators", "functions"))
    names = set(re.findall(r"^### `(\w+)`", pages, re.M))
    for file in (ROOT / "src/datasets").glob("*.cc"):
        names |= set(re.findall(r'\bop\.name = "(\w+)"', file.read_text(encoding="utf-8")))
    return names - {"apply"}  # a form of the language, described with the operators


def name_tests(code, names):
    """-> (line, name) for each test of a name that is that of an operator or op."""
    found = []
    for pattern in (NAME_TEST, NAME_LIST, NAME_TABLE):
        for m in pattern.finditer(code):
            text = next(g for g in m.groups() if g is not None)
            words = re.findall(r'"(\w+)"', text) if pattern is NAME_LIST else [text]
            known = [w for w in words if w in names]
            if 2 * len(known) >= len(words):  # a list of other things may hold one by chance
                found += [(code.count("\n", 0, m.start()) + 1, w) for w in known]
    return found


def check_names(_):
    """Facts about operators and ops stand in their definitions (OperatorDef, OpDef): nobody asks for their names, but
    for the operator's own file and a rewrite rule."""
    problems = [f"tools/lint.py: misses {line}" for line in NAME_BAD if not name_tests(line, {"take"})]
    problems += [f"tools/lint.py: refuses {line}" for line in NAME_GOOD if name_tests(line, {"take"})]
    names = op_names()
    for file in sorted((ROOT / "src").rglob("*")):
        where = str(file.relative_to(ROOT))
        if file.suffix not in (".h", ".cc") or file.stem.endswith("_test") or where in NAME_TABLES \
                or where.startswith("src/cluster/"):
            continue
        text = file.read_text(encoding="utf-8")
        if where.startswith("src/optimizer/") and re.search(r"^const Rule k\w+\{", text, re.M):
            continue
        code = re.sub(r"//[^\n]*", "", text)
        problems += [f'{where}:{line}: asks for the name "{name}"; make what it asks a fact of OperatorDef '
                     f"(src/plan/node.h) or OpDef (src/functions/op.h)"
                     for line, name in name_tests(code, names) if file.stem != name]
    return problems


def base_commit():
    """The commit that changes are counted from: main, or on main the commit before; None without main."""
    for base in ("origin/main", "main"):
        status, merge_base = output("git", "merge-base", base, "HEAD")
        if status == 0:
            head = output("git", "rev-parse", "HEAD")[1].strip()
            return "HEAD~1" if merge_base.strip() == head else merge_base.strip()
    return None


def new_files():
    status, found = output("git", "ls-files", "--others", "--exclude-standard")
    return found.split("\n")[:-1] if status == 0 else []


def changed_files():
    """Files that differ from base_commit(), and new ones."""
    names = set(new_files())
    base = base_commit()
    status, found = output("git", "diff", "--name-only", base, "--") if base else (1, "")
    names.update(found.split("\n") if status == 0 else [])
    return {ROOT / n for n in names}


def added_lines():
    """-> {file: numbers of its lines that base_commit() does not have}; a new file has all of its lines."""
    added = {f: None for f in new_files()}
    base = base_commit()
    status, found = output("git", "diff", "-U0", "--no-color", "--no-ext-diff", base, "--") if base else (1, "")
    file = None
    for line in found.split("\n") if status == 0 else []:
        if line.startswith("+++ "):
            file = line[6:] if line.startswith("+++ b/") else None
        elif file and (m := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)):
            added.setdefault(file, set()).update(range(int(m[1]), int(m[1]) + int(m[2] or 1)))
    return added


# Phrases that need a second reading, with better ones. A line that means them literally says `words: ok`.
WORDS = [(re.compile(p), better) for p, better in (
    (r"(?:^|[.!?|] )(?:What|Where|That|Of)\b", "begin with a verb or with the name of the thing"),
    (r"\b[Tt](?:ak(?:e|es|en|ing)|ook) up\b", "resume"),
    (r"(?<!here )\bis no (?!longer\b|more\b)", "is not, does not"),
    (r"\bso many\b", "n"),
    (r"\b[Bb]ehind\b", "after"))]
WORDS_BAD = ("x;  // What is left.", "// Ends. Where it is cut", "// is taken up", "/// is no row", "// so many rows",
             "f();  // behind the mark")
WORDS_GOOD = ("what(behind);", 's = "// behind";', "// Returns what is left.", "// There is no row; one is no longer",
              "// behind (words: ok)", "// See http://x/behind", "// after `behind`")
GENERATED = {"docs/functions.md", "docs/operators.md"}  # tools/reference.py; the words are in strings of src/


def prose(text, is_cpp):
    """-> one string a line: its comment, or what a page says outside of code."""
    fenced = False
    for line in text.split("\n"):
        if is_cpp:
            m = re.search(r"//+ (.*)", re.sub(r'"(?:\\.|[^"\\])*"', "", line))
            line = m[1] if m else ""
        else:
            fence = line.lstrip().startswith("```")
            fenced ^= fence
            line = "" if fence or fenced or line.startswith(("#", "    ")) else re.sub(r"^[-*|>\d. ]+", "", line)
        yield re.sub(r"`[^`]*`|\S+://\S+", "x", line) if "words: ok" not in line else ""


def wrong_words(file, text, numbers=None):
    return [f"{file}:{number}: \"{m[0].strip('.!?| ')}\": better: {better}"
            for number, line in enumerate(prose(text, not file.endswith(".md")), 1)
            if numbers is None or number in numbers
            for wrong, better in WORDS for m in wrong.finditer(line)]


def check_words(_):
    """Plain words in added comments and docs; docs/GLOSSARY.md has the names of things."""
    problems = [f"tools/lint.py: misses {line}" for line in WORDS_BAD if not wrong_words("x.cc", line)]
    problems += [f"tools/lint.py: refuses {line}" for line in WORDS_GOOD if wrong_words("x.cc", line)]
    for name, numbers in sorted(added_lines().items()):
        is_page = name.endswith(".md") and (name.startswith("docs/") or name == "README.md")
        if (is_page and name not in GENERATED or name.endswith((".cc", ".h"))) and (ROOT / name).exists():
            problems += wrong_words(name, (ROOT / name).read_text(encoding="utf-8", errors="replace"), numbers)
    return problems


def check_tidy(a):
    commands = ROOT / "build/dev/compile_commands.json"
    if not commands.exists():
        return ["no build/dev/compile_commands.json; ./dev build dev"]
    files = {ROOT / c["file"] for c in json.loads(commands.read_text(encoding="utf-8"))}
    files = [f for f in files if f.exists() and f.is_relative_to(ROOT) and not f.is_relative_to(ROOT / "build")]
    first = changed_files()
    salt = output("git", "rev-parse", "HEAD")[1]
    files.sort(key=lambda f: (f not in first, hashlib.sha256((salt + str(f)).encode()).hexdigest()))
    end = time.monotonic() + a.seconds

    def tidy(file):
        if time.monotonic() > end and not a.all:
            return None
        # GCC's flags that Clang has not; each file's mistakes, and no more than a minute's work.
        status, found = output("timeout", "240", "clang-tidy-19", "--quiet", "-p", "build/dev",
                               "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-error", file)
        lines = [line for line in found.split("\n") if re.search(r": (error|warning): ", line)]
        return lines or ([f"{file.relative_to(ROOT)}: clang-tidy: exit {status}"] if status else [])

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(tidy, files))
    print(f"  clang-tidy: {sum(r is not None for r in results)} of {len(files)} files")
    return sorted({line.replace(f"{ROOT}/", "") for r in results if r for line in r})


def anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", h.strip().lower().replace("`", "")).replace(" ", "-")
            for h in re.findall(r"^#+ (.*)$", text, re.M)}


def check_links(_):
    problems = []
    pages = [p for p in ROOT.rglob("*.md") if not p.relative_to(ROOT).parts[0] in ("build", ".git")]
    for page in sorted(pages):
        if page.is_relative_to(ROOT / "tests/golden"):
            continue
        text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists():
                problems.append(f"{page.relative_to(ROOT)}: no {target}")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                problems.append(f"{page.relative_to(ROOT)}: no heading {target}")
    return problems


# What a row's data can size, in kernels: numbers, strings and tables that grow.
SIZED_BY_DATA = re.compile(
    r"\bstd::(?:vector<(?:std::\w+<)*(?:float|double|u?int\d+_t|int|char|bool|size_t|std::byte|std::string"
    r"|std::string_view|\w*View|T)>+|(?:unordered_)?(?:map|set)<.*>|deque<.*>|list<.*>|string) \w+[;,({ ]"
    r"|\b(?:malloc|calloc|realloc)\(|\bnew \w+\[|make_unique<[^<>]*\[\]>")
# Results and parameters of functions, what a function gives, the sizes of a shape.
NOT_SIZED = re.compile(
    r"^(?:inline |static |virtual )*std::[^=]* \w+\((?!static_cast)[^()]*(?:\([^()]*\)[^()]*)*(?:\)|,|\{)[^=]*[;{,]?$"
    r"|\bOpDef \w+\(|\bvoid \w+\(|\bconst std::\S+ \w+ = |\bstd::vector<int64_t> (?:sizes?|sides?|given|target)\b"
    r"|\bstd::string \w+\(dtype_name")


def check_memory(_):
    """Kernels count what data can size: ChargedVector, ChargedString or Charge (data/charged.h), or say `bounded:`."""
    problems = []
    for file in sorted((ROOT / "src/functions/kernels").rglob("*")):
        if file.suffix not in (".h", ".cc") or file.stem.endswith("_test"):
            continue
        lines = file.read_text(encoding="utf-8").split("\n")
        for i, line in enumerate(lines):
            code = line.partition("//")[0]
            before = lines[i - 1].strip() if i else ""
            whole = line  # to the end of the statement, where a formatter may put the comment
            for more in lines[i + 1:i + 4]:
                if ";" in whole.partition("//")[0]:
                    break
                whole += " " + more.strip()
            excused = "bounded:" in whole or (before.startswith("//") and "bounded:" in before)
            if SIZED_BY_DATA.search(code) and not NOT_SIZED.search(code) and not excused:
                problems.append(f"{file.relative_to(ROOT)}:{i + 1}: use ChargedVector or ChargedString, or say why its "
                                f"size is bounded (// bounded: ...): {code.strip()}")
    return problems


def check_scripts(_):
    problems = []
    scripts = [*ROOT.glob("tools/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("bench/*.py"), *ROOT.glob("python/**/*.py")]
    for file in sorted(scripts):
        try:
            compile(file.read_text(encoding="utf-8"), str(file), "exec")
        except SyntaxError as e:
            problems.append(f"{file.relative_to(ROOT)}:{e.lineno}: {e.msg}")
    for file in [ROOT / "dev", ROOT / ".ci/run", *sorted(ROOT.glob("tools/*.sh"))]:
        status, found = output("bash", "-n", file)
        problems += [found.strip()] if status else []
    return problems


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--all", action="store_true")
    ap.add_argument("--seconds", type=int, default=300)
    checks = {"format": check_format, "includes": check_includes, "memory": check_memory, "names of files": check_file_names,
              "names": check_names,
              "scripts": check_scripts, "links": check_links, "words": check_words, "clang-tidy": check_tidy}
    ap.add_argument("--only", choices=checks)
    a = ap.parse_args()
    passed = failed = 0
    for name, check in checks.items():
        if a.only not in (None, name):
            continue
        problems = check(a)
        passed, failed = passed + (not problems), failed + bool(problems)
        print(f"{name}: {'fine' if not problems else f'{len(problems)} problems'}", flush=True)
        for line in problems:
            print("  " + line)
    for file in cpp_files():
        lines = file.read_text(encoding="utf-8").count("\n")
        if lines > LONG:
            print(f"long: {file.relative_to(ROOT)}: {lines} lines")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
