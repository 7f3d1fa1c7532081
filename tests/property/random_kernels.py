"""Random kernels in kernel C, for comparing the symbolic counts with the simulation.

Every kernel comes from a seed alone.  Indices are affine, with divisions, remainders, shifts,
xor and selections; loops count up, down, geometrically, or break; guards vary by lane.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

PRELUDE = """\
typedef struct uint3 { unsigned x; unsigned y; unsigned z; } uint3;
typedef struct float4 { _Alignas(16) float x; float y; float z; float w; } float4;
typedef struct rec { float p; int q; float r; } rec;
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;
extern void __syncthreads(void);
extern int min__int(int, int);
extern int max__int(int, int);
"""

BLOCKS = [(32, 1, 1), (64, 1, 1), (16, 16, 1), (8, 8, 2), (33, 1, 1), (32, 8, 1), (5, 7, 3), (1, 64, 1)]
GRIDS = [(1, 1, 1), (3, 1, 1), (2, 2, 1), (1, 3, 2)]


@dataclass(frozen=True)
class RandomKernel:
    """A kernel's C text, its launch, and values for its parameters n and m."""

    text: str
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    params: dict[str, int]


@dataclass
class _Writer:
    rng: random.Random
    variables: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    names: int = 0
    data: bool = False

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # --- expressions --------------------------------------------------------------------------

    def atom(self) -> str:
        rng = self.rng
        choice = rng.random()
        if choice < 0.35:
            return rng.choice(["(int)threadIdx.x", "(int)threadIdx.y", "(int)threadIdx.z",
                               "(int)threadIdx.x"])
        if choice < 0.45:
            return rng.choice(["(int)blockIdx.x", "(int)blockIdx.y"])
        if choice < 0.6 and self.variables:
            return rng.choice(self.variables)
        if choice < 0.7:
            return rng.choice(["n", "m"])
        if choice < 0.75:
            return rng.choice(["(int)blockDim.x", "(int)gridDim.x"])
        return str(rng.choice([0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33]))

    def expr(self, depth: int) -> str:
        rng = self.rng
        if depth == 0:
            return self.atom()
        kind = rng.random()
        left, right = self.expr(depth - 1), self.expr(depth - 1 if rng.random() < 0.5 else 0)
        small = rng.choice([1, 2, 3, 4, 5, 8, 16, 32])
        if kind < 0.35:
            return f"({left} + {right})"
        if kind < 0.45:
            return f"({left} - {right})"
        if kind < 0.6:
            return f"({left} * {rng.choice([2, 3, 4, 8, 17, 32, 33])})"
        if kind < 0.68:
            return f"({left} / {small})"
        if kind < 0.76:
            return f"({left} % {small})"
        if kind < 0.81:
            return f"({left} & {rng.choice([1, 3, 7, 12, 31, -4, -32, 5])})"
        if kind < 0.85:
            return f"({left} ^ {right})"
        if kind < 0.88:
            return f"({left} | {right})"
        if kind < 0.91:
            return f"({left} >> {rng.choice([1, 2, 5])})"
        if kind < 0.93:
            return f"((int)((unsigned){left} {rng.choice(['/', '%', '>>'])} {rng.choice([2, 3])}u))"
        if kind < 0.96:
            return f"({self.condition()} ? {left} : {right})"
        return f"{rng.choice(['min', 'max'])}__int({left}, {right})"

    def condition(self) -> str:
        rng = self.rng
        left = self.expr(1)
        if rng.random() < 0.2:
            return f"({left} < {self.expr(1)} && {self.expr(1)} != {self.expr(0)})"
        if rng.random() < 0.1:
            return f"({left} == {self.expr(0)} || {self.expr(1)} >= {self.expr(0)})"
        return f"({left} {rng.choice(['<', '<=', '>', '>=', '==', '!='])} {self.expr(1)})"

    # --- statements ---------------------------------------------------------------------------

    def access(self) -> None:
        rng, depth = self.rng, self.rng.choice([1, 2, 2, 3])
        kind = rng.random()
        if kind < 0.35:
            self.lines.append(f"o[{self.expr(depth)}] = a[{self.expr(depth)}];")
        elif kind < 0.6:
            self.lines.append(f"s[{self.expr(depth)} & 1023] += a[{self.expr(1)}];")
        elif kind < 0.7:
            self.lines.append(f"d[{self.expr(depth)}] = t[{self.expr(1)} & 31][{self.expr(1)} & 31];")
        elif kind < 0.8:
            self.lines.append(f"v[{self.expr(depth)}] = v[{self.expr(1)}];")
        elif kind < 0.88:
            self.lines.append(f"r[{self.expr(depth)}].{rng.choice(['p', 'r'])} = c[{self.expr(1)}];")
        elif kind < 0.94:
            self.lines.append(f"r[{self.expr(depth)}] = r[{self.expr(1)}];")
        else:
            self.lines.append(f"o[idx[{self.expr(1)}]] = c[{self.expr(depth)}];")

    def variable(self) -> None:
        name = self.fresh("x")
        self.lines.append(f"int {name} = {self.expr(self.rng.choice([1, 2, 3]))};")
        self.variables.append(name)

    def update(self) -> None:
        mutable = [v for v in self.variables if v.startswith("x")]
        if mutable:
            name = self.rng.choice(mutable)
            self.lines.append(f"{name} {self.rng.choice(['=', '+=', '-=', '^='])} {self.expr(1)};")

    def block(self, depth: int, loop: bool) -> None:
        visible = len(self.variables)
        for _ in range(self.rng.choice([1, 2, 2, 3])):
            self.statement(depth, loop)
        del self.variables[visible:]

    def statement(self, depth: int, loop: bool) -> None:
        rng = self.rng
        kind = rng.random()
        if depth and kind < 0.15:
            self.lines.append(f"if ({self.condition()}) {{")
            self.block(depth - 1, loop)
            if rng.random() < 0.4:
                self.lines.append("} else {")
                self.block(depth - 1, loop)
            self.lines.append("}")
        elif depth and kind < 0.35:
            self.loop(depth)
        elif kind < 0.5:
            self.variable()
        elif kind < 0.6:
            self.update()
        elif loop and kind < 0.64:
            self.lines.append(f"if ({self.condition()}) {rng.choice(['break', 'continue'])};")
        elif kind < 0.66:
            self.lines.append(f"if ({self.condition()}) return;")
        else:
            self.access()

    def loop(self, depth: int) -> None:
        rng, name = self.rng, self.fresh("k")
        kind = rng.random()
        if kind < 0.5:
            start = rng.choice(["0", "0", "(int)threadIdx.x", "(int)threadIdx.y", "1"])
            bound = rng.choice(["4", "n", "8", "(int)threadIdx.x", "m"])
            step = rng.choice(["1", "1", "2", "5", "(int)blockDim.x"])
            self.lines.append(f"for (int {name} = {start}; {name} < {bound}; {name} += {step}) {{")
        elif kind < 0.65:
            self.lines.append(f"for (int {name} = {rng.choice(['16', '64', 'm'])}; {name} > 0; {name} >>= 1) {{")
        elif kind < 0.75:
            self.lines.append(f"for (int {name} = 1; {name} < {rng.choice(['16', '40'])}; {name} *= 2) {{")
        elif kind < 0.85:
            self.lines.append(f"for (int {name} = {rng.choice(['7', 'm'])}; {name} >= 0; {name} -= 3) {{")
        elif kind < 0.93:
            self.lines.append(f"int {name} = {self.expr(0)};")
            bound = rng.choice(["n", "20"])
            self.lines.append(f"while (1) {{ if ({name} >= {bound}) break; {name} += 6;")
        else:
            self.lines.append(f"int {name} = 0; do {{ {name} += 1;")
        self.variables.append(name)
        self.block(depth - 1, loop=True)
        if kind >= 0.93:
            self.lines.append(f"}} while ({name} < 4);")
        else:
            self.lines.append("}")
        if kind < 0.85:
            self.variables.remove(name)


def random_kernel(seed: int) -> RandomKernel:
    """The kernel of this seed."""
    rng = random.Random(seed)
    writer = _Writer(rng)
    for _ in range(rng.choice([2, 3, 4])):
        writer.statement(2, loop=False)
    writer.access()
    body = "\n  ".join(writer.lines)
    text = (
        PRELUDE
        + "[[cuda::global]] void k(float *o, const float *a, const char *c, double *d, float4 *v,\n"
        "    rec *r, const int *idx, int n, int m)\n{\n"
        "  [[cuda::shared]] float s[1024];\n  [[cuda::shared]] double t[32][33];\n  "
        + body
        + "\n}\n"
    )
    params = {"n": rng.choice([5, 16, 29]), "m": rng.choice([3, 8, 11])}
    return RandomKernel(text, rng.choice(BLOCKS), rng.choice(GRIDS), params)
