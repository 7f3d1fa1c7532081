"""Kernels of a file: finding them, and rewriting one instance to kernel C.

In: a :class:`Unit`.  Out: :class:`KernelDecl` and :class:`KernelC`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from coalescecheck.arch import why_impossible
from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.kernel_c import KernelC
from coalescecheck.frontend.rewrite import host_lambdas, index, syntax, types
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.emit import Mark, Writer
from coalescecheck.frontend.rewrite.env import Argument, Env, PackBound, TypeBound, ValueBound
from coalescecheck.frontend.rewrite.index import FunctionEntry, Scope, TemplateParameter
from coalescecheck.frontend.rewrite.output import block, c_name
from coalescecheck.frontend.rewrite.parameters import parameter_nodes
from coalescecheck.frontend.rewrite.repair import repaired
from coalescecheck.frontend.rewrite.session import Session
from coalescecheck.frontend.rewrite.syntax import text
from coalescecheck.frontend.rewrite.types import CType
from coalescecheck.frontend.rewrite.visibility import visible_end
from coalescecheck.frontend.unit import Unit
from coalescecheck.source import Span


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """A kernel parameter: whether it is a pointer, and the size of its element in bytes."""

    name: str
    is_pointer: bool
    element_size: int | None


@dataclass(frozen=True, slots=True)
class KernelDecl:
    """A ``__global__`` function definition.

    ``template_params`` are (kind, name, default source) with kind ``type``, ``value`` or
    ``pack``.  ``max_threads`` comes from ``__launch_bounds__``.  ``instantiations`` and
    ``specialisations`` hold argument source strings.
    """

    name: str
    span: Span
    node: Node
    template_params: tuple[tuple[str, str, str | None], ...]
    parameters: tuple[KernelParameter, ...]
    max_threads: int | None
    instantiations: tuple[tuple[str, ...], ...] = ()
    specialisations: tuple[tuple[str, ...], ...] = ()
    entry: FunctionEntry = field(kw_only=True, compare=False, repr=False)
    top: Scope = field(kw_only=True, compare=False, repr=False)
    home: tuple[index.RecordEntry, ...] = field(default=(), kw_only=True, compare=False)


def find_kernels(unit: Unit) -> tuple[KernelDecl, ...]:
    """Every kernel definition of the unit, in source order."""
    top = index.build(repaired(unit.code, unit.tree).root_node)
    session = Session(top, unit.code, unit.locate)
    found = []
    for entry, owners in _kernel_entries(top):
        if entry.arguments is None:
            found.append(_declare(unit, session, entry, owners))
    return tuple(sorted(found, key=lambda k: k.node.start_byte))


def found_through(namespace: str, name: str, kernels: Sequence[KernelDecl]) -> list[KernelDecl]:
    """Those of ``kernels`` that ``namespace::name`` means through aliases and using directives."""
    names = Session(kernels[0].top, b"", lambda _: kernels[0].span).names
    scope = names.namespace(kernels[0].top, namespace)
    found = None if scope is None else names.in_scope(scope, name)
    return [k for k in kernels if found is not None and k.entry in found.entries]


def _kernel_entries(scope: Scope) -> Iterator[tuple[FunctionEntry, tuple[index.RecordEntry, ...]]]:
    """Kernel definitions of a scope and all inside it."""
    yield from _of_scope(scope, (), set())


def _of_scope(
    scope: Scope, owners: tuple[index.RecordEntry, ...], seen: set[int]
) -> Iterator[tuple[FunctionEntry, tuple[index.RecordEntry, ...]]]:
    entries: list[index.Entry] = [e for group in scope.entries.values() for e in group]
    entries += [e for group in scope.members_elsewhere.values() for e in group]
    for entry in entries:
        if id(entry) in seen:
            continue
        seen.add(id(entry))
        match entry:
            case index.FunctionEntry() if is_kernel(entry.node):
                if entry.body is not None or _is_specialised_only(entry):
                    yield entry, owners
            case index.NamespaceEntry(inner=Scope() as inner):
                yield from _of_scope(inner, owners, seen)
            case index.RecordEntry() if b"__global__" in (entry.node.text or b""):
                yield from _of_scope(index.members(entry), (*owners, entry), seen)
            case _:
                pass


def _is_specialised_only(entry: FunctionEntry) -> bool:
    """Whether it is a template's first declaration, and only specialisations have a body."""
    if entry.arguments is not None or not any(entry.heads):
        return False
    others = _others(entry)
    general = [other for other in others if other.arguments is None and any(other.heads)]
    defined = any(o.body is not None and o.arguments is not None for o in others)
    return defined and general[0] is entry and all(other.body is None for other in general)


def is_kernel(node: Node) -> bool:
    """Whether a declaration says ``__global__``."""
    return syntax.has_word(node, "__global__")


