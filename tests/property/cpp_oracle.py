"""What g++ makes of a C++ kernel: it is compiled and run lane by lane, every access is recorded.

In: a ``CppCase``.  Out: the requests of every access (by line, operation and array), each with
the byte offset of every lane.  Only ``hardware_in_python`` counts; nothing of the package is used.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .hardware_in_python import Lanes, moved_to_start, passes, sectors, wavefronts

Key = tuple[int, str, str]  # line, operation, array
HERE = Path(__file__).parent
ROOMS = (
    *(("idx", "const int *"), ("o", "float *"), ("a", "const float *"), ("q", "int *")),
    *(("c", "unsigned char *"), ("d", "double *"), ("v", "float4 *"), ("r", "Rec *")),
    *(("h", "unsigned short *"), ("u", "unsigned *")),
)
FIRST_ROOM, ROOM_BITS = 0x100000000000, 38
OPS = ("load", "store", "atomic")
RECORD = np.dtype(
    [
        *(("address", "u8"), ("context", "u8"), ("pc", "u4")),
        *(("block", "u2"), ("thread", "u2"), ("op", "u1"), ("size", "u1")),
    ],
    align=True,
)
FLAGS = (
    *(
        "-std=c++17",
        "-w",
        "-O0",
        "-gdwarf-4",
        "-fno-strict-aliasing",
        "-fno-pie",
        "-fno-exceptions",
    ),
    *("-fno-threadsafe-statics", "-fno-rtti", "-fsanitize=thread"),
    "-fsanitize=signed-integer-overflow,shift,bounds,integer-divide-by-zero,return,bool",
)
MARKERS = re.compile(r" ?\b(?:ENTER|ITERATION|EXIT)\(\d+\);")
PREFIXES = {"s_": "shared", "k_": "constant", "g_": "global"}  # of arrays that are no parameters


@dataclass(frozen=True)
class CppCase:
    """A kernel ``k`` of all ``ROOMS``, n and m, with marks around its loops, and its launch."""

    marked: str
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    params: dict[str, int]

    @property
    def text(self) -> str:
        """The kernel as the tool reads it."""
        return MARKERS.sub("", self.marked)


@dataclass(frozen=True)
class Request:
    """The lanes of one warp that run one access together; offsets from the array's start."""

    lanes: Lanes
    width: int
    units: int


Truth = dict[Key, list[Request]]


class Undefined(Exception):
    """The program is no C++, too long, or has no defined meaning."""


def recorded(case: CppCase, folder: Path) -> Truth:
    """The requests of every access of named arrays.  Raises ``Undefined``."""
    gcc, gpp = shutil.which("gcc") or "gcc", shutil.which("g++") or "g++"
    runtime = folder / "runtime.o"
    if not runtime.exists():
        _call([gcc, "-O1", "-w", "-c", str(HERE / "cpp_runtime.c"), "-o", str(runtime)], folder)
    (folder / "kernel.cpp").write_text(_unit(case), encoding="utf-8")
    try:
        _call([gpp, *FLAGS, f"-I{HERE}", "-c", "kernel.cpp"], folder)
        _call([gcc, "-no-pie", "kernel.o", "runtime.o", "-o", "kernel"], folder)
        _call([str(folder / "kernel"), "records"], folder)
    except subprocess.CalledProcessError as error:
        raise Undefined(error.stderr) from error
    records = np.fromfile(folder / "records", RECORD)
    if (records["op"] >= len(OPS)).any():
        raise Undefined("overflow or too long")
    return _requests(records, _lines(records, folder), _symbols(folder))


def _call(command: list[str], folder: Path, given: str = "") -> str:
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, input=given, timeout=60
    )
    return done.stdout


