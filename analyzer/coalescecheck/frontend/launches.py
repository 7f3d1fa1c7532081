"""Every kernel launch of a file with the constants that reach it.

In: a unit.  Out: :class:`LaunchSite` records; with a kernel's parameter names they become
:class:`Launch` records.  What may differ at run time is None.  It must not know kernels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd, prod
from typing import NamedTuple

from tree_sitter import Node

from coalescecheck.arch import MAX_THREADS_PER_BLOCK, why_impossible
from coalescecheck.frontend.host.argument_types import argument_type
from coalescecheck.frontend.host.binding import Context, argument_of, template_arguments
from coalescecheck.frontend.host.captured import captured
from coalescecheck.frontend.host.contexts import MAX_INSTANCES, by_call, contexts
from coalescecheck.frontend.host.deduction import ArgumentType
from coalescecheck.frontend.host.launch_config import configuration as launch_configuration
from coalescecheck.frontend.host.null_pointers import is_null
from coalescecheck.frontend.host.object_members import members_of
from coalescecheck.frontend.host.passed_kernels import kernel_of, launched
from coalescecheck.frontend.host.pointers import pointer_offset
from coalescecheck.frontend.host.scopes import (
    ancestors,
    expressions,
    node_text,
)
from coalescecheck.frontend.host.values import FileConstant, HostValues
from coalescecheck.frontend.unit import Unit
from coalescecheck.launch import WARP_SIZE, Dim3, Launch
from coalescecheck.source import Span

MAX_CALLS = 4  # that are told apart; nobody reads more
MAX_SHARED_BYTES = 1 << 20  # more than a block of any architecture can have
_CONFIGURED = "cudaLaunchKernelEx"  # (&configuration, kernel, arguments...)
_API = frozenset({"cudaLaunchKernel", "cudaLaunchCooperativeKernel", _CONFIGURED})


@dataclass(frozen=True, slots=True)
class LaunchArgument:
    """One argument of a launch.

    ``value`` is its constant integer value.  ``moved`` says that it is a pointer plus
    something (``p + k``, ``&p[k]``), ``offset`` how many elements, None when unknown; ``null``
    that it is a null pointer, if it is a pointer; ``moved_members`` are the moved pointers in it,
    if it is an object or a lambda, and ``integers`` what is known of its members.
    ``type`` is None where no declaration in sight says it.
    """

    source: str
    value: int | None = None
    moved: bool = False
    offset: int | None = 0
    type: ArgumentType | None = None
    null: bool = False
    moved_members: tuple[str, ...] = ()
    integers: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchSite:
    """``kernel<<<grid, block, shared, stream>>>(args)`` as one call context sees it.

    ``kernel`` is the name as written without template arguments; ``template_args`` their
    source, None for one that is not known (a parameter of the function around it).
    ``args`` is None where the arguments are not written out (``cudaLaunchKernel``),
    ``assumed`` has the axes of ``block`` that are not known, ``impossible`` why it must fail.
    """

    kernel: str
    template_args: tuple[str | None, ...]
    grid: Dim3 | None
    block: Dim3 | None
    shared: int | None
    args: tuple[LaunchArgument, ...] | None
    assumed: str
    impossible: str
    span: Span
    node: Node

    @property
    def file(self) -> str:
        return self.span.file

    @property
    def line(self) -> int:
        return self.span.line


def find_launches(unit: Unit, constant: FileConstant | None = None) -> tuple[LaunchSite, ...]:
    """All launches in the file, in the order of the text; without those that no constant condition
    lets happen, where the kernel has others.

    ``constant`` gives the values of source at file scope that only C++'s classes tell."""
    values = HostValues(unit, constant)
    sites: list[LaunchSite] = []
    doubtful: list[LaunchSite] = []
    for call in _launch_calls(unit):
        for context in contexts(values, call):
            for happens, site in _told_apart(unit, values, call, context):
                if site not in sites[-MAX_INSTANCES:]:
                    sites.append(site)
                    doubtful += [] if happens else [site]
                elif happens and site in doubtful:
                    doubtful.remove(site)
    sure = {site.kernel for site in sites if site not in doubtful}
    return tuple(s for s in sites if s not in doubtful or s.kernel not in sure)


