"""Kernel C to the IR: types resolved, functions inlined, every memory access named.

``kernel.lower`` is the entry point.  ``ctypes``/``declarations`` know C's types, ``values``/
``places``/``storage`` where objects live, ``expressions``/``operators``/``statements``/``jumps``
the language, ``calls``/``intrinsics``/``builtin_*`` functions, ``accesses`` what memory sees.
"""

from coalescecheck.lower.kernel import lower

__all__ = ["lower"]
