"""The hardware model again, in plain Python sets, from its published description.

Written without the package, to be compared with it: sectors (CUDA C++ Best Practices Guide),
banks and phases (CUDA C++ Programming Guide; NVIDIA forum 77228 for merged phases).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache

Lanes = tuple[tuple[int, int], ...]  # (lane, byte address) of the active lanes


def moved_to_start(lanes: Lanes) -> Lanes:
    """The same request a whole number of 128-byte rows lower: no count changes."""
    start = min(address for _, address in lanes) // 128 * 128
    return tuple((lane, address - start) for lane, address in lanes)


@lru_cache(maxsize=1 << 16)
def sectors(lanes: Lanes, width: int) -> int:
    """Distinct 32-byte sectors over all bytes of all lanes."""
    return len({(address + byte) // 32 for _, address in lanes for byte in range(width)})


@lru_cache(maxsize=1 << 16)
def wavefronts(lanes: Lanes, width: int, op: str) -> int:
    """Passes over the 32 banks; ``op`` is load, store or atomic."""
    group = {8: 16, 16: 8}.get(width, 32)
    if op == "load" and group < 32 and _pairs_agree(dict(lanes)):
        group *= 2
    return sum(_worst_bank(part, width, op) for part in _phases(lanes, group))


def passes(lanes: Lanes) -> int:
    """Distinct addresses of a constant load."""
    return len({address for _, address in lanes})


def _phases(lanes: Lanes, group: int) -> list[list[int]]:
    phases: defaultdict[int, list[int]] = defaultdict(list)
    for lane, address in lanes:
        phases[lane // group].append(address)
    return list(phases.values())


def _pairs_agree(lanes: dict[int, int]) -> bool:
    return any(all(lanes.get(n ^ x, a) == a for n, a in lanes.items()) for x in (1, 2))


def _worst_bank(addresses: list[int], width: int, op: str) -> int:
    words = [w for a in addresses for w in range(a // 4, (a + width - 1) // 4 + 1)]
    wanted = words if op == "atomic" else set(words)
    return max(Counter(word % 32 for word in wanted).values())
