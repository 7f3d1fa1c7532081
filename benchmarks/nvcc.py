"""CPU time of ``nvcc -cubin`` against ours, over the files that both can take.

    python benchmarks/nvcc.py PATH... [-I DIR] [--arch sm_80] [--limit N]

Each file costs each side a process of its own, start included; the last row is one run of ours
over all these files together.  A file counts where nvcc compiles it and we analyse some kernel.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from glob import glob
from pathlib import Path

from coalescecheck.files import source_files

PLACES = ("/usr/local/cuda/bin/nvcc", "/usr/local/cuda-*/bin/nvcc")


def find_nvcc() -> str | None:
    """nvcc on the path, else where the toolkit is installed by default."""
    known = [path for place in PLACES for path in sorted(glob(place), reverse=True)]
    return shutil.which("nvcc") or next(iter(known), None)


def cpu(command: Sequence[str]) -> tuple[float, int]:
    """CPU seconds of a command and everything it starts, and its exit code."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, process.returncode


def ours(files: Sequence[str], options: Sequence[str]) -> tuple[float, bool]:
    """CPU seconds of our command on ``files``, and whether some kernel was analysed."""
    fixed = "--no-cache --no-config --fail-on never --jobs 1".split()
    command = [sys.executable, "-m", "coalescecheck", *files, *fixed, *options]
    seconds, code = cpu(command)
    return seconds, code == 0


def with_kernels(paths: Sequence[str]) -> list[str]:
    """The ``.cu`` files that have a kernel."""
    files = [file for file in source_files(paths) if file.endswith(".cu")]
    return [file for file in files if "__global__" in Path(file).read_text("latin-1")]


def compare(nvcc: str, args: argparse.Namespace) -> None:
    """Print a row for each file that both can take, and the sums."""
    folders = [f"-I{folder}" for folder in args.include]
    taken: list[str] = []
    totals = [0.0, 0.0]
    print(f"{'nvcc s':>9}{'ours s':>9}{'ratio':>8}  file")
    with tempfile.TemporaryDirectory() as scratch:
        cubin = str(Path(scratch, "k.cubin"))
        for file in with_kernels(args.paths):
            command = [nvcc, "-cubin", f"-arch={args.arch}", *folders, "-o", cubin, file]
            theirs, failed = cpu(command)
            mine, analysed = ours([file], ["--arch", args.arch, *folders])
            if failed or not analysed:
                continue
            taken.append(file)
            totals = [totals[0] + theirs, totals[1] + mine]
            print(f"{theirs:9.2f}{mine:9.2f}{theirs / mine:8.2f}  {file}", flush=True)
            if len(taken) == args.limit:
                break
    if not taken:
        raise SystemExit("no file that both can take")
    print(f"{totals[0]:9.2f}{totals[1]:9.2f}{totals[0] / totals[1]:8.2f}  {len(taken)} files")
    together, _ = ours(taken, ["--arch", args.arch, *folders])
    print(f"{totals[0]:9.2f}{together:9.2f}{totals[0] / together:8.2f}  our run over all at once")


def arguments(about: str) -> tuple[str, argparse.Namespace]:
    """The path of nvcc and what the command line says; without nvcc the benchmark ends."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("-I", dest="include", action="append", default=[], metavar="DIR")
    parser.add_argument("--arch", default="sm_80")
    parser.add_argument("--limit", type=int, default=0, help="stop after N files (default: never)")
    args = parser.parse_args()
    nvcc = find_nvcc()
    if nvcc is None:
        raise SystemExit(f"nvcc is not installed here (not on the path, nor {', '.join(PLACES)})")
    return nvcc, args


def main() -> None:
    compare(*arguments(__doc__.splitlines()[0]))


if __name__ == "__main__":
    main()
