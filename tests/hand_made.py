"""Analyses made by hand, so that rules and reports are tested without the stages before them."""

from __future__ import annotations

from typing import Any

from coalescecheck.analysis import AccessResult, Count, FileAnalysis, KernelAnalysis, Verified
from coalescecheck.ir.kernel import Access, Op, Piece
from coalescecheck.launch import Dim3, Launch
from coalescecheck.source import Span

PATH = "flip.cu"
TEXT = """\
template <int PAD>
__global__ void flip(float *out, const float *in, int n)
{
    __shared__ float tile[32][32 + PAD];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.x * n];
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
"""


def exactly(value: float, ideal: float) -> Count:
    """The same count for every request."""
    return Count(min=int(value), max=int(value), mean=value, ideal=ideal)


def access(
    id: int = 0,
    *,
    at: tuple[int, int] = (5, 38),
    index: str = "in[threadIdx.x * n]",
    op: Op = Op.LOAD,
    width: int = 4,
    file: str = PATH,
    kind: str = "plain",
    **result: Any,
) -> AccessResult:
    """One access; a coalesced global load unless ``result`` says otherwise."""
    facts: dict[str, Any] = {
        "array": index.partition("[")[0],
        "space": "global",
        "width_bytes": width,
        "address": "4*threadIdx.x",
        "lane_stride_bytes": 4,
        "pattern": "coalesced",
        "certainty": "exact",
        "requests": 64,
        "efficiency": 1.0,
        "verified": Verified(simulation="agrees", warps_checked=8),
    }
    if result.get("space", "global") == "global":
        facts |= {"sectors": exactly(4, 4), "lines128": Count(1, 1, 1.0)}
    facts |= result
    place = Access(id, Span(file, *at), op, (Piece(0, width),), index, kind=kind)
    return AccessResult(access=place, **facts)


def kernel(*accesses: AccessResult, **facts: Any) -> KernelAnalysis:
    """A kernel instance with these accesses."""
    values: dict[str, Any] = {
        "name": "flip",
        "span": Span(PATH, 2, 17),
        "template": {"PAD": "0"},
        "launch": Launch(Dim3(32, 8), Dim3(16, 16), "host", line=20),
        "params": {"n": 512},
        "status": "analysed",
    }
    return KernelAnalysis(**(values | facts), accesses=accesses)


def file(*kernels: KernelAnalysis, path: str = PATH, **facts: Any) -> FileAnalysis:
    """A file with these kernels."""
    return FileAnalysis(path, TEXT, kernels, **facts)
