"""The pieces of C++ of ``cpp_pieces.txt``, put into a random program.

``$Name`` is a name of its own per program (in a use that no declaration names: per use), ``⟦a¦b⟧``
one of several, ``⟦1..9⟧`` a number, ``$cast`` an integer type, ``$e`` an int expression, ``$0`` a
short one, ``$c`` a condition; ``$e(i j)``, ``$c(i j)`` and ``$body(i j)`` may name i and j only.
``$L`` is the number of a marked loop, ``@`` begins a line.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

CASTS = ("unsigned char", "signed char", "short", "unsigned short", "long", "unsigned", "char")
_CHOICE = re.compile("⟦([^⟦⟧]*)⟧")
_NUMBER = re.compile(r"(\d+)\.\.(\d+)")
_SIGN = re.compile(r"\$(e|c|body)\(([^()]*)\)|\$(\w+)")
_USE = re.compile(r"(int|place|do|let|some)(?:\(([\w ]*)\))?: (.*)")


class Source(Protocol):
    """What a piece takes from the program around it."""

    rng: random.Random

    def fresh(self, prefix: str) -> str: ...
    def loop(self) -> str: ...
    def value(self, names: list[str], depth: int) -> str: ...
    def test(self, names: list[str]) -> str: ...
    def block(self, names: list[str]) -> str: ...


@dataclass(frozen=True)
class Piece:
    """A piece as it stands in the file."""

    name: str
    lines: tuple[str, ...]


@dataclass
class Instance:
    """A piece in one program: its declarations, and texts of its uses by their kind."""

    declared: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    uses: dict[str, list[tuple[list[str], str]]] = field(
        default_factory=lambda: {"int": [], "place": [], "do": []}
    )

    def use(self, kind: str, source: Source, given: list[str]) -> tuple[list[str], list[str]]:
        """The lines of a random use of one kind, and the names it leaves to the program."""
        left, text = source.rng.choice(self.uses[kind])
        names = dict(self.names)
        lines = _filled(text, source, names, given).split(" @ ")
        return lines, [names[name] for name in left]


def pieces() -> list[Piece]:
    """All pieces of the file."""
    text = Path(__file__).with_name("cpp_pieces.txt").read_text(encoding="utf-8")
    blocks = (block.splitlines() for block in text.split("//--- ")[1:])
    return [Piece(block[0], tuple(block[1:])) for block in blocks]


def instance(piece: Piece, source: Source) -> Instance:
    """A piece with its random parts settled."""
    made = Instance()
    for line in piece.lines:
        use = _USE.fullmatch(line)
        if use is None:
            made.declared += _filled(line, source, made.names, []).split("\n")
        elif use[1] == "let":
            name, _, choice = use[3].partition(" = ")
            made.names[name] = _filled(choice, source, made.names, [])
        elif use[1] == "some":
            kinds = source.rng.sample(use[3].split("¦"), source.rng.choice([2, 3, 4]))
            for number, kind in enumerate(kinds):
                head = _filled(kind, source, made.names, [])
                made.declared.append(f"{head} {{ return {number * 7 + 3}; }}")
        else:
            made.uses[use[1]].append(((use[2] or "").split(), use[3]))
    return made


def _filled(text: str, source: Source, names: dict[str, str], given: list[str]) -> str:
    """``text`` without signs: new names enter ``names``, ``given`` are the ints in sight."""
    while choice := _CHOICE.search(text):
        number = _NUMBER.fullmatch(choice[1])
        if number:
            chosen = str(source.rng.randint(int(number[1]), int(number[2])))
        else:
            chosen = source.rng.choice(choice[1].split("¦"))
        text = text[: choice.start()] + chosen + text[choice.end() :]
    loop = source.loop() if "$L" in text else ""

    def sign(match: re.Match[str]) -> str:
        kind, listed, word = match.groups()
        of = listed.split() if kind else given
        if kind == "body":
            return source.block(of)
        if kind == "c" or word == "c":
            return source.test(of)
        if kind == "e" or word in ("e", "0"):
            return source.value(of, 0 if word == "0" else 1)
        if word in ("cast", "L"):
            return loop if word == "L" else source.rng.choice(CASTS)
        if word not in names:
            names[word] = source.fresh(f"{word}_")
        return names[word]

    return _SIGN.sub(sign, text)
