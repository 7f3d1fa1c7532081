"""Constant memory of which the launch gives some integers: what stands beside them is made up."""

from __future__ import annotations

import numpy as np
import pytest

from coalescecheck.simulate.storage import Numbered
from coalescecheck.simulate.values import CLEAN, MADE_UP

STORAGE = Numbered(1, {4: np.int32(640), 12: np.int16(-7)})


@pytest.mark.parametrize(
    ("offsets", "dtype", "taint"),
    [
        ([4], np.int32, CLEAN),
        ([4, 4, 4], np.int32, CLEAN),
        ([12], np.int16, CLEAN),
        ([6], np.uint8, CLEAN),  # a byte of the first
        ([0], np.int32, MADE_UP),
        ([4, 8], np.int32, MADE_UP),  # one lane beside it
        ([4], np.int64, MADE_UP),  # half of it
        ([8], np.float32, MADE_UP),
        ([1 << 20], np.int32, MADE_UP),
        ([-4], np.int32, MADE_UP),
    ],
)
def test_only_what_was_given_is_certain(offsets: list[int], dtype: type, taint: int) -> None:
    assert STORAGE.taint_of(np.array(offsets), np.dtype(dtype)) == taint


def test_what_was_given_is_read() -> None:
    lane = np.zeros(1, np.int64)
    assert STORAGE.read(np.array([4]), lane, np.dtype(np.int32)).tolist() == [640]
    assert STORAGE.read(np.array([12]), lane, np.dtype(np.int16)).tolist() == [-7]
