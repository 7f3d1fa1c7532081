"""How much longer a kernel's memory traffic may take than the same traffic well arranged.

In: counts of a launch.  Out: a ratio that ranks kernels; it predicts no time.  The model has
three terms: lines that come from DRAM, requests of lines to L2 and wavefronts of shared memory,
in units of one perfectly used 128-byte line, joined by a norm between sum and maximum because
they overlap in part.  Knows no kernel and no address.

Sources of the parameters:

* line weights - T4: slowdowns 8.0, 14.6 and 25.5 of strides 8, 16 and 32 floats, solved
  exactly; others: the unit of DRAM fetches, 64 bytes on V100, A100 and H100, 32 on A40 and L40
  (te42kyfo/gpu-benches; ncu).
* l2_request - M2050 and K20c: fitted to Mark Harris's transposes; later ones: bandwidth of DRAM
  over that of L2 (te42kyfo/gpu-benches; T4: that of its family), inferred.
* wavefront - bandwidth of DRAM over 128 bytes per clock of all SMs (data sheets; the M2050
  takes two clocks a wavefront).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from coalescecheck.analysis import AccessResult, ArrayTraffic, RelativeTime, Touched
from coalescecheck.arch import LINE_BYTES, SECTOR_BYTES

NORM = 1.9  # between 1 (nothing overlaps) and infinity (the slowest hides the others)
SECTORS_PER_LINE = LINE_BYTES // SECTOR_BYTES


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU.  A touched line costs ``line + pair*pairs + sector*sectors`` (64-byte pairs and
    sectors of it that are touched; 1 for a whole line); ``l2_request`` and ``wavefront`` are in
    the same unit."""

    name: str
    line: float
    pair: float
    sector: float
    l2_request: float
    wavefront: float


GPUS: dict[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu("M2050", 0.0, 0.0, 0.25, 0.33, 0.102),
        Gpu("K20c", 0.0, 0.0, 0.25, 0.155, 0.130),
        Gpu("V100", 0.0, 0.5, 0.0, 0.34, 0.057),
        Gpu("T4", 0.681, 0.072, 0.04375, 0.19, 0.03),
        Gpu("A100", 0.0, 0.5, 0.0, 0.38, 0.07),
        Gpu("A40", 0.0, 0.0, 0.25, 0.23, 0.037),
        Gpu("L40", 0.0, 0.0, 0.25, 0.19, 0.019),
        Gpu("H100", 0.0, 0.5, 0.0, 0.38, 0.10),
    )
}

# The GPU that stands for an architecture; the others have no source for their parameters.
OF_ARCH = {
    "sm_70": "V100",
    "sm_75": "T4",
    "sm_80": "A100",
    "sm_86": "A40",
    "sm_89": "L40",
    "sm_90": "H100",
}


@dataclass(frozen=True, slots=True)
class Work:
    """What a launch asks of memory: ``touched`` comes from DRAM, counted once per block;
    ``l2_requests`` lines are asked for by warps; ``wavefronts`` pass through shared memory."""

    touched: Touched
    l2_requests: float
    wavefronts: float


def time(work: Work, gpu: Gpu) -> float:
    """The time of ``work`` in units of one perfectly used line."""
    touched = work.touched
    dram = gpu.line * touched.lines + gpu.pair * touched.pairs + gpu.sector * touched.sectors
    parts = (dram, gpu.l2_request * work.l2_requests, gpu.wavefront * work.wavefronts)
    return float(sum(part**NORM for part in parts) ** (1 / NORM))


def whole_lines(lines: float) -> Touched:
    """Lines of which every byte is used."""
    return Touched(SECTORS_PER_LINE * lines, 2 * lines, lines)


def relative_time(
    accesses: Sequence[AccessResult], arrays: Iterable[ArrayTraffic], blocks: int | None, arch: str
) -> RelativeTime | None:
    """The launch against the same launch with every request perfectly placed and no bank conflict.

    None where the totals, the grid or the GPU's parameters are not known.
    """
    gpu = GPUS.get(OF_ARCH.get(arch, ""))
    if gpu is None or blocks is None:
        return None
    requests = _requested(accesses)
    touched = [side for array in arrays for side in (array.reads, array.writes)]
    if requests is None or any(side is None for side in touched):
        return None
    whole = [side for side in touched if side is not None]
    dram = Touched(
        *(blocks * sum(getattr(side, unit) for side in whole) for unit in Touched.__slots__)
    )
    lines, ideal_lines, wavefronts, ideal_wavefronts = requests
    actual = Work(dram, lines, wavefronts)
    ideal_dram = whole_lines(min(ideal_lines, dram.sectors / SECTORS_PER_LINE))
    ideal = Work(ideal_dram, min(ideal_lines, lines), ideal_wavefronts)
    best = time(ideal, gpu)
    return RelativeTime(gpu.name, max(1.0, time(actual, gpu) / best)) if best else None


def _requested(accesses: Sequence[AccessResult]) -> tuple[float, float, float, float] | None:
    """Lines and wavefronts that warps request, and the least they could; None if not known."""
    lines = ideal_lines = 0.0
    wavefronts = ideal_wavefronts = 0
    for access in accesses:
        totals = access.totals
        if totals is None or totals.units.exact is None or totals.ideal.exact is None:
            return None
        if access.space == "shared":
            wavefronts += totals.units.exact
            ideal_wavefronts += totals.ideal.exact
        elif access.space == "global" and totals.units.exact:
            if access.lines128 is None or access.lines128.mean is None:
                return None
            lines += totals.requests.min * access.lines128.mean
            ideal_lines += totals.ideal.exact / SECTORS_PER_LINE
    return lines, ideal_lines, wavefronts, ideal_wavefronts