def _declare(
    unit: Unit, session: Session, entry: FunctionEntry, owners: tuple[index.RecordEntry, ...]
) -> KernelDecl:
    path = [*entry.scope.path, entry.name]
    if entry.scope.kind == "record":
        path = [*_record_path(owners), entry.name]
    env = _home(session, entry, owners)
    head = _head(entry)
    bound = _bound(session, head, {}, env)
    inner = Env(env, dict(bound), limit=visible_end(entry))
    others = _others(entry)
    name = syntax.declared_name(entry.declarator) or entry.declarator
    return KernelDecl(
        "::".join(path),
        unit.locate(name.start_byte),
        entry.node,
        tuple(_shown_parameter(p) for p in head),
        tuple(_parameter(session, p, inner) for p in parameter_nodes(entry)),
        _launch_bounds(session, [entry, *others], inner),
        _arguments_of(others, instantiated=True),
        _arguments_of(others, instantiated=False),
        entry=entry,
        top=session.top,
        home=owners,
    )


def _others(entry: FunctionEntry) -> list[FunctionEntry]:
    """The declarations with the kernel's name in its scope."""
    entries = entry.scope.entries.get(entry.name, ())
    return [e for e in entries if isinstance(e, FunctionEntry)]


def _head(entry: FunctionEntry) -> tuple[TemplateParameter, ...]:
    """The template parameters; defaults may stand at an earlier declaration."""
    head = tuple(p for h in entry.heads if h for p in h)
    for other in _others(entry):
        earlier = tuple(p for h in other.heads if h for p in h)
        if other is entry or len(earlier) != len(head) or other.arguments is not None:
            continue
        head = tuple(
            replace(p, default=e.default) if p.default is None else p
            for p, e in zip(head, earlier, strict=True)
        )
    return head


def _record_path(owners: tuple[index.RecordEntry, ...]) -> list[str]:
    outer = list(owners[0].scope.path) if owners else []
    return [*outer, *(o.name for o in owners)]


def _shown_parameter(parameter: TemplateParameter) -> tuple[str, str, str | None]:
    kind = "pack" if parameter.pack else parameter.kind
    default = text(parameter.default) if parameter.default is not None else None
    return ("type" if kind == "template" else kind), parameter.name, default


def _parameter(session: Session, node: Node, env: Env) -> KernelParameter:
    named = syntax.declared_name(node.child_by_field_name("declarator"))
    try:
        type_ = session.overloads.parameter_type(node, env)
    except UnsupportedConstruct:  # said again where the kernel is rewritten
        type_ = types.UNKNOWN
    bare = types.strip(type_)
    pointer = isinstance(bare, types.Pointer)
    size = types.size_of(bare.target) if isinstance(bare, types.Pointer) else None
    name = c_name(text(named)) if named is not None else ""
    return KernelParameter(name, pointer, size)


def _launch_bounds(session: Session, entries: list[FunctionEntry], env: Env) -> int | None:
    """The most threads per block; a bound that no block can have, such as 0, is none."""
    for entry in entries:
        bounds = syntax.child(entry.node, "launch_bounds")
        inner = syntax.operands(bounds)
        if inner:
            number = session.expressions.constant(inner[0], env)
            if number is not None and not why_impossible(block=(number, None, None)):
                return number
    return None


def _arguments_of(
    entries: list[FunctionEntry], *, instantiated: bool
) -> tuple[tuple[str, ...], ...]:
    found = []
    for entry in entries:
        explicit = entry.node.type == "template_instantiation"
        if entry.arguments is not None and explicit == instantiated and is_kernel(entry.node):
            found.append(tuple(text(a) for a in syntax.operands(entry.arguments)))
    return tuple(found)


# -- instances ------------------------------------------------------------------------------


def rewrite_kernel(unit: Unit, decl: KernelDecl, template_args: Mapping[str, str]) -> KernelC:
    """One instance of a kernel as kernel C; ``launches`` is left empty."""
    session = Session(decl.top, unit.code, unit.locate)
    session.kernel, session.place = decl.entry.node, decl.entry.node.start_byte
    entry, home = decl.entry, _home(session, decl.entry, decl.home)
    head = _head(entry)
    bound = _bound(session, head, template_args, home)
    _unknown_packs(session, decl, head, template_args)
    special = _specialisation(session, decl, head, bound, home)
    env = Env(home, {} if special is not None else dict(bound))
    entry = special or entry
    if entry.body is None:
        raise UnsupportedConstruct(f"`{decl.name}` has no body", decl.span)
    cname = session.output.unique(c_name(types.mangled(decl.name.split("::"))))
    writer = FunctionWriter(types.VOID)
    inner = Env(env, {}, function=writer, limit=visible_end(entry))
    parameters = session.functions.parameters(entry, inner)
    session.statements.body(entry.body, inner, writer)
    arguments = ", ".join(session.functions.spelled(parameters)) or "void"
    mark = Mark(entry.node.start_byte)
    head_piece = (mark, f"[[cuda::global]] void {cname}({arguments})")
    session.output.functions.append(block(writer.body(), head_piece))
    session.output.spellings.references[cname] = writer.references
    out = Writer(unit.locate)
    session.output.write(out)
    bounds = _launch_bounds(session, [entry], inner)
    shown = {p.name: _shown(unit, template_args[p.name]) for p in head if p.name in template_args}
    named = syntax.declared_name(entry.declarator) if special is not None else None
    return KernelC(
        decl.name,
        decl.span if named is None else unit.locate(named.start_byte),
        shown,
        cname,
        out.text(),
        out.source_map,
        (),
        bounds if bounds is not None else decl.max_threads,
        tuple(session.output.diagnostics),
        tuple(session.assumptions),
        session.output.spellings,
    )


