"""CUDA C++ kernels to kernel C.

In: a preprocessed :class:`~coalescecheck.frontend.unit.Unit`.  Out: its kernels, and each
instance as plain C.  It must not know about launches' block sizes or about pycparser.
"""

from __future__ import annotations

from coalescecheck.frontend.rewrite.file_constants import FileConstants
from coalescecheck.frontend.rewrite.kernels import (
    KernelDecl,
    KernelParameter,
    find_kernels,
    found_through,
    rewrite_kernel,
)

__all__ = [
    "FileConstants",
    "KernelDecl",
    "KernelParameter",
    "find_kernels",
    "found_through",
    "rewrite_kernel",
]
