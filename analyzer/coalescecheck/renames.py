"""Which old file a new one was: by what is in them.

In: texts by path, of files that are new and of files that are gone.  Out: pairs.  Git's own
detection is not asked because it reads the work tree through filters that the repository names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import PurePath

ALIKE = 0.5  # share of equal lines, as git's default
MOST = 200  # files on a side; beyond, only equal texts are looked for


def found(new: Mapping[str, str], gone: Mapping[str, str]) -> dict[str, str]:
    """The old path of each new file that was renamed; the most alike first, each file once.  Of
    equals, one that kept the name of its file or folder."""
    few = len(new) <= MOST and len(gone) <= MOST
    before = {path: _lines(text) for path, text in gone.items()}
    scored: list[tuple[float, str, str]] = []
    for path, text in new.items():
        lines = _lines(text)
        for old, old_lines in before.items():
            if few or lines == old_lines:
                scored.append((_likeness(lines, old_lines), path, old))
    result: dict[str, str] = {}
    for score, path, old in sorted(scored, key=lambda each: (-each[0], -_kept(*each[1:]))):
        if score >= ALIKE and path not in result and old not in result.values():
            result[path] = old
    return result


def _kept(path: str, old: str) -> int:
    """How much of its name a file kept."""
    here, there = PurePath(path), PurePath(old)
    return 2 * (here.name == there.name) + (here.parent.name == there.parent.name)


def _lines(text: str) -> Counter[str]:
    return Counter(line for line in map(str.strip, text.splitlines()) if line)


def _likeness(a: Counter[str], b: Counter[str]) -> float:
    return (a & b).total() / max(a.total(), b.total(), 1)