def _told_apart(
    unit: Unit, values: HostValues, call: Node, context: Context
) -> list[tuple[bool, LaunchSite]]:
    """A launch, and whether it may happen: as all calls of the function around it have it, or where
    they differ in the block, or some do not come to it, as each has it."""
    together = list(_sites(unit, values, call, context))
    if all(not one.happens or (one.site.block and not one.supposes) for one in together):
        return [(one.happens, one.site) for one in together]
    apart: list[LaunchSite] = []
    for calling in by_call(values, call, context):
        for one in _sites(unit, values, call, calling):
            apart += [one.site] if one.happens and one.site not in apart else []
    few = 0 < len(apart) <= MAX_CALLS
    return [(True, site) for site in (apart if few else [one.site for one in together])]


def to_launch(
    site: LaunchSite,
    parameter_names: Sequence[str],
    element_sizes: Mapping[str, int | None],
) -> Launch:
    """The launch of a kernel with these parameters.

    ``element_sizes`` has the pointer parameters, with the size in bytes of what they point
    to (None when unknown); the others are taken for scalars.
    """
    args: list[tuple[str, int]] = []
    offsets: list[tuple[str, int | None]] = []
    nulls: list[str] = []
    for name, argument in zip(parameter_names, site.args or (), strict=False):
        if name in element_sizes:
            if argument.null:
                nulls.append(name)
            elif argument.moved:
                offsets.append((name, _bytes(argument.offset, element_sizes[name])))
        elif argument.value is not None:
            args.append((name, argument.value))
        offsets += [(f"{name}.{member}", None) for member in argument.moved_members]
        args += [(f"{name}.{member}", value) for member, value in argument.integers]
    return Launch(
        block=site.block,
        grid=site.grid,
        source="host",
        args=tuple(args),
        offsets=tuple(offsets),
        nulls=tuple(nulls),
        assumed=site.assumed,
        impossible=site.impossible,
        shared_bytes=site.shared,
        file=site.file,
        line=site.line,
        column=site.span.column,
    )


def _bytes(elements: int | None, size: int | None) -> int | None:
    if elements == 0:
        return 0
    return None if elements is None or size is None else elements * size


def _launch_calls(unit: Unit) -> Iterator[Node]:
    """The call expressions that launch kernels, in the order of the text."""
    found: dict[int, Node] = {}
    for marker in (b"<<<", *(name.encode() for name in _API)):
        at = unit.code.find(marker)
        while at >= 0:
            node = unit.tree.root_node.descendant_for_byte_range(at, at + len(marker))
            call = _call_around(node)
            if call is not None:
                found[call.start_byte] = call
            at = unit.code.find(marker, at + 1)
    for start in sorted(found):
        yield found[start]


def _call_around(node: Node | None) -> Node | None:
    if node is None:
        return None
    if node.type == "<<<" and node.parent is not None and node.parent.type == "kernel_call_syntax":
        return node.parent.parent
    if node.type != "identifier":
        return None
    call = next((a for a in ancestors(node) if a.type == "call_expression"), None)
    return call if call is not None and _called(call) in _API else None


def _called(call: Node) -> str:
    """The last component of the name of what is called."""
    return node_text(call.child_by_field_name("function")).rsplit("::", 1)[-1]


class _Found(NamedTuple):
    """A launch; whether constant conditions let it happen, and whether branches told anything."""

    site: LaunchSite
    happens: bool
    supposes: bool


def _sites(unit: Unit, values: HostValues, call: Node, context: Context) -> Iterator[_Found]:
    """What one launch is in one instance of the templates around it: one site for each kernel
    that is passed there."""
    values.bind(context)
    function, configuration, given = _read(values, call)
    if function is None or len(configuration) < 2:
        return
    for kernel, there, here in launched(values, function, context):
        name = _bare_name(kernel)
        if name is None:
            continue
        values.bind(there)
        arguments = tuple(argument_of(values, a, there).source for a in template_arguments(kernel))
        values.bind(here)
        happens = values.suppose(call)
        site = _site(unit, values, call, name, arguments, configuration, given, here)
        yield _Found(site, happens, values.supposes)


