"""The stages of one kernel instance under one launch: lower, count, verify, try changes."""

from __future__ import annotations


from coalescecheck import lower
from coalescecheck.advice import pad_trials
from coalescecheck.analysis import KernelAnalysis
from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.kernel_c import KernelC
from coalescecheck.ir.kernel import Kernel
from coalescecheck.launch import Launch
from coalescecheck.options import Options
from coalescecheck.source import Diagnostic
from coalescecheck.symbolic import summarize
from coalescecheck.verify import Checked, verify


def analyze_instance(kernel_c: KernelC, launch: Launch, options: Options) -> KernelAnalysis:
    """Analyse one kernel instance; UnsupportedConstruct when nothing of it can be used."""
    if kernel_c.text is None:
        worst = kernel_c.diagnostics[0] if kernel_c.diagnostics else None
        reason = worst.message if worst else "the kernel could not be read"
        raise UnsupportedConstruct(reason, worst.span if worst else kernel_c.span)
    kernel = lower.lower(kernel_c)
    launch = _with_bounds(kernel_c, kernel, launch)
    params = _known(kernel, launch)
    summary = summarize(kernel, launch, params)
    if summary.reason:
        raise UnsupportedConstruct(summary.reason, kernel_c.span)
    checked = Checked(summary.accesses, ())
    if options.verify:
        checked = verify(kernel, launch, params, summary.accesses)
    diagnostics = (*kernel_c.diagnostics, *kernel.diagnostics)
    said = tuple(
        Diagnostic(kernel_c.span, "error", f"simulation disagrees: {problem}")
        for problem in checked.problems
    )
    status, reason = _status(diagnostics)
    return KernelAnalysis(
        name=kernel_c.name,
        span=kernel_c.span,
        template=kernel_c.template,
        launch=launch,
        params=params,
        status=status,
        reason=reason,
        assumptions=summary.assumptions,
        accesses=checked.accesses,
        races=checked.races,
        arrays=kernel.arrays,
        pad_trials=pad_trials(kernel_c, kernel, launch, params, checked.accesses),
        diagnostics=diagnostics + said,
    )


def _with_bounds(kernel_c: KernelC, kernel: Kernel, launch: Launch) -> Launch:
    return launch


def _known(kernel: Kernel, launch: Launch) -> dict[str, int]:
    names = {p.name for p in kernel.params if p.type.is_integer}
    return {name: value for name, value in launch.args if name in names}


def _status(diagnostics: tuple[Diagnostic, ...]) -> tuple[str, str]:
    """Partial when an error or warning says that something of the kernel was lost."""
    for severity in ("error", "warning"):
        for diagnostic in diagnostics:
            if diagnostic.severity == severity:
                return "partial", diagnostic.message
    return "analysed", ""
