"""Random kernels in CUDA C++ as people write it, for comparing the tool with g++.

A program is a library of functions, classes and templates (``cpp_pieces``) and a kernel ``k``
that uses them.  Everything comes from a seed alone.  Loops with accesses are marked as in
``random_kernels``.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .cpp_oracle import ROOMS, CppCase
from .cpp_pieces import CASTS, Instance, instance, pieces

BLOCKS = [(32, 1, 1), (64, 1, 1), (16, 8, 1), (33, 1, 1), (8, 4, 2), (48, 2, 1)]
GRIDS = [(1, 1, 1), (2, 1, 1), (2, 2, 1)]
HEAD = """\
struct Rec { float p; int q; float e[2]; __device__ float &at(int i) { return e[i]; } };
"""
SHARED = """\
  __shared__ float s_f[1024];
  __shared__ int s_i[32][33];
  __shared__ unsigned char s_c[512];
"""
INTS = ["(int)threadIdx.x", "(int)threadIdx.x", "n", "m", "(int)blockIdx.x"]


@dataclass
class Scope:
    """What code may name: int expressions, and variables of type int that it may change."""

    ints: list[str]
    muts: list[str] = field(default_factory=list)
    kernel: bool = False

    def inner(self, *more: str) -> Scope:
        return Scope([*self.ints, *more], list(self.muts), self.kernel)


@dataclass
class Writer:
    """Writes one program."""

    rng: random.Random
    library: list[Instance] = field(default_factory=list)
    names: int = 0
    loops: int = 0

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def loop(self) -> str:
        self.loops += 1
        return str(self.loops - 1)

    def value(self, names: list[str], depth: int) -> str:
        return self.expr(Scope(names), depth)

    def test(self, names: list[str]) -> str:
        return self.condition(Scope(names))

    def block(self, names: list[str]) -> str:
        return "\n".join(self.body(Scope(list(names), names[1:2]), 2, 2))

    def _pick(self, *options: str) -> str:
        return self.rng.choice(options)

    def _number(self, low: int = 0, high: int = 9) -> str:
        return str(self.rng.randint(low, high))

    def _piece(self, kind: str) -> Instance | None:
        known = [each for each in self.library if each.uses[kind]]
        return self.rng.choice(known) if known else None

    # --- expressions ------------------------------------------------------------------------------

    def expr(self, scope: Scope, depth: int = 2) -> str:
        """An int expression with small values."""
        if depth <= 0 or self.rng.random() < 0.1:
            return self.rng.choice([*scope.ints, *scope.ints, self._number(0, 12)])
        kind = self.rng.random()
        piece = self._piece("int")
        if piece is not None and kind < 0.3:
            (text,), _ = piece.use("int", self, [self.expr(scope, depth - 1)])
            return text
        return self._binary(scope, depth) if kind < 0.7 else self._odd(scope, depth)

    def _binary(self, scope: Scope, depth: int) -> str:
        a, b = self.expr(scope, depth - 1), self.expr(scope, depth - 1)
        return self._pick(
            *(f"{a} + {b}", f"({a} - {b})", f"({a} + {b}) * {self._number(1, 5)}"),
            *(f"({a} & {self._number(1, 63)})", f"({a}) % {self._number(2, 9)}"),
            *(f"(({a}) & 15) << {self._number(0, 3)}", f"(({a}) ^ {b} & 7)", f"({a}) / 3"),
            *(f"(({a}) & 31) * {self._number(1, 8)}", f"(({a}) >> {self._number(1, 3)})"),
        )

    def _odd(self, scope: Scope, depth: int) -> str:
        a, b, c = (self.expr(scope, depth - 1) for _ in range(3))
        cast = self.rng.choice(CASTS)
        return self._pick(
            *(f"({a} < {b} ? {b} : {c})", f"({a} > {self._number()})", f"(int)!({a})", f"-({a})"),
            *(f"(int)({cast})({a})", f"int({a}u % 7u)" if a.isdigit() else f"int({a})"),
            *(f"static_cast<int>(static_cast<{cast}>({a}))", f"({a} && {b})", f"({a} || {b})"),
            *(f"min(int({a}), int({b}))", f"max((int){a}, int({b}))", f"((void)({a}), {b})"),
            *(f"(~({a}) & 31)", f"(int)(unsigned({a}) % {self._number(2, 40)}u)"),
            *(f"(({a}) == {b})", f"(int)((unsigned({a}) >> {self._number(1, 30)}) & 255)"),
            *(f"(int)((({cast})({a}) + ({self.rng.choice(CASTS)})({b})) & 127)",),
        )

    def condition(self, scope: Scope) -> str:
        a, b = self.expr(scope, 1), self.expr(scope, 1)
        return self._pick(
            *(f"{a} < {b}", f"({a}) % {self._number(2, 5)} == 1", f"{a} > {self._number()}"),
            *(f"({a}) & {self._number(1, 8)}", f"{a} < 9 && {b} != 3", f"!({a} == {b})"),
        )

    # --- places and accesses ----------------------------------------------------------------------

    def place(self, scope: Scope) -> str:
        """An lvalue of an arithmetic type in an array."""
        at, other = self.expr(scope, 2), self.expr(scope, 1)
        piece = self._piece("place")
        if piece is not None and self.rng.random() < 0.5:
            (text,), _ = piece.use("place", self, scope.ints)
            return text
        return self._pick(
            *(f"o[{at}]", f"*(o + ({at}))", f"(&o[{at}])[{other}]", f"q[{at}]", f"d[{at}]"),
            *(f"o[{at}]", f"q[{at}]", f"r[{at}].q", f"r[{at}].e[{other} & 1]", f"c[{at}]"),
            *(f"h[{at}]", f"u[{at}]", f"v[{at}].y", f"(&r[{at}])->p", f"r[{at}].at({other} & 1)"),
            *(f"s_f[({at}) & 1023]", f"s_i[({at}) & 31][({other}) & 31]", f"s_c[({at}) & 511]"),
            f"*({self.condition(scope)} ? &o[{at}] : &o[{other}])",
        )

    def access(self, scope: Scope) -> list[str]:
        target, at = self.place(scope), self.expr(scope, 2)
        return [
            self._pick(
                *(f"{target} = a[{at}];", f"{target} = {at};", f"{target} += 1;"),
                *(f"{target} = a[{at}];", f"++{target};", f"({target})--;"),
                *(f"{target} = {self.place(scope)};", f"r[{at}] = r[{self.expr(scope, 1)}];"),
                *(f"{{ auto &ref = {target}; ref = 1; }}", f"v[{at}] = v[3];"),
                f"atomicAdd(&q[{at}], 1);",
            )
        ]

    # --- statements -------------------------------------------------------------------------------

    def body(self, scope: Scope, depth: int, count: int) -> list[str]:
        inner = scope.inner()
        return [line for _ in range(count) for line in self.statement(inner, depth)]

    def statement(self, scope: Scope, depth: int) -> list[str]:
        kind = self.rng.random()
        if kind < 0.22:
            return self._variable(scope)
        if kind < 0.32 and scope.muts:
            return self._change(scope)
        if depth and kind < 0.45:
            return self._branch(scope, depth)
        if depth and kind < 0.58:
            return self._loop(scope, depth)
        piece = self._piece("do")
        if piece is not None and scope.kernel and kind < 0.75:
            return self._use(piece, scope)
        if scope.kernel:
            return self.access(scope)
        return self._change(scope) if scope.muts else self._variable(scope)

    def _use(self, piece: Instance, scope: Scope) -> list[str]:
        lines, left = piece.use("do", self, scope.ints)
        scope.ints += left
        return lines

    def _variable(self, scope: Scope) -> list[str]:
        name, value = self.fresh("x"), self.expr(scope, 2)
        kind = self._pick(
            "int", "int", "int", "auto", "long", "short", "unsigned char", "const int"
        )
        scope.ints.append(f"(int){name}")
        if kind == "int":
            scope.muts.append(name)
        if kind == "auto":  # `auto x(int(y))` is a function
            return [f"auto {name} = int({value});"]
        if kind in ("int", "const int") and self.rng.random() < 0.2:
            return [f"{kind} {name}{{{value}}};"]
        return [self._pick(f"{kind} {name} = {value};", f"{kind} {name}({value} + 0);")]

    def _change(self, scope: Scope) -> list[str]:
        name, value = self.rng.choice(scope.muts), self.expr(scope, 1)
        return [
            self._pick(
                *(f"{name} = {value};", f"{name} += {value};", f"{name} ^= ({value}) & 3;"),
                *(f"{name}++;", f"--{name};", f"{name} = ({name} = {value}) + 1;"),
                *(f"({name} += 2) -= 3;", f"{{ int *p = &{name}; *p = {value}; }}"),
                *(f"{{ int &z = {name}; z += {value}; }}", f"{name} %= 17;"),
            )
        ]

    def _branch(self, scope: Scope, depth: int) -> list[str]:
        kind = self.rng.random()
        if kind < 0.25:
            lines = [f"switch (({self.expr(scope, 1)}) & 3) {{"]
            for label in ("case 0: {", "case 2: case 1: {", "default: {"):
                lines += [label, *self.body(scope, depth - 1, 1), self._pick("} break;", "}")]
            return [*lines, "}"]
        if kind < 0.35:
            name = self.fresh("x")
            head = f"if (int {name} = ({self.expr(scope, 1)}) & 3; {name} > 1) {{"
            return [head, *self.body(scope.inner(name), depth - 1, 2), "}"]
        lines = [f"if ({self.condition(scope)}) {{", *self.body(scope, depth - 1, 2)]
        if self.rng.random() < 0.4:
            lines += ["} else {", *self.body(scope, depth - 1, 1)]
        return [*lines, "}"]

    def _loop(self, scope: Scope, depth: int) -> list[str]:
        k, i, before = self.fresh("i"), self.loop(), ""
        bound = self._pick("3", "4", "n", f"({self.expr(scope, 1)}) & 3", "5")
        bound = bound if scope.kernel or bound != "n" else "4"
        inner = scope.inner(k)
        lines = self.body(inner, depth - 1, 2)
        if self.rng.random() < 0.2:
            leave = self._pick("break", "continue")
            lines.insert(0, f"if ({self.condition(scope.inner(k))}) {leave};")
        head = self._pick(
            *(
                f"for (int {k} = 0; {k} < {bound}; {k}++)",
                f"for (int {k} = {bound}; {k} > 0; --{k})",
            ),
            *(f"for (int {k} = 1; {k} < 16; {k} <<= 1)", f"for (int {k} : "),
            f"for (unsigned {k} = 0; {k} < 12; {k} += {self._number(3, 5)})",
        )
        if head.endswith(": "):
            name = self.fresh("w")
            values = ", ".join(self.expr(scope, 1) for _ in range(3))
            before, head = f"int {name}[] = {{{values}}}; ", f"{head}{name})"
        start = f"{{ {before}ENTER({i}); {head} {{ ITERATION({i});"
        return [start, *lines, f"}} EXIT({i}); }}"]


def random_case(seed: int) -> CppCase:
    """The program of this seed."""
    rng = random.Random(seed)
    writer = Writer(rng)
    declared: list[str] = []
    for piece in rng.sample(pieces(), rng.choice([1, 2, 3, 4])):
        made = instance(piece, writer)
        declared += made.declared
        writer.library.append(made)
    scope = Scope(list(INTS), kernel=True)
    lines = []
    for _ in range(rng.choice([3, 5, 7])):
        lines += writer.statement(scope, 2)
    for made in writer.library:
        for _ in range(3 if made.uses["int"] else 0):
            (value,), _left = made.use("int", writer, [writer.expr(scope, 0)])
            lines.append(f"o[(int)threadIdx.x * ({value})] = 1;")
        for _ in range(2 if made.uses["do"] else 0):
            lines += writer._use(made, scope)
    lines += writer.access(scope)
    signature = ", ".join(f"{kind}{name}" for name, kind in ROOMS)
    text = HEAD + "".join(line + "\n" for line in declared)
    text += f"__global__ void k({signature}, int n, int m)\n{{\n{SHARED}"
    text += "".join(f"  {line}\n" for line in lines) + "}\n"
    params = {"n": rng.choice([3, 4, 6]), "m": rng.choice([1, 8, 11])}
    return CppCase(text, rng.choice(BLOCKS), rng.choice(GRIDS), params)
