"""Neighbouring scalar accesses of one lane taken together as one vector access.

``p[4 * i]`` … ``p[4 * i + 3]`` become one ``float4``.  They have to stand in one straight piece of
code with nothing between them that they depend on, and the first has to be aligned for every
lane and value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import gcd

from coalescecheck.advice.offsets import Offset, Values, assignments
from coalescecheck.advice.rewriting import with_bodies
from coalescecheck.advice.trial import WASTEFUL, Change, Subject, waste
from coalescecheck.ir.kernel import Assign, Load, Piece, Stmt, Store
from coalescecheck.ir.mentions import mentioned

WIDTHS = (16, 8)  # bytes of a vector access
MOST_RUNS = 4  # of one kernel are tried
NAMES = {
    "float": "float",
    "double": "double",
    "int": "int",
    "unsigned int": "uint",
    "unsigned": "uint",
    "short": "short",
    "unsigned short": "ushort",
    "char": "char",
    "unsigned char": "uchar",
}
Scalar = Load | Store


@dataclass(frozen=True, slots=True)
class Part:
    """One scalar access and where it goes."""

    stmt: Scalar
    at: int  # in its list of statements
    offset: Offset
    width: int


@dataclass(frozen=True, slots=True)
class Run:
    """Accesses to adjacent bytes of one list of statements, the lowest first."""

    parts: tuple[Part, ...]

    @property
    def ids(self) -> frozenset[int]:
        return frozenset(part.stmt.access for part in self.parts)

    @property
    def is_load(self) -> bool:
        return isinstance(self.parts[0].stmt, Load)

    @property
    def bytes(self) -> int:
        return sum(part.width for part in self.parts)


def changes(subject: Subject) -> Iterator[Iterator[Change]]:
    """Every run of wasteful neighbours as one access."""
    wasteful = wasteful_accesses(subject)
    if len(wasteful) < 2:
        return
    values = Values(subject.kernel, subject.launch, subject.params)
    runs = [
        run
        for segment in _segments(subject.kernel.body)
        for run in runs_in(subject, values, segment, wasteful)
    ]
    for run in runs[:MOST_RUNS]:
        count = len(run.parts)
        behind = "element" if count == 2 else f"{count - 1} elements"
        access = subject.kernel.accesses[run.parts[0].stmt.access]
        yield iter(
            [
                merged(
                    subject,
                    run,
                    f"for {count} accesses",
                    f"`{access.index}` and the {behind} behind it",
                )
            ]
        )


def wasteful_accesses(subject: Subject) -> frozenset[int]:
    """The accesses that a wider one may serve better."""
    return frozenset(
        a.access.id
        for a in subject.accesses
        if waste(a) >= WASTEFUL and a.access.kind == "plain" and not a.access.volatile
    )


def _segments(body: tuple[Stmt, ...]) -> list[list[Stmt]]:
    """All pieces of straight code: lists of assignments, loads and stores."""
    found: list[list[Stmt]] = []

    def cut(stmts: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        found.append([])
        for stmt in stmts:
            if isinstance(stmt, Assign | Load | Store):
                found[-1].append(stmt)
            else:
                found.append([])
        return stmts

    with_bodies(body, cut)
    return found


def runs_in(
    subject: Subject, values: Values, segment: Sequence[Stmt], wasteful: frozenset[int]
) -> Iterator[Run]:
    """The runs of wasteful accesses in a piece of straight code."""
    groups: dict[tuple[object, ...], list[Part]] = {}
    for at, stmt in enumerate(segment):
        part = _part(subject, values, stmt, at) if isinstance(stmt, Load | Store) else None
        if part is not None and part.stmt.access in wasteful:
            key = (type(stmt), part.offset.array, part.offset.terms, part.width)
            groups.setdefault(key, []).append(part)
    for parts in groups.values():
        parts.sort(key=lambda part: part.offset.constant)
        at = 0
        while at < len(parts):
            run = next(_starting(subject, values, segment, parts[at:]), None)
            if run is not None:
                yield run
            at += 1 if run is None else len(run.parts)


def _part(subject: Subject, values: Values, stmt: Scalar, at: int) -> Part | None:
    access = subject.kernel.accesses[stmt.access]
    offset = values.offset(stmt.address, stmt, through_casts=True)
    if offset is None or stmt.more or len(access.pieces) != 1:
        return None
    return Part(stmt, at, offset, access.pieces[0].width)


def _starting(
    subject: Subject, values: Values, segment: Sequence[Stmt], parts: Sequence[Part]
) -> Iterator[Run]:
    """The runs that can be made with the first of ``parts`` as their lowest."""
    first = parts[0]
    for size in WIDTHS:
        count = size // first.width
        chosen = parts[:count]
        start = first.offset.constant
        wanted = [start + first.width * i for i in range(count)]
        if count < 2 or [part.offset.constant for part in chosen] != wanted:
            continue
        run = Run(tuple(chosen))
        if _is_aligned(subject, values, first.offset, size) and _can_move(values, segment, run):
            yield run


def _is_aligned(subject: Subject, values: Values, offset: Offset, size: int) -> bool:
    """Whether the address is a multiple of ``size`` for every lane, block and value."""
    start = dict(subject.launch.offsets).get(offset.array, 0)
    if start is None:
        return False
    steps = (factor * values.divisor(term) for term, factor in offset.terms)
    align = subject.kernel.arrays[offset.array].align
    return gcd(align, start, offset.constant, *steps) % size == 0


def _can_move(values: Values, segment: Sequence[Stmt], run: Run) -> bool:
    """Whether all loads may happen at the first of them, all stores at the last."""
    first, last = min(p.at for p in run.parts), max(p.at for p in run.parts)
    between = segment[first : last + 1]
    for part in run.parts:
        if isinstance(part.stmt, Store):
            stored = mentioned(part.stmt.value).variables
            if any(_sets(stmt, stored) for stmt in segment[part.at : last]):
                return False
    addresses = frozenset().union(*(mentioned(p.stmt.address).variables for p in run.parts))
    if any(_sets(stmt, addresses) for stmt in between):
        return False
    return not any(_touches(values, stmt, run) for stmt in between)


def _sets(stmt: Stmt, names: frozenset[str]) -> bool:
    return any(name in names for name, _ in assignments(stmt))


def _touches(values: Values, stmt: Stmt, run: Run) -> bool:
    """Whether a statement may use the run's array in a way that forbids to move over it."""
    opposite = Store if run.is_load else Load | Store
    if not isinstance(stmt, opposite) or stmt.access in run.ids:
        return False
    offset = values.offset(stmt.address, stmt)
    return offset is None or offset.array == run.parts[0].offset.array


