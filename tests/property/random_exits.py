"""Random kernels whose loops are left by jumps that take values along.

Every kernel comes from a seed alone, like those of ``random_kernels``: nests of short loops that
lanes leave with ``goto`` in iterations of their own, and accesses at what they left with.
"""

from __future__ import annotations

import random

from .random_kernels import BLOCKS, GRIDS, RandomKernel

THREADS = [
    *("threadIdx.x", "threadIdx.x", "threadIdx.x / 32"),
    *("threadIdx.x + threadIdx.y * 16", "blockIdx.x"),
]


class _Exits:
    """Writes one kernel; ``values`` are the variables in scope, often used ones several times."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = [f"int t = {self.rng.choice(THREADS)};"]
        self.values = ["t", "n", "m", "t"]

    def expr(self, values: list[str], depth: int = 1) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return rng.choice([*values, str(rng.randrange(1, 40))])
        left, right = self.expr(values, depth - 1), self.expr(values, depth - 1)
        return f"({left} {rng.choice('+-*++')} {right})"

    def condition(self, values: list[str]) -> str:
        comparison = self.rng.choice([">", "<", ">=", "==", "!="])
        return f"{self.expr(values, 2)} {comparison} {self.expr(values)}"

    def leave(self, part: int, values: list[str], condition: str = "") -> None:
        """A jump out of all loops, with a value in ``r``."""
        condition = condition or self.condition(values)
        value = f"{self.expr(values, 2)} * {self.rng.choice([1, 8, 64])}"
        self.lines.append(f"if ({condition}) {{ r{part} = {value}; goto out{part}; }}")

    def endless(self, part: int, counter: str, values: list[str]) -> None:
        """A loop that only a jump ends, for each lane in an iteration of its own."""
        rng = self.rng
        self.lines.append(f"for (int {counter} = 0;; {counter}++) {{")
        values += [counter, counter]
        last = f"(t & {rng.choice([0, 3, 31])}) + {rng.randrange(10)}"
        self.leave(part, values, f"{counter} * {rng.randrange(5, 20)} > {last}")

    def loop(self, counter: str, values: list[str]) -> None:
        rng = self.rng
        end = f"{counter} < {rng.randrange(2, 6)}"
        if rng.random() < 0.5:
            end = f"{counter} < {self.expr(values, 0)} && {counter} < 6"
        start, step = rng.randrange(0, 3), rng.randrange(1, 3)
        self.lines.append(f"for (int {counter} = {start}; {end}; {counter} += {step}) {{")
        values += [counter, counter]
        if rng.random() < 0.3:
            self.lines.append(f"int y{counter} = {self.expr(values, 2)};")
            values.append(f"y{counter}")

    def nest(self, part: int) -> None:
        """Some loops inside each other, and what is done with the value they are left with."""
        rng, values = self.rng, list(self.values)
        first = rng.choice(["0", "-1", self.expr(values)])
        self.lines.append(f"int r{part} = {first};\n{{")
        depth = rng.randrange(0, 4)
        for level in range(depth):
            self.loop(f"k{part}{level}", values)
            if rng.random() < 0.35:
                self.leave(part, values)
            if rng.random() < 0.2:
                jump = rng.choice(["break", "continue"])
                self.lines.append(f"if ({self.condition(values)}) {jump};")
            if rng.random() < 0.3:
                self.lines.append(f"o[({self.expr(values, 2)} + t) & 4095] = 1.0f;")
        if rng.random() < 0.4:
            self.endless(part, f"k{part}{depth}", values)
            depth += 1
        else:
            self.leave(part, values)
        if rng.random() < 0.3:
            self.lines.append(f"r{part} += {self.expr(values)};")
        self.lines.append("}" * depth)
        if rng.random() < 0.4:
            self.lines.append(f"r{part} = {self.expr(self.values)};")
        self.lines.append(f"}}\nout{part}: ;")
        self.values += [f"r{part}", f"r{part}"]
        if rng.random() < 0.5:
            place = f"o[({self.expr(self.values, 2)}) & 4095] = 2.0f;"
            self.lines.append(f"if ({self.condition(self.values)}) {place}")
        self.lines.append(f"o[(r{part} + {rng.choice(['t', '0', 'threadIdx.x'])}) & 65535] = 1.0f;")


def random_exits(seed: int) -> RandomKernel:
    """The kernel of a seed."""
    writer = _Exits(seed)
    for part in range(writer.rng.randrange(1, 3)):
        writer.nest(part)
    writer.lines.append(f"s[({writer.expr(writer.values, 2)}) & 1023] = 1.0f;")
    rng = writer.rng
    params = {"n": rng.randrange(1, 20), "m": rng.randrange(0, 9)}
    body = "\n".join(writer.lines) + "\n"
    return RandomKernel(body, rng.choice(BLOCKS), rng.choice(GRIDS), params, shuffles=False)
