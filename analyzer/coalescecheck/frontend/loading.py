"""The front end from end to end: one file to its kernel instances.

In: a path and options.  Out: a :class:`SourceFile`.  A kernel that cannot be rewritten becomes
a :class:`KernelC` without text that says why; the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.directives import find_directives
from coalescecheck.frontend.instances import Instance, instances_of, meant_by
from coalescecheck.frontend.kernel_c import KernelC, SourceFile, SourceMap
from coalescecheck.frontend.launches import LaunchSite, find_launches
from coalescecheck.frontend.mending import mended
from coalescecheck.frontend.preprocess import preprocess
from coalescecheck.frontend.reading import read_source, unsaved_source
from coalescecheck.frontend.recovery import Damaged, isolate_damage
from coalescecheck.frontend.rewrite import FileConstants, KernelDecl, rewrite_kernel
from coalescecheck.frontend.syntax_errors import lost_kernels, syntax_errors
from coalescecheck.frontend.unit import Unit
from coalescecheck.frontend.unknown_specifiers import without_unknown_specifiers
from coalescecheck.source import Diagnostic, Span

T = TypeVar("T")
# What a defect of ours may raise: it costs one kernel, not the file.
_DEFECTS = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError)
_MAX_INSTANCES = 64  # of one kernel


def load_file(
    path: str, templates: Mapping[str, str], unsaved: str | None = None, **preprocessing: Any
) -> SourceFile:
    """Everything the front end can say about one file; see ``frontend.load``.

    ``preprocessing`` are the keyword arguments of ``preprocess``.
    """
    text = read_source(path) if unsaved is None else unsaved_source(unsaved, path)
    unit = preprocess(path, text, **preprocessing)
    directives, complaints = find_directives(path, text)
    unit, taken = without_unknown_specifiers(unit)
    said = [*unit.diagnostics, *taken, *complaints]
    unit, kernels, damaged = isolate_damage(mended(unit))
    constant = FileConstants(unit, kernels[0].top).value if kernels else None
    sites = _found("finding launches", lambda: find_launches(unit, constant), path, said)
    said += lost_kernels(unit, kernels)
    said += _homeless(sites, kernels)
    loader = _Loader(unit, kernels, sites, templates)
    rewritten = [kernel_c for kernel in kernels for kernel_c in loader.kernel(kernel)]
    rewritten += [_unreadable(kernel) for kernel in damaged]
    return SourceFile(path, text, tuple(rewritten), directives, tuple(said))


def _unreadable(kernel: Damaged) -> KernelC:
    return KernelC(
        name=kernel.name,
        span=kernel.span,
        template={},
        function="",
        text=None,
        source_map=SourceMap(),
        diagnostics=(kernel.error,),
    )


def _found(
    stage: str, work: Callable[[], tuple[T, ...]], path: str, said: list[Diagnostic]
) -> tuple[T, ...]:
    """What ``work`` finds in the file; nothing, and an error, where it runs into a defect."""
    try:
        return work()
    except RecursionError:
        said.append(Diagnostic(Span(path, 1, 1), "error", f"{stage}: the file nests too deeply"))
        return ()
    except _DEFECTS as defect:
        said.append(_defect(Span(path, 1, 1), stage, defect))
        return ()


def _defect(span: Span, stage: str, defect: Exception) -> Diagnostic:
    what = f"{type(defect).__name__}: {defect}".rstrip(": ")
    return Diagnostic(span, "error", f"internal error while {stage}: {what}")


@dataclass(frozen=True, slots=True)
class _Loader:
    """Rewrites the kernels of one unit, each instance on its own."""

    unit: Unit
    kernels: Sequence[KernelDecl]
    sites: Sequence[LaunchSite]
    templates: Mapping[str, str]

    def kernel(self, kernel: KernelDecl) -> list[KernelC]:
        """The instances of a kernel that its launches and instantiations ask for."""
        faults = syntax_errors(self.unit, kernel.node)
        mine = [s for s in self.sites if kernel in meant_by(s, self.kernels)]
        instances = instances_of(kernel, mine, self.templates)
        if len(instances) > _MAX_INSTANCES:
            message = f"only {_MAX_INSTANCES} of {len(instances)} instances are analysed"
            faults.append(Diagnostic(kernel.span, "warning", f"{kernel.name}: {message}"))
        return [self._instance(kernel, i, faults) for i in instances[:_MAX_INSTANCES]]

    def _instance(
        self, kernel: KernelDecl, instance: Instance, faults: Sequence[Diagnostic]
    ) -> KernelC:
        try:
            result = rewrite_kernel(self.unit, kernel, instance.arguments)
        except UnsupportedConstruct as error:
            span = error.span if error.span.line else kernel.span
            result = _lost(kernel, instance, Diagnostic(span, "error", error.message))
        except RecursionError:  # of the body, or of an argument of the template
            why = Diagnostic(kernel.span, "error", f"`{kernel.name}` nests too deeply")
            result = _lost(kernel, instance, why)
        except _DEFECTS as defect:
            why = _defect(kernel.span, f"rewriting {kernel.name}", defect)
            result = _lost(kernel, instance, why)
        said = (*faults, *result.diagnostics)
        return replace(result, launches=tuple(instance.launches), diagnostics=said)


def _lost(kernel: KernelDecl, instance: Instance, why: Diagnostic) -> KernelC:
    return KernelC(
        name=kernel.name,
        span=kernel.span,
        template=dict(instance.arguments),
        function="",
        text=None,
        source_map=SourceMap(),
        max_threads=kernel.max_threads,
        diagnostics=(why,),
    )


def _homeless(sites: Sequence[LaunchSite], kernels: Sequence[KernelDecl]) -> list[Diagnostic]:
    """Launches of kernels that are defined elsewhere, each kernel once."""
    said: dict[str, Diagnostic] = {}
    for site in sites:
        if site.kernel not in said and not meant_by(site, kernels):
            message = f"kernel {site.kernel} is launched here but not defined in sight"
            said[site.kernel] = Diagnostic(site.span, "note", message)
    return list(said.values())
