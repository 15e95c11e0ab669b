"""Random functions of ordinary Python over an integer: what test_autograph_functions.py runs both ways."""
import linecache
import random

HELPER = """def helper(v):
    if v > 5:
        return v - 5
    return v


"""


class Program:
    """Statements over the variables a, b, c, d and x, all integers below 101 or so."""

    def __init__(self, seed):
        self.draw, self.count = random.Random(seed), 0

    def text(self):
        body = self.block(["a", "b", "x"], 1, False)
        return HELPER + "\n".join(["def f(x):", "    a = x * 2", "    b = 3", *body, "    return (a + b * 7) % 1009", ""])

    def value(self, names, depth=0):
        kind = self.draw.random()
        if depth > 1 or kind < 0.35:
            return self.draw.choice(names)
        a, b = self.value(names, depth + 1), self.value(names, depth + 1)
        if kind < 0.5:
            return str(self.draw.randint(-3, 9))
        if kind < 0.75:
            return f"({a} {self.draw.choice('+-*')} {b}) % 101"
        if kind < 0.78:
            return f"(10 // ({b} % 3) if {b} % 3 else {a})"
        if kind < 0.84:
            return f"({a} if {self.condition(names, depth + 1)} else {b})"
        return f"max({a}, {b})" if kind < 0.89 else f"abs({a})" if kind < 0.93 else f"helper({a})"

    def condition(self, names, depth=0):
        kind = self.draw.random()
        a, b = self.value(names, depth + 1), self.value(names, depth + 1)
        if depth > 1 or kind < 0.6:
            return f"{a} {self.draw.choice(['<', '<=', '>', '>=', '==', '!='])} {b}"
        if kind < 0.7:
            return f"({self.condition(names, depth + 1)} {self.draw.choice(['and', 'or'])} {self.condition(names, depth + 1)})"
        if kind < 0.78:
            return f"not {self.condition(names, depth + 1)}"
        if kind < 0.86:
            return f"{a} < {b} <= {self.value(names, depth + 1)}"
        return f"{a} % 7 in (1, {b}, 3)" if kind < 0.93 else f"({a} % 5 and 10 // ({a} % 5) > {b})"

    def block(self, names, depth, in_loop):
        out, names, space = [], list(names), "    " * depth
        for _ in range(self.draw.randint(1, 3 if depth < 2 else 2)):
            kind = self.draw.random()
            if depth > 3 or kind < 0.35:
                target = self.draw.choice(["a", "b", "c", "d"])
                adds = target in names and self.draw.random() < 0.3
                out.append(f"{space}{target} {'+' if adds else ''}= {self.value(names)}")
                names = sorted({*names, target})
            elif kind < 0.62:
                out += self.choice(names, depth, in_loop)
            elif kind < 0.83:
                out += self.loop(names, depth)
            elif kind < 0.9 and in_loop:
                out.append(f"{space}if {self.condition(names)}: {self.draw.choice(['break', 'continue'])}")
            elif kind < 0.95:
                out.append(f"{space}if {self.condition(names)}: return {self.value(names)}")
            else:
                out += [f"{space}held = {{'k': {self.value(names)}, 'l': [1, 2]}}",
                        f"{space}if {self.condition(names)}: held['k'] = {self.value(names)}",
                        f"{space}else: held['l'][0] = {self.value(names)}", f"{space}a = held['k'] + held['l'][0]"]
        return out

    def choice(self, names, depth, in_loop):
        space = "    " * depth
        out = [f"{space}if {self.condition(names)}:", *self.block(names, depth + 1, in_loop)]
        if self.draw.random() < 0.3:
            out += [f"{space}elif {self.condition(names)}:", *self.block(names, depth + 1, in_loop)]
        if self.draw.random() < 0.5:
            out += [f"{space}else:", *self.block(names, depth + 1, in_loop)]
        return out

    def loop(self, names, depth):
        space = "    " * depth
        self.count += 1
        i = f"i{self.count}"
        if self.draw.random() < 0.4:
            more = f" and {self.condition(names)}" if self.draw.random() < 0.3 else ""
            return [f"{space}{i} = {self.value(names)} % 4", f"{space}while {i} > 0{more}:", f"{space}    {i} -= 1",
                    *self.block([*names, i], depth + 1, True)]
        over = self.draw.choice([f"range({self.value(names)} % 4)", "range(3)", "range(2, -1, -1)", "range(a % 3, b % 5)"])
        out = [f"{space}for {i} in {over}:", *self.block([*names, i], depth + 1, True)]
        if self.draw.random() < 0.2:
            out += [f"{space}else:", *self.block(names, depth + 1, False)]
        return out


def random_function(seed):
    """-> (the function, its text), which Python finds as if it stood in a file."""
    text, file = Program(seed).text(), f"<random function {seed}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {}
    exec(compile(text, file, "exec"), names)
    return names["f"], text
