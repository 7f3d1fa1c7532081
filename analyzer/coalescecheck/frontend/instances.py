"""Which instances of a kernel template are analysed, and the launches of each.

In: a kernel's declaration, the launch sites that mean it, ``--template`` options.  Out:
:class:`Instance` records.  It must not know how an instance is rewritten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from coalescecheck.frontend.ctypes_lp64 import parse_type, size_of_type
from coalescecheck.frontend.host.deduction import ArgumentType, declared_type, deduce
from coalescecheck.frontend.host.scopes import node_text, parameters
from coalescecheck.frontend.launches import LaunchArgument, LaunchSite, to_launch
from coalescecheck.frontend.rewrite import KernelDecl, found_through
from coalescecheck.frontend.rewrite.builtin_types import builtin_type
from coalescecheck.launch import Launch

_NUMBERS = (*"0123456789", "true", "false")  # what a template argument that is none begins with


@dataclass(slots=True)
class Instance:
    """Template arguments by parameter name (what is missing stays free) and launches."""

    arguments: dict[str, str]
    launches: list[Launch] = field(default_factory=list)


def instances_of(
    kernel: KernelDecl, sites: Sequence[LaunchSite], overrides: Mapping[str, str]
) -> list[Instance]:
    """One instance per distinct set of template arguments, in the order of the launches."""
    names = [name for _, name, _ in kernel.template_params]
    found: dict[tuple[tuple[str, str], ...], Instance] = {}

    def instance(arguments: Mapping[str, str]) -> Instance:
        merged = {**arguments, **overrides}
        known = {name: merged[name] for name in names if name in merged}
        return found.setdefault(tuple(known.items()), Instance(known))

    for site in sites:
        given = _mapping(kernel, site.template_args)
        target = instance({**_deduced(kernel, site, given), **given})
        launch = _launch(kernel, site, target.arguments)
        if launch not in target.launches:
            target.launches.append(launch)
    for explicit in (*kernel.instantiations, *kernel.specialisations):
        if _takes(kernel, explicit):
            instance(_mapping(kernel, explicit))
    every = list(found.values()) or [instance({})]
    if kernel.entry.body is None:  # only specialisations have one: of what is open there is none
        return [each for each in every if all(name in each.arguments for name in names)]
    return every


def meant_by(site: LaunchSite, kernels: Sequence[KernelDecl]) -> list[KernelDecl]:
    """The kernels a launch may mean: by qualified name, then by what is passed."""
    written = [part.split("<")[0].strip() for part in site.kernel.split("::")]
    named = [k for k in kernels if k.name.split("::")[-len(written) :] == written]
    if not named:  # a namespace alias or using declaration: the last component decides
        named = [k for k in kernels if k.name.rsplit("::", 1)[-1] == written[-1]]
        if len(named) > 1:
            named = found_through("::".join(written[:-1]), written[-1], named) or named
    if len(named) > 1 and site.args is not None:
        count = len(site.args)
        named = [k for k in named if len(k.parameters) == count] or named
    if len(named) > 1 and site.template_args:
        exact = [k for k in named if _specialises(k) and _is_exact(site.args or (), k)]
        named = exact or [k for k in named if _takes(k, site.template_args)] or named
    elif len(named) > 1 and site.args is not None:
        named = [k for k in named if not _contradicts(site.args, k)] or named
        named = [k for k in named if _is_exact(site.args, k)] or named  # no template goes before
    return named


def _takes(kernel: KernelDecl, given: Sequence[str | None]) -> bool:
    """Whether no template argument is too many, a number for a type, or a type for a number."""
    for (kind, _, _), argument in zip(kernel.template_params, given, strict=False):
        if kind == "pack":
            return True
        if argument is None:
            continue
        number = argument.lstrip("-+(").startswith(_NUMBERS)
        if number if kind == "type" else kind == "value" and _known(argument) is not None:
            return False
    return len(given) <= len(kernel.template_params)


def _specialises(kernel: KernelDecl) -> bool:
    """Whether it is ``template <> __global__ void k(float *)``."""
    return () in kernel.entry.heads


def _contradicts(arguments: Sequence[LaunchArgument], kernel: KernelDecl) -> bool:
    """Whether some argument is nothing that the kernel's parameter can take."""
    open_ = {name for _, name, _ in kernel.template_params}
    for argument, parameter in zip(arguments, parameters(kernel.node), strict=False):
        given, wanted = argument.type, declared_type(parameter)
        if given is None or argument.null or (not given.depth and _known(given.base) is None):
            continue
        if wanted.base in open_:
            if given.depth < wanted.depth:
                return True
        elif given.depth != wanted.depth:
            return True
        elif given.depth and wanted.base != "void":
            types = _known(given.base), _known(wanted.base)
            if None not in types and types[0] != types[1]:
                return True
    return False


