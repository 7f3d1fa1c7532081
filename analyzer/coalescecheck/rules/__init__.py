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
from coalescecheck.rules.array_of_structs import ArrayOfStructs
from coalescecheck.rules.base import Rule
from coalescecheck.rules.column_walk import ColumnWalk
from coalescecheck.rules.constant_divergent_access import ConstantDivergentAccess
from coalescecheck.rules.data_dependent_access import DataDependentAccess
from coalescecheck.rules.divergent_access import DivergentAccess
from coalescecheck.rules.dynamic_local_array import DynamicLocalArray
from coalescecheck.rules.global_atomic_contention import GlobalAtomicContention
from coalescecheck.rules.l1_bank_conflict import L1BankConflict
from coalescecheck.rules.misaligned_global_access import MisalignedGlobalAccess
from coalescecheck.rules.misaligned_vector_access import MisalignedVectorAccess
from coalescecheck.rules.narrow_access import NarrowAccess
from coalescecheck.rules.partial_warp_block import PartialWarpBlock
from coalescecheck.rules.repeated_global_read import RepeatedGlobalRead
from coalescecheck.rules.shared_atomic_contention import SharedAtomicContention
from coalescecheck.rules.shared_bank_conflict import SharedBankConflict
from coalescecheck.rules.shared_memory_limit import SharedMemoryLimit
from coalescecheck.rules.shared_memory_race import SharedMemoryRace
from coalescecheck.rules.split_access import SplitAccess
from coalescecheck.rules.strided_global_access import StridedGlobalAccess
from coalescecheck.rules.transposed_thread_mapping import TransposedThreadMapping
from coalescecheck.rules.unused_shared_padding import UnusedSharedPadding
from coalescecheck.rules.unused_suppression import UnusedSuppression
from coalescecheck.rules.verification_disagrees import VerificationDisagrees

RULES: tuple[Rule, ...] = (
    StridedGlobalAccess(),
    MisalignedGlobalAccess(),
    DataDependentAccess(),
    TransposedThreadMapping(),
    ArrayOfStructs(),
    ColumnWalk(),
    L1BankConflict(),
    RepeatedGlobalRead(),
    GlobalAtomicContention(),
    SharedBankConflict(),
    ConstantDivergentAccess(),
    SharedAtomicContention(),
    UnusedSharedPadding(),
    SharedMemoryLimit(),
    MisalignedVectorAccess(),
    NarrowAccess(),
    SplitAccess(),
    DynamicLocalArray(),
    SharedMemoryRace(),
    PartialWarpBlock(),
    DivergentAccess(),
    AccessNotAnalysed(),
    VerificationDisagrees(),
    UnusedSuppression(),
)
DEFAULT_RULES = tuple(rule for rule in RULES if rule.enabled)

# An access has one cause: what a rule says of it keeps the rules further down silent about it.
CAUSES = ("CC303", "CC105", "CC302", "CC104", "CC107", "CC106", "CC101", "CC102")


def check(
    analysis: KernelAnalysis,
    rules: Iterable[Rule] = DEFAULT_RULES,
    apart: Iterable[Rule] = (),
) -> tuple[Finding, ...]:
    """What ``rules`` (by default all that are on by default) say about one kernel.

    Of ``rules`` the one nearest to the cause speaks about an access; those that are kept
    ``apart`` say all they have to say and silence none.
    """
    found = _nearest([finding for rule in rules for finding in rule.check(analysis)])
    return merge([*found, *(finding for rule in apart for finding in rule.check(analysis))])


def _nearest(findings: list[Finding]) -> list[Finding]:
    """The findings without those on accesses whose cause a rule higher up in ``CAUSES`` names."""
    order = {code: place for place, code in enumerate(CAUSES)}
    last = len(CAUSES)
    cause: dict[int | None, int] = {}
    for finding in findings:
        place = order.get(finding.rule, last)
        for access in (finding.access, *finding.also):
            cause[access] = min(place, cause.get(access, last))
    return [f for f in findings if f.rule not in order or order[f.rule] == cause[f.access]]


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
            # a change may help one instance and not another
            (finding.message, finding.fixes, finding.related),
        )
        known = unique.get(key)
        if known is None:
            unique[key] = finding
        else:
            worse, other = sorted((known, finding), key=lambda f: f.rank)
            both = dict.fromkeys(worse.instances + other.instances)
            unique[key] = replace(worse, instances=tuple(both))
    return tuple(sorted(unique.values(), key=_order))


def _order(finding: Finding) -> tuple[object, ...]:
    span = finding.span
    return (
        *finding.rank,
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
