"""Template arguments that follow from the types of call arguments, as far as text tells them.

In: a function's parameter declarations and the types passed.  Out: source text by template
parameter.  Classes are compared by the last part of their name.  It must not know declarations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from coalescecheck.frontend.host.scopes import node_text

POINTERS = ("pointer_declarator", "array_declarator", "abstract_pointer_declarator")
WORD = re.compile(r"(?<![\w:])[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """``base`` as written, behind ``depth`` pointers."""

    base: str
    depth: int

    @property
    def text(self) -> str:
        return self.base + " *" * self.depth


def parsed(text: str) -> ArgumentType:
    """``const float *`` as a type: qualifiers of no weight dropped, pointers counted."""
    words = " ".join(text.replace("&", " ").split())
    depth = 0
    while words.endswith(("*", " const", " __restrict__")):
        depth += words.endswith("*")
        words = words.removesuffix("*").removesuffix(" const").removesuffix(" __restrict__")
        words = words.rstrip()
    for word in ("const ", "typename ", "struct ", "class ", "volatile "):
        words = words.removeprefix(word)
    return ArgumentType(words.removesuffix(" const"), depth)


def declared_type(parameter: Node) -> ArgumentType:
    """The type of a parameter declaration; references do not count."""
    declarator = parameter.child_by_field_name("declarator")
    depth = 0
    while declarator is not None and not declarator.type.endswith("identifier"):
        depth += declarator.type in POINTERS
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type.endswith("reference_declarator"):
            inner = next(iter(declarator.named_children), None)
        declarator = inner
    base = " ".join(node_text(parameter.child_by_field_name("type")).split())
    return ArgumentType(base, depth)


def deduce(
    parameters: Sequence[Node], types: Sequence[ArgumentType | None], wanted: Collection[str]
) -> dict[str, str]:
    """What the types of the arguments say about the ``wanted`` names, where they agree."""
    found: dict[str, set[str]] = {}
    for parameter, actual in zip(parameters, types, strict=False):
        if actual is not None:
            _unify(declared_type(parameter), actual, wanted, found)
    return {name: texts.pop() for name, texts in found.items() if len(texts) == 1}


def substituted(text: str, bound: Mapping[str, str | None]) -> str | None:
    """``text`` with the bound names replaced; None if one of them is not known."""
    used = set(WORD.findall(text)) & bound.keys()
    if any(bound[name] is None for name in used):
        return None
    return WORD.sub(lambda match: bound.get(match[0]) or match[0], text) if used else text


def class_and_arguments(text: str) -> tuple[str, list[str]]:
    """``ns::box<int, 3>`` as ``box`` and its arguments; no arguments for other types."""
    name, bracket, rest = text.partition("<")
    if not bracket or not rest.rstrip().endswith(">"):
        return text, []
    return name.rsplit("::", 1)[-1].strip(), split(rest.rstrip()[:-1])


def split(text: str) -> list[str]:
    """Text split at the commas that are outside of brackets, without blanks around."""
    out, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            out.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*out, last] if last else out


def _unify(
    pattern: ArgumentType,
    actual: ArgumentType,
    wanted: Collection[str],
    found: dict[str, set[str]],
) -> None:
    if actual.depth < pattern.depth:
        return
    if pattern.base in wanted:
        rest = ArgumentType(actual.base, actual.depth - pattern.depth)
        found.setdefault(pattern.base, set()).add(rest.text)
        return
    if actual.depth != pattern.depth:
        return
    name, inner = class_and_arguments(pattern.base)
    actual_name, actual_inner = class_and_arguments(actual.base)
    if inner and name == actual_name:
        for one, other in zip(inner, actual_inner, strict=False):
            _unify(parsed(one), parsed(other), wanted, found)
