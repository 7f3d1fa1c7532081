"""Everything a run can be told, checked: text from a command line or a caller in, values out.

Knows neither click nor the pipeline; a value that makes no sense is a ``UsageError``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, TypeVar

from coalescecheck.arch import (
    ARCHS,
    DEFAULT_ARCH,
    MAX_BLOCK,
    MAX_GRID,
    MAX_THREADS_PER_BLOCK,
    Arch,
    arch_named,
)
from coalescecheck.errors import UsageError
from coalescecheck.facts import contradictions
from coalescecheck.findings import Severity
from coalescecheck.launch import Dim3

NEVER = "never"
THRESHOLDS = ("error", "warning", "note", NEVER)
EMITS = ("kernel-c", "ir")

# What prints something else than the report of a run, and what each of these may go with.
INSTEAD: Mapping[str, Collection[str]] = {
    "compare": ("sweep", "block"),
    "sweep": ("compare",),
    "stats": ("block",),
    "emit": ("block",),
    "diff": ("fix", "since", "block", "baseline", "format"),
}

_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*|\[\d+\])*")  # as `dims.stride[1]`
MACRO = re.compile(r"[^\W\d][\w$]*(\([\w\s,.]*\))?")
_INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|\d+)")
_BETWEEN = re.compile(r",(?![^(]*\))")  # commas that are in no parentheses
_NUMBERS = re.compile(r"\d+([xX,]\d+){0,2}")


@dataclass(frozen=True, slots=True)
class Told:
    """What a configuration file says of launches; ``file`` is its path, ``ranges`` are facts."""

    block: Dim3 | None = None
    grid: Dim3 | None = None
    params: tuple[tuple[str, int], ...] = ()
    file: str = ""
    ranges: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one run (``coalescecheck --help`` says what each is for).

    ``params`` are values of integer parameters, ``templates`` template arguments as written in
    C; both in the order given.  ``undefines`` go before ``defines``; ``pre_includes`` are headers
    to read before the file.  ``ranges`` are the facts of ``params`` that are ranges, which are in
    ``assume`` too.  ``fail_on`` is None for ``never``.  ``config`` is what a
    configuration file says of launches, ``root`` the folder it lies in, from which ``exclude``
    counts.
    """

    block: Dim3 | None = None
    grid: Dim3 | None = None
    params: tuple[tuple[str, int], ...] = ()
    assume: tuple[str, ...] = ()
    templates: tuple[tuple[str, str], ...] = ()
    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    include_dirs: tuple[str, ...] = ()
    pre_includes: tuple[str, ...] = ()
    arch: Arch = ARCHS[DEFAULT_ARCH]
    kernels: tuple[str, ...] = ()
    format: str = "text"
    output: str | None = None
    fail_on: Severity | None = Severity.WARNING
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    verify: bool = True
    strict: bool = False
    emit: str | None = None
    exclude: tuple[str, ...] = ()
    baseline: str | None = None
    write_baseline: str | None = None
    since: str | None = None
    config: Told = Told()
    ranges: tuple[str, ...] = ()
    root: str = "."


def make_options(
    *,
    block: str | int | Sequence[int] | None = None,
    grid: str | int | Sequence[int] | None = None,
    params: Iterable[str] | Mapping[str, int] = (),
    assume: Iterable[str] = (),
    templates: Iterable[str] | Mapping[str, str] = (),
    defines: Iterable[str] = (),
    undefines: Iterable[str] = (),
    include_dirs: Iterable[str] = (),
    pre_includes: Iterable[str] = (),
    arch: str = DEFAULT_ARCH,
    kernels: Iterable[str] = (),
    format: str = "text",
    output: str | None = None,
    fail_on: str = "warning",
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    verify: bool = True,
    strict: bool = False,
    emit: str | None = None,
    exclude: Iterable[str] = (),
    baseline: str | None = None,
    write_baseline: str | None = None,
    since: str | None = None,
) -> Options:
    """Options from text as the command line gives it, or from plain Python values.

    ``params={"n": 512}`` and ``params=["n=512"]`` mean the same; so do ``block="32x8"`` and
    ``block=(32, 8)``.  One text is a list of one.
    """
    ranges, single = _ranges(params)
    assume = (*_several(assume), *ranges)
    values = _pairs(single, parse_param)
    for _, why in contradictions(assume, dict(values)):
        raise UsageError(f"assume: {why}")
    return Options(
        block=None if block is None else parse_block(block),
        grid=None if grid is None else parse_grid(grid),
        params=values,
        assume=tuple(assume),
        templates=_pairs(templates, parse_template),
        defines=tuple(map(parse_define, _several(defines))),
        undefines=_several(undefines),
        include_dirs=_several(include_dirs),
        pre_includes=_several(pre_includes),
        arch=arch_named(arch),
        kernels=_several(kernels),
        format=format,
        output=output,
        fail_on=parse_threshold(fail_on),
        select=_names(select),
        ignore=_names(ignore),
        verify=verify,
        strict=strict,
        emit=_known_emit(emit),
        exclude=_several(exclude),
        baseline=baseline,
        write_baseline=write_baseline,
        since=since,
        ranges=tuple(ranges),
    )


def check_together(given: Collection[str]) -> None:
    """``UsageError`` for options of which one would be passed over without a word.

    ``given`` names those of ``INSTEAD`` that are used, and those that change a report or write.
    """
    for one in given:
        for other in given:
            if one in INSTEAD and other != one and other not in INSTEAD[one]:
                raise UsageError(f"{other}: cannot go with --{one}")


# --- launch dimensions ------------------------------------------------------------------------


