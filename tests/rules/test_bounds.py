"""The bounds of the rules on numbers made by hand, each from both sides and on the bound itself.

``test_thresholds`` has those that take a kernel.  Numbers are per request of a warp: sectors of 32
bytes, wavefronts, bytes.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from coalescecheck.analysis import (
    AccessResult,
    AccessTotals,
    ArrayTraffic,
    Barrier,
    Count,
    KernelAnalysis,
    L1Wavefronts,
    Motion,
    Race,
    Total,
    UniqueSectors,
)
from coalescecheck.ir.kernel import Array, Op, Piece, Space
from coalescecheck.launch import Dim3, Launch
from coalescecheck.rules.array_of_structs import ArrayOfStructs
from coalescecheck.rules.base import Rule
from coalescecheck.rules.column_walk import ColumnWalk
from coalescecheck.rules.dynamic_local_array import DynamicLocalArray
from coalescecheck.rules.global_atomic_contention import GlobalAtomicContention
from coalescecheck.rules.l1_bank_conflict import L1BankConflict
from coalescecheck.rules.misaligned_global_access import MisalignedGlobalAccess
from coalescecheck.rules.narrow_access import NarrowAccess
from coalescecheck.rules.partial_warp_block import PartialWarpBlock
from coalescecheck.rules.shared_bank_conflict import SharedBankConflict
from coalescecheck.rules.shared_memory_race import SharedMemoryRace
from coalescecheck.rules.split_access import SplitAccess
from coalescecheck.rules.strided_global_access import StridedGlobalAccess
from coalescecheck.rules.unused_shared_padding import UnusedSharedPadding
from coalescecheck.source import Span
from hand_made import PATH, access, exactly, kernel


def told(rule: Rule, analysis: KernelAnalysis) -> list[str]:
    return [str(finding.severity) for finding in rule.check(analysis)]


def moving(offset: int = 0, step: int = 0, trips: int | None = None, group: int = 1) -> Motion:
    """Of a loop that adds ``step`` bytes, ``trips`` times."""
    loops = ((step,), (trips,)) if step else ((), ())
    return Motion((64, 0, 0), *loops, offset=offset, group=group, divisor=64, start=64)


def summed(units: int, ideal: int) -> AccessTotals:
    sums = (1, units, ideal, units - ideal)
    return AccessTotals(*(Total(each, each) for each in sums))


# --- whatever the rule ------------------------------------------------------------------------


@pytest.mark.parametrize(("mean", "severity"), [(4.39, []), (4.4, ["note"]), (8.0, ["warning"])])
def test_a_tenth_more_than_the_ideal(mean: float, severity: list[str]) -> None:
    subject = kernel(access(pattern="strided", sectors=Count(4, 8, mean, 4)))
    assert told(StridedGlobalAccess(), subject) == severity


# --- CC105 ------------------------------------------------------------------------------------


def struct(size: int, name: str = "S") -> Array:
    return Array("p", Space.GLOBAL, name, size, "struct")


def member(id: int, at: int, width: int, size: int, **facts: Any) -> AccessResult:
    """A member of 32 neighbouring structs: at least twice the sectors that its bytes fill."""
    values: dict[str, Any] = {
        "index": "p[i].m",
        "lane_stride_bytes": size,
        "pattern": "strided",
        "sectors": exactly(size, width),
        "motion": moving(at),
    }
    return access(id, width=width, **(values | facts))


def structs(size: int, *members: AccessResult, name: str = "S") -> KernelAnalysis:
    return kernel(*members, arrays={"p": struct(size, name)})


@pytest.mark.parametrize(
    ("used", "severity"), [(15, "warning"), (16, "warning"), (17, "note"), (32, "note")]
)
def test_more_than_half_of_a_struct_is_found_in_l1_again(used: int, severity: str) -> None:
    # `used` of the 32 bytes of a struct, one by one
    members = [member(at, at, 1, 32) for at in range(used)]
    assert told(ArrayOfStructs(), structs(32, *members)) == [severity] * used


@pytest.mark.parametrize(("used", "severity"), [(32, "warning"), (33, "note")])
def test_a_byte_more_than_half_of_64(used: int, severity: str) -> None:
    members = [member(at, at, 1, 64) for at in range(used)]
    assert told(ArrayOfStructs(), structs(64, *members)) == [severity] * used


@pytest.mark.parametrize(("trips", "severity"), [(4, "warning"), (5, "note"), (None, "note")])
def test_a_loop_over_an_array_in_a_struct_uses_all_of_it(trips: int | None, severity: str) -> None:
    # 4 bytes in each iteration: 16 of 32 bytes are half, 20 are more
    walk = member(0, 0, 4, 32, motion=moving(0, 4, trips))
    assert told(ArrayOfStructs(), structs(32, walk)) == [severity]


@pytest.mark.parametrize(
    ("trips", "words"), [(5, "loads 20 bytes"), (None, "loads at least 4 bytes")]
)
def test_how_much_is_used_of_a_struct(trips: int | None, words: str) -> None:
    walk = member(0, 0, 4, 32, motion=moving(0, 4, trips))
    (finding,) = ArrayOfStructs().check(structs(32, walk))
    assert finding.reason.endswith(f"of each this kernel {words}")


def test_a_loop_over_structs_uses_no_more_of_each() -> None:
    walk = member(0, 0, 4, 32, motion=moving(0, 32, 8))
    assert told(ArrayOfStructs(), structs(32, walk)) == ["warning"]


def test_what_another_kernel_part_never_runs_is_not_used() -> None:
    idle = [member(at, at, 4, 32, requests=0) for at in range(4, 32, 4)]
    subject = structs(32, member(0, 0, 4, 32), *idle)
    assert next(iter(told(ArrayOfStructs(), subject))) == "warning"


@pytest.mark.parametrize(
    ("size", "width", "fits"),
    [
        (2, 1, True),
        (3, 1, False),
        (4, 2, True),
        (6, 2, False),
        (8, 4, True),
        (12, 4, False),
        (16, 4, True),
        (24, 8, False),
        (32, 8, False),
    ],
)
def test_structs_that_one_request_takes(size: int, width: int, fits: bool) -> None:
    members = [member(at, at, width, size) for at in range(0, size, width)]
    for finding in ArrayOfStructs().check(structs(size, *members)):
        assert finding.advice.startswith(f"declare S __align__({size})") == fits


@pytest.mark.parametrize(("used", "fits"), [(8, False), (9, True)])
def test_a_request_for_more_than_half_of_a_struct(used: int, fits: bool) -> None:
    members = [member(at, at, 1, 16) for at in range(used)]
    findings = [*ArrayOfStructs().check(structs(16, *members))]
    assert [f.advice.startswith("declare S __align__(16)") for f in findings] == [fits] * used


@pytest.mark.parametrize(
    ("used", "name", "severity"),
    [
        (2, "float4", "warning"),
        (3, "float4", "note"),
        (3, "float3", "warning"),
        (3, "S", "warning"),
    ],
)
def test_members_that_a_compiler_may_join(used: int, name: str, severity: str) -> None:
    # stores: L1 does not join them
    members = [member(at, 4 * at, 4, 16, op=Op.STORE) for at in range(used)]
    assert told(ArrayOfStructs(), structs(16, *members, name=name)) == [severity] * used


@pytest.mark.parametrize(
    ("facts", "speaks"),
    [
        ({}, True),
        ({"lane_stride_bytes": -16}, True),
        ({"lane_stride_bytes": 32}, False),
        ({"space": "shared"}, False),
        ({"requests_per_access": 2}, False),
        ({"width_bytes": 16}, False),
        ({"certainty": "data-dependent"}, False),
    ],
)
def test_what_a_member_is(facts: dict[str, Any], speaks: bool) -> None:
    subject = structs(16, replace(member(0, 0, 4, 16), **facts))
    assert bool(told(ArrayOfStructs(), subject)) == speaks


def test_only_structs_have_members() -> None:
    plain = replace(struct(16), element_kind="float")
    assert not told(ArrayOfStructs(), kernel(member(0, 0, 4, 16), arrays={"p": plain}))


# --- CC107 ------------------------------------------------------------------------------------


def in_l1(passes: float = 32, *, block: float = 512, asked: int = 1024, **facts: Any) -> Any:
    """A load of one block of 256 threads that touches ``block`` sectors, and asks for ``asked``."""
    values: dict[str, Any] = {
        "index": "in[i]",
        "lane_stride_bytes": 128,
        "pattern": "strided",
        "sectors": exactly(32, 4),
        "l1_wavefronts": L1Wavefronts(Count(1, 32, passes), Count(1, 32, 8.0)),
        "totals": summed(asked, 128),
        "unique_sectors": UniqueSectors(block, int(block)),
    }
    traffic = ArrayTraffic("in", Total(asked, asked), UniqueSectors(block, int(block)), None, None)
    launch = Launch(Dim3(256), Dim3(1), "host")
    return kernel(access(**(values | facts)), launch=launch, array_traffic=(traffic,))


@pytest.mark.parametrize(
    ("subject", "speaks"),
    [
        pytest.param(in_l1(4), True, id="4 passes"),
        pytest.param(in_l1(3.99), False, id="fewer"),
        pytest.param(in_l1(block=512), True, id="64 bytes a thread: 256 * 64 / 32"),
        pytest.param(in_l1(block=513, asked=2052), False, id="more than L1 has"),
        pytest.param(in_l1(asked=1024), True, id="each sector twice"),
        pytest.param(in_l1(asked=1023), False, id="less often"),
        pytest.param(in_l1(lane_stride_bytes=256), True, id="2 rows of banks"),
        pytest.param(in_l1(lane_stride_bytes=-128), True, id="down"),
        pytest.param(in_l1(lane_stride_bytes=132), False, id="a word more than a row"),
        pytest.param(in_l1(lane_stride_bytes=64), False, id="half a row"),
        pytest.param(
            in_l1(lane_stride_bytes=4, motion=Motion((4, 128, 0), (), (), 0, 1, 4, 4)),
            True,
            id="rows of the block",
        ),
        pytest.param(
            in_l1(lane_stride_bytes=4, motion=Motion((128, 4, 0), (), (), 0, 1, 4, 4)),
            False,
            id="threadIdx.x is no row",
        ),
    ],
)
def test_conflicts_in_l1(subject: KernelAnalysis, speaks: bool) -> None:
    assert bool(told(L1BankConflict(), subject)) == speaks


@pytest.mark.parametrize(("sectors", "severity"), [(7.9, "note"), (8.0, "warning"), (4, "note")])
def test_conflicts_in_l1_warn_where_sectors_are_wasted(sectors: float, severity: str) -> None:
    subject = in_l1(sectors=Count(4, 8, sectors, 4))
    assert told(L1BankConflict(), subject) == [severity]


@pytest.mark.parametrize(
    ("facts", "step"),
    [
        ({"lane_stride_bytes": 256}, "lanes step 256 bytes"),
        (
            {"lane_stride_bytes": 4, "motion": Motion((4, 128, 0), (), (), 0, 1, 4, 4)},
            "rows of the block lie a multiple of 128 bytes apart",
        ),
        (
            {"lane_stride_bytes": 0, "motion": Motion((0, 128, 0), (), (), 0, 1, 4, 4)},
            "rows of the block lie a multiple of 128 bytes apart",
        ),
        (
            {"lane_stride_bytes": None, "motion": Motion((4, 128, 0), (), (), 0, 1, 4, 4)},
            "rows of the block lie a multiple of 128 bytes apart",
        ),
    ],
)
def test_conflicts_in_l1_name_the_step_to_blame(facts: dict[str, Any], step: str) -> None:
    (finding,) = L1BankConflict().check(in_l1(**facts))
    assert finding.message.endswith(f"; {step}")


def test_conflicts_in_l1_need_what_a_block_asks_for() -> None:
    for unknown in ({"totals": None}, {"unique_sectors": None}, {"sectors": None}):
        assert not told(L1BankConflict(), in_l1(**unknown))
    known = in_l1()
    assert not told(L1BankConflict(), replace(known, launch=replace(known.launch, grid=None)))


# --- CC204 ------------------------------------------------------------------------------------


def padded(
    pitch: int, step: int, wavefronts: float = 32, *more: int, element: int = 4
) -> KernelAnalysis:
    """A shared array of rows of ``pitch`` bytes whose accesses step ``step``."""
    tile = Array("t", Space.SHARED, "float", element, dims=(32, pitch // element))
    reads = access(
        index="t[i]",
        space="shared",
        wavefronts=Count(1, 32, wavefronts, 1),
        lane_stride_bytes=step,
        pattern="strided",
    )
    return kernel(reads, arrays={"t": tile}, shared_steps={"t": (step, *more)})


@pytest.mark.parametrize(
    ("subject", "speaks"),
    [
        pytest.param(padded(160, 128), True, id="a pad of 32 bytes"),
        pytest.param(padded(164, 128), False, id="of 36"),
        pytest.param(padded(161, 128, element=1), False, id="of 33"),
        pytest.param(padded(129, 128, element=1), True, id="of 1"),
        pytest.param(padded(132, 96), False, id="of 36 in front of another row"),
        pytest.param(padded(132, 128), True, id="one float"),
        pytest.param(padded(128, 128), False, id="none"),
        pytest.param(padded(132, 132), False, id="the declared rows"),
        pytest.param(padded(132, 264), False, id="two declared rows"),
        pytest.param(padded(132, 160), False, id="more than a row"),
        pytest.param(padded(132, 112), False, id="no multiple of 32 bytes"),
        pytest.param(padded(68, 64), True, id="64 bytes"),
        pytest.param(padded(36, 32), True, id="32 bytes"),
        pytest.param(padded(20, 16), False, id="16 bytes"),
        pytest.param(padded(132, 128, 32, 132), False, id="one uses the declared rows"),
        pytest.param(padded(132, 128, 1.09), False, id="no conflict"),
        pytest.param(padded(132, 128, 1.1), True, id="a few"),
        pytest.param(padded(48, 32, 32, element=24), False, id="no whole elements"),
    ],
)
def test_pads_that_nothing_uses(subject: KernelAnalysis, speaks: bool) -> None:
    assert told(UnusedSharedPadding(), subject) == (["note"] if speaks else [])


# --- CC302 ------------------------------------------------------------------------------------


def run(count: int, stride: int, *, first: int = 0, op: Op = Op.STORE, width: int = 4) -> Any:
    """``count`` elements of ``width`` bytes side by side, every ``stride`` bytes."""
    several = [
        access(
            at,
            op=op,
            index=f"a[i * {stride // width} + {at}]",
            width=width,
            lane_stride_bytes=stride,
            pattern="strided",
            sectors=exactly(min(32, stride), width),
            motion=replace(moving(first + width * at), divisor=stride),
        )
        for at in range(count)
    ]
    return kernel(*several)


def wide(subject: KernelAnalysis) -> list[tuple[int, str]]:
    """How many accesses each finding is about, and which type would do."""
    return [(1 + len(f.also), f.advice.split(",")[0]) for f in NarrowAccess().check(subject)]


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        pytest.param(run(1, 64), [], id="one is no run"),
        pytest.param(run(2, 8), [(2, "use a type of 8 bytes")], id="two"),
        pytest.param(run(4, 16), [(4, "use a type of 16 bytes")], id="four"),
        # of 9 floats 8 fit whole types of 8 bytes: fewer than 9 of 10; of 11 floats 10 do
        pytest.param(run(9, 64), [], id="8 of 9"),
        pytest.param(run(11, 64), [(11, "use a type of 8 bytes")], id="10 of 11"),
        # of 20 floats all fit 16 bytes, of 19 floats only 16: 8 bytes take 18
        pytest.param(run(20, 128), [(20, "use a type of 16 bytes")], id="20 of 20"),
        pytest.param(run(19, 128), [(19, "use a type of 8 bytes")], id="18 of 19"),
        pytest.param(run(4, 16, first=8), [(4, "use a type of 8 bytes")], id="from 8 on"),
        pytest.param(run(4, 12), [], id="more than lies between the lanes"),
        pytest.param(run(3, 12), [], id="rows of 12 bytes"),
        # of a stride of 32 bytes 2 floats are a quarter: the gap is what costs; 4 are half
        pytest.param(run(2, 32), [], id="8 of 32 bytes"),
        pytest.param(run(4, 32), [(4, "use a type of 16 bytes")], id="16 of 32 bytes"),
        pytest.param(run(2, 16), [(2, "use a type of 8 bytes")], id="8 of 16 bytes"),
        pytest.param(run(4, 4, width=1), [(4, "use a type of 4 bytes")], id="4 bytes"),
        pytest.param(run(12, 32, width=1), [], id="12 of 32 bytes"),
        pytest.param(run(3, 4, width=1), [], id="3 bytes"),
        pytest.param(run(2, 2, width=1), [], id="2 bytes"),
    ],
)
def test_runs_that_wider_accesses_take(
    subject: KernelAnalysis, expected: list[tuple[int, str]]
) -> None:
    assert wide(subject) == expected


@pytest.mark.parametrize(
    ("trips", "expected"),
    [
        (1, []),
        (2, [(1, "use a type of 8 bytes")]),
        (3, []),
        (16, [(1, "use a type of 16 bytes")]),
        (18, []),  # 72 bytes are a walk
    ],
)
def test_loops_that_wider_accesses_take(trips: int, expected: list[tuple[int, str]]) -> None:
    stride = 4 * trips
    motion = Motion((stride, 0, 0), (4,), (trips,), 0, 1, divisor=4, start=stride)
    walk = access(
        op=Op.STORE,
        lane_stride_bytes=stride,
        pattern="strided",
        sectors=exactly(min(32, stride), 4),
        motion=motion,
    )
    assert wide(kernel(walk)) == expected


@pytest.mark.parametrize(
    ("subject", "severity"),
    [
        pytest.param(run(4, 16), "warning", id="stores"),
        pytest.param(run(4, 16, op=Op.LOAD), "note", id="loads that leave no gap"),
        pytest.param(run(4, 32, op=Op.LOAD), "warning", id="loads with a gap in each sector"),
        pytest.param(run(8, 64, op=Op.LOAD), "note", id="loads of whole sectors"),
        pytest.param(run(8, 64, first=16, op=Op.LOAD), "warning", id="from the middle of one"),
    ],
)
def test_loads_of_whole_sectors_are_found_in_l1(subject: KernelAnalysis, severity: str) -> None:
    assert told(NarrowAccess(), subject) == [severity]


# --- CC303 ------------------------------------------------------------------------------------


def split(
    pieces: int, width: int, mean: float, stride: int | None, op: Op = Op.STORE
) -> KernelAnalysis:
    """An access of a type of ``pieces`` words, each of which fills ``width`` sectors at best."""
    result = access(
        op=op,
        width=width,
        lane_stride_bytes=stride,
        pattern="strided",
        requests_per_access=pieces,
        sectors=Count(1, 32, mean, width),
    )
    parts = tuple(Piece(at * width, width) for at in range(pieces))
    place = replace(result.access, pieces=parts, element="Three")
    return kernel(replace(result, access=place))


@pytest.mark.parametrize(
    ("subject", "severity"),
    [
        pytest.param(split(3, 4, 12, 12), ["warning"], id="side by side"),
        pytest.param(split(3, 4, 12, -12), ["warning"], id="down"),
        pytest.param(split(3, 4, 12, 11), ["warning"], id="few sectors"),
        pytest.param(split(1, 4, 12, 12), [], id="one piece"),
        pytest.param(split(2, 8, 16, 16), ["warning"], id="two of 8 bytes"),
        pytest.param(split(2, 16, 32, 32), [], id="as wide as can be"),
        pytest.param(split(2, 4, 7.9, 8), ["note"], id="less than twice the ideal"),
        # 3 pieces of 4 sectors are 12, and a tenth more 13.2
        pytest.param(split(3, 4, 13.2, None), ["warning"], id="together they fill them"),
        pytest.param(split(3, 4, 13.3, None), [], id="they do not"),
        pytest.param(split(3, 4, 12, 12, Op.LOAD), ["note"], id="loads find them in L1"),
        pytest.param(split(3, 4, 13.2, 16, Op.LOAD), ["note"], id="loads with a small gap"),
        pytest.param(split(3, 4, 13.3, 16, Op.LOAD), ["warning"], id="loads with a gap"),
    ],
)
def test_types_that_take_several_requests(subject: KernelAnalysis, severity: list[str]) -> None:
    assert told(SplitAccess(), subject) == severity


@pytest.mark.parametrize(
    ("pieces", "width", "advice"),
    [
        (2, 2, "declare Three __align__(4): one request"),
        (3, 1, "pad Three to 4 bytes with that alignment, or use an array per member"),
        (3, 2, "pad Three to 8 bytes with that alignment, or use an array per member"),
        (5, 1, "keep the members of Three in separate arrays, one element per lane"),
        (3, 4, "pad Three to 16 bytes with that alignment, or use an array per member"),
        (11, 1, "keep the members of Three in separate arrays, one element per lane"),
        (4, 4, "declare Three __align__(16): one request"),
        (5, 4, "keep the members of Three in separate arrays, one element per lane"),
    ],
)
def test_what_to_do_about_them(pieces: int, width: int, advice: str) -> None:
    # a pad of up to a quarter is worth it
    (finding,) = SplitAccess().check(split(pieces, width, 32, pieces * width))
    assert finding.advice == advice


# --- others -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"pattern": "strided"}, id="not contiguous"),
        pytest.param({"space": "local"}, id="not global"),
        pytest.param({"sectors": None}, id="not counted"),
    ],
)
def test_what_is_not_misaligned_has_no_note_of_it(facts: dict[str, Any]) -> None:
    values = {"pattern": "misaligned", "sectors": Count(4, 5, 5, 4)}
    assert told(MisalignedGlobalAccess(), kernel(access(**values)))
    assert not told(MisalignedGlobalAccess(), kernel(access(**(values | facts))))


@pytest.mark.parametrize(("mean", "speaks"), [(4.49, False), (4.5, True)])
def test_half_a_sector_more_is_worth_a_note(mean: float, speaks: bool) -> None:
    subject = kernel(access(pattern="misaligned", sectors=Count(4, 5, mean, 4)))
    assert bool(told(MisalignedGlobalAccess(), subject)) == speaks


@pytest.mark.parametrize(
    ("stride", "step", "speaks"),
    [(32, 4, True), (28, 4, False), (-32, 4, True), (32, 16, True), (32, 20, False)],
)
def test_a_walk_has_a_sector_for_each_lane_and_uses_it_twice(
    stride: int, step: int, speaks: bool
) -> None:
    motion = Motion((stride, 0, 0), (step,), (64,), 0, 1, 4, 4)
    result = access(
        lane_stride_bytes=stride, pattern="strided", sectors=exactly(32, 4), motion=motion
    )
    assert bool(told(ColumnWalk(), kernel(result))) == speaks


@pytest.mark.parametrize(
    ("loops", "trips", "speaks"),
    [
        pytest.param((4, 0), (64, 64), True, id="an inner loop that moves nothing"),
        pytest.param((4, 128), (64, 1), True, id="an inner loop of one iteration"),
        pytest.param((4, 128), (64, 2), False, id="an inner loop that goes far"),
        pytest.param((4,), (1,), False, id="one iteration"),
    ],
)
def test_the_innermost_loop_that_moves_counts(
    loops: tuple[int, ...], trips: tuple[int, ...], speaks: bool
) -> None:
    motion = Motion((128, 0, 0), loops, trips, 0, 1, 4, 4)
    result = access(lane_stride_bytes=128, pattern="strided", sectors=exactly(32, 4), motion=motion)
    assert bool(told(ColumnWalk(), kernel(result))) == speaks


@pytest.mark.parametrize(("lanes", "speaks"), [(1.9, False), (2.0, True)])
def test_two_lanes_at_one_address(lanes: float, speaks: bool) -> None:
    result = access(op=Op.ATOMIC, index="a[0]", pattern="broadcast", active_lanes=lanes)
    place = replace(result.access, atomic_op="add")
    subject = kernel(replace(result, access=place), arrays={})
    assert bool(told(GlobalAtomicContention(), subject)) == speaks


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"space": "shared"}, id="not global"),
        pytest.param({"op": Op.LOAD}, id="no atomic"),
        pytest.param({"pattern": "coalesced"}, id="an address for each lane"),
        pytest.param({"active_lanes": None}, id="nobody knows which lanes"),
    ],
)
def test_what_updates_no_single_address_has_no_note_of_it(facts: dict[str, Any]) -> None:
    values = {"op": Op.ATOMIC, "index": "a[0]", "pattern": "broadcast", "active_lanes": 32.0}
    result = access(**(values | facts))
    subject = kernel(replace(result, access=replace(result.access, atomic_op="add")), arrays={})
    assert not told(GlobalAtomicContention(), subject)


@pytest.mark.parametrize(("sectors", "severity"), [(7.9, "note"), (8, "warning")])
def test_a_local_array_warns_from_twice_one_index(sectors: float, severity: str) -> None:
    # 4 bytes of each lane at one index are 128 bytes: 4 sectors
    array = Array("l", Space.LOCAL, "float", 4, size=256)
    result = access(
        op=Op.STORE,
        index="l[k]",
        space="local",
        sectors=Count(4, 32, sectors, 4),
        dynamic_index=True,
        pattern="irregular",
    )
    subject = kernel(replace(result, array="l"), arrays={"l": array})
    assert told(DynamicLocalArray(), subject) == [severity]


@pytest.mark.parametrize(
    ("threads", "severity"),
    [(16, ["warning"]), (17, ["note"]), (29, ["note"]), (30, []), (32, []), (48, ["note"])],
)
def test_lanes_that_never_run(threads: int, severity: list[str]) -> None:
    # 32 / 29 is a tenth more, 32 / 30 is less; 64 / 48 is a third more
    subject = kernel(launch=Launch(Dim3(threads), Dim3(4), "host", line=20))
    assert told(PartialWarpBlock(), subject) == severity


@pytest.mark.parametrize(("ratio", "severity"), [(2, "note"), (3, "warning")])
def test_rows_that_overlap_share_a_bank_by_two(ratio: int, severity: str) -> None:
    result = access(
        index="t[i]",
        space="shared",
        wavefronts=exactly(ratio, 1),
        lane_stride_bytes=68,
        pattern="strided",
    )
    assert told(SharedBankConflict(), kernel(result)) == [severity]


@pytest.mark.parametrize(("pairs", "count"), [(2, 2), (3, 1)])
def test_three_pairs_are_code_in_lockstep(pairs: int, count: int) -> None:
    spans = [Span(PATH, line, 5) for line in range(1, pairs + 2)]
    races = tuple(
        Race("t", (one, two), "RAW", same_warp=True, barrier=Barrier(one, two))
        for one, two in pairwise(spans)
    )
    assert len(told(SharedMemoryRace(), kernel(races=races))) == count
