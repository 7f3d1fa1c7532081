"""The pictures of a hover, drawn by hand."""

from __future__ import annotations

from coalescecheck.lsp.pictures import bank_picture, sector_picture

FULL = "█" * 32


def test_neighbours_fill_their_sectors() -> None:
    offsets = [4 * lane if lane < 16 else None for lane in range(32)]
    assert sector_picture(offsets, 4) == [
        "2 sectors of 32 bytes for 64 bytes; byte offset, bytes used, lanes",
        f" 0  {FULL}  lanes 0-7",
        f"32  {FULL}  lanes 8-15",
    ]


def test_far_lanes_are_drawn_in_part() -> None:
    lines = sector_picture([64 * lane for lane in range(32)], 8)
    used = "█" * 8 + "░" * 24
    assert lines[1] == f"   0  {used}  lane 0"
    assert lines[7] == f" 384  {used}  lane 6"
    assert lines[8] == "      … 24 more"
    assert lines[9] == f"1984  {used}  lane 31"
    assert len(lines) == 10


def test_an_odd_step_visits_every_bank() -> None:
    assert bank_picture([132 * lane for lane in range(32)], 4, "load") == [
        "1 wavefront",
        "lanes  0-7  → bank  0  1  2  3  4  5  6  7",
        "lanes  8-15 → bank  8  9 10 11 12 13 14 15",
        "lanes 16-23 → bank 16 17 18 19 20 21 22 23",
        "lanes 24-31 → bank 24 25 26 27 28 29 30 31",
        "no bank has more than one word to deliver",
    ]


def test_lanes_that_share_a_word_are_served_together() -> None:
    # lanes 0 to 15 want word 0, lanes 16 to 30 word 32, both of bank 0; lane 31 does not run
    lines = bank_picture([*(0 for _ in range(16)), *(128 for _ in range(15)), None], 4, "load")
    assert lines[0] == "2 wavefronts, 1 without conflict"
    assert lines[4] == "lanes 24-31 → bank  0  0  0  0  0  0  0  -"
    assert lines[5:] == ["bank  0: 2 words, lanes 0-15 | 16-30"]


def test_wide_accesses_come_in_phases() -> None:
    # 16 bytes 32 bytes apart: 8 lanes per phase, lanes 0 and 4 of each meet in banks 0 to 3 …
    lines = bank_picture([32 * lane for lane in range(32)], 16, "load")
    assert lines[0] == "8 wavefronts, 4 without conflict"
    assert lines[1] == "lanes  0-7  → bank  0  8 16 24  0  8 16 24 (first of 4)"
    assert lines[5:8] == [
        "phase 1: lanes 0-7",
        "bank  0: 2 words, lanes 0 | 4",
        "bank  1: 2 words, lanes 0 | 4",
    ]
    assert lines[14] == "… 8 more banks with more than one word"
    assert lines[15] == "phase 2: lanes 8-15"