def parse_block(value: str | int | Sequence[int]) -> Dim3:
    """Threads of a block: ``256``, ``32x8``, ``32,8,1`` or ``(32, 8)``."""
    block = _dim3("block", value, MAX_BLOCK)
    if block.size > MAX_THREADS_PER_BLOCK:
        raise UsageError(f"block: {block.size} threads; a block has at most 1024")
    return block


def parse_sweep(text: str) -> tuple[Dim3, ...]:
    """The blocks of ``block=32x8,16x16,256`` or ``block=(32,8),256``."""
    name, equals, blocks = text.partition("=")
    if name.strip() != "block" or not equals or not blocks.strip():
        raise UsageError(f"sweep: {text!r} is not a list of blocks, such as block=32x8,16x16,256")
    return tuple(dict.fromkeys(map(parse_block, _BETWEEN.split(blocks))))


def parse_grid(value: str | int | Sequence[int]) -> Dim3:
    """Blocks of a grid, written like a block."""
    return _dim3("grid", value, MAX_GRID)


def _dim3(option: str, value: str | int | Sequence[int], limit: Dim3) -> Dim3:
    if isinstance(value, str):
        text = _inside(value.strip()).replace(" ", "")
        if not _NUMBERS.fullmatch(text):
            raise UsageError(f"{option}: {value!r} is no dimension; write 256, 32x8 or 32,8,1")
        sizes = [int(part) for part in re.split("[xX,]", text)]
    else:
        several: Sequence[Any] = value if isinstance(value, Sequence) else (value,)
        try:
            sizes = [index(each) for each in several]
        except TypeError:
            message = f"{option}: {value!r} is no dimension; write 256, '32x8' or (32, 8, 1)"
            raise UsageError(message) from None
    if not 1 <= len(sizes) <= 3:
        raise UsageError(f"{option}: one to three dimensions, not {len(sizes)}")
    dim = Dim3(*sizes)
    for axis, size, most in zip("xyz", dim, limit, strict=True):
        if not 1 <= size <= most:
            raise UsageError(f"{option}: {axis} is {size}; it must be from 1 to {most}")
    return dim


def _inside(text: str) -> str:
    """``32,8`` of ``(32,8)``; a parenthesis without its partner stays."""
    return text[1:-1] if text.startswith("(") and text.endswith(")") else text


# --- names with values ------------------------------------------------------------------------


def _ranges(
    given: Iterable[str] | Mapping[str, int],
) -> tuple[list[str], list[str] | Mapping[str, int]]:
    """``n=16..4096`` as two facts, and the parameters with one value."""
    if isinstance(given, Mapping):
        return [], given
    facts: list[str] = []
    single: list[str] = []
    for text in _several(given):
        name, value = _assignment("param", text, "n=512")
        low, dots, high = value.partition("..")
        if not dots:
            single.append(text)
        elif _INTEGER.fullmatch(low) and _INTEGER.fullmatch(high) and int(low) <= int(high):
            facts += [f"{name} >= {int(low)}", f"{name} <= {int(high)}"]
        else:
            raise UsageError(f"param: {text!r} is no range such as n=16..4096")
    return facts, single


def parse_param(text: str) -> tuple[str, int]:
    """``n=512`` or ``s.n=0x200``."""
    name, value = _assignment("param", text, "n=512")
    if not _INTEGER.fullmatch(value):
        raise UsageError(f"param: {value!r} in {text!r} is no integer")
    return name, int(value, 16 if "x" in value.lower() else 10)


def parse_template(text: str) -> tuple[str, str]:
    """``T=float``, ``BLOCK=256``."""
    return _assignment("template", text, "T=float")


def parse_define(text: str) -> str:
    """``NAME``, ``NAME=VALUE`` or ``NAME(ARGUMENTS)=VALUE``, as it is."""
    name = text.partition("=")[0]
    if not MACRO.fullmatch(name) or name == "defined":
        raise UsageError(f"-D: {text!r} is not NAME or NAME=VALUE")
    return text


def check_once(option: str, given: Iterable[str]) -> None:
    """``UsageError`` where ``NAME=VALUE`` is given twice with values that differ."""
    values: dict[str, str] = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        if values.setdefault(name, value) != value and ".." not in value + values[name]:
            raise UsageError(f"{option}: {name} is both {values[name]} and {value}")


def _assignment(option: str, text: str, example: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not equals or not value or not _NAME.fullmatch(name):
        raise UsageError(f"{option}: {text!r} is not NAME=VALUE, such as {example}")
    return name, value


_T = TypeVar("_T")


def _pairs(
    given: Iterable[str] | Mapping[str, _T], parse: Callable[[str], tuple[str, _T]]
) -> tuple[tuple[str, _T], ...]:
    """The last value of each name, in the order the names were given."""
    texts = _several(given)
    if isinstance(given, Mapping):
        texts = tuple(f"{name}={_plain(value)}" for name, value in given.items())
    return tuple(dict(parse(text) for text in texts).items())


def _plain(value: Any) -> Any:
    """``1`` for ``True`` and for an integer of another library."""
    try:
        return index(value)
    except TypeError:
        return value


def _several(given: Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


# --- choices ----------------------------------------------------------------------------------


def parse_threshold(text: str) -> Severity | None:
    """``error``, ``warning``, ``note``, or ``never`` (None)."""
    if text.lower() == NEVER:
        return None
    try:
        return Severity[text.upper()]
    except KeyError:
        raise UsageError(f"fail-on: {text!r} is none of error, warning, note and never") from None


def _names(given: Iterable[str]) -> tuple[str, ...]:
    """Names given one by one or joined by commas."""
    return tuple(
        name.strip() for text in _several(given) for name in text.split(",") if name.strip()
    )


def _known_emit(emit: str | None) -> str | None:
    if emit is not None and emit not in EMITS:
        raise UsageError(f"emit: {emit!r} is none of {', '.join(EMITS)}")
    return emit
