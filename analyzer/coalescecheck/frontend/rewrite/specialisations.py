"""Which specialisation of a class template some arguments mean.

In: a class template and its arguments.  Out: the class.  Where arguments are not known it may hang
on an assumption on them, which the session keeps, or on what nobody can say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.frontend.rewrite import deduction, index, syntax, types
from coalescecheck.frontend.rewrite.constraints import Met
from coalescecheck.frontend.rewrite.env import Argument, Env, TypeBound, ValueBound
from coalescecheck.frontend.rewrite.ordering import more_special_arguments
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


_Asked = tuple[index.RecordEntry, Env, tuple[object, ...]]


class Specialisations:
    """Applies the class templates of one session."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._chosen: dict[_Asked, tuple[index.RecordEntry, dict[str, Argument]]] = {}

    def applied(
        self, entry: index.RecordEntry, nodes: Sequence[Node], home: Env, env: Env
    ) -> CType:
        """A class template applied to argument syntax; picks the best specialisation."""
        if entry.head is None:
            return self._s.records.instance(entry, {}, home)
        bound = self._s.typenames.arguments(entry.head, nodes, env, home)
        if bound is None:
            return self._s.unknown_type(entry.name, entry.node)
        return self.with_arguments(entry, bound, home)

    def with_arguments(
        self, entry: index.RecordEntry, bound: dict[str, Argument], home: Env
    ) -> CType:
        arguments = tuple(bound.values())
        if any(deduction.has_placeholder(a) for a in arguments):
            return types.Dependent(entry, arguments)
        parts = tuple(map(_told_apart, arguments))
        chosen = self._chosen.get((entry, home, parts)) if None not in parts else None
        if chosen is None:
            chosen = self._choice(entry, bound, home)
            if chosen is None:
                return self._s.undecided_type(entry.name, entry.node)
            if None not in parts:
                self._chosen[entry, home, parts] = chosen
        best, found = chosen
        if best is entry:
            return self._s.records.instance(entry, bound, home)
        return self._s.records.instance(best, found, home, (entry, arguments))

    def _choice(
        self, entry: index.RecordEntry, bound: dict[str, Argument], home: Env
    ) -> tuple[index.RecordEntry, dict[str, Argument]] | None:
        """The specialisation that is meant, or the template itself, with what its parameters are;
        None where that depends on what nobody knows."""
        arguments = tuple(bound.values())
        fitting: list[tuple[index.RecordEntry, dict[str, Argument], Met]] = []
        unlike: list[str | None] = []
        for other in entry.scope.entries.get(entry.name, ()):
            if isinstance(other, index.RecordEntry) and other.arguments is not None:
                nodes = syntax.operands(other.arguments)
                with self._s.substitution.attempt(0, 0) as attempt:
                    special = self.specialised(entry.head, other.head, nodes, arguments, home)
                if attempt.doubted:
                    return None
                if special is not None and not other.head:
                    return other, special
                if special is not None:
                    inner = Env(home, dict(special))
                    met = self._s.constraints.met(other, (other.head,), inner)
                    if met.holds is None:
                        return None
                    fitting += [(other, special, met)] if met.holds else []
                if special is None:
                    unlike += self._unlike(entry.head, other.head, nodes, arguments, home)
        if None in unlike:
            return None
        self._s.assumptions.update((text, None) for text in unlike if text is not None)
        if not fitting:
            return entry, bound
        best, special, asked = fitting[0]
        for other, found, met in fitting[1:]:
            ahead = self._more_special(entry, other, best, home)
            behind = self._more_special(entry, best, other, home)
            if ahead or (not behind and met.atoms > asked.atoms):
                best, special, asked = other, found, met
        return best, special

    def _unlike(
        self,
        template: index.Head,
        head: index.Head,
        nodes: Sequence[Node],
        arguments: tuple[Argument, ...],
        home: Env,
    ) -> list[str | None]:
        """What has to be assumed lest a specialisation that does not fit is meant: nothing, that a
        template value nobody gives is not the one it is for (``N != 1``), or None where there is
        no such assumption."""
        if not any(deduction.is_open(a) for a in arguments):
            return []
        env = Env(home, deduction.placeholders(head or ()))
        patterns = self._s.typenames.arguments(template or (), nodes, env, home)
        if patterns is None:
            return []
        pairs = list(zip(patterns.values(), arguments, strict=False))
        if not all(deduction.may_fit(p, a) for p, a in pairs):
            return []
        differ: list[str] = []
        for pattern, actual in pairs:
            if not deduction.is_open(actual) or deduction.has_placeholder(pattern):
                continue
            if not (isinstance(pattern, ValueBound) and isinstance(actual, ValueBound)):
                return [None]
            # of other expressions (`N / 2`) there may be one in every step of a recursion
            if pattern.value is None or not self._s.is_parameter(actual.text):
                return [None]
            differ.append(f"{actual.text} != {pattern.value.number}")
        return [" || ".join(differ) or None]

    def _more_special(
        self, entry: index.RecordEntry, a: index.RecordEntry, b: index.RecordEntry, home: Env
    ) -> bool:
        """Whether the specialisation ``a`` is for less than ``b``."""
        patterns = []
        for one in (a, b):
            env = Env(home, deduction.placeholders(one.head or ()))
            nodes = syntax.operands(one.arguments)
            bound = self._s.typenames.arguments(entry.head or (), nodes, env, home)
            patterns.append(list(bound.values()) if bound is not None else [])
        return more_special_arguments(*patterns)

    def specialised(
        self,
        template: index.Head,
        head: index.Head,
        nodes: Sequence[Node],
        arguments: tuple[Argument, ...],
        home: Env,
    ) -> dict[str, Argument] | None:
        """The arguments of a specialisation that fits; None if it does not.

        ``template`` is the head of what it specialises; ``nodes`` are the arguments it is for.
        """
        head = head or ()
        env = Env(home, deduction.placeholders(head))
        place = (nodes[0].start_byte, nodes[-1].end_byte) if nodes else (0, 0)
        with self._s.substitution.attempt(*place):
            patterns = self._s.typenames.arguments(template or (), nodes, env, home)
        if patterns is None:
            return None
        found: dict[str, Argument] = {}
        late: list[int] = []
        pairs = list(zip(patterns.values(), arguments, strict=False))
        for number, (pattern, actual) in enumerate(pairs):
            if head and number < len(nodes) and not deduction.has_placeholder(pattern):
                late.append(number)  # it may depend on what the others give
            elif not deduction.unify_argument(pattern, actual, found, exact=True):
                return None
        names = [p.name for p in head]
        if not all(n in found for n in names):
            return None
        if late:
            inner = Env(home, dict(found))
            with self._s.substitution.attempt(*place) as attempt:
                known = self._s.typenames.arguments(template or (), nodes, inner, home)
            if attempt.doubted:
                self._s.substitution.doubt()
            if attempt.failed:
                return None
            values = list(known.values()) if known is not None else []
            if any(n >= len(values) or values[n] != pairs[n][1] for n in late):
                return None
        return {n: found[n] for n in names}


def _told_apart(argument: Argument) -> object | None:
    """What differs wherever a specialisation may; None for what takes longer to say than to match:
    types that are equal may still refer to lvalues or rvalues."""
    match argument:
        case TypeBound(types.Scalar() | types.Record() as type_):
            return type_
        case ValueBound(text, type_, value) if value is not None:
            return text, type_, value
        case _:
            return None
