"""The rules, in the order of their codes, and how they are run.

``check`` turns one kernel's analysis into findings; ``merge`` turns the findings of many
kernels, instances and files into the list a reader wants: each thing once, worst first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from coalescecheck.analysis import KernelAnalysis
from coalescecheck.errors import UsageError
from coalescecheck.findings import Finding
from coalescecheck.rules.access_not_analysed import AccessNotAnalysed
from coalescecheck.rules.base import Rule
from coalescecheck.rules.constant_divergent_access import ConstantDivergentAccess
from coalescecheck.rules.data_dependent_access import DataDependentAccess
from coalescecheck.rules.misaligned_global_access import MisalignedGlobalAccess
from coalescecheck.rules.misaligned_vector_access import MisalignedVectorAccess
from coalescecheck.rules.shared_bank_conflict import SharedBankConflict
from coalescecheck.rules.shared_memory_race import SharedMemoryRace
from coalescecheck.rules.strided_global_access import StridedGlobalAccess
from coalescecheck.rules.unused_suppression import UnusedSuppression
from coalescecheck.rules.verification_disagrees import VerificationDisagrees

RULES: tuple[Rule, ...] = (
    StridedGlobalAccess(),
    MisalignedGlobalAccess(),
    DataDependentAccess(),
    SharedBankConflict(),
    ConstantDivergentAccess(),
    MisalignedVectorAccess(),
    SharedMemoryRace(),
    AccessNotAnalysed(),
    VerificationDisagrees(),
    UnusedSuppression(),
)
DEFAULT_RULES = tuple(rule for rule in RULES if rule.enabled)


def check(analysis: KernelAnalysis, rules: Iterable[Rule] = DEFAULT_RULES) -> tuple[Finding, ...]:
    """What ``rules`` (by default all that are on by default) say about one kernel."""
    return merge(finding for rule in rules for finding in rule.check(analysis))


def select(wanted: tuple[str, ...], unwanted: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules to run, given ``--select`` and ``--ignore``.

    Each name is a code (``CC101``), the beginning of codes (``CC1``), a slug, or ``all``.
    """
    chosen = [rule for name in wanted for rule in _named(name)]
    dropped = [rule for name in unwanted for rule in _named(name)]
    return tuple(
        rule
        for rule in RULES
        if (rule in chosen if wanted else rule.enabled) and rule not in dropped
    )


def find(name: str) -> Rule:
    """The one rule with this code or slug."""
    for rule in RULES:
        if name.upper() == rule.code or name.lower() == rule.slug:
            return rule
    raise UsageError(f"no rule is called {name!r}; there are {_listing()}")


def merge(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, with all its instances; worst first, then in source order."""
    unique: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        span = finding.span
        key = (
            (finding.rule, span.file, span.line, span.column),
            (finding.message, finding.fixes),  # a change may help one instance and not another
        )
        known = unique.get(key)
        if known is None:
            unique[key] = finding
        else:
            both = dict.fromkeys(known.instances + finding.instances)
            unique[key] = replace(known, instances=tuple(both))
    return tuple(sorted(unique.values(), key=_order))


def _order(finding: Finding) -> tuple[object, ...]:
    span = finding.span
    return (
        -finding.severity,
        -(finding.ratio or 0.0),  # among equals the most wasteful first
        span.file,
        span.line,
        span.column,
        finding.rule,
        finding.kernel,
    )


def _named(name: str) -> tuple[Rule, ...]:
    if name.lower() == "all":
        return RULES
    found = tuple(
        rule for rule in RULES if rule.code.startswith(name.upper()) or rule.slug == name.lower()
    )
    if not found or not name:
        raise UsageError(f"no rule is called {name!r}; there are {_listing()}")
    return found


def _listing() -> str:
    return ", ".join(f"{rule.code} ({rule.slug})" for rule in RULES)