def _read(
    values: HostValues, call: Node
) -> tuple[Node | None, list[Node | None], list[Node] | None]:
    """What a launch names: the kernel, grid, block and shared bytes, and the arguments, None
    where they are not written out."""
    syntax = next((c for c in call.children if c.type == "kernel_call_syntax"), None)
    given = expressions(call.child_by_field_name("arguments"))
    if syntax is not None:
        return call.child_by_field_name("function"), [*expressions(syntax)], given
    if _called(call) == _CONFIGURED:
        if len(given) < 2:
            return None, [], None
        return kernel_of(given[1]), launch_configuration(values, given[0], call), given[2:]
    if len(given) < 3:
        return None, [], None
    return kernel_of(given[0]), [given[1], given[2], *given[4:5]], None


def _site(
    unit: Unit,
    values: HostValues,
    call: Node,
    kernel: str,
    template_args: tuple[str | None, ...],
    configuration: list[Node | None],
    given: list[Node] | None,
    context: Context,
) -> LaunchSite:
    grid, threads, *rest = configuration
    shared = 0 if not rest else values.integer(rest[0]) if rest[0] is not None else None
    sizes, blocks = (_sizes(values, node) for node in (threads, grid))
    why = why_impossible(sizes, blocks)
    block, assumed = (None, "") if why_impossible(block=sizes) else _block(sizes)
    listed = given is not None and all(g.type != "parameter_pack_expansion" for g in given)
    return LaunchSite(
        kernel=kernel,
        template_args=template_args,
        grid=None if why else _dim3(blocks),
        block=block,
        shared=shared if shared is not None and 0 <= shared <= MAX_SHARED_BYTES else None,
        args=tuple(_argument(values, g, context) for g in given or ()) if listed else None,
        assumed=assumed,
        impossible=why,
        span=unit.span(call),
        node=call,
    )


def _sizes(values: HostValues, node: Node | None) -> Sequence[int | None]:
    return [None] * 3 if node is None else values.dimensions(node)


def _dim3(sizes: Sequence[int | None]) -> Dim3 | None:
    known = [size for size in sizes if size is not None]
    return Dim3(*known) if len(known) == len(sizes) else None


def _block(known: Sequence[int | None]) -> tuple[Dim3 | None, str]:
    """The block with these sizes, and the axes that were filled in; None where it is not known.

    An unknown block is taken to be a multiple of 32 wide.  Where the source says that it is not,
    the axes it leaves open are taken to fill the warps.
    """
    width = known[0]
    if None in known and (width is None or width % WARP_SIZE == 0):
        return None, ""
    sizes: list[int] = []
    rest = WARP_SIZE // gcd(WARP_SIZE, prod(n for n in known if n is not None))
    for size in known:
        sizes.append(rest if size is None else size)
        rest = rest if size is not None else 1
    block = Dim3(*sizes)
    assumed = "".join(axis for axis, size in zip("xyz", known, strict=True) if size is None)
    return (block, assumed) if block.size <= MAX_THREADS_PER_BLOCK else (None, "")


def _argument(values: HostValues, node: Node, context: Context) -> LaunchArgument:
    moved, offset = pointer_offset(values, node)
    type_ = argument_type(values, node, context)
    source = " ".join(node_text(node).split())
    null = is_null(values, node)
    held = captured(values, node)
    inner = members_of(values, node)
    return LaunchArgument(
        source,
        values.integer(node),
        moved,
        offset,
        type_,
        null,
        inner.moved + held.moved,
        inner.integers + held.integers,
    )


def _bare_name(function: Node) -> str | None:
    """``ns::k`` of ``ns::k<32, float>``; None for a pointer or a member."""
    if function.type not in ("identifier", "template_function", "qualified_identifier"):
        return None
    parts: list[str] = []
    node: Node | None = function
    while node is not None and node.type == "qualified_identifier":
        parts.append(node_text(node.child_by_field_name("scope")))
        node = node.child_by_field_name("name")
    if node is not None and node.type == "template_function":
        node = node.child_by_field_name("name")
    parts.append(node_text(node))
    return "::".join(part for part in parts if part)