def _unit(case: CppCase) -> str:
    text = re.sub(r"extern\s+__shared__", "__attribute__((aligned(16)))", case.marked)
    text = re.sub(r"__attribute__\(\(aligned\(16\)\)\) ([^;]*)\[\];", r"static \1[65536];", text)
    text = text.replace("__shared__", "static")
    arguments = [f"({kind})p[{i}]" for i, (_, kind) in enumerate(ROOMS)]
    arguments += [str(case.params["n"]), str(case.params["m"])]
    shape = ", ".join(map(str, case.block + case.grid))
    return (
        f'#include "cpp_standins.h"\n#line 1 "kernel.cu"\n{text}\n#line 1 "run"\n'
        f'extern "C" {{ extern const unsigned launch_shape[6] = {{{shape}}};\n'
        f"void run_kernel(char **p) {{ k({', '.join(arguments)}); }} }}\n"
    )


def _lines(records: np.ndarray, folder: Path) -> dict[int, int]:
    """The line in the kernel's text of every instruction that was seen; 0: not in it."""
    pcs = sorted({int(p) for p in np.unique(records["pc"])})
    asked = "".join(f"{max(pc - 1, 0):#x}\n" for pc in pcs)
    lines = {}
    for pc, text in zip(
        pcs, _call(["addr2line", "-e", "kernel"], folder, asked).splitlines(), strict=True
    ):
        file, _, line = text.split(" ")[0].rpartition(":")
        lines[pc] = int(line) if Path(file).name == "kernel.cu" and line.isdigit() else 0
    return lines


def _symbols(folder: Path) -> list[tuple[int, int, str]]:
    """First byte, length and name of each array that is not a parameter."""
    found = []
    for line in _call(["nm", "-S", "-C", "kernel"], folder).splitlines():
        match = re.fullmatch(r"(\w+) (\w+) \w (?:.*::)?((?:s|k|g)_\w+)", line)
        if match:
            found.append((int(match[1], 16), int(match[2], 16), match[3]))
    return found


def _array_of(address: int, symbols: list[tuple[int, int, str]]) -> tuple[str, int] | None:
    number = (address - FIRST_ROOM) >> ROOM_BITS
    if 0 <= number < len(ROOMS):
        return ROOMS[number][0], FIRST_ROOM + (number << ROOM_BITS) + (1 << (ROOM_BITS - 1))
    for start, size, name in symbols:
        if start <= address < start + size:
            return name, start
    return None


def space_of(array: str) -> str:
    return PREFIXES.get(array[:2], "global")


def _pieces(size: int, array: str) -> int:
    """Structs move in pieces of their alignment: all of ours have 4, vectors are whole."""
    return 4 if array == "r" else 4 if size % 8 and size > 4 else size


def _requests(
    records: np.ndarray, lines: dict[int, int], symbols: list[tuple[int, int, str]]
) -> Truth:
    groups: defaultdict[tuple[Key, int, object], dict[int, int]] = defaultdict(dict)
    seen: defaultdict[tuple[int, ...], int] = defaultdict(int)
    columns = (records[f].tolist() for f in records.dtype.names or ())
    for address, context, pc, block, thread, op, size in zip(*columns, strict=True):
        found = _array_of(address, symbols)
        if found is None:
            continue
        name, start = found
        key = (lines[pc], OPS[op], name)
        again = seen[context, pc, block, thread, op]
        seen[context, pc, block, thread, op] += 1
        width = _pieces(size, name)
        for piece in range(0, size, width):
            request = (pc, context, block, thread // 32, piece, again)
            groups[key, width, request][thread % 32] = address - start + piece
    result: defaultdict[Key, list[Request]] = defaultdict(list)
    for (key, width, _), lanes in groups.items():
        ordered = tuple(sorted(lanes.items()))
        result[key].append(Request(ordered, width, _units(key, ordered, width)))
    return dict(result)


def _units(key: Key, lanes: Lanes, width: int) -> int:
    space = space_of(key[2])
    if space == "constant":
        return passes(lanes)
    lanes = moved_to_start(lanes)
    return wavefronts(lanes, width, key[1]) if space == "shared" else sectors(lanes, width)
