"""The tables of docs/memory_model.md, made from ``coalescecheck.arch``.

``python tests/memory_model_page.py`` rewrites them; ``test_memory_model.py`` checks them.
"""

from __future__ import annotations

import re
from pathlib import Path

from coalescecheck import arch

PAGE = Path(__file__).parents[1] / "docs" / "memory_model.md"
CONSTANTS = {
    "WARP_SIZE": ("lanes of a warp", "documented", "Programming Guide, SIMT Architecture"),
    "SECTOR_BYTES": (
        "bytes of a sector, the unit of global memory traffic",
        "documented",
        "Best Practices Guide, Coalesced Access to Global Memory; Nsight Compute",
    ),
    "PAIR_BYTES": (
        "bytes of two neighbouring sectors, what L2 fetches from DRAM on V100, A100 and H100",
        "measured",
        "published ncu counters; other parts fetch one sector",
    ),
    "LINE_BYTES": ("bytes of an L1 or L2 line (one tag)", "documented", "Nsight Compute"),
    "BANKS": ("banks of shared memory", "documented", "Programming Guide, Shared Memory"),
    "BANK_BYTES": ("bytes of one bank's word", "documented", "Programming Guide, Shared Memory"),
    "TAGS_PER_CYCLE": ("lines the tag stage takes a clock", "measured", "NVIDIA forum 49571; ncu"),
    "MAX_THREADS_PER_BLOCK": (
        "threads of a block at most",
        "documented",
        "Programming Guide, technical specifications",
    ),
    "STATIC_SHARED_BYTES": (
        "bytes of static shared memory of a block at most",
        "documented",
        "Programming Guide, technical specifications",
    ),
}
MARK = re.compile(r"(<!-- begin (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def constants_table() -> str:
    rows = ["| constant | value | meaning | sureness | source |", "|---|--:|---|---|---|"]
    rows += [
        f"| `{name}` | {getattr(arch, name)} | {' | '.join(about)} |"
        for name, about in CONSTANTS.items()
    ]
    return "\n".join(rows) + "\n"


def rules_table() -> str:
    rows = ["| rule | what it says | sureness | source |", "|---|---|---|---|"]
    rows += [f"| `{r.id}` | {r.text} | {r.sureness} | {r.source} |" for r in arch.RULES]
    return "\n".join(rows) + "\n"


def architectures_table() -> str:
    head = (
        "| architecture | shared memory of a block | load requests | L1 bytes a clock "
        "| loads stay in L1 | ldmatrix | cp.async |"
    )
    rows = [head, "|---|--:|---|--:|---|---|---|"]
    for name, known in arch.ARCHS.items():
        cells = [
            f"`{name}`",
            f"{known.max_shared_bytes // 1024} KiB",
            "one" if known.lanes_per_request is None else "cut by width",
            "not known" if known.l1_bytes_per_clock is None else str(known.l1_bytes_per_clock),
            "yes" if known.l1_keeps_loads else "read-only data",
            "yes" if known.has_ldmatrix else "no",
            "yes" if known.has_async_copy else "no",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


TABLES = {
    "constants": constants_table,
    "rules": rules_table,
    "architectures": architectures_table,
}


def updated(text: str) -> str:
    """The page with its tables as they are now."""
    return MARK.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], text)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
