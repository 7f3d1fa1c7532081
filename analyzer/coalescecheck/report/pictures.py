"""Pictures of one request of a warp: lanes over sectors, and words in banks.

In: the byte offsets of 32 lanes and the width of the access.  Out: SVG, inside a page or alone.
Colours come from the page's classes, so that light and dark need one picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from coalescecheck import wording
from coalescecheck.report.markup import Markup, join, tag
from coalescecheck.report.request import (
    BANKS,
    SECTOR_BYTES,
    WARP_SIZE,
    Offsets,
    Phase,
    Sector,
    Served,
    phases_of,
    sectors_of,
)

WIDTH = 640.0  # units of every picture; the page scales them
LEFT = 12.0
CELL = WIDTH / BANKS
LANE_TOP, LANE_HEIGHT = 14.0, 16.0
SECTOR_TOP, SECTOR_HEIGHT = 72.0, 22.0
WIDEST_SECTOR = 96.0
GAP = 5.0  # between sectors that are no neighbours
HEADER = 14.0  # bank numbers
MARGIN, HEADING = 10.0, 38.0  # of pictures in a file of their own
ROW = 16.0


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn, ``WIDTH`` and the margins wide, and what it shows in words."""

    parts: tuple[Markup, ...]
    height: float
    summary: str


def sector_strip(offsets: Offsets, width: int) -> Picture:
    """Each lane joined with the bytes it asks for; below, the sectors that have to be moved."""
    sectors = sectors_of(offsets, width)
    places = _places(sectors)
    parts = [_label(0, LANE_TOP - 4, "lanes 0 to 31"), *_lanes(offsets)]
    parts += _joints(offsets, width, places)
    for sector in sectors:
        parts += _sector(sector, *places[sector.number])
    parts += _sector_labels(sectors, places)
    summary = f"{_touched(sectors)} for {wording.plural(_asked(sectors), 'byte')}"
    return Picture(tuple(parts), SECTOR_TOP + SECTOR_HEIGHT + 18, summary)


def bank_map(offsets: Offsets, width: int, op: str) -> Picture:
    """Every pass through the 32 banks: which lanes each bank serves."""
    phases = phases_of(offsets, width, op)
    parts: list[Markup] = []
    top = 0.0
    for at, phase in enumerate(phases):
        if len(phases) > 1:
            parts.append(_label(0, top + 11, f"phase {at + 1}: lanes {_runs(phase.lanes)}"))
            top += 16
        parts += _phase(phase, top)
        top += HEADER + ROW * len(phase.wavefronts) + 8
    wavefronts = sum(len(phase.wavefronts) for phase in phases)
    least = "" if len(phases) == wavefronts else f", {len(phases)} without conflict"
    return Picture(tuple(parts), top, f"{wording.plural(wavefronts, 'wavefront')}{least}")


def figure(picture: Picture) -> Markup:
    """The picture on a page, with its words below."""
    summary = picture.summary
    drawing = tag(
        "svg", *picture.parts, viewBox=_box(picture.height), role="img", aria_label=summary
    )
    scroll = tag("div", drawing, class_="scroll", tabindex=0, role="group", aria_label=summary)
    return tag("figure", scroll, tag("figcaption", summary))


def standalone(pictures: Sequence[tuple[str, Picture]], style: str) -> str:
    """An SVG file of its own: pictures below each other, each under a heading.

    ``style`` is CSS for the classes used here; it paints the background as well, because the
    reader's colour scheme need not be that of the page around the picture.
    """
    groups: list[Markup] = []
    top = MARGIN
    for heading, picture in pictures:
        texts = (
            tag("text", heading, x=LEFT, y=top + 12, class_="heading"),
            tag("text", picture.summary, x=LEFT, y=top + 27, class_="label"),
        )
        moved = tag("g", *picture.parts, transform=f"translate(0 {top + HEADING:.0f})")
        groups += [*texts, moved]
        top += HEADING + picture.height + MARGIN
    summary = "; ".join(f"{heading}: {picture.summary}" for heading, picture in pictures)
    ground = tag("rect", width="100%", height="100%", rx=6, class_="ground")
    drawing = tag(
        "svg",
        tag("title", summary),
        tag("style", Markup(style)),
        ground,
        *groups,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=_box(top),
        width=f"{WIDTH + 2 * LEFT:.0f}",
        height=f"{top:.0f}",
        role="img",
        aria_label=summary,
    )
    return f"{drawing}\n"


def _box(height: float) -> str:
    return f"0 0 {WIDTH + 2 * LEFT:.0f} {height:.0f}"


def _label(x: float, y: float, text: str) -> Markup:
    return tag("text", text, x=LEFT + x, y=y, class_="label")


def _title(text: str) -> Markup:
    return tag("title", text)


# --- sectors ----------------------------------------------------------------------------------


def _places(sectors: Sequence[Sector]) -> dict[int, tuple[float, float]]:
    """Left edge and width of each sector; neighbours touch."""
    gaps = sum(b.number - a.number > 1 for a, b in pairwise(sectors))
    each = min(WIDEST_SECTOR, (WIDTH - GAP * gaps) / max(len(sectors), 1))
    places: dict[int, tuple[float, float]] = {}
    at, before = 0.0, None
    for sector in sectors:
        if before is not None and sector.number - before > 1:
            at += GAP
        places[sector.number] = (at, each)
        at, before = at + each, sector.number
    return places