def _shown(unit: Unit, source: str) -> str:
    """A template argument as people read it."""
    lines = {start: unit.locate(start).line for start in host_lambdas.starts(source)}
    return host_lambdas.shown(source, lines)


def _unknown_packs(
    session: Session,
    decl: KernelDecl,
    head: tuple[TemplateParameter, ...],
    given: Mapping[str, str],
) -> None:
    """Whatever an unknown pack stands for is missing from the result."""
    for parameter in head:
        if parameter.pack and parameter.name not in given:
            message = f"the pack `{parameter.name}` is not known: what it is used for is missing"
            session.output.say(decl.span, "warning", message, hides=True)


def _home(session: Session, entry: FunctionEntry, owners: tuple[index.RecordEntry, ...]) -> Env:
    """The environment around a kernel: its namespace, or the class it is a static member of."""
    if not owners:
        return session.names.scope_env(entry.scope)
    env = session.names.scope_env(owners[0].scope)
    for owner in owners:
        if owner.head:
            bound = _bound(session, owner.head, {}, env)
            record: CType = session.specialisations.with_arguments(owner, bound, env)
        else:
            record = session.records.instance(owner, {}, env)
        source = session.records.source(record) if isinstance(record, types.Record) else None
        env = source.env if source is not None else env
    return env


def _bound(
    session: Session,
    head: tuple[TemplateParameter, ...],
    given: Mapping[str, str],
    home: Env,
) -> dict[str, Argument]:
    """Template arguments from source text; what is missing stays free."""
    bound: dict[str, Argument] = {}
    env = Env(home, {})
    for number, parameter in enumerate(head):
        name = parameter.name or f"unnamed__{number}"
        source = given.get(name)
        if parameter.pack:
            bound[name] = _pack(session, parameter, source, env)
        elif source is not None:
            bound[name] = _from_text(session, parameter, source, env)
        elif parameter.default is not None:
            bound[name] = session.typenames.argument(parameter, parameter.default, env, env)
        else:
            bound[name] = _free(session, parameter, name, env)
        env.names[name] = bound[name]
    return bound


def _pack(
    session: Session, parameter: TemplateParameter, source: str | None, env: Env
) -> PackBound:
    parts = [p.strip() for p in _split(source or "")]
    return PackBound(tuple(_from_text(session, parameter, p, env) for p in parts if p))


def _split(source: str) -> list[str]:
    """Text split at the commas that are outside of brackets."""
    out, depth, start = [], 0, 0
    for position, character in enumerate(source):
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and depth == 0:
            out.append(source[start:position])
            start = position + 1
    return [*out, source[start:]]


def _from_text(session: Session, parameter: TemplateParameter, source: str, env: Env) -> Argument:
    """A template argument given as source text."""
    nodes = parsed_arguments(source)
    if not nodes:
        return _free(session, parameter, parameter.name, env)
    host_lambdas.bind(session, source, env)
    return session.typenames.argument(parameter, nodes[0], env, env)


def parsed_arguments(source: str) -> list[Node]:
    """Template arguments parsed from source text."""
    parser = Parser(Language(tree_sitter_cuda.language()))
    tree = parser.parse(f"{syntax.HOLDER}<{source}> holder;".encode())
    for node in syntax.walk(tree.root_node):
        if node.type == "template_argument_list":
            return syntax.operands(node)
    return []


def _free(session: Session, parameter: TemplateParameter, name: str, env: Env) -> Argument:
    """A template argument nobody knows: a type of unknown size, or a symbol."""
    if parameter.kind != "value":
        return TypeBound(types.Unknown(session.output_unknown(name)))
    type_: CType = types.INT
    if parameter.declaration is not None:
        declarator = parameter.declaration.child_by_field_name("declarator")
        type_ = types.strip(session.typenames.declared(parameter.declaration, declarator, env))
    if not types.is_arithmetic(type_):
        type_ = types.INT
    return ValueBound(session.free_value(name, type_), type_)


def _specialisation(
    session: Session,
    decl: KernelDecl,
    head: tuple[TemplateParameter, ...],
    bound: dict[str, Argument],
    home: Env,
) -> FunctionEntry | None:
    """The explicit specialisation for these arguments, if the program has one."""
    for other in decl.entry.scope.entries.get(decl.entry.name, ()):
        if not isinstance(other, FunctionEntry) or other.arguments is None or other.body is None:
            continue
        nodes = syntax.operands(other.arguments)
        wanted = session.typenames.arguments(head[: len(nodes)], nodes, home, home)
        if wanted is not None and all(bound.get(n) == a for n, a in wanted.items()):
            return other
    return None
