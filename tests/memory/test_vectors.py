"""The published and hand-checked test vectors of tests/data/vectors.json."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from coalescecheck import memory
from coalescecheck.arch import arch_named

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "vectors.json").read_text())
OPS = {"ldmatrix.x4": "ldmatrix"}


def lanes_of(vector):
    raw = vector["lane_byte_addresses"]
    active = np.array([[a is not None for a in raw]])
    return np.array([[a or 0 for a in raw]], dtype=np.int64), active


def of_space(space):
    chosen = [v for v in VECTORS if v["space"] == space]
    return pytest.mark.parametrize("vector", chosen, ids=[v["id"] for v in chosen])


@of_space("global")
def test_global_vectors_give_the_published_counts(vector):
    addresses, active = lanes_of(vector)
    width, expected = vector["width_bytes"], vector["expected"]
    touched = memory.footprint(addresses, active, width)
    got = {
        "sectors": touched.sectors,
        "pairs64": memory.count_pairs(addresses, active, width),
        "lines128": touched.lines,
        "bytes_unique": touched.unique_bytes,
        "ideal_sectors_unique": touched.ideal_sectors,
        "tag_wavefronts": touched.tag_wavefronts,
        "requests": memory.count_requests(active, width, arch_named("sm_80")),
    }
    if "requests_sm5x_6x_ld" in expected:
        got["requests_sm5x_6x_ld"] = memory.count_requests(active, width, arch_named("sm_60"))
        got["l1_data_wavefronts_ld_hit"] = memory.count_l1_data_wavefronts(addresses, active, width)
    assert {k: int(v[0]) for k, v in got.items()} == {k: expected[k] for k in got}
    assert active.sum() * width == expected["bytes_requested"]


@of_space("shared")
def test_shared_vectors_give_the_published_wavefronts(vector):
    addresses, active = lanes_of(vector)
    op = OPS.get(vector["op"], vector["op"])
    found = memory.count_wavefronts(addresses, active, vector["width_bytes"], op)
    expected = vector["expected"]
    if op == "atomic":
        assert int(found.total[0]) == expected["wavefronts_model"]
        return
    assert int(found.total[0]) == expected["wavefronts"]
    assert int(found.ideal[0]) == expected["ideal_wavefronts"]
    assert int(found.degree[0]) == expected["max_degree"]


@of_space("constant")
def test_constant_vectors_give_one_pass_per_distinct_address(vector):
    addresses, active = lanes_of(vector)
    assert (
        int(memory.count_constant_passes(addresses, active)[0])
        == (vector["expected"]["serialised"])
    )
