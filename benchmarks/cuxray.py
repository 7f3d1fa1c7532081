"""cuxray (which reads compiled kernels) against ours: CPU time, and the accesses each can tell of.

    pip install cuxray nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm
    python benchmarks/cuxray.py PATH... [-I DIR] [--arch sm_80] [--limit N]

cuxray's time includes the ``nvcc -cubin`` it needs.  It has to be told the block, of which it
takes one for a file: the most frequent one of our report.  Counts compare only as shares: it
counts instructions after unrolling and inlining, we count accesses of the source.  cuxray is kept
from downloading anything; ``CUXRAY_TOOLCHAIN`` names a folder with cuobjdump and nvdisasm where
they are not on the path.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from nvcc import arguments, cpu, ours, with_kernels

KNOWN = ("exact", "exact-symbolic", "data-dependent")


class Row(NamedTuple):
    """CPU seconds of nvcc, cuxray and us, and accesses told of and in all for each tool."""

    nvcc: float
    cuxray: float
    ours: float
    theirs_known: int
    theirs: int
    ours_known: int
    ours_all: int

    def text(self, name: str) -> str:
        times = f"{self.nvcc:8.2f}{self.cuxray:10.2f}{self.ours:8.2f}"
        ratio = (self.nvcc + self.cuxray) / self.ours
        theirs = f"{self.theirs_known}/{self.theirs}"
        mine = f"{self.ours_known}/{self.ours_all}"
        return f"{times}{ratio:8.2f}{theirs:>14}{mine:>12}  {name}"


def our_view(report: Any) -> tuple[int, int, str]:
    """Known and all global and shared accesses of our report, and the most frequent block."""
    kernels = [kernel for file in report["files"] for kernel in file["kernels"]]
    accesses = [a for k in kernels for a in k["accesses"] if a["space"] in ("global", "shared")]
    found = [k["launch"]["block"] for k in kernels if k["accesses"] and k["launch"]["block"]]
    blocks = Counter(",".join(map(str, block)) for block in found)
    known = sum(access["certainty"] in KNOWN for access in accesses)
    return known, len(accesses), blocks.most_common(1)[0][0] if blocks else "256"


def their_view(report: Any) -> tuple[int, int]:
    """Accesses that cuxray analysed, and all."""
    found = [kernel["access"] for unit in report["units"] for kernel in unit["kernels"]]
    known = sum(access["analyzed_count"] for access in found)
    return known, known + sum(access["unanalyzed_count"] for access in found)


def row(nvcc: str, cuxray: str, args: Namespace, file: str, scratch: Path) -> Row | None:
    """Both tools on one file; None where one of them does not take it."""
    folders = [f"-I{folder}" for folder in args.include]
    cubin, mine, theirs = (str(scratch / name) for name in ("k.cubin", "ours.json", "theirs.json"))
    options = ["--arch", args.arch, *folders, "--format", "json", "--output", mine]
    seconds, analysed = ours([file], options)
    command = [nvcc, "-cubin", "-lineinfo", f"-arch={args.arch}", *folders, "-o", cubin, file]
    compiling, failed = cpu(command)
    if failed or not analysed:
        return None
    known, count, block = our_view(json.loads(Path(mine).read_text(encoding="utf-8")))
    command = [cuxray, "report", cubin, "--no-cache", "--json", "--threads", block, "-o", theirs]
    reading, failed = cpu(command)
    if failed:
        return None
    told = their_view(json.loads(Path(theirs).read_text(encoding="utf-8")))
    return Row(compiling, reading, seconds, *told, known, count)


def main() -> None:
    nvcc, args = arguments(__doc__.splitlines()[0])
    cuxray = shutil.which("cuxray")
    if cuxray is None:
        raise SystemExit("cuxray is not installed here (pip install cuxray)")
    os.environ["CUXRAY_NO_FETCH"] = "1"
    rows: list[Row] = []
    print(f"{'nvcc s':>8}{'cuxray s':>10}{'ours s':>8}{'ratio':>8}{'they know':>14}{'we':>12}")
    with tempfile.TemporaryDirectory() as scratch:
        for file in with_kernels(args.paths):
            found = row(nvcc, cuxray, args, file, Path(scratch))
            if found is not None:
                rows.append(found)
                print(found.text(file), flush=True)
            if args.limit and len(rows) == args.limit:
                break
    if not rows:
        raise SystemExit("no file that both can take (cuxray needs cuobjdump and nvdisasm)")
    print(Row(*(sum(values) for values in zip(*rows, strict=True))).text(f"{len(rows)} files"))


if __name__ == "__main__":
    main()
