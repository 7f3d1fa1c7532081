"""One request of a warp drawn in text, for a hover: lanes over sectors, lanes over banks.

In: the byte offsets of 32 lanes and the width of the access.  Out: lines of plain text that are
aligned in a font of one width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coalescecheck import wording
from coalescecheck.report.request import (
    BANKS,
    SECTOR_BYTES,
    WARP_SIZE,
    WORD_BYTES,
    Offsets,
    Phase,
    phases_of,
    sectors_of,
)

MOST_ROWS = 8  # sectors, or banks of a phase, that are drawn one by one
MOST_PHASES = 4
LANES_PER_ROW = 8
USED, UNUSED = "█", "░"


def sector_picture(offsets: Offsets, width: int) -> list[str]:
    """The sectors of a request, a character per byte, with the lanes that ask for it."""
    sectors = sectors_of(offsets, width)
    shown = sectors if len(sectors) <= MOST_ROWS else (*sectors[: MOST_ROWS - 1], sectors[-1])
    digits = max((len(str(s.number * SECTOR_BYTES)) for s in shown), default=0)
    rows = [
        f"{sector.number * SECTOR_BYTES:>{digits}}  "
        + "".join(USED if byte in sector.used else UNUSED for byte in range(SECTOR_BYTES))
        + f"  {_named(sector.lanes)}"
        for sector in shown
    ]
    if len(shown) < len(sectors):
        rows.insert(-1, f"{'':>{digits}}  … {len(sectors) - len(shown)} more")
    asked = wording.plural(sum(len(s.used) for s in sectors), "byte")
    head = f"{wording.plural(len(sectors), 'sector')} of {SECTOR_BYTES} bytes for {asked}"
    return [f"{head}; byte offset, bytes used, lanes", *rows]


def bank_picture(offsets: Offsets, width: int, op: str) -> list[str]:
    """The bank of each lane, and for each bank that has to work twice the lanes it keeps."""
    phases = phases_of(offsets, width, op)
    total = sum(len(phase.wavefronts) for phase in phases)
    least = f", {len(phases)} without conflict" if len(phases) != total else ""
    lines = [f"{wording.plural(total, 'wavefront')}{least}", *_banks_of_lanes(offsets, width)]
    for at, phase in enumerate(phases[:MOST_PHASES]):
        if len(phases) > 1:
            lines.append(f"phase {at + 1}: {_named(phase.lanes)}")
        lines += _conflicts(phase)
    if len(phases) > MOST_PHASES:
        lines.append(f"… {wording.plural(len(phases) - MOST_PHASES, 'more phase')}")
    return lines


def _banks_of_lanes(offsets: Offsets, width: int) -> Iterator[str]:
    """Rows of lanes with the bank of the first byte of each."""
    more = f" (first of {width // WORD_BYTES})" if width > WORD_BYTES else ""
    for first in range(0, WARP_SIZE, LANES_PER_ROW):
        lanes = range(first, first + LANES_PER_ROW)
        cells = " ".join(f"{_bank(offsets[lane]):>2}" for lane in lanes)
        yield f"lanes {first:>2}-{lanes[-1]:<2} → bank {cells}{more}"


def _bank(offset: int | None) -> str:
    return "-" if offset is None else str(offset // WORD_BYTES % BANKS)


def _conflicts(phase: Phase) -> Iterator[str]:
    """A row per bank with more than one word to deliver, one word per wavefront."""
    words: dict[int, list[Sequence[int]]] = {}
    for wavefront in phase.wavefronts:
        for served in wavefront:
            words.setdefault(served.bank, []).append(served.lanes)
    busy = sorted((bank for bank in words if len(words[bank]) > 1), key=lambda b: -len(words[b]))
    if not busy:
        yield "no bank has more than one word to deliver"
    for bank in busy[:MOST_ROWS]:
        kept = words[bank]
        few = kept if len(kept) <= MOST_ROWS else [*kept[: MOST_ROWS - 2], (), kept[-1]]
        lanes = " | ".join(_runs(each) or "…" for each in few)
        yield f"bank {bank:>2}: {len(words[bank])} words, lanes {lanes}"
    if len(busy) > MOST_ROWS:
        yield f"… {wording.plural(len(busy) - MOST_ROWS, 'more bank')} with more than one word"


def _named(lanes: Sequence[int]) -> str:
    return f"lane {lanes[0]}" if len(lanes) == 1 else f"lanes {_runs(lanes)}"


def _runs(lanes: Sequence[int]) -> str:
    """``0-7,9``"""
    runs: list[list[int]] = []
    for lane in sorted(lanes):
        if runs and lane == runs[-1][1] + 1:
            runs[-1][1] = lane
        else:
            runs.append([lane, lane])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)
