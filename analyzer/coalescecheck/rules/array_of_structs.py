"""CC105: lanes read one member of neighbouring structs."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from coalescecheck import wording
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.findings import Finding, Severity
from coalescecheck.rules.base import WHOLE, Rule, excess, fixes, is_vector, judged

HALF = 0.5  # of a struct's bytes: above that a sector brings more of use than not


class ArrayOfStructs(Rule):
    """## What it detects
    Neighbouring lanes use the same member of neighbouring structs, so that the other members lie
    between what the warp asks for.

    ## Why it is slow
    Every sector brings members that this access does not use. Of a 32-byte struct one float is
    4 bytes out of each 32: 32 sectors for what would fill 4. A kernel that uses most of the
    members finds them in L1 again, which makes it a note; one that uses a few moves the rest for
    nothing.

    ## Example
    ```cuda
    // coalescecheck: block(256) grid(64)
    struct Particle { float x, y, z, vx, vy, vz, mass, charge; };
    __global__ void total(float *out, const Particle *p)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = p[i].mass;
    }
    ```

    ## Use instead
    ```cuda
    // coalescecheck: block(256) grid(64)
    struct Particles { float *x, *y, *z, *vx, *vy, *vz, *mass, *charge; };
    __global__ void total(float *out, const Particles p)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        out[i] = p.mass[i];
    }
    ```
    Keep each member in an array of its own. Where a kernel needs all members of a struct of 4, 8
    or 16 bytes, declare it `__align__` of that size and use it whole: one request instead of one
    per member.

    ## Limits
    Which members a kernel uses is taken from the accesses of this kernel alone. Stores pass
    through L1 one by one and are judged by their own sectors. Accesses to several members of one
    of CUDA's vector types, or of a struct that is aligned like one, are a note: a compiler may join
    them.
    """

    code, slug, severity = "CC105", "array-of-structs", Severity.WARNING

    def check(self, analysis: KernelAnalysis) -> Iterator[Finding]:
        for result in analysis.accesses:
            array = analysis.arrays.get(result.array)
            cost = excess(result, result.sectors)
            if array is None or array.element_kind != "struct" or cost is None:
                continue
            size, element = array.element_size, array.element
            if not _is_member(result, size):
                continue
            severity = judged(analysis, result, cost.ratio)
            if severity is None:
                continue
            others = _others(analysis, result)
            share = _share_used(others, size, most=True)
            together = _share_used(_same_struct(analysis, result, size), size)
            joined = may_be_joined(analysis, result)
            if joined or (share > HALF and result.access.op == "load"):
                severity = Severity.NOTE
            yield self.finding(
                analysis,
                result,
                severity,
                f"{wording.what(result)}: {cost.text('sector', result)}; "
                f"one member, {wording.plural(result.width_bytes, 'byte')}, of each {size}-byte "
                f"{element}",
                reason=f"neighbouring lanes are one {element} apart, and its other members "
                f"come along; of each this kernel {result.access.op}s {_used(others, size)}",
                advice=_advice(element, size, together, joined),
                fixes=() if joined or _fits_whole(together, size) else fixes(analysis, result),
                ratio=cost.ratio,
            )


def may_be_joined(analysis: KernelAnalysis, result: AccessResult) -> bool:
    """Whether it is one of the accesses to most of a vector or a struct aligned like one, of which
    a compiler can make one."""
    array = analysis.arrays.get(result.array)
    if array is None or not is_vector(analysis, result):
        return False
    return (
        _share_used(_same_struct(analysis, result, array.element_size), array.element_size) > HALF
    )


def _is_member(result: AccessResult, size: int) -> bool:
    return (
        result.space == "global"
        and result.lane_stride_bytes in (size, -size)
        and result.requests_per_access == 1
        and result.width_bytes < size
    )


def _others(analysis: KernelAnalysis, member: AccessResult) -> list[AccessResult]:
    """All that the kernel loads from (or stores to) the array."""
    kind = (member.array, member.access.op)
    running = (r for r in analysis.accesses if r.requests != 0)
    return [r for r in running if (r.array, r.access.op) == kind]


def _same_struct(analysis: KernelAnalysis, member: AccessResult, size: int) -> list[AccessResult]:
    """Those that a lane does to the same struct as ``member``."""
    here = member.motion
    return [
        r
        for r in _others(analysis, member)
        if here is not None
        and r.motion is not None
        and r.motion.group == here.group
        and r.motion.offset // size == here.offset // size
    ]


def _used(results: list[AccessResult], size: int) -> str:
    """How many bytes of a struct ``results`` ask for, in words."""
    least, most = (_share_used(results, size, most=most) * size for most in (False, True))
    return f"{'' if least == most else 'at least '}{wording.plural(least, 'byte')}"


def _share_used(results: list[AccessResult], size: int, *, most: bool = False) -> float:
    """The share of a struct's bytes that ``results`` ask for; ``most``: may ask for, where it is
    not known how far a loop goes."""
    used: dict[object, int] = {}
    for result in results:
        place = result.access.id if result.motion is None else result.motion.offset % size
        length = result.width_bytes * result.requests_per_access * _inner(result, size, most)
        used[place] = max(length, used.get(place, 0))
    return min(1.0, sum(used.values()) / size)


def _inner(result: AccessResult, size: int, most: bool) -> int:
    """How many elements of an array inside the struct the loops go over."""
    if result.motion is None:
        return 1
    steps = zip(result.motion.loops, result.motion.trips, strict=True)
    return prod(
        trips or (size // abs(step) if most else 1)
        for step, trips in steps
        if isinstance(step, int) and 0 < abs(step) < size
    )


def _fits_whole(together: float, size: int) -> bool:
    """Whether one aligned request of a lane could take most of what it needs of a struct."""
    return together > HALF and size in WHOLE


def _advice(element: str, size: int, together: float, joined: bool) -> str:
    if joined:
        return f"use the whole {element} at once, unless the compiler joins the accesses already"
    if _fits_whole(together, size):
        return f"declare {element} __align__({size}) and use it whole, in one request"
    return f"keep the members of {element} in separate arrays, one element per lane"
