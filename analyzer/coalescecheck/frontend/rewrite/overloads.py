"""Which function a call means: template deduction and overload ranking.

In: candidate entries and the arguments' types.  Out: the choice with its template arguments.
It must not emit anything.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeGuard

from tree_sitter import Node

from coalescecheck.frontend.rewrite import (
    deduction,
    index,
    syntax,
    traits,
    types,
    unread,
)
from coalescecheck.frontend.rewrite.constraints import Met
from coalescecheck.frontend.rewrite.conversion_ranks import (
    OF_INTEGER,
    OF_ZERO,
    binding_cost,
    receiver_cost,
)
from coalescecheck.frontend.rewrite.env import (
    Argument,
    Env,
    Found,
    Local,
    PackBound,
    TypeBound,
    ValueBound,
)
from coalescecheck.frontend.rewrite.index import FunctionEntry
from coalescecheck.frontend.rewrite.ordering import more_special
from coalescecheck.frontend.rewrite.parameters import (
    can_be_given,
    is_pack,
    mention,
    parameter_nodes,
)
from coalescecheck.frontend.rewrite.substitution import signature
from coalescecheck.frontend.rewrite.types import CType

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


@dataclass(frozen=True, slots=True)
class Choice:
    """A function with everything its instantiation needs.

    ``env`` holds the template arguments; ``found`` says in which class or namespace it is.
    ``cost`` is compared from its begin: the conversions, whether it is a template and has a
    pack, then what only tells declarations of one function apart.  ``tied``: another is as good.
    """

    entry: FunctionEntry
    found: Found
    bound: dict[str, Argument]
    env: Env
    cost: tuple[float, ...]
    tied: bool = False
    met: Met = field(default_factory=Met)


_POINTER_PACK = re.compile(r"\*(?:\s|const\b|__restrict(?:__)?(?!\w))*\.\.\.")  # see `repair`
_DEFAULT = re.compile(rb"=\w+(?=[,>)])")
_PLAIN = ("primitive_type", "sized_type_specifier", "placeholder_type_specifier")
_VALUES = ("number_literal", "true", "false", "char_literal", "binary_expression",
           "unary_expression", "sizeof_expression")  # fmt: skip
_ELLIPSIS = 40.0  # an argument for C's `...`: after all that C++ converts
_FAILED = 2000.0  # what is not understood in a signature is substitution failure elsewhere
_QUALIFIERS = 0.2  # costs beneath are of qualifiers only


class Overloads:
    """Resolves calls among user-defined functions."""

    def __init__(self, session: Session) -> None:
        self._s = session

    def choose(
        self,
        candidates: Sequence[tuple[FunctionEntry, Found]],
        arguments: Sequence[CType],
        explicit: Sequence[Node],
        env: Env,
        receiver: CType | None = None,
        zeros: Collection[int] = (),
    ) -> Choice | None:
        """The best viable candidate; None if none can be called, or if it takes types or values
        that are not known to tell which.

        An argument that is an object and no value comes as a reference to its type;
        ``receiver`` is the type of the object that a method is called on, ``zeros`` are the places
        of arguments that are a literal 0.
        """
        best: Choice | None = None
        viable: list[Choice] = []
        rivals: list[Choice] = []
        for entry, found in candidates:
            if entry.arguments is not None or entry.node.type == "template_instantiation":
                continue
            choice = self._viable(entry, found, arguments, explicit, env)
            record = found.record
            method = record is not None and not self._s.methods.is_static(entry, record)
            if choice is not None and receiver is not None and method:
                fit, *rest = choice.cost
                cost = (fit + receiver_cost(entry, receiver), *rest)
                choice = replace(choice, cost=cost)
            if choice is None:
                continue
            if zeros:
                choice = self._with_null_pointers(choice, zeros)
            viable.append(choice)
            if best is None or self._better(choice, best, arguments):
                best = choice
            elif not self._better(best, choice, arguments):
                rivals.append(choice)
        if best is None or self._undecided(best, viable, arguments):
            return None
        unsure = [c for c in viable if c.met.holds is None and c.cost[0] <= best.cost[0]]
        if unsure and any(_other(a, b) for a in unsure for b in (best, *viable)):
            return None
        tied = any(abs(r.cost[0] - best.cost[0]) < 1e-9 and _rival(r, best) for r in rivals)
        chosen = self._specialised(best, candidates)
        return replace(chosen, tied=True) if chosen is not None and tied else chosen

    def _with_null_pointers(self, choice: Choice, zeros: Collection[int]) -> Choice:
        """``choice`` with what it costs to make pointers of each literal 0."""
        wanted = self._wanted(choice)
        made = sum(isinstance(wanted.get(place), types.Pointer) for place in zeros)
        fit, *rest = choice.cost
        return replace(choice, cost=(fit - made * (OF_INTEGER - OF_ZERO), *rest))

    def tell_of_tie(self, choice: Choice, node: Node) -> None:
        """In C++ one candidate is the best: where none is, something is not understood."""
        if choice.tied:
            message = f"which of several `{choice.entry.name}` is called is not known"
            self._s.say(node, "warning", message, hides=True)

    def _undecided(
        self, best: Choice, viable: Sequence[Choice], arguments: Sequence[CType]
    ) -> bool:
        """Whether another function may be meant, by what the open types among the arguments are."""
        places = [i for i, a in enumerate(arguments) if deduction.is_open(a)]
        if not places:
            return False
        known = [(i, a) for i, a in enumerate(arguments) if i not in places]
        own = self._wanted(best)
        for other in viable:
            theirs = self._wanted(other)
            differ = any(own.get(i) != theirs.get(i) for i in places)
            if differ and self._fits(theirs, known) <= self._fits(own, known):
                return True
        return False

    def _wanted(self, choice: Choice) -> dict[int, CType]:
        nodes = parameter_nodes(choice.entry)
        return {
            i: _plain(self.parameter_type(n, choice.env))
            for i, n in enumerate(nodes)
            if not is_pack(n)
        }

    def _fits(self, wanted: dict[int, CType], arguments: Sequence[tuple[int, CType]]) -> float:
        costs = [self._s.ranks.cost(wanted[i], a) for i, a in arguments if i in wanted]
        return sum(cost for cost in costs if cost is not None)

    def _better(self, a: Choice, b: Choice, arguments: Sequence[CType]) -> bool:
        """Whether ``a`` is called rather than ``b``."""
        count = len(arguments)
        ahead = a.cost[0] - b.cost[0]
        if 1e-9 < abs(ahead) < _QUALIFIERS:
            ahead -= self._incomparable(a, b, arguments)
        if abs(ahead) > 1e-9:
            return ahead < 0
        if a.cost[1] and b.cost[1]:
            here, there = self._patterns(a, count), self._patterns(b, count)
            if more_special(here, there) or more_special(there, here):
                return more_special(here, there)
            if a.met.atoms < b.met.atoms or b.met.atoms < a.met.atoms:
                return b.met.atoms < a.met.atoms
        return a.cost[1:] < b.cost[1:]

    def _incomparable(self, a: Choice, b: Choice, arguments: Sequence[CType]) -> float:
        """What the qualifiers of references count for where the other function takes a value:
        C++ compares them between references only."""
        total = 0.0
        nodes = zip(parameter_nodes(a.entry), parameter_nodes(b.entry), arguments, strict=False)
        for here, there, actual in nodes:
            if is_pack(here) or is_pack(there):
                break
            types_ = [self.parameter_type(n, c.env) for n, c in ((here, a), (there, b))]
            costs = [binding_cost(t, actual) if _is_reference(t) else None for t in types_]
            if (costs[0] is None) != (costs[1] is None):
                total += (costs[0] or 0.0) - (costs[1] or 0.0)
        return total if abs(total) < _QUALIFIERS else 0.0

    def _patterns(self, choice: Choice, count: int) -> list[CType | None]:
        """The parameter types of a template with placeholders; None for a pack."""
        home = self._home(choice.entry, choice.found)
        head = self._head_for(choice.entry, home)
        holes = Env(home, dict(deduction.placeholders(head)))
        nodes = parameter_nodes(choice.entry)[:count]
        return [None if is_pack(n) else self.parameter_type(n, holes) for n in nodes]

    def _specialised(
        self, choice: Choice, candidates: Sequence[tuple[FunctionEntry, Found]]
    ) -> Choice | None:
        """An explicit specialisation for exactly these arguments, if there is one; None if there
        may be one."""
        if choice.entry.head is None:
            return choice
        open_ = False
        for entry, found in candidates:
            if entry.arguments is None or entry.node.type == "template_instantiation":
                continue
            nodes = syntax.operands(entry.arguments)
            bound = self._s.typenames.arguments(
                choice.entry.head[: len(nodes)], nodes, found.env, found.env
            )
            given = [(a, choice.bound.get(n)) for n, a in (bound or {}).items()]
            if bound is not None and all(a == b for a, b in given):
                return Choice(entry, found, {}, Env(found.env), choice.cost)
            open_ |= bool(given) and all(a == b or deduction.is_open(b) for a, b in given)
        return None if open_ else choice

    def _viable(
        self,
        entry: FunctionEntry,
        found: Found,
        arguments: Sequence[CType],
        explicit: Sequence[Node],
        env: Env,
    ) -> Choice | None:
        parameters = parameter_nodes(entry)
        if not can_be_given(parameters, len(arguments)):
            return None
        if explicit and not entry.head:
            return None
        if not entry.heads:
            return self._substituted(entry, found, parameters, arguments, explicit, env)
        with self._s.substitution.attempt(*signature(entry)) as attempt:
            choice = self._substituted(entry, found, parameters, arguments, explicit, env)
        if choice is not None and attempt.doubted:
            return replace(choice, met=Met(None, choice.met.atoms))
        if choice is not None and attempt.failed:
            return replace(choice, cost=(choice.cost[0] + _FAILED, *choice.cost[1:]))
        return choice

    def _substituted(
        self,
        entry: FunctionEntry,
        found: Found,
        parameters: Sequence[Node],
        arguments: Sequence[CType],
        explicit: Sequence[Node],
        env: Env,
    ) -> Choice | None:
        """A candidate with its template arguments; None if it cannot be called."""
        home = self._home(entry, found)
        bound = self.deduce(entry, home, parameters, arguments, explicit, env)
        if bound is None:
            return None
        inner = Env(home, dict(bound), limit=entry.node.end_byte if home.limit is None else None)
        head = self._head_for(entry, home)
        cost = self._cost(entry, parameters, arguments, inner, is_template=bool(head))
        if cost is None:
            return None
        given = list(zip(parameters, arguments, strict=False))
        met = self._s.constraints.met(entry, (tuple(head),), inner, given)
        return None if met.holds is False else Choice(entry, found, bound, inner, cost, met=met)

    def _home(self, entry: FunctionEntry, found: Found) -> Env:
        """The environment around a function; an outer class head may use other names."""
        record = found.record
        if entry.owner is None or record is None or (len(entry.heads) < 2 and not entry.heads):
            return found.env
        source = self._s.records.source(record)
        outer = entry.heads[0] if entry.heads else None
        if source is None or not outer or not source.arguments:
            return found.env
        if source.entry.arguments is not None and entry.owner.type == "template_type":
            written = syntax.operands(entry.owner.child_by_field_name("arguments"))
            around = self._s.names.scope_env(entry.scope)
            head = source.template.head
            special = self._s.specialisations.specialised(
                head, outer, written, source.arguments, around
            )
            return Env(found.env, dict(special)) if special is not None else found.env
        names = [p.name for p in outer]
        return Env(found.env, dict(zip(names, source.arguments, strict=False)))

    def own_head(self, entry: FunctionEntry, found: Found) -> index.Head:
        """The template head that belongs to the function itself, not to its class."""
        if entry.owner is not None and found.record is not None:
            source = self._s.records.source(found.record)
            if source is not None and source.entry.head is not None:
                return entry.heads[1] if len(entry.heads) > 1 else None
        return entry.head

    def deduce(
        self,
        entry: FunctionEntry,
        home: Env,
        parameters: Sequence[Node],
        arguments: Sequence[CType | None],
        explicit: Sequence[Node],
        env: Env,
    ) -> dict[str, Argument] | None:
        """All template arguments: given, deduced, defaults; None if one is missing."""
        head = self._head_for(entry, home)
        if not head:
            return {}
        return self.deduce_head(head, home, parameters, arguments, explicit, env)

    def deduce_head(
        self,
        head: Sequence[index.TemplateParameter],
        home: Env,
        parameters: Sequence[Node],
        arguments: Sequence[CType | None],
        explicit: Sequence[Node],
        env: Env,
    ) -> dict[str, Argument] | None:
        """As :meth:`deduce`, for the parameters of one head."""
        found: dict[str, Argument] = {}
        if not self._take_explicit(head, explicit, env, home, found):
            return None
        holes = Env(home, {**deduction.placeholders(head), **found})
        packs = [p for p in head if p.pack]
        if not self._unify_all(parameters, arguments, holes, found, packs):
            return None
        if any(p.name not in found and mention(parameters, p.name) for p in packs):
            return None  # `std::integer_sequence<int, I...>`: the pack is not empty, but not known
        return self.with_defaults(head, found, home)

    def _take_explicit(
        self,
        head: Sequence[index.TemplateParameter],
        explicit: Sequence[Node],
        env: Env,
        home: Env,
        found: dict[str, Argument],
    ) -> bool:
        """Enters the arguments that are given, a pack takes all that are left; whether they fit."""
        given = self._s.typenames.expanded(explicit, env)
        for parameter in head:
            if not given:
                break
            taken = given if parameter.pack else given[:1]
            given = given[len(taken) :]
            items: list[Argument] = []
            for item, of_env in taken:
                if isinstance(item, Node) and not self._is_of_kind(item, parameter.kind, of_env):
                    return False
                inner = Env(home, dict(found))
                items.append(self._s.typenames.given(parameter, item, of_env, inner))
            found[parameter.name] = PackBound(tuple(items)) if parameter.pack else items[0]
        return not given

    def _is_of_kind(self, node: Node, kind: str, env: Env) -> bool:
        """Whether a template argument may be for a parameter that is a value, or none."""
        inner = node
        if node.type == "type_descriptor":
            if node.child_by_field_name("declarator") is not None:
                return kind != "value"
            inner = node.child_by_field_name("type") or node
        if inner.type in _VALUES:
            return kind == "value"
        if inner.type in ("primitive_type", "sized_type_specifier"):
            return kind != "value"
        if inner.type in ("identifier", "type_identifier"):
            found = self._s.names.find(env, syntax.text(inner))
            if found is not None and isinstance(found.binding, TypeBound):
                return kind != "value"
            if found is not None and isinstance(found.binding, ValueBound | Local):
                return kind == "value"
        return True

    def _head_for(self, entry: FunctionEntry, home: Env) -> Sequence[index.TemplateParameter]:
        if entry.owner is not None and home.record is None and home.parent is not None:
            record = home.parent.record
        else:
            record = home.record
        if record is not None:
            return self.own_head(entry, Found(home, record=record)) or ()
        return entry.head or ()

    def _unify_all(
        self,
        parameters: Sequence[Node],
        arguments: Sequence[CType | None],
        holes: Env,
        found: dict[str, Argument],
        packs: Sequence[index.TemplateParameter],
    ) -> bool:
        for number, parameter in enumerate(parameters):
            if is_pack(parameter):
                rest = [a for a in arguments[number:] if a is not None]
                for pack in packs:
                    known = found.get(pack.name)
                    items = known.items if isinstance(known, PackBound) else ()
                    if len(items) < len(rest) and mention([parameter], pack.name):
                        more = self._elements(parameter, rest[len(items) :], holes, pack.name)
                        found[pack.name] = PackBound((*items, *more.items))
                    elif known is None and mention([parameter], pack.name):
                        found[pack.name] = PackBound(())
                return True
            if number >= len(arguments):
                break
            pattern = self.parameter_type(parameter, holes)
            actual = arguments[number]
            if actual is None or not deduction.has_placeholder(pattern):
                continue
            if not isinstance(pattern, types.Reference):
                actual = types.decayed(actual)
            if not deduction.unify(pattern, actual, found):
                return False
        return True

    def _elements(
        self, parameter: Node, actuals: Sequence[CType], holes: Env, pack: str
    ) -> PackBound:
        """What the elements of a pack are for ``P &...`` or ``P *...``."""
        hole = types.Placeholder(pack)
        pattern = self.parameter_type(parameter, holes.child({pack: TypeBound(hole)}))
        items = []
        for actual in actuals:
            one: dict[str, Argument] = {}
            reference = isinstance(pattern, types.Reference)
            fits = deduction.unify(pattern, actual if reference else types.decayed(actual), one)
            items.append(one.get(pack) if fits else None)
        return PackBound(
            tuple(i or TypeBound(types.decayed(a)) for i, a in zip(items, actuals, strict=True))
        )

    def with_defaults(
        self, head: Sequence[index.TemplateParameter], found: dict[str, Argument], home: Env
    ) -> dict[str, Argument] | None:
        """Template arguments that were found, and the defaults of the others."""
        out: dict[str, Argument] = {}
        inner = Env(home, {})
        for number, parameter in enumerate(head):
            name = parameter.name or f"unnamed__{number}"
            if name in found:
                out[name] = found[name]
            elif parameter.default is not None:
                out[name] = self._s.typenames.argument(parameter, parameter.default, inner, inner)
            elif parameter.pack:
                out[name] = PackBound(())
            elif not parameter.name:
                continue
            else:
                return None
            if out[name] == TypeBound(traits.NO_TYPE) or self._is_excluded(parameter, inner):
                return None
            inner.names[name] = out[name]
        return out

    def _is_excluded(self, parameter: index.TemplateParameter, env: Env) -> bool:
        """Whether a value has a type that there is not: ``enable_if_t<false, int> = 0``."""
        node = parameter.declaration
        type_ = node.child_by_field_name("type") if node is not None else None
        if type_ is None or type_.type in _PLAIN:
            return False
        return self._s.typenames.type(type_, env) == traits.NO_TYPE

    def parameter_type(self, parameter: Node, env: Env) -> CType:
        """The declared type of a parameter; arrays are pointers, functions too."""
        declarator = parameter.child_by_field_name("declarator")
        type_ = self._s.typenames.declared(parameter, declarator, env)
        if is_pack(parameter) and _POINTER_PACK.search(self._s.original(parameter)):
            type_ = types.Pointer(type_)
        lost = syntax.child(parameter, "ERROR")  # `int * = 0`: the grammar wants a name there
        if lost is not None and not syntax.text(lost).strip("* "):
            for _ in range(syntax.text(lost).count("*")):
                type_ = types.Pointer(type_)
        elif lost is not None and not unread.only_specifiers(lost):
            return types.UNKNOWN
        if isinstance(type_, types.Array | types.FunctionType):
            return types.decayed(type_)
        return type_

    @staticmethod
    def takes(entry: FunctionEntry, count: int) -> bool:
        """Whether a function can be called with so many arguments."""
        return can_be_given(parameter_nodes(entry), count)

    def first_parameter(self, entry: FunctionEntry, env: Env) -> CType:
        """The type of a function's first parameter; unknown for a pack."""
        node = next(iter(parameter_nodes(entry)), None)
        if node is None or is_pack(node):
            return types.UNKNOWN
        return self.parameter_type(node, env)

    def _cost(
        self,
        entry: FunctionEntry,
        parameters: Sequence[Node],
        arguments: Sequence[CType],
        env: Env,
        *,
        is_template: bool,
    ) -> tuple[float, ...] | None:
        """How badly the arguments fit; None if they do not."""
        total, place = 0.0, float(entry.body is None)
        if syntax.has_word(entry.node, "__host__") and not syntax.has_word(
            entry.node, "__device__"
        ):
            place += 2.0
        if is_template and self._lacks_result(entry, env):
            return None
        for parameter, actual in zip(parameters, arguments, strict=False):
            if parameter.type == "...":
                total += _ELLIPSIS
                break
            if is_pack(parameter):
                break
            wanted = self.parameter_type(parameter, env)
            step = self._s.ranks.cost(wanted, actual)
            if step is None:
                return None
            total += step
        if is_template and any(
            _is_no_type(self.parameter_type(p, env))
            for p in parameters
            if not is_pack(p) and b"enable_if" in (p.text or b"")
        ):
            return None
        packs = any(is_pack(p) for p in parameters)  # one without is the more special
        return total, float(is_template), float(packs), place

    def _lacks_result(self, entry: FunctionEntry, env: Env) -> bool:
        """Whether the result has a type that there is not."""
        result = entry.node.child_by_field_name("type")
        trailing = syntax.child(entry.declarator, "trailing_return_type")
        if trailing is None and (result is None or result.type in _PLAIN):
            return False
        return _is_no_type(self._s.functions.tried_result(entry, env))


