"""The tables of docs/format/ as schemas (docs/format/README.md says how they read), and the comparison of
values with them."""
import json
import math
import pathlib
import re

PAGES = pathlib.Path(__file__).resolve().parent.parent / "docs/format"
ROW = re.compile(r"^\| *(`.+?`(?:, *`.+?`)*) *\| *(.+?) *\|(.*)\|$")
LINK = re.compile(r"\[[^\]]*\]\(([^)#]*)#?([^)]*)\)")


class Table:
    """One way an object may look: fields -> (type, "" or optional or reserved)."""

    def __init__(self, name):
        self.name, self.fields, self.seen = name, {}, set()


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def read_page(path):
    """-> tables of each section; "" is what stands before the first one."""
    sections, section, table = {"": []}, "", None
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("## "):
            section = anchor(line[3:])
            sections[section] = []
        m = ROW.match(line)
        if re.fullmatch(r"\| *field *\| *type *\| *meaning *\|", line):
            table = Table(f"{path.name}#{section}")
            sections[section].append(table)
        elif table and m:
            kind, _, mark = m[2].partition(", ")
            for name in re.findall(r"`(.+?)`", m[1]):
                table.fields[name] = (kind, mark)
        elif not line.startswith("|"):
            table = None
    return sections


class Schemas:
    """All pages, and the comparison of values with them."""

    PLAIN = {
        "string": lambda v: isinstance(v, str),
        "bool": lambda v: isinstance(v, bool),
        "any": lambda v: True,
        "null": lambda v: v is None,
        "true": lambda v: v is True,
        "int": lambda v: is_int(v),
        "count": lambda v: is_int(v) and v >= 0,
        "bytes": lambda v: is_int(v) and v >= 0,
        "number": lambda v: is_number(v),
        "amount": lambda v: is_number(v) and v >= 0,
        "seconds": lambda v: is_number(v) and v >= 0,
        "mean bytes": lambda v: is_number(v) and v >= 0,
        "rate": lambda v: is_number(v) and v >= 0,
        "share": lambda v: is_number(v) and -1e-9 <= v <= 1 + 1e-9,
        "scalar": lambda v: isinstance(v, (str, bool)) or is_number(v),
        "hash": lambda v: isinstance(v, str) and re.fullmatch("[0-9a-f]{32}", v),
    }

    def __init__(self):
        self.pages = {p.name: read_page(p) for p in sorted(PAGES.glob("*.md"))}

    def tables(self):
        return [t for sections in self.pages.values() for tables in sections.values() for t in tables]

    def section(self, page, name):
        found = self.pages.get(page, {}).get(name)
        if not found:
            raise KeyError(f"{page}#{name} describes nothing")
        return found

    def fits(self, value, kind, page, where):
        """-> what is wrong with a value of this type, as lines."""
        head, _, rest = kind.partition(" of ")
        if head in ("list", "map", "pairs"):
            return self.fits_all(value, head, rest, page, where)
        if " or " in kind:
            first, _, others = kind.partition(" or ")
            if not self.fits(value, first, page, where):
                return []
            bad = self.fits(value, others, page, where)
            # The better explanation: that of the object, or of the last choice.
            explains = bad and LINK.fullmatch(first) and isinstance(value, dict)
            return self.fits(value, first, page, where) if explains else bad
        link = LINK.fullmatch(kind)
        if link:
            page = link[1] or page
            return self.object(value, self.section(page, link[2]), page, where)
        if kind in self.PLAIN:
            return [] if self.PLAIN[kind](value) else [f"{where}: {short(value)} is no {kind}"]
        try:
            constant = json.loads(kind)
        except ValueError:
            raise KeyError(f"{page}: {kind} is no type") from None
        same = value == constant and isinstance(value, bool) == isinstance(constant, bool)
        return [] if same else [f"{where}: {short(value)} is not {kind}"]

    def fits_all(self, value, head, kind, page, where):
        if head == "map" and isinstance(value, dict):
            items = value.items()
        elif head != "map" and isinstance(value, list):
            items = enumerate(value)
        else:
            return [f"{where}: {short(value)} is no {head}"]
        out = []
        for key, item in items:
            place = f"{where}[{key}]"
            if head == "pairs":
                if not isinstance(item, list) or len(item) != 2:
                    out.append(f"{place}: {short(item)} is no pair")
                    continue
                item = item[1]
            out += self.fits(item, kind, page, place)
        return out

    def object(self, value, tables, page, where=""):
        """The tables are alternatives; the one that fits best explains what is wrong."""
        if not isinstance(value, dict):
            return [f"{where}: {short(value)} is no object"]
        tries = [(self.fields(value, t, page, where), t) for t in tables]
        bad, best = min(tries, key=lambda t: (len(t[0]), -len(t[1].fields.keys() & value.keys())))
        best.seen |= value.keys()
        return bad

    def fields(self, value, table, page, where):
        out = [f"{where}.{key}: is not documented in {table.name}" for key in value if key not in table.fields]
        for name, (kind, mark) in table.fields.items():
            if name in value:
                out += self.fits(value[name], kind, page, f"{where}.{name}")
                out += [f"{where}.{name}: is printed, so no longer reserved"] if mark == "reserved" else []
            elif not mark:
                out.append(f"{where}.{name}: is documented in {table.name}, and not there")
        return out


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def short(value):
    text = json.dumps(value)
    return text if len(text) < 60 else text[:57] + "..."
