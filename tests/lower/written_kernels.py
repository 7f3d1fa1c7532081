"""Kernel C written by hand: what the front end would hand on, with an identity source map."""

from __future__ import annotations

from coalescecheck.frontend.kernel_c import KernelC, SourceMap
from coalescecheck.source import Span

PRELUDE = (
    "typedef struct uint3 { unsigned x, y, z; } uint3; "
    "extern const uint3 threadIdx, blockIdx, blockDim, gridDim;\n"
)
VECTORS = """
typedef struct float2 { _Alignas(8) float x; float y; } float2;
typedef struct float3 { float x; float y; float z; } float3;
typedef struct float4 { _Alignas(16) float x; float y; float z; float w; } float4;
typedef struct double4 { _Alignas(16) double x; double y; double z; double w; } double4;
typedef struct uchar4 { _Alignas(4) unsigned char x; unsigned char y, z, w; } uchar4;
typedef struct uchar3 { unsigned char x, y, z; } uchar3;
"""


class IdentityMap(SourceMap):
    """Kernel C that is its own source: line 1 is the first line after the prelude."""

    def span(self, line: int, column: int) -> Span:
        return Span("kernel.cu", line - 1, column)


def kernel_c(text: str, function: str = "k") -> KernelC:
    """``text`` as a kernel instance; line numbers start after the prelude."""
    where = Span("kernel.cu", 1, 1)
    return KernelC(function, where, {}, function, PRELUDE + text, IdentityMap())
