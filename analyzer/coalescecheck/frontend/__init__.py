"""Front end: CUDA C++ text to kernel C.

In: a path and options.  Out: a :class:`SourceFile` with one :class:`KernelC` per kernel
instance.  The stages are ``preprocess`` → tree-sitter → ``launches``, ``rewrite`` → ``loading``.
It must not know what kernels compute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from coalescecheck.errors import SourceError
from coalescecheck.frontend.kernel_c import SourceFile


def load(
    path: str,
    *,
    defines: Iterable[str] = (),
    include_dirs: Sequence[str] = (),
    templates: Mapping[str, str] | Iterable[tuple[str, str]] = (),
    arch_number: int = 800,
    unsaved: str | None = None,
    undefines: Iterable[str] = (),
    pre_includes: Sequence[str] = (),
) -> SourceFile:
    """Read one file: its kernels as plain C, with their launches.

    ``defines`` are ``NAME`` or ``NAME=VALUE``; ``templates`` override template arguments by
    parameter name; ``arch_number`` is 80 or 800 for sm_80; ``undefines`` go before ``defines``;
    ``pre_includes`` are headers to read before the file.  ``unsaved`` is an editor's text of
    the file, read in place of the disk's.  Raises SourceError.
    """
    # Other stages import this package for its records; only a real load pays for the parsers.
    from coalescecheck.frontend.loading import load_file

    try:
        return load_file(
            path,
            dict(templates),
            unsaved,
            defines=tuple(defines),
            include_dirs=tuple(include_dirs),
            arch_number=arch_number,
            undefines=tuple(undefines),
            pre_includes=tuple(pre_includes),
        )
    except RecursionError:
        raise SourceError(f"{path}: nests too deeply") from None
