"""How numbers, counts and kernels are put into words.

In: values and records of ``analysis``.  Out: short plain text used by rule messages and text
reports alike, so that one number looks the same wherever it is printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coalescecheck.analysis import AccessResult, Count, KernelAnalysis
    from coalescecheck.launch import Dim3

_IDENTIFIER = re.compile(r"[^\W\d]\w*")


def number(value: float) -> str:
    """``value`` with at most two decimals and no trailing zeros: ``32``, ``16.5``, ``5.43``."""
    text = f"{value:,.2f}"
    return text.rstrip("0").rstrip(".")


def amount(count: Count) -> str:
    """The count alone: ``32``, ``5.43 (4..6)`` around a known mean, ``4..5`` without one."""
    if count.min == count.max:
        return number(count.min)
    spread = f"{number(count.min)}..{number(count.max)}"
    return spread if count.mean is None else f"{number(count.mean)} ({spread})"


def plural(count: float, noun: str) -> str:
    """``1 kernel``, ``2 kernels``, ``3 accesses``, ``1.5 sectors``."""
    if count == 1:
        return f"1 {noun}"
    ending = "es" if noun.endswith("s") else "s"
    return f"{number(count)} {noun}{ending}"


def pattern(result: AccessResult) -> str:
    """Banks have no coalescing: what costs no more than it must has no conflict there.  What has
    no request has no pattern."""
    if result.requests == 0:
        return "never runs"
    free = result.wavefronts is not None and result.pattern == "coalesced"
    return "no conflict" if free else result.pattern


def what(result: AccessResult) -> str:
    """The access as the user knows it: ``global load a[i * n + k]``."""
    return f"{kind(result)} {result.access.index}"


def kind(result: AccessResult) -> str:
    """``global load``, ``shared atomic``."""
    return f"{result.space} {result.access.op}"


def array(name: str) -> str:
    """An array as it is declared: ``tile`` for ``tile.1``, which another function or instance of
    one declares too; several with "or" between them."""
    names = (re.sub(r"\.\d+$", "", each) for each in name.split("|"))
    return " or ".join(dict.fromkeys(names))


def as_written(text: str, names: Mapping[str, str]) -> str:
    """``text`` in SymPy's notation, with the source's names for identifiers that stand for them:
    ``4*p_n`` becomes ``4*p.n``."""
    return _IDENTIFIER.sub(lambda m: names.get(m[0], m[0]), text) if names else text


def lane_step(result: AccessResult) -> str:
    """The distance of neighbouring lanes in words, empty where it is not one value."""
    match result.lane_stride_bytes:
        case None:
            return ""
        case 0:
            lanes = "all lanes" if result.pattern == "broadcast" else "lanes of a row of the block"
            return f"{lanes} use one address"
        case int(stride):
            return f"lanes step {stride} {'byte' if stride in (1, -1) else 'bytes'}"
        case formula:
            return f"lanes step {as_written(formula, result.names)} bytes"


def dims(value: Dim3) -> str:
    """``32x8``, without the ones that add nothing at the end."""
    used = 3 if value.z > 1 else 2 if value.y > 1 else 1
    return "x".join(map(str, value[:used]))


def percent(share: float) -> str:
    """``12.5%`` for 0.125."""
    return f"{100 * share:.1f}".removesuffix(".0") + "%"


def template(analysis: KernelAnalysis) -> str:
    """``<PAD=1, SYNC=true>``, empty for a kernel that is no template."""
    inside = ", ".join(f"{name}={value}" for name, value in analysis.template.items())
    return f"<{inside}>" if inside else ""


def instance(analysis: KernelAnalysis) -> str:
    """One kernel instance under one launch: ``flip<PAD=1>, block 32x8x1, n=512``."""
    parts = [analysis.name + template(analysis)]
    if analysis.launch.block is not None:
        parts.append(f"block {dims(analysis.launch.block)}")
    elif analysis.launch.source == "host":  # another launch of the kernel may have a known one
        parts.append("block unknown")
    parts += [f"{name}={value}" for name, value in analysis.params.items()]
    return ", ".join(parts)
