"""CoalesceCheck: sectors and wavefronts of CUDA memory accesses, without a GPU.

``coalescecheck.analyze("kernel.cu", block="32x8", params={"n": 512})`` returns a ``Report``;
``parse`` reads a formula or an address of it as a SymPy expression.
The names below are imported when first used, so that ``import coalescecheck`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coalescecheck.api import analyze
    from coalescecheck.report.model import Report
    from coalescecheck.symbolic.reading import parse

__version__ = "0.1.0"
__all__ = ["Report", "__version__", "analyze", "parse"]

_HOMES = {
    "analyze": "coalescecheck.api",
    "parse": "coalescecheck.symbolic.reading",
    "Report": "coalescecheck.report.model",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
