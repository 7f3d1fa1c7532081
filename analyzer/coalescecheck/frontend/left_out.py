"""Kernels in a branch of ``#if`` that is not taken: nothing may be dropped without a word.

In: the inactive lines of a file.  Out: for each branch the kernels that it alone defines, and
which option would take it.  Must not know how conditions are evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from coalescecheck.arch import ARCHS
from coalescecheck.frontend.conditionals import Branch, Conditionals
from coalescecheck.frontend.kernel_heads import GLOBAL, defined_name

_WORD = "__global__"
_MAX_HEAD = 5000  # characters from __global__ to the body of a kernel
_DEFINED = r"defined ?(?:\( ?\w+ ?\)|\w+)"
_SHOWN = 3  # names of kernels in one message


@dataclass(slots=True)
class LeftOut:
    """The inactive lines of one file that name ``__global__``, with the branch they stand in."""

    _lines: list[tuple[int, Branch]] = field(default_factory=list)

    def line(self, text: str, offset: int, conditionals: Conditionals) -> None:
        """Look at one inactive line."""
        branch = conditionals.left_out_by() if _WORD in text else None
        if branch is not None:
            self._lines.append((offset + text.index(_WORD), branch))

    def branches(self, text: str) -> Iterator[tuple[int, str, list[str]]]:
        """Each branch: where it begins, its directive in words, the kernels defined in it."""
        found: dict[Branch, list[str]] = {}
        for offset, branch in self._lines:
            name = None if _is_comment(text, branch) else _name(text, offset)
            if name is not None:
                found.setdefault(branch, []).append(name)
        for branch, names in found.items():
            yield branch.offset, _spoken(text, branch), names


def defined(code: bytes) -> set[str]:
    """The names of the kernels of preprocessed text."""
    names = (defined_name(code, match.end()) for match in GLOBAL.finditer(code))
    return {name for name in names if name is not None}


def message(directive: str, names: list[str], known: set[str]) -> str:
    """What is said of the kernels of a branch that are not ``known``; "" for none."""
    missing = [name for name in dict.fromkeys(names) if name not in known]
    if not missing:
        return ""
    shown = ", ".join(f"`{name}`" for name in missing[:_SHOWN])
    more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    kernels = "kernel" if len(missing) == 1 else "kernels"
    return f"{directive} leaves out {kernels} {shown}{more}{_remedy(directive)}"


def _name(text: str, offset: int) -> str | None:
    head = text[offset : offset + _MAX_HEAD].encode("utf-8", "replace")
    return defined_name(head, len(_WORD))


def _remedy(directive: str) -> str:
    """What takes the branch, where it asks for an architecture, or for no more than names that are
    defined."""
    at_least = re.fullmatch(r"`#if \(?__CUDA_ARCH__ ?(?:>=|==) ?(\d+)\)?`", directive)
    arch = f"sm_{int(at_least[1]) // 10}" if at_least else ""
    if arch in ARCHS:
        return f": pass `--arch {arch}`"
    match = re.fullmatch(r"`#ifdef (\w+)`|`#else` of `#ifndef (\w+)`", directive)
    names = [match[1] or match[2]] if match else []
    if re.fullmatch(rf"`#if {_DEFINED}( && {_DEFINED})*`", directive):
        names = re.findall(r"defined ?\(? ?(\w+)", directive)
    return f": pass `{' '.join(f'-D {name}' for name in names)}`" if names else ""


def _spoken(text: str, branch: Branch) -> str:
    said = f"`{_directive(text, branch.offset)}`"
    return (
        said if branch.offset == branch.group else f"{said} of `{_directive(text, branch.group)}`"
    )


def _directive(text: str, offset: int) -> str:
    """The directive at ``offset``, on one line with single blanks."""
    return " ".join(text[offset:].partition("\n")[0].split()).replace("# ", "#", 1)


def _is_comment(text: str, branch: Branch) -> bool:
    """Whether the branch is switched off by a number, as people do to comment code out."""
    return (
        re.fullmatch(r"#if \(?(?:[01]|true|false)\)?", _directive(text, branch.group)) is not None
    )
