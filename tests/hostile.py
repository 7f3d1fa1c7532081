"""Reports with names that try to break out of whatever they are printed in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from coalescecheck import rules
from coalescecheck.analysis import AccessResult, KernelAnalysis, Race, Trial
from coalescecheck.findings import Finding, Suppressed
from coalescecheck.launch import Launch
from coalescecheck.report.model import FileReport, InternalError, Report, RuleInfo
from coalescecheck.source import Diagnostic, Edit, Span
from hand_made import PATH, access, exactly, file, kernel

ATTACKS = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\" onload='alert(1)' x=\"",
    "]]><!-- --> &amp; &#0;",
    "a\n::error file=x::pwned\r\n%0A::stop-commands::x",
    "`|`` **b** [x](javascript:alert(1)) @everyone #1",
    "nul\x00bell\x07esc\x1b[31m\ufffe\u202e",
    "javascript:alert(1)//../../etc/passwd",
    "\ud800 lone surrogate".encode("utf-8", "replace").decode(),
)
HOSTILE = " ".join(ATTACKS)

STRIDED = access(
    0,
    lane_stride_bytes=2048,
    pattern="strided",
    sectors=exactly(32, 4),
    efficiency=0.125,
    sample_lanes=tuple(2048 * lane for lane in range(32)),
)
COLUMN = access(
    3,
    at=(7, 24),
    index="tile[threadIdx.x][threadIdx.y]",
    space="shared",
    wavefronts=exactly(32, 1),
    bank_conflict_degree=(32, 32),
    lane_stride_bytes=128,
    pattern="strided",
    efficiency=None,
    sample_lanes=tuple(128 * lane for lane in range(32)),
)
PAD = Trial(
    "pad",
    "tile",
    "`tile[32][33]`",
    "declare `tile[32][33]` instead of `tile[32][32]`",
    {3: 32.0},
    {3: 1.0},
    {3: tuple(132 * lane for lane in range(32))},
    amount=1,
    edit=Edit(Span(PATH, 4, 27), 29, "33"),
)


def described() -> tuple[RuleInfo, ...]:
    """All rules as the pipeline describes them."""
    return tuple(
        RuleInfo(rule.code, rule.slug, rule.severity, rule.summary(), rule.documentation())
        for rule in rules.RULES
    )


def report_of(*kernels: KernelAnalysis, **facts: Any) -> Report:
    """A report of one file with these kernels and what the rules say of them."""
    found = rules.merge(f for each in kernels for f in rules.check(each))
    files = (FileReport(file(*kernels), found),)
    return Report("0.1.0", "sm_80", files, rules=described(), **facts)


def ordinary() -> Report:
    """A clean access, a strided one and a bank conflict with its fix."""
    clean = access(2, at=(7, 5), index="out[threadIdx.x]", sample_lanes=tuple(range(0, 128, 4)))
    return report_of(kernel(STRIDED, COLUMN, clean, trials=(PAD,)))


def hostile(text: str = HOSTILE) -> Report:
    """Everything that comes from a user's file says ``text``."""
    span = Span(text, 1, 1, text)
    strange = access(
        0,
        file=text,
        index=text,
        array=text,
        address=text,
        lane_stride_bytes=text,
        pattern="strided",
        sectors=exactly(32, 4),
        reason=text,
        guards=(text,),
        loops=(text,),
        assumptions=(text,),
        sample_lanes=(*range(0, 124, 4), None),
    )
    shared: AccessResult = access(
        1,
        file=text,
        index=text,
        array=text,
        space="shared",
        wavefronts=exactly(2, 1),
        sample_lanes=tuple(8 * lane for lane in range(32)),
    )
    trial = Trial(
        "pad", text, text, text, {1: 2.0}, {1: 1.0}, assumptions=(text,), edit=Edit(span, 2, text)
    )
    analysis = kernel(
        strange,
        shared,
        name=text,
        span=span,
        template={text: text},
        launch=Launch(None, None, "assumed", file=text),
        params={text: 1},
        assumptions=(text,),
        races=(Race(text, (span, span), "RAW"),),
        trials=(trial,),
        diagnostics=(Diagnostic(span, "warning", text),),
    )
    lost = kernel(name=text, span=span, status="failed", reason=text)
    findings: tuple[Finding, ...] = rules.check(analysis)
    content = f"{text}\n__global__ void {text} {{ {text} }}\n" * 2
    files = (
        FileReport(
            replace(file(analysis, lost, path=text), text=content),
            findings,
            suppressed=(Suppressed(findings[0], "source", text),),
        ),
        FileReport(file(path=text + "2"), unreadable=True),
    )
    errors = (InternalError(text, text, text, text),)
    return Report("0.1.0", "sm_80", files, errors, described())
