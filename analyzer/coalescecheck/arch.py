"""Constants of the NVIDIA architectures sm_50 … sm_120, each with its source.

In: nothing.  Out: :class:`Arch` records and the rules of the hardware model with how sure we
are of each.  This module knows no kernel, no address and no counting.

Sources, as cited below:

* guide - CUDA C++ Programming Guide ("Hardware Implementation", "Compute Capabilities",
  "Device Memory Accesses", table "Technical Specifications per Compute Capability").
* practices - CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".
* ncu - Nsight Compute documentation, Profiling Guide ("Metrics Decoder", "Memory Tables").
* ptx - PTX ISA, instructions ``ld``, ``st``, ``cp.async``, ``ldmatrix``, ``atom``.
* tuning - NVIDIA's tuning guides of each architecture.
* strides - github.com/te42kyfo/gpu-benches, gpu-strides tables (A100, A40, H200; ncu counters).
* forum - answers signed by NVIDIA staff, forums.developer.nvidia.com.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from coalescecheck.errors import UsageError
from coalescecheck.launch import Dim3

WARP_SIZE = 32  # guide, "SIMT Architecture"; all compute capabilities
SECTOR_BYTES = 32  # practices: a warp is served by 32-byte transactions (cc 6.0 and newer); ncu
PAIR_BYTES = 64  # two sectors: what L2 fetches from DRAM by default on V100, A100, H100
LINE_BYTES = 128  # ncu: an L1/L2 line has one tag and four sectors
BANKS = 32  # guide, "Shared Memory" of cc 5.x and newer
BANK_BYTES = 4  # guide, same place: successive 32-bit words, one word per clock per bank
TAGS_PER_CYCLE = 4  # forum 49571 (Pascal L1 cache): four tags, so up to 16 sectors, a clock
MAX_THREADS_PER_BLOCK = 1024  # guide, technical specifications; all compute capabilities
UNKNOWN_SIZES = (None, None, None)
MAX_BLOCK = Dim3(1024, 1024, 64)  # same table
MAX_GRID = Dim3(2**31 - 1, 65535, 65535)  # same table
STATIC_SHARED_BYTES = 48 * 1024  # guide: more needs cudaFuncSetAttribute and dynamic shared memory


@dataclass(frozen=True, slots=True)
class HardwareRule:
    """One rule of the model.

    ``sureness`` is ``documented`` (by NVIDIA), ``measured`` (profiler numbers published by
    others) or ``inferred`` (nobody confirmed it).
    """

    id: str
    text: str
    sureness: str
    source: str


@dataclass(frozen=True, slots=True)
class Arch:
    """What the model needs to know of one architecture; sizes in bytes.

    ``lanes_per_request`` is the number of neighbouring lanes that one global load request
    serves, by access width, for architectures that cut a load before the tag look-up; None
    where every instruction is one request.  ``l1_bytes_per_clock`` is what the L1 returns per
    SM and clock on a hit, None where no source says.  ``l1_keeps_loads``: plain loads of global
    memory stay in L1, not only those of data that is read-only for the whole kernel.
    ``max_shared_bytes`` is the most shared memory of one block (with opt-in).
    """

    name: str
    max_shared_bytes: int
    lanes_per_request: tuple[tuple[int, int], ...] | None = None
    l1_bytes_per_clock: int | None = None
    has_ldmatrix: bool = False
    has_async_copy: bool = False
    l1_keeps_loads: bool = True

    @property
    def capability(self) -> int:
        """The compute capability times ten: 80 for ``sm_80``."""
        return int(self.name.removeprefix("sm_"))


# forum 49571, post 14 (sm_5x, sm_6x): up to 4 bytes 8 lanes, 8 bytes 4 lanes, 16 bytes 2 lanes.
_CUT_LOADS = ((1, 8), (2, 8), (4, 8), (8, 4), (16, 2))

_KB = 1024

# max_shared_bytes: guide, "Maximum amount of shared memory per thread block".
# l1_bytes_per_clock: strides measured 128 on A100 (sm_80) and H200 (sm_90), 64 on A40 (sm_86);
#   sm_70, sm_87 and sm_100+ follow the 128 of their data-centre family, sm_89 the 64 of sm_86
#   (inferred); older ones have no source.
# has_ldmatrix (sm_75+), has_async_copy (sm_80+): ptx.
# l1_keeps_loads: tuning guides of Maxwell and Pascal, "Unified L1/Texture Cache": by default
#   GP100 (sm_60) does, Maxwell and GP104 (sm_61) do not; sm_62 follows sm_61 (inferred).
ARCHS: dict[str, Arch] = {
    arch.name: arch
    for arch in (
        Arch("sm_50", 48 * _KB, _CUT_LOADS, l1_keeps_loads=False),
        Arch("sm_52", 48 * _KB, _CUT_LOADS, l1_keeps_loads=False),
        Arch("sm_53", 48 * _KB, _CUT_LOADS, l1_keeps_loads=False),
        Arch("sm_60", 48 * _KB, _CUT_LOADS),
        Arch("sm_61", 48 * _KB, _CUT_LOADS, l1_keeps_loads=False),
        Arch("sm_62", 48 * _KB, _CUT_LOADS, l1_keeps_loads=False),
        Arch("sm_70", 96 * _KB, None, 128),
        Arch("sm_72", 96 * _KB, None, 128),
        Arch("sm_75", 64 * _KB, None, None, True),
        Arch("sm_80", 163 * _KB, None, 128, True, True),
        Arch("sm_86", 99 * _KB, None, 64, True, True),
        Arch("sm_87", 163 * _KB, None, 128, True, True),
        Arch("sm_89", 99 * _KB, None, 64, True, True),
        Arch("sm_90", 227 * _KB, None, 128, True, True),
        Arch("sm_100", 227 * _KB, None, 128, True, True),
        Arch("sm_101", 227 * _KB, None, 128, True, True),
        Arch("sm_103", 227 * _KB, None, 128, True, True),
        Arch("sm_120", 99 * _KB, None, 128, True, True),
    )
}

DEFAULT_ARCH = "sm_80"

RULES: tuple[HardwareRule, ...] = (
    HardwareRule(
        "global-sectors",
        "A global request costs the distinct 32-byte sectors that its active lanes touch; the "
        "order of lanes, duplicates and gaps cost nothing.",
        "documented",
        "CUDA C++ Best Practices Guide, Coalesced Access to Global Memory",
    ),
    HardwareRule(
        "global-lines",
        "L1 and L2 have one tag per 128-byte line; L1 asks L2 once per line.",
        "documented",
        "Nsight Compute Profiling Guide, Memory Tables",
    ),
    HardwareRule(
        "global-requests",
        "From sm_70 on every instruction with an active lane is one request, at any width.",
        "documented",
        "Nsight Compute Profiling Guide, Metrics Decoder; NVIDIA forum 165293",
    ),
    HardwareRule(
        "global-cut-loads",
        "sm_5x and sm_6x cut a load into groups of 8 (to 4 bytes), 4 (8 bytes) or 2 (16 bytes) "
        "neighbouring lanes.",
        "documented",
        "NVIDIA forum 49571, post 14",
    ),
    HardwareRule(
        "global-empty-groups",
        "On sm_5x and sm_6x a group of lanes without an active one makes no request.",
        "inferred",
        "follows from the rule for whole instructions",
    ),
    HardwareRule(
        "ideal-sectors",
        "The ideal is the distinct bytes of the active lanes over 32, rounded up; duplicates "
        "count once.",
        "measured",
        "ncu report of an all-equal load (theoretical = ideal); partial overlap is inferred",
    ),
    HardwareRule(
        "tag-wavefronts",
        "The tag stage takes four lines a clock.",
        "measured",
        "NVIDIA forum 49571; ncu labs on H100 (4 lines 1, 5 lines 2, 16 lines 4)",
    ),
    HardwareRule(
        "l1-data-wavefronts",
        "A load that hits L1 is read through the same 32 banks as shared memory, in phases "
        "and without merging.",
        "measured",
        "te42kyfo/gpu-benches gpu-strides, A100, A40 and H200: 334 of 334 rows exact",
    ),
    HardwareRule(
        "wide-access-256",
        "A 32-byte access (sm_100+) is one request with eight data phases.",
        "inferred",
        "extends the phases of 8 and 16 bytes; no published measurement",
    ),
    HardwareRule(
        "shared-banks",
        "Shared memory has 32 banks of 4 bytes; n distinct words of one bank take n "
        "wavefronts; lanes on one word share it.",
        "documented",
        "CUDA C++ Programming Guide, Shared Memory (cc 5.x and newer)",
    ),
    HardwareRule(
        "shared-phases",
        "8-byte accesses run as two half warps, 16-byte ones as four quarter warps; conflicts "
        "count inside a phase.",
        "measured",
        "GTC 2019 S9593; CUTLASS issues 328 and 898; ncu reports of LDS.128 on A10 and A6000",
    ),
    HardwareRule(
        "shared-load-merge",
        "If lanes n and n^1 (or all n and n^2) want one address or one of them is inactive, a "
        "load merges its halves (8 bytes) or the quarters of each half (16 bytes).",
        "measured",
        "NVIDIA forum 77228; A100 measurements at zhuanlan.zhihu.com/p/690052715",
    ),
    HardwareRule(
        "shared-store-no-merge",
        "Stores never merge phases.",
        "inferred",
        "the reason NVIDIA gives for merging, packing the returned registers, is for loads",
    ),
    HardwareRule(
        "shared-sm5x-wide",
        "sm_5x and sm_6x follow the same phases for wide shared accesses.",
        "inferred",
        "one statement, NervanaSystems/maxas issue 8, is consistent with it",
    ),
    HardwareRule(
        "shared-blackwell",
        "sm_100 and sm_120 follow the same banks and phases.",
        "inferred",
        "no contrary measurement; one sm_100 report shows STS.128 as 4 wavefronts",
    ),
    HardwareRule(
        "ldmatrix-phases",
        "ldmatrix takes one phase per 8x8 matrix: the 8 row addresses of lanes 0-7, 8-15, …",
        "measured",
        "xlite-dev/LeetCUDA swizzle notes, cc 8.9: 2,097,152 conflicts, 4 per ldmatrix.x4",
    ),
    HardwareRule(
        "shared-atomics",
        "Lanes of a shared atomic serialise when they use one bank, on the same word too.",
        "inferred",
        "the guide documents that same-address updates serialise, not their cost",
    ),
    HardwareRule(
        "async-copy-shared-side",
        "The shared side of cp.async costs what a store of its width costs.",
        "inferred",
        "LDGSTS writes shared memory; no published wavefront table",
    ),
    HardwareRule(
        "constant-passes",
        "A constant load takes one pass per distinct address in the warp.",
        "documented",
        "CUDA C++ Programming Guide, Constant Memory",
    ),
    HardwareRule(
        "local-interleave",
        "Local memory interleaves 32-bit words: word i of lane l lies at 128*i + 4*l.",
        "documented",
        "CUDA C++ Programming Guide, Local Memory",
    ),
    HardwareRule(
        "local-wide",
        "8- and 16-byte local accesses keep the word interleave.",
        "inferred",
        "no source; follows from the layout",
    ),
    HardwareRule(
        "allocation-alignment",
        "cudaMalloc and its kin return addresses aligned to at least 256 bytes.",
        "documented",
        "CUDA C++ Programming Guide, Device Memory Accesses",
    ),
)


def arch_named(name: str) -> Arch:
    """The architecture called ``name`` (``sm_80``); a :class:`UsageError` lists the known ones."""
    arch = ARCHS.get(name)
    if arch is None:
        raise UsageError(f"unknown architecture {name!r}; known are {', '.join(ARCHS)}")
    return arch


def why_impossible(
    block: Sequence[int | None] = UNKNOWN_SIZES, grid: Sequence[int | None] = UNKNOWN_SIZES
) -> str:
    """Why no launch with these sizes can be, empty where it may; None is for what is not known."""
    for what, sizes, most in (("block", block, MAX_BLOCK), ("grid", grid, MAX_GRID)):
        for axis, size, limit in zip("xyz", sizes, most, strict=True):
            if size is not None and not 1 <= size <= limit:
                return f"{axis} of the {what} is {size}, which has to be from 1 to {limit}"
    threads = prod(size or 1 for size in block)
    if threads > MAX_THREADS_PER_BLOCK:
        return f"a block of {threads} threads, {MAX_THREADS_PER_BLOCK} are the most"
    return ""
