"""The table of CUDA's built-in functions: a name of kernel C to what it means in the IR.

Overloaded functions carry a type suffix in kernel C (``atomicAdd__float``); the argument types
say the same, so the suffix is only stripped.
"""

from __future__ import annotations

from types import MappingProxyType

from coalescecheck.lower import (
    builtin_math,
    builtin_memory,
    builtin_random,
    builtin_runtime,
    builtin_warp,
)
from coalescecheck.lower.builtin_call import Handler, Request

__all__ = ["Request", "find"]

_TABLE = MappingProxyType(
    {
        **builtin_math.table(),
        **builtin_warp.table(),
        **builtin_memory.table(),
        **builtin_runtime.table(),
    }
)
_TEXTURE = ("tex1D", "tex2D", "tex3D", "texCubemap", "surf1D", "surf2D", "surf3D", "surfCubemap")


def find(name: str) -> Handler | None:
    """The handler of a built-in function, None for any other name."""
    handler = _TABLE.get(name)
    if handler is not None:
        return handler
    if name.startswith(_TEXTURE):
        return builtin_memory.texture
    if name.startswith("__asm_ldmatrix"):
        return builtin_memory.matrix_load
    if name.startswith(builtin_random.PREFIXES):
        return builtin_random.random
    at = name.find("__", 1)
    while at > 0:
        handler = _TABLE.get(name[:at])
        if handler is not None:
            return handler
        at = name.find("__", at + 1)
    return builtin_math.half if builtin_math.is_half_function(name) else None
