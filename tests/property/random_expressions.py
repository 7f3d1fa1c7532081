"""Random integer expressions in C over thread indices, parameters and variables.

``int`` expressions stay small, so that no signed overflow (which C leaves undefined) occurs;
unsigned and 64-bit ones wrap, truncate and convert as they like.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

SMALL = (0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass
class Expressions:
    """Writes expressions from ``rng``; ``variables`` are the ``int`` variables in scope."""

    rng: random.Random
    variables: list[str] = field(default_factory=list)

    def atom(self) -> str:
        """An ``int`` without operators."""
        rng = self.rng
        choice = rng.random()
        if choice < 0.32:
            return f"(int)threadIdx.{rng.choice('xxyz')}"
        if choice < 0.35:
            return "(int)(blockIdx.x * blockDim.x + threadIdx.x)"
        if choice < 0.45:
            return f"(int)blockIdx.{rng.choice('xy')}"
        if choice < 0.6 and self.variables:
            return rng.choice(self.variables)
        if choice < 0.7:
            return rng.choice("nm")
        if choice < 0.75:
            return rng.choice(["(int)blockDim.x", "(int)gridDim.x"])
        return str(rng.choice(SMALL))

    def expr(self, depth: int) -> str:
        """An ``int`` expression."""
        rng = self.rng
        if depth == 0:
            return self.atom()
        kind = rng.random()
        left, right = self.expr(depth - 1), self.expr(depth - 1 if rng.random() < 0.5 else 0)
        small = rng.choice([1, 2, 3, 4, 5, 8, 16, 32])
        if kind < 0.33:
            return f"({left} + {right})"
        if kind < 0.43:
            return f"({left} - {right})"
        if kind < 0.57:
            return f"({left} * {rng.choice([2, 3, 4, 8, 17, 32, 33])})"
        if kind < 0.65:
            return f"({left} / {small})"
        if kind < 0.73:
            return f"({left} % {small})"
        if kind < 0.78:
            return f"({left} & {rng.choice([1, 3, 7, 12, 31, -4, -32, 5])})"
        return self._rare(left, right)

    def _rare(self, left: str, right: str) -> str:
        rng = self.rng
        kind = rng.randrange(16)
        if kind < 2:
            return f"({left} {rng.choice('^|&')} {right})"
        if kind == 2:
            return f"({left} >> {rng.choice([1, 2, 5])})"
        if kind == 3:
            operator = rng.choice(["/ 2u", "% 3u", ">> 2", ">> 3u", "% 7u"])
            return f"((int)((unsigned){left} {operator}))"
        if kind < 6:
            return f"({self.condition()} ? {left} : {right})"
        if kind == 6:
            middle = f"{self.condition()} ? {right} : {self.atom()}"
            return f"({self.condition()} ? {left} : ({middle}))"
        if kind < 9:
            return f"{rng.choice(['min', 'max'])}__int({left}, {right})"
        if kind == 9:
            return f"(({left}) * ({self.condition()}))"
        if kind == 10:
            narrow = rng.choice(["(unsigned char)", "(signed char)", "(short)", "(unsigned short)"])
            return f"((int){narrow}({left}))"
        if kind == 11:
            return f"({rng.choice(['1', '5', left])} << ({right} & {rng.choice([1, 3])}))"
        if kind == 12:
            return f"({left} {rng.choice('/%')} {rng.choice(['n', 'm', '(m + 1)', '(n * 2)'])})"
        if kind == 13:
            return f"({left} >> ({right} & 3))"
        if kind == 14:
            return f"(int)({self.unsigned(1)} {rng.choice('/%')} ({self.unsigned(0)} + 1u))"
        return f"({rng.choice('-~')}{left})"

    def condition(self) -> str:
        """A truth value."""
        rng = self.rng
        left = self.expr(1)
        if rng.random() < 0.2:
            return f"({left} < {self.expr(1)} && {self.expr(1)} != {self.expr(0)})"
        if rng.random() < 0.1:
            return f"({left} == {self.expr(0)} || {self.expr(1)} >= {self.expr(0)})"
        if rng.random() < 0.1:
            return f"!({left} {rng.choice(COMPARISONS)} {self.expr(0)})"
        if rng.random() < 0.08:
            return f"({left} & {rng.choice([1, 2, 4, 16])})"
        if rng.random() < 0.05:
            return f"((size_t){left} {rng.choice(COMPARISONS)} {self.unsigned(0)})"
        if rng.random() < 0.05:
            return f"(({self.condition()}) == ({self.condition()}))"
        if rng.random() < 0.06:
            return f"({self.unsigned(1)} {rng.choice(COMPARISONS)} {self.unsigned(0)})"
        return f"({left} {rng.choice(COMPARISONS)} {self.expr(1)})"

    def unsigned(self, depth: int) -> str:
        """An ``unsigned`` expression; it may wrap."""
        rng = self.rng
        if depth == 0:
            atoms = [f"threadIdx.{rng.choice('xxyz')}", f"blockIdx.{rng.choice('xy')}"]
            return rng.choice([*atoms, atoms[0], "blockDim.x", f"{rng.choice(SMALL)}u"])
        left, right = self.unsigned(depth - 1), self.unsigned(0)
        small = rng.choice([2, 3, 4, 5, 8, 32])
        return rng.choice(
            [
                f"({left} + {right})",
                f"({left} - {right})",
                f"({left} * {small}u)",
                f"({left} / {small}u)",
                f"({left} % {small}u)",
                f"({left} >> {rng.choice([1, 4])})",
                f"({left} ^ {right})",
                f"({left} & {rng.choice([3, 12, 31])}u)",
                f"({left} << {rng.choice([1, 3])})",
                f"(unsigned){self.expr(1)}",
                f"(unsigned)({self.condition()})",
                self.intrinsic(left, right),
            ]
        )

    def intrinsic(self, left: str, right: str) -> str:
        """One of CUDA's integer functions."""
        rng = self.rng
        few = rng.choice(["0", "1", "5", "16", "31", "32", "37", right])
        wide = f"((unsigned long long){left} << {rng.choice([0, 3, 30, 40])})"
        large = rng.choice([5, 1000, 0x33333334, 0xCCCCCCCD])
        signed = self.expr(0)
        return rng.choice(
            [
                f"(unsigned){rng.choice(['__popc', '__clz', '__ffs'])}({left})",
                f"(unsigned){rng.choice(['__popcll', '__clzll', '__ffsll'])}({wide})",
                f"(__brev({left}) >> {rng.choice([0, 20, 27])})",
                f"(unsigned)(__brevll({wide}) >> {rng.choice([32, 50])})",
                f"__umul24({left}, {rng.choice([right, '3u', '0x1000005u'])})",
                f"(unsigned)__mul24({signed}, {rng.choice(['3', '-5', '0x800001', signed])})",
                f"__umulhi({left}, {large}u)",
                f"(unsigned)__mulhi({signed}, {rng.choice(['-7', '0x33333334', '-0x40000000'])})",
                f"(unsigned)__umul64hi({wide}, {large}ull << {rng.choice([0, 20, 32])})",
                f"(unsigned)__mul64hi({signed}, {rng.choice(['-3', '1ll << 62'])})",
                f"(unsigned){rng.choice(['__hadd', '__rhadd'])}({signed}, {self.expr(0)})",
                f"{rng.choice(['__uhadd', '__urhadd'])}({left}, {right})",
                f"__sad({signed}, {self.expr(0)}, {right})",
                f"__usad({left}, {right}, {rng.choice(SMALL)}u)",
                f"__funnelshift_{rng.choice(['l', 'r', 'lc', 'rc'])}({left}, {right}, {few})",
                f"__byte_perm({left}, {right}, "
                f"{rng.choice(['0x3210', '0x0123', '0x5410', '0x4321', '0x1111', '0x7632'])})",
            ]
        )

    def index(self, depth: int) -> str:
        """An index of any integer type."""
        kind = self.rng.random()
        if kind < 0.7:
            return self.expr(depth)
        if kind < 0.8:
            return self.unsigned(depth)
        if kind < 0.86:
            return f"((long){self.expr(depth - 1)} * n + {self.expr(1)})"
        if kind < 0.92:
            return f"((size_t){self.unsigned(depth - 1)} * 3 + {self.unsigned(0)})"
        if kind < 0.96:
            return f"({self.expr(depth)} - (long){self.unsigned(0)})"
        return f"((size_t)({self.expr(depth)}))"