def _is_exact(arguments: Sequence[LaunchArgument], kernel: KernelDecl) -> bool:
    """Whether a kernel that is no template takes exactly these pointers."""
    wanted = [declared_type(parameter) for parameter in parameters(kernel.node)]
    pairs = [(a.type, w) for a, w in zip(arguments, wanted, strict=False) if w.depth]
    return not kernel.template_params and all(
        given is not None
        and given.depth == w.depth
        and (given.base == w.base or _known(given.base) == _known(w.base) is not None)
        for given, w in pairs
    )


def _known(base: str) -> object:
    """A type that has no other name, None for one that the program names."""
    return parse_type(base) or builtin_type(base)


def _mapping(kernel: KernelDecl, given: Sequence[str | None]) -> dict[str, str]:
    """Template arguments by the name of their parameter; a pack takes the rest."""
    mapping: dict[str, str] = {}
    for index, (kind, name, _) in enumerate(kernel.template_params):
        if kind == "pack":
            rest = [argument for argument in given[index:] if argument is not None]
            if rest and len(rest) == len(given) - index:
                mapping[name] = ", ".join(rest)
            break
        value = given[index] if index < len(given) else None
        if value is not None and name:
            mapping[name] = value
    return mapping


def _deduced(kernel: KernelDecl, site: LaunchSite, given: Mapping[str, str]) -> dict[str, str]:
    """Arguments that follow from the types passed for ``T *x``, ``T x`` and ``box<T> x``."""
    wanted = {n for kind, n, _ in kernel.template_params if kind != "pack" and n not in given}
    found: dict[str, set[str]] = {}
    packs = {n for kind, n, _ in kernel.template_params if kind == "pack" and n not in given}
    for number, parameter in enumerate(parameters(kernel.node)):
        base = declared_type(parameter).base
        if base in packs and site.args is not None:
            by_pointer = kernel.parameters[number].is_pointer
            types = [_matched(by_pointer, argument) for argument in site.args[number:]]
            if all(types):
                found.setdefault(base, set()).add(", ".join(t for t in types if t))
    single = deduce(parameters(kernel.node), [a.type for a in site.args or ()], wanted)
    packed = {name: types.pop() for name, types in found.items() if len(types) == 1}
    return packed | single


def _matched(by_pointer: bool, argument: LaunchArgument) -> str | None:
    """The C++ type that a pack ``T...`` or ``T *...`` has at a launch argument, None where it is
    not known."""
    if argument.type is None:
        is_number = argument.value is not None and not argument.moved and not by_pointer
        return "int" if is_number else None
    depth = argument.type.depth - by_pointer
    return None if depth < 0 else ArgumentType(argument.type.base, depth).text


def _launch(kernel: KernelDecl, site: LaunchSite, arguments: Mapping[str, str]) -> Launch:
    names = [p.name for p in kernel.parameters]
    sizes: dict[str, int | None] = {}
    packs = {n for kind, n, _ in kernel.template_params if kind == "pack"}
    for parameter, node in zip(kernel.parameters, parameters(kernel.node), strict=False):
        if declared_type(node).base in packs:
            names.remove(parameter.name)
            for number, argument in enumerate((site.args or ())[len(names) :]):
                name = f"{parameter.name}__{number}"
                names.append(name)
                if argument.type is not None and argument.type.depth:
                    sizes[name] = size_of_type(argument.type.base)
        elif parameter.is_pointer:
            declared = declared_type(node)
            bound = arguments.get(declared.base)
            known = size_of_type(bound) if bound is not None and declared.depth == 1 else None
            sizes[parameter.name] = parameter.element_size or known
    launch = to_launch(site, names, sizes)
    if packs or site.args is None:
        return launch
    left_out = list(zip(names, parameters(kernel.node), strict=False))[len(site.args) :]
    nulls = [name for name, node in left_out if name in sizes and _is_null_default(node)]
    return replace(launch, nulls=(*launch.nulls, *nulls))


def _is_null_default(parameter: Node) -> bool:
    value = parameter.child_by_field_name("default_value")
    return value is not None and (value.type == "null" or node_text(value) == "0")
