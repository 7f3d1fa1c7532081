"""Structs, classes and unions: instances of class templates, layouts, members.

In: record entries with template arguments.  Out: :class:`types.Record` with its fields, and
what a member name means in one.  It must not know about expressions or statements.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from tree_sitter import Node

from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.rewrite import index, outside, syntax, types
from coalescecheck.frontend.rewrite.alignments import is_unread, unnamed_record
from coalescecheck.frontend.rewrite.env import (
    Argument,
    Binding,
    Env,
    FieldPath,
    Found,
    PackBound,
    TemplateBound,
    TypeBound,
    ValueBound,
)
from coalescecheck.frontend.rewrite.output import c_name
from coalescecheck.frontend.rewrite.overlap import check_bases
from coalescecheck.frontend.rewrite.packing import pack
from coalescecheck.frontend.rewrite.qualified import base_name
from coalescecheck.frontend.rewrite.syntax import is_c_word, text
from coalescecheck.frontend.rewrite.types import CType, Field, Layout, Record
from coalescecheck.frontend.rewrite.visibility import visible_end

if TYPE_CHECKING:
    from coalescecheck.frontend.rewrite.session import Session


_BASES = ("type_identifier", "template_type", "qualified_identifier", "decltype", "dependent_type")
_PARAMETERS = ("parameter_declaration", "optional_parameter_declaration")
_EMPTY_BASES = frozenset({"unary_function", "binary_function"})  # of the standard library, thrust
_MAX_OPEN = 40  # classes inside each other


@dataclass(slots=True, eq=False)
class RecordSource:
    """Where a record comes from; ``env`` shows its template arguments and members.

    ``entry`` may be a specialisation of ``template``, whose arguments are ``arguments``.
    ``dependent`` are the bases (C names) that depend on template arguments.
    """

    entry: index.RecordEntry
    env: Env
    template: index.RecordEntry
    arguments: tuple[Argument, ...]
    bases: list[Record] = field(default_factory=list)
    dependent: set[str] = field(default_factory=set)


class Records:
    """All records one kernel needs, by entry and template arguments."""

    def __init__(self, session: Session) -> None:
        self._s = session
        self._known: dict[tuple[object, ...], Record] = {}
        self._open: set[str] = set()
        self._forward: set[str] = set()

    # -- instances ----------------------------------------------------------------------

    def instance(
        self,
        entry: index.RecordEntry,
        bound: dict[str, Argument],
        home: Env,
        specialises: tuple[index.RecordEntry, tuple[Argument, ...]] | None = None,
    ) -> Record:
        """The record that a class (template) is with these arguments.

        ``specialises`` is the template that ``entry`` specialises, with its arguments.
        """
        entry = defined(entry)
        template, arguments = specialises or (entry, tuple(bound.values()))
        around = home.record.cname if home.record is not None else ""
        key = (id(entry), around, home.function, *bound.values())  # a class of each instance
        known = self._known.get(key)
        if known is not None:
            self._maybe_forward(known)
            return known
        if len(self._open) > _MAX_OPEN:
            raise UnsupportedConstruct(f"`{entry.name}` instantiates itself without end")
        names = [*self._path(entry, home), *(argument_name(a) for a in arguments)]
        cname = self._s.output.unique(types.mangled(names))
        shown = ", ".join(argument_name(a) for a in arguments)
        self._s.output.spellings.names[cname] = f"{entry.name}<{shown}>" if shown else entry.name
        keyword_union = entry.node.type == "union_specifier"
        layout = Layout(cname, keyword_union, shown=entry.name)
        record = self._known[key] = Record(cname, layout)
        inner = Env(home, dict(bound), record=record, limit=visible_end(entry))
        source = RecordSource(entry, inner, template, arguments)
        layout.source = source
        self._open.add(cname)
        try:
            self._fill(layout, source)
            check_bases(layout, source.bases, self._in_padding)
            pack(layout, entry.node, self._s.pragmas)
        except UnsupportedConstruct:
            del self._known[key]  # nobody gets it half done
            raise
        finally:
            self._open.discard(cname)
        self._s.output.define_record(layout, cname in self._forward)
        return record

    def _maybe_forward(self, record: Record) -> None:
        if record.cname in self._open and record.cname not in self._forward:
            self._forward.add(record.cname)
            self._s.output.forward(record.layout)

    @staticmethod
    def _path(entry: index.RecordEntry, home: Env) -> tuple[str, ...]:
        if home.record is not None:
            return (home.record.cname, entry.name)
        return (*entry.scope.path, entry.name)

    def anonymous(self, node: Node, name: str, env: Env) -> Record:
        """A record without a name of its own, called ``name`` (a typedef's, or invented)."""
        scope = self._scope(env)
        entry = self._s.anonymous_entry(node, name, scope)
        return self.instance(entry, {}, env)

    def in_place(self, node: Node, env: Env) -> CType:
        """``struct S {…}`` or ``struct S`` used as a type."""
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            return self.anonymous(node, "unnamed", env)
        if name.type in ("template_type", "qualified_identifier"):
            return self._s.typenames.type(name, env)
        found = self._s.names.find(env, text(name))
        if body is not None and env.function is not None and not self._entered(found, node):
            record = self.anonymous(node, text(name), env)
            env.names[text(name)] = TypeBound(record)
            return record
        at: Env | None = env
        while at is not None and found is not None:
            type_ = self._s.typenames.of_found(found, env)
            if type_ is not None:
                if isinstance(type_, Record) and at is not env:
                    type_.layout.hidden = True
                return type_
            at = at.parent  # a variable of that name hides the class from all but `struct x`
            found = self._s.names.find(at, text(name)) if at is not None else None
        return self._s.unknown_type(text(name), node)

    @staticmethod
    def _entered(found: Found | None, node: Node) -> bool:
        return found is not None and any(
            isinstance(e, index.RecordEntry) and e.node.id == node.id for e in found.entries
        )

    @staticmethod
    def _scope(env: Env) -> index.Scope | None:
        at: Env | None = env
        while at is not None:
            if at.scope is not None:
                return at.scope
            at = at.parent
        return None

    # -- layout -------------------------------------------------------------------------

    def _fill(self, layout: Layout, source: RecordSource) -> None:
        node = source.entry.node
        body = node.child_by_field_name("body")
        layout.complete = body is not None
        layout.align = self._s.alignments.of(node, source.env)
        self._bases(layout, source, node)
        if body is None:
            return
        if any(syntax.has_word(m, "virtual") for m in body.named_children) and not source.bases:
            layout.fields.insert(0, Field("vptr__", types.Pointer(types.VOID)))
        self._members(layout, body, source.env)

    def _in_padding(self, layout: Layout) -> CType:
        return self._s.unplaced(layout, "members in the padding of its base")

    def _members(self, layout: Layout, body: Node, env: Env) -> None:
        start, unread = len(layout.fields), False
        for member in body.named_children:
            if syntax.has_word(member, "static", "constexpr"):
                continue
            if is_unread(member):
                unread = True
                if unnamed_record(member) is None:  # that one says it itself
                    shown = " ".join(self._s.original(member).split())
                    what = "accesses of the members of its class are unknown"
                    self._s.say(member, "warning", f"`{shown}` is not understood: {what}")
            if member.type == "field_declaration":
                layout.fields += self._fields(member, env)
        if unread:  # then no size is known, and no place of any member
            places = Field("unread__", self._s.unplaced(layout, "members that could not be read"))
            layout.fields[start:] = [places, *map(_unplaced, layout.fields[start:])]

    def _bases(self, layout: Layout, source: RecordSource, node: Node) -> None:
        for number, (base, env) in enumerate(self._base_nodes(node, source.env)):
            type_ = types.strip(self._s.typenames.type(base, env))
            if isinstance(type_, Record) and type_.cname in self._open:
                continue  # its own base: a recursion without an end
            if not isinstance(type_, Record) or _is_virtual(base):
                if base_name(base) not in _EMPTY_BASES:
                    layout.fields.append(self._unknown_base(type_, number, layout, base))
                continue
            source.bases.append(type_)
            if _depends(base, source.env):
                source.dependent.add(type_.cname)
            name = f"base__{type_.cname}"
            layout.bases[type_.cname] = name
            if type_.layout.fields:  # an empty base takes no room
                layout.fields.append(Field(name, type_))

    def _unknown_base(self, type_: CType, number: int, layout: Layout, node: Node) -> Field:
        """What a base that cannot be laid out takes: nobody knows how many bytes."""
        if not isinstance(type_, types.Unknown):
            shown = text(node)
            what = f"where its base `{shown}` is in `{layout.shown}` is not followed"
            self._s.say(node, "warning", f"{what}: accesses of its members are unknown")
            type_ = types.Unknown(self._s.output_unknown(f"{layout.cname}__base_{number}", ""))
        return Field(f"base__{number}", type_)

    def _base_nodes(self, node: Node, env: Env) -> list[tuple[Node, Env]]:
        """The bases of a class, packs of them written out, each with its environment."""
        found: list[tuple[Node, Env]] = []
        for base in syntax.operands(syntax.child(node, "base_class_clause")):
            if base.type not in _BASES:
                continue
            following = base.next_sibling
            is_pack = following is not None and following.type == "..."
            envs = self._s.expressions.pack_envs(base, env) if is_pack else [env]
            found += [(base, inner) for inner in envs]
        return found

    def _fields(self, node: Node, env: Env) -> list[Field]:
        declarators = syntax.declarators(node)
        if not declarators:
            unnamed = unnamed_record(node)
            return [Field("", self._unnamed_member(unnamed, env))] if unnamed is not None else []
        out = []
        for declarator in declarators:
            name = syntax.declared_name(declarator)
            if name is None or syntax.function_declarator(declarator) is not None:
                continue
            if is_c_word(text(name)):  # `MACRO float x;`
                continue
            bits = self._bits(node, declarator, env)
            declared = self._s.typenames.declared(node, declarator, env)
            declared = self._s.closures.held_type(declared)
            if types.has_long_double(declared):
                declared = self._s.unknown_type("long double", declarator)
            if isinstance(types.strip(declared), types.GroupType):
                declared = types.strip(declared)  # nothing of it exists at run time
            out.append(
                Field(
                    c_name(text(name)), types.unqualified(declared), bits,
                    self._s.alignments.of_declared(node, declarator, env),
                    const=declared.const, mutable=syntax.has_word(node, "mutable"),
                )
            )  # fmt: skip
        return out

    def _unnamed_member(self, node: Node, env: Env) -> Record:
        layout = Layout("", node.type == "union_specifier")
        body = node.child_by_field_name("body")
        if body is not None:
            self._members(layout, body, env)
        for member_field in layout.fields:
            self._s.output.need(member_field.type)
        entry = index.RecordEntry("", index.Scope("", None), node)
        layout.source = RecordSource(entry, env, entry, ())
        return Record("", layout)

    def _bits(self, node: Node, declarator: Node, env: Env) -> int | None:
        following = declarator.next_named_sibling
        if following is None or following.type != "bitfield_clause":
            return None
        inner = syntax.operands(following)
        return self._s.expressions.constant(inner[0], env) if inner else None

    # -- members ------------------------------------------------------------------------

    @staticmethod
    def source(record: Record) -> RecordSource | None:
        source = record.layout.source
        return source if isinstance(source, RecordSource) else None

    def entry_of(self, record: Record) -> index.RecordEntry | None:
        source = self.source(record)
        return source.entry if source is not None else None

    def early_member(self, record: Record, name: str) -> Found | None:
        """What an unqualified ``name`` means in a method: as :meth:`member`, not looked for in
        bases that depend on template arguments (they are not known where the template is)."""
        return self.member(record, name, early=True)

    def member(self, record: Record, name: str, *, early: bool = False) -> Found | None:
        """What ``name`` means inside ``record``: a field, or entries of it or its bases."""
        source = self.source(record)
        env = source.env if source is not None else Env(None)
        field_ = field_named(record.layout, c_name(name))
        if field_ is not None:
            type_ = types.qualified(field_.type, const=field_.const)
            path = FieldPath((c_name(name),), type_, field_.mutable)
            return Found(env, member=path, record=record)
        if source is None:
            return None
        if name and name == source.entry.name:  # the injected class name
            self._maybe_forward(record)
            return Found(env, binding=TypeBound(record))
        entries = self._entries(source, name)
        if any(isinstance(e, index.UsingEntry) for e in entries):
            return self._with_used(record, source, entries)
        if entries:
            return Found(env, entries=entries, record=record)
        for base in source.bases:
            if early and base.cname in source.dependent:
                continue
            found = self._of_base(record, base, name)
            if found is not None:
                return found
        return None

    def _of_base(self, record: Record, base: Record, name: str) -> Found | None:
        found = self.member(base, name)
        if found is not None and found.member is not None and found.record is not None:
            step = record.layout.bases[base.cname]
            found.member.path = (step, *found.member.path)
        return found

    def _with_used(
        self, record: Record, source: RecordSource, entries: list[index.Entry]
    ) -> Found | None:
        """Entries with ``using Base::name;`` among them: its functions join those of the class."""
        own: list[index.Entry] = [e for e in entries if not isinstance(e, index.UsingEntry)]
        result = Found(source.env, entries=own, record=record)
        for entry in entries:
            if not isinstance(entry, index.UsingEntry):
                continue
            path, _, name = _without_arguments(entry.target).rpartition("::")
            for steps in self._paths_to(record, path.rpartition("::")[2]):
                found = self._along(steps, name)
                if found is not None and found.member is not None:
                    return found
                if found is not None:
                    result.also.append(found)
        if not own and len(result.also) == 1:
            return result.also[0]
        return result if own or result.also else None

    def _paths_to(self, record: Record, name: str) -> list[list[Record]]:
        """From a class down to its bases, direct or not, of that name; to the direct ones if none
        has it."""
        found = [[record, *path] for path in self._deep(record) if path[-1].layout.shown == name]
        source = self.source(record)
        return found or [[record, base] for base in (source.bases if source is not None else ())]

    def _deep(self, record: Record) -> list[list[Record]]:
        source = self.source(record)
        bases = source.bases if source is not None else []
        return [p for base in bases for p in ([base], *([base, *q] for q in self._deep(base)))]

    def _along(self, steps: list[Record], name: str) -> Found | None:
        """What a name means in the last of some bases, with the way there from the first class."""
        found = self.member(steps[-1], name)
        if found is not None and found.member is not None and found.record is not None:
            path = [here.layout.bases[there.cname] for here, there in pairwise(steps)]
            found.member.path = (*path, *found.member.path)
        return found

    def _entries(self, source: RecordSource, name: str) -> list[index.Entry]:
        """Entries inside the class; methods defined outside replace their prototypes."""
        scope = index.members(source.entry)
        entries = list(scope.entries.get(name, ()))
        if not entries:
            return entries
        variables = [e for e in entries if isinstance(e, index.VariableEntry)]
        if variables and not any(
            e.default is not None or e.declarator.type == "init_declarator" for e in variables
        ):
            return list(outside.variables(source, name) or entries)
        defined_there = outside.functions(self._s, source, name)
        bodies = [e for e in entries if isinstance(e, index.FunctionEntry) and e.body is None]
        if defined_there and bodies:
            return [e for e in entries if e not in bodies] + defined_there
        return entries

    def constructors(self, record: Record) -> list[index.FunctionEntry]:
        source = self.source(record)
        if source is None or not source.entry.name:
            return []
        entries = self._entries(source, source.entry.name)
        return [e for e in entries if isinstance(e, index.FunctionEntry)]

    def inherited(self, record: Record, *, deep: bool = True) -> list[Record]:
        """The bases whose constructors a class has too (``using Base::Base;``)."""
        source = self.source(record)
        if source is None:
            return []
        used: list[Record] = []
        for base in source.bases:
            entries = index.members(source.entry).entries.get(base.layout.shown, ())
            if any(isinstance(e, index.UsingEntry) for e in entries):
                used += [base, *(self.inherited(base) if deep else [])]
        return used

    def copies(self, record: Record, method: str) -> bool:
        """Whether the program says how an object is copied: by the constructor or operator
        ``method`` that takes another one."""
        source = self.source(record)
        if source is None or not method:
            return False
        for entry in self._entries(source, method):
            if not isinstance(entry, index.FunctionEntry) or entry.body is None or entry.head:
                continue
            parameters = syntax.operands(entry.declarator.child_by_field_name("parameters"))
            if not parameters or parameters[0].type not in _PARAMETERS:
                continue
            declarator = parameters[0].child_by_field_name("declarator")
            type_ = self._s.typenames.declared(parameters[0], declarator, source.env)
            others = all(p.child_by_field_name("default_value") for p in parameters[1:])
            if others and types.strip(type_) == types.unqualified(record):
                return True
        return False

    def parts_say_how(self, record: Record, method: str = "") -> bool:
        """Whether the class of a member or base says how it is copied: by its constructor, or by
        the operator ``method``."""
        for each in record.layout.fields:
            part = each.type
            while isinstance(part, types.Array):
                part = part.element
            if isinstance(part, types.Record) and (
                self.copies(part, method or part.layout.shown) or self.parts_say_how(part, method)
            ):
                return True
        return False

    def base_path(self, record: Record, base: str) -> tuple[str, ...] | None:
        """The fields that lead from a record to its base class ``base`` (a C name)."""
        if record.cname == base:
            return ()
        source = self.source(record)
        for step in source.bases if source is not None else ():
            path = self.base_path(step, base)
            if path is not None:
                return (record.layout.bases[step.cname], *path)
        return None


def _depends(node: Node, env: Env) -> bool:
    """Whether a base class is named with template parameters."""
    for part in syntax.walk(node):
        if part.type not in ("type_identifier", "identifier", "namespace_identifier"):
            continue
        at: Env | None = env
        while at is not None:
            if text(part) in at.names:
                if at.function is None:  # else a class of the function, which has no such bases
                    return True
                break
            at = at.parent
    return False


def _without_arguments(path: str) -> str:
    """``A<T>::f`` without template arguments."""
    depth, kept = 0, ""
    for character in path:
        depth += character == "<"
        kept += character if depth == 0 else ""
        depth -= character == ">"
    return kept


def defined(entry: index.RecordEntry) -> index.RecordEntry:
    """The entry with a body where the program declares the class before it defines it."""
    if entry.node.child_by_field_name("body") is not None or not entry.name:
        return entry
    for other in entry.scope.entries.get(entry.name, ()):
        if not isinstance(other, index.RecordEntry) or other.arguments is not None:
            continue
        if other.node.child_by_field_name("body") is not None:
            return other
    return entry


def field_named(layout: Layout, name: str) -> Field | None:
    """A field, looking through anonymous members."""
    for member in layout.fields:
        if member.name == name:
            return member
        if not member.name and isinstance(member.type, Record):
            inner = field_named(member.type.layout, name)
            if inner is not None:
                return inner
    return None


def argument_name(argument: Binding) -> str:
    """How a template argument appears in a mangled name."""
    match argument:
        case TypeBound(types.Closure() as closure):
            return closure.cname.rsplit("__", 1)[0]
        case TypeBound(type_):
            return types.spell(type_)
        case ValueBound():
            return argument.text
        case PackBound(items):
            return "__".join(
                argument_name(i) for i in items if isinstance(i, TypeBound | ValueBound)
            )
        case TemplateBound(entry):
            return entry.name
        case _:
            return ""


def _is_virtual(base: Node) -> bool:
    """Whether a class has a base only once, wherever that is in an object."""
    before = base.prev_sibling
    while before is not None and before.type not in (":", ","):
        if before.type == "virtual" or syntax.text(before) == "virtual":
            return True
        before = before.prev_sibling
    return False


def _unplaced(member: Field) -> Field:
    """The same member at an unknown place."""
    if member.name or not isinstance(member.type, Record):
        return Field(member.name, types.UNKNOWN)
    inner = member.type.layout.fields
    inner[:] = [_unplaced(f) for f in inner]
    return member