def _lanes(offsets: Offsets) -> Iterator[Markup]:
    for lane, offset in enumerate(offsets):
        said = f"lane {lane}: {'does not run' if offset is None else f'byte {offset}'}"
        yield tag(
            "rect",
            _title(said),
            x=LEFT + lane * CELL + 1,
            y=LANE_TOP,
            width=CELL - 2,
            height=LANE_HEIGHT,
            rx=2,
            class_="off" if offset is None else "lane",
        )
        yield _centred(lane * CELL + CELL / 2, LANE_TOP + 12, str(lane), offset is None)


def _centred(x: float, y: float, text: str, faint: bool = False) -> Markup:
    return tag("text", text, x=LEFT + x, y=y, class_="faint" if faint else "in", aria_hidden="true")


def _joints(
    offsets: Offsets, width: int, places: dict[int, tuple[float, float]]
) -> Iterator[Markup]:
    for lane, offset in enumerate(offsets):
        if offset is not None:
            left, each = places[offset // SECTOR_BYTES]
            byte = offset % SECTOR_BYTES + min(width, SECTOR_BYTES) / 2
            yield tag(
                "line",
                x1=LEFT + lane * CELL + CELL / 2,
                y1=LANE_TOP + LANE_HEIGHT,
                x2=LEFT + left + each * min(byte, SECTOR_BYTES) / SECTOR_BYTES,
                y2=SECTOR_TOP,
                class_="joint",
            )


def _sector(sector: Sector, left: float, width: float) -> Iterator[Markup]:
    said = (
        f"sector at byte {sector.number * SECTOR_BYTES}: {len(sector.used)} of {SECTOR_BYTES} "
        f"bytes used, by lanes {_runs(sector.lanes)}"
    )
    box = {"y": SECTOR_TOP, "height": SECTOR_HEIGHT}
    yield tag("rect", _title(said), x=LEFT + left, width=width, class_="sector", **box)
    unit = width / SECTOR_BYTES
    for first, last in _intervals(sector.used):
        used = (last - first + 1) * unit
        yield tag("rect", x=LEFT + left + first * unit, width=used, class_="used", **box)
    yield tag("rect", _title(said), x=LEFT + left, width=width, class_="frame", **box)


def _sector_labels(
    sectors: Sequence[Sector], places: dict[int, tuple[float, float]]
) -> Iterator[Markup]:
    """Byte offsets below the boxes, as many as there is room for."""
    free = -1.0
    for sector in sectors:
        text = str(sector.number * SECTOR_BYTES)
        left, _ = places[sector.number]
        if left >= free:
            yield _label(left, SECTOR_TOP + SECTOR_HEIGHT + 13, text)
            free = left + 6.5 * len(text) + 8


def _touched(sectors: Sequence[Sector]) -> str:
    return f"{wording.plural(len(sectors), 'sector')} of {SECTOR_BYTES} bytes"


def _asked(sectors: Sequence[Sector]) -> int:
    return sum(len(sector.used) for sector in sectors)


# --- banks ------------------------------------------------------------------------------------


def _phase(phase: Phase, top: float) -> Iterator[Markup]:
    """One row per wavefront.  A bank is in conflict when it works in more than one of them."""
    below = top + HEADER
    height = ROW * len(phase.wavefronts)
    busy = [served.bank for wavefront in phase.wavefronts for served in wavefront]
    for bank in range(BANKS):
        conflict = busy.count(bank) > 1
        yield _centred(bank * CELL + CELL / 2, below - 4, str(bank), faint=not conflict)
        place = {"x": LEFT + bank * CELL, "y": below, "width": CELL, "height": height}
        yield tag("rect", class_="bank hot" if conflict else "bank", **place)
    for row, wavefront in enumerate(phase.wavefronts):
        for served in wavefront:
            yield _served(served, below + row * ROW, late=row > 0)


def _served(served: Served, top: float, late: bool) -> Markup:
    lanes = served.lanes
    said = f"bank {served.bank}: word at byte {served.word * 4} for lanes {_runs(lanes)}"
    box = tag(
        "rect",
        x=LEFT + served.bank * CELL + 1,
        y=top + 1,
        width=CELL - 2,
        height=ROW - 2,
        rx=2,
        class_="late" if late else "first",
    )
    shown = str(lanes[0]) if len(lanes) == 1 else f"{len(lanes)}×"
    text = _centred(served.bank * CELL + CELL / 2, top + 12, shown)
    return tag("g", _title(said), join(box, text))


# --- words ------------------------------------------------------------------------------------


def _intervals(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of neighbouring numbers, as first and last."""
    start = before = None
    for number in numbers:
        if before is None or start is None:
            start = number
        elif number != before + 1:
            yield start, before
            start = number
        before = number
    if start is not None and before is not None:
        yield start, before


def _runs(lanes: Sequence[int]) -> str:
    """``0-7, 9``; ``all`` for a whole warp."""
    if len(lanes) == WARP_SIZE:
        return "0-31"
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in _intervals(sorted(lanes)))