def _plain(type_: CType) -> CType:
    """The type without references and all qualifiers, which no template argument decides on."""
    type_ = types.strip(type_)
    if isinstance(type_, types.Pointer):
        return types.Pointer(_plain(type_.target))
    return type_


def _is_reference(type_: CType) -> TypeGuard[types.Reference]:
    return isinstance(type_, types.Reference)


def _is_no_type(type_: CType) -> bool:
    while isinstance(type_, types.Pointer | types.Reference):
        type_ = type_.target
    return type_ == traits.NO_TYPE


def _rival(a: Choice, b: Choice) -> bool:
    """Whether two candidates are different functions, and no declarations of one."""
    here, there = (
        ["".join(syntax.text(n).split()) for n in parameter_nodes(c.entry)] for c in (a, b)
    )
    return here != there and a.entry.scope is b.entry.scope


def _other(a: Choice, b: Choice) -> bool:
    """Whether two candidates are different functions, and no declarations of one."""
    return _declared(a.entry) != _declared(b.entry)


def _declared(entry: FunctionEntry) -> bytes:
    """A function's template heads and declaration, without blanks and simple defaults, which one
    declaration has."""
    whole = entry.node
    start, end = signature(entry)
    while whole.start_byte > start and whole.parent is not None:
        whole = whole.parent
    return _DEFAULT.sub(b"", b"".join((whole.text or b"")[: end - start].split()).rstrip(b";"))
