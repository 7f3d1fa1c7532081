"""Addresses with products of two unknown sizes, and chosen arrays, in blocks of all shapes.

Truth: the sectors of every warp, lane by lane in Python, for many sizes.  None may lie outside of
what is said, and a count that is exact but for the sizes is reached at both ends.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from coalescecheck.frontend.kernel_c import KernelC, SourceMap
from coalescecheck.launch import Dim3, Launch
from coalescecheck.lower import lower
from coalescecheck.source import Span
from coalescecheck.symbolic import summarize

BLOCKS = [(16, 4, 4), (8, 8, 4), (32, 2, 2), (4, 4, 4), (16, 2, 2), (64, 2, 1), (8, 4, 8)]
CONDITIONS = ["n & 1", "m > 5", "x < 8", "y & 1", "z == 1"]  # C and Python alike
SIZES = [*range(9), 13, 16, 19, 24, 31, 32, 45, 64, 77, 100, 128, 171]
APART = 1 << 40  # bytes between the arrays
TEXT = """
typedef struct uint3 {{ unsigned x, y, z; }} uint3;
extern const uint3 threadIdx;
[[cuda::global]] void k(float *o, float *p, int n, int m)
{{
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    float *s = {array};
    s[{index}] = 1;
}}
"""


class _NoPlaces(SourceMap):
    def span(self, line: int, column: int) -> Span:
        return Span("kernel.cu", line, column)


@dataclass(frozen=True)
class Case:
    """A kernel and its launch; ``offsets`` are those of o and p in bytes."""

    block: tuple[int, int, int]
    index: str
    condition: str
    offsets: tuple[int, int]

    @classmethod
    def of(cls, seed: int) -> Case:
        """A random one."""
        draw = random.Random(seed)
        products = [[], [], [], ["n"], ["m"], ["n", "m"], ["n", "n"]]
        terms = ["x"]
        for _ in range(draw.randint(1, 4)):
            place, sizes = draw.choice("1xyzxy"), draw.choice(products)
            scale = str(draw.choice([1, 1, 2, 3, 4, 8, 16, 32]))
            terms.append("*".join([scale, *(sizes[:1] if place == "x" else sizes), place]))
        condition = draw.choice(CONDITIONS) if draw.random() < 0.3 else "1"
        offsets = draw.choice([(0, 0), (0, 0), (4, 0), (8, 4), (16, 32)])
        return cls(draw.choice(BLOCKS), " + ".join(terms), condition, offsets)

    def sectors(self, n: int, m: int) -> set[int]:
        """The counts of all warps."""
        dx, dy, dz = self.block
        lanes = [(x, y, z) for z in range(dz) for y in range(dy) for x in range(dx)]
        address = compile(self.index, "index", "eval")
        chosen = compile(self.condition, "condition", "eval")
        places = []
        for x, y, z in lanes:
            names = {"x": x, "y": y, "z": z, "n": n, "m": m}
            start = self.offsets[0] if eval(chosen, names) else APART + self.offsets[1]
            places.append((start + 4 * eval(address, names)) // 32)
        return {len(set(places[at : at + 32])) for at in range(0, len(places), 32)}


@pytest.mark.parametrize("seed", range(150))
def test_counts_for_all_sizes(seed: int) -> None:
    case = Case.of(seed)
    array = "o" if case.condition == "1" else f"{case.condition} ? o : p"
    text = TEXT.format(array=array, index=case.index)
    kernel = lower(KernelC("k", Span("kernel.cu", 1, 1), {}, "k", text, _NoPlaces()))
    offsets = (("o", case.offsets[0]), ("p", case.offsets[1])) if any(case.offsets) else ()
    launch = Launch(Dim3(*case.block), Dim3(1), "cli", offsets=offsets)
    (found,) = summarize(kernel, launch, {}).accesses
    assert found.sectors is not None
    promised = " and ".join(found.assumptions).replace("&&", "and") or "True"
    seen: set[int] = set()
    draw = random.Random(seed)
    for n in SIZES:
        for m in draw.sample(SIZES, 6):
            if eval(promised, {"n": n, "m": m}):
                seen |= case.sectors(n, m)
    assert seen
    assert found.sectors.min <= min(seen)
    assert max(seen) <= found.sectors.max, case
    if found.certainty == "exact":
        assert {found.sectors.min, found.sectors.max} == {min(seen), max(seen)}
