"""From the addresses of a warp's lanes to sectors, lines and wavefronts.

In: int64 byte addresses and active masks of shape ``[w, lanes]``, ``w`` warp-level requests.
Out: int64 counts of shape ``[w]``.  Pure functions; they know no kernel and no simulator.
"""

from coalescecheck.memory.banks import (
    Wavefronts,
    count_constant_passes,
    count_l1_data_wavefronts,
    count_lanes_per_word,
    count_wavefronts,
)
from coalescecheck.memory.local import interleave
from coalescecheck.memory.sectors import (
    Footprint,
    count_pairs,
    count_requests,
    count_sectors,
    count_tag_wavefronts,
    footprint,
)
from coalescecheck.memory.shapes import Shapes, distinct_shapes

__all__ = [
    "Footprint",
    "Shapes",
    "Wavefronts",
    "count_constant_passes",
    "count_l1_data_wavefronts",
    "count_lanes_per_word",
    "count_pairs",
    "count_requests",
    "count_sectors",
    "count_tag_wavefronts",
    "count_wavefronts",
    "distinct_shapes",
    "footprint",
    "interleave",
]
