"""``// coalescecheck: block(32,8) grid(64,64) N=1024 assume(N % 32 == 0)`` comments.

In: a file's text.  Out: :class:`Directive` records and diagnostics for what cannot be read.
A directive speaks of the first kernel that starts at or after its line (so it stands above a
kernel, below the kernel before it); several directives above one kernel are several launches.
Items are separated by blanks or commas; ``block=(32,8)`` and ``block=256`` are understood too.
``coalescecheck: ignore[...]`` comments are not launch configurations and are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from coalescecheck.arch import why_impossible
from coalescecheck.errors import UsageError
from coalescecheck.facts import parse_facts
from coalescecheck.frontend.cleaning import clean
from coalescecheck.frontend.constants import integer_literal
from coalescecheck.frontend.kernel_c import Directive
from coalescecheck.frontend.positions import FilePlaces
from coalescecheck.launch import Dim3
from coalescecheck.source import Diagnostic, Span

_MARK = "coalescecheck:"
_COMMENT = re.compile(
    r"(?://[ \t]*coalescecheck:(?P<line>[^\n]*))|(?:/\*[ \t]*coalescecheck:(?P<block>[^*]*)\*/)"
)
_ITEM = re.compile(
    r"[\s,]*(?:(?P<call>[A-Za-z_]\w*)\s*=?\s*\(|(?P<name>[^\W\d][\w.\[\]]*)\s*=\s*(?P<value>[^\s,]+))"
)


def find_directives(path: str, text: str) -> tuple[tuple[Directive, ...], tuple[Diagnostic, ...]]:
    """The directives of a file in the order of the text."""
    if _MARK not in text:
        return (), ()
    places = FilePlaces(path, text)
    code = clean(text).text
    directives: list[Directive] = []
    diagnostics: list[Diagnostic] = []
    for match in _COMMENT.finditer(text):
        body = match["line"] if match["line"] is not None else match["block"]
        in_comment = not code[match.start() : match.end()].strip()
        if not in_comment or body.lstrip().startswith("ignore"):
            continue
        span = places.span(match.start())
        read = _Reader(span)
        read.items(body)
        diagnostics += read.diagnostics
        if read.found_any:
            directives.append(read.directive())
    return tuple(directives), tuple(diagnostics)


@dataclass(slots=True)
class _Reader:
    """Collects the items of one directive."""

    span: Span
    block: Dim3 | None = None
    grid: Dim3 | None = None
    params: list[tuple[str, int]] = field(default_factory=list)
    assume: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def found_any(self) -> bool:
        return bool(self.block or self.grid or self.params or self.assume)

    def directive(self) -> Directive:
        return Directive(self.span, self.block, self.grid, tuple(self.params), tuple(self.assume))

    def items(self, body: str) -> None:
        at = 0
        while body[at:].strip(" \t,\n"):
            match = _ITEM.match(body, at)
            if match is None:
                self._complain(body[at:].strip())
                return
            if match["call"] is None:
                self._assign(match["name"], match["value"])
                at = match.end()
                continue
            end = _closing(body, match.end())
            if end is None:
                self._complain(body[at:].strip())
                return
            self._call(match["call"], body[match.end() : end].strip())
            at = end + 1

    def _call(self, name: str, inside: str) -> None:
        if name == "assume" and inside:
            self._fact(inside)
        elif name in ("block", "grid"):
            self._dimensions(name, inside)
        else:
            self._complain(f"{name}({inside})")

    def _assign(self, name: str, value: str) -> None:
        if name in ("block", "grid"):
            self._dimensions(name, value)
            return
        number = _integer(value)
        before = dict(self.params).get(name, number)
        if number is None:
            self._complain(f"{name}={value}")
        elif number != before:
            self._say(f"{name} is both {before} and {number}; another launch is another comment")
        else:
            self.params.append((name, number))

    def _fact(self, text: str) -> None:
        try:
            parse_facts([text])
        except UsageError:
            self._complain(f"assume({text})")
        else:
            self.assume.append(text)

    def _dimensions(self, name: str, inside: str) -> None:
        numbers = [_integer(part) for part in inside.split(",")]
        known = [n for n in numbers if n is not None and n > 0]
        if len(known) != len(numbers) or not 1 <= len(known) <= 3:
            self._complain(f"{name}({inside})")
            return
        sizes = Dim3(*known)
        before = self.block if name == "block" else self.grid
        why = why_impossible(**{name: sizes})
        if why:
            self._say(f"{name}({inside}): {why}")
        elif before not in (None, sizes):
            self._say(f"a second {name}({inside}); another launch is another comment")
        elif name == "block":
            self.block = sizes
        else:
            self.grid = sizes

    def _complain(self, item: str) -> None:
        self._say(f"`{item}` in a coalescecheck comment is not understood")

    def _say(self, message: str) -> None:
        self.diagnostics.append(Diagnostic(self.span, "warning", message))


def _integer(text: str) -> int | None:
    text = text.strip()
    negative = text.startswith("-")
    value = integer_literal(text[1:] if negative else text)
    if value is None:
        return None
    return -int(value.number) if negative else int(value.number)


def _closing(text: str, at: int) -> int | None:
    """Index of the parenthesis that closes the one before ``at``."""
    depth = 1
    for index in _parentheses(text, at):
        depth += 1 if text[index] == "(" else -1
        if depth == 0:
            return index
    return None


def _parentheses(text: str, at: int) -> Iterator[int]:
    return (i for i in range(at, len(text)) if text[i] in "()")
