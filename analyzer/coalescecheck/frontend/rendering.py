"""Expanded tokens as text with their places.

In: tokens after macro expansion.  Out: pieces of output.  A token that no macro touched is
copied from its place; a run of tokens that a macro produced maps to the macro's use.
``_Pragma("x")`` becomes a ``#pragma x`` line.  It must not know directives or files.
"""

from __future__ import annotations

from collections.abc import Sequence

from coalescecheck.frontend.positions import FilePlaces, OutputBuilder
from coalescecheck.frontend.tokens import BLANK, IDENTIFIER, Token

_WORD = frozenset("_$'\".")
_PRAGMAS = frozenset({"_Pragma", "__pragma"})


def render(tokens: Sequence[Token], files: Sequence[FilePlaces], output: OutputBuilder) -> None:
    """Append ``tokens`` to ``output``."""
    previous: Token | None = None
    at = 0
    bodies = _bodies(tokens)
    while at < len(tokens):
        token = tokens[at]
        after = _pragma_end(tokens, at) if token.value in _PRAGMAS else 0
        if after:
            _write(token, bodies[at], files, output, _pragma_text(tokens[at:after], output))
            previous = None
            at = after
            continue
        if previous is not None and _would_glue(previous, token):
            output.space()
        _write(token, bodies[at], files, output, _text(token, files))
        if token.value:
            previous = token
        at += 1


def _write(
    token: Token,
    body: tuple[int, int] | None,
    files: Sequence[FilePlaces],
    output: OutputBuilder,
    text: str,
) -> None:
    places = files[token.source]
    if not text:
        return
    if token.expanded_from:
        there = None if body is None else (files[body[0]], body[1])
        output.expansion(places, token.lineno, token.expanded_from[-1], text, there)
    else:
        output.copy(places, token.lexpos, text)


def _bodies(tokens: Sequence[Token]) -> list[tuple[int, int] | None]:
    """The place of each token in a macro's body; of an argument, which may stand at several, that
    of what follows it there."""
    bodies: list[tuple[int, int] | None] = []
    near: Token | None = None
    for token in reversed(tokens):
        body = _body(token)
        if body is not None or (near is not None and near.lineno != token.lineno):
            near = token
        bodies.append(_body(near) if near is not None and token.expanded_from else None)
    return bodies[::-1]


def _body(token: Token) -> tuple[int, int] | None:
    found: tuple[int, int] | None = getattr(token, "body", None)  # pcpp's own tokens have none
    return found


def _text(token: Token, files: Sequence[FilePlaces]) -> str:
    if token.type == IDENTIFIER and token.value == "__LINE__":
        return str(files[token.source].line(token.lineno))
    if token.type == BLANK and token.expanded_from:
        return " "
    return str(token.value).replace("\v", " ")


def _would_glue(left: Token, right: Token) -> bool:
    """Whether two tokens that were not neighbours in a file would read as another token."""
    if right.type == BLANK or left.type == BLANK or not right.value:
        return False
    if left.value == "[" and right.value[0] == ":":
        return True  # the grammar takes `[:` of `a[::f()]` for one token
    if right.lexpos == left.lexpos + len(left.value):
        return False  # neighbours as written, such as the parts of <<<
    a, b = left.value[-1], right.value[0]
    if _is_word(a) and _is_word(b):
        return True
    return not _is_word(a) and not _is_word(b) and a not in "()[]{};,?~" and b not in "()[]{};,?~"


def _is_word(character: str) -> bool:
    return character.isalnum() or character in _WORD


def _pragma_end(tokens: Sequence[Token], at: int) -> int:
    """Index after a ``_Pragma("...")`` or ``__pragma(...)`` that starts at ``at``, else 0."""
    if tokens[at].type != IDENTIFIER:
        return 0
    depth = 0
    for index in range(at + 1, min(len(tokens), at + 200)):
        value = tokens[index].value
        if value == "(":
            depth += 1
        elif value == ")":
            depth -= 1
            if depth == 0:
                return index + 1
        elif depth == 0 and tokens[index].type != BLANK:
            return 0
    return 0


def _pragma_text(tokens: Sequence[Token], output: OutputBuilder) -> str:
    inside = "".join(str(t.value) for t in tokens[1:]).strip()[1:-1].strip()
    if tokens[0].value == "_Pragma" and '"' in inside:
        body = inside[inside.find('"') + 1 : inside.rfind('"')]
        inside = body.replace('\\"', '"').replace("\\\\", "\\")
    start = "" if output.ends_line() else "\n"
    return f"{start}#pragma {' '.join(inside.split())}\n"
