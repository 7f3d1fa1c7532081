"""Expectations written beside the accesses of our CUDA kernels.

``// expect: in load sectors=4; tile store wavefronts=32 @WIDTH=32`` on a line lists all accesses
of that line, each as array, operation and what is known of it:

- ``sectors=4`` or ``wavefronts=2``: the count of every request (``4..5``: least and most);
  ``,bounded`` after it: no more than bounds are known; ``,assumed``: under printed assumptions;
- ``data-dependent``, ``unknown``, ``texture``: that no number may be claimed;
- ``@T=float``: only in the instances with that template argument (or launch argument); ``@N=``
  where it is not given.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coalescecheck.analysis import AccessResult, KernelAnalysis

_COMMENT = re.compile(r"//\s*expect:(.*)")
_ITEM = re.compile(r"(\S+) (load|store|atomic) (\S+)(?: @(\w+)=(.*))?")


@dataclass(frozen=True, slots=True)
class Expected:
    """One access: ``said`` is array, operation and count as the comment has them."""

    said: str
    parameter: str = ""
    argument: str = ""

    def holds_for(self, kernel: KernelAnalysis) -> bool:
        """Whether it speaks of this instance of the kernel."""
        if not self.parameter:
            return True
        known = kernel.template | {name: str(value) for name, value in kernel.params.items()}
        return known.get(self.parameter, "") == self.argument


def expectations(text: str) -> dict[int, list[Expected]]:
    """The expectations of a file by line."""
    found: dict[int, list[Expected]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        comment = _COMMENT.search(line)
        if comment is not None:
            found[number] = [_expected(item.strip()) for item in comment[1].split(";")]
    return found


def _expected(item: str) -> Expected:
    match = _ITEM.fullmatch(item)
    if match is None:
        raise ValueError(f"no expectation: {item!r}")
    array, op, count, parameter, argument = match.groups()
    return Expected(f"{array} {op} {count}", parameter or "", argument or "")


def said_of(access: AccessResult) -> str:
    """An access in the words of an expectation."""
    return f"{access.array or '?'} {access.access.op} {_count(access)}"


def _count(access: AccessResult) -> str:
    if access.space == "texture":
        return "texture"
    if access.certainty in ("data-dependent", "unknown"):
        return access.certainty
    name, count = "sectors", access.sectors
    if count is None:
        name, count = "wavefronts", access.wavefronts
    if count is None:
        return f"{access.certainty} without a count"
    numbers = f"{count.min}" if count.min == count.max else f"{count.min}..{count.max}"
    bounded = "" if access.certainty.startswith("exact") else f",{access.certainty}"
    return f"{name}={numbers}{bounded}{',assumed' if access.assumptions else ''}"