def merged(subject: Subject, run: Run, instead: str, what: str) -> Change:
    """The run as one access, ``instead`` of what there is; ``what`` it reads or writes."""
    lowest = run.parts[0].stmt
    accesses = list(subject.kernel.accesses)
    old = accesses[lowest.access]
    accesses[lowest.access] = replace(old, pieces=(Piece(0, run.bytes),))
    wide = _wide(run)
    stays = (min if run.is_load else max)(run.parts, key=lambda part: part.at).stmt
    gone = {id(part.stmt) for part in run.parts}

    def made(stmts: tuple[Stmt, ...]) -> list[Stmt]:
        return [wide if s is stays else s for s in stmts if s is stays or id(s) not in gone]

    kernel = replace(
        subject.kernel, accesses=tuple(accesses), body=with_bodies(subject.kernel.body, made)
    )
    count = len(run.parts)
    scalar = NAMES.get(old.element)
    vector = f"`{scalar}{count}`" if scalar and count <= 4 else f"{run.bytes}-byte access"
    return Change(
        "vector",
        run.parts[0].offset.array,
        f"one {vector} {instead}",
        f"{old.op} {what} as one {vector}",
        kernel,
        subject.launch,
        run.ids,
        together=run.ids,
    )


def _wide(run: Run) -> Scalar:
    """One statement for all of the run."""
    lowest = run.parts[0]
    rest = [(part.offset.constant - lowest.offset.constant, part.stmt) for part in run.parts[1:]]
    if isinstance(lowest.stmt, Load):
        loaded = tuple((at, stmt.var) for at, stmt in rest if isinstance(stmt, Load))
        return replace(lowest.stmt, more=loaded)
    stored = tuple((at, stmt.value) for at, stmt in rest if isinstance(stmt, Store))
    return replace(lowest.stmt, more=stored)
