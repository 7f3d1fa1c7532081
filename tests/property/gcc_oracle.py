"""A third reading of random kernels: gcc compiles them, every access is recorded, Python counts.

In: random kernels.  Out: for every access (by line, call line, operation and array) the sectors
or wavefronts of every request.  Only C's own compiler and ``hardware_in_python`` have a say:
nothing of the package is used.  Lanes are put together to requests by warp and loop iteration.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .hardware_in_python import Lanes, moved_to_start, passes, sectors, wavefronts
from .kernel_texts import HEAD, PRELUDE, SHARED, SIGNATURE
from .random_kernels import INDICES, RandomKernel

Key = tuple[int, int, str, str]  # line, line of the call (0: none), operation, array
Requests = dict[Key, list[int]]

GLOBALS = ("o", "a", "c", "d", "v", "r", "idx", "f2", "f3", "w", "h", "ctr")
SHARED_SIZES = {"s": 4096, "t": 8448, "b": 512, "hs": 2176, "vs": 2048, "bins": 256}
CONSTANT_SIZES = {"lut": 64, "coef": 256}
PIECES = {12: 4, 24: 8}  # structs of alignment 4 and 8 move in pieces of that size
FIRST_ROOM, ROOM_BITS = 0x100000000000, 38
OPS = ("load", "store", "atomic")
MAX_LOOPS = 12  # the last is the one in called functions
BUFFERS = {
    "a": (np.arange(4096) * 7 % 5 < 2).astype(np.float32),
    "idx": (np.arange(INDICES) * 37 % 97).astype(np.int32),
}
RECORD = np.dtype(
    [
        *(("address", "u8"), ("pc", "u4"), ("caller", "u4")),
        *(("kernel", "u2"), ("block", "u2"), ("thread", "u2"), ("op", "u1"), ("size", "u1")),
        ("iterations", "u2", MAX_LOOPS),
    ],
    align=True,
)
NEWER = ("-Dbool=_Bool", "-Dtrue=1", "-Dfalse=0")  # gcc 12 lacks these words of C23
FLAGS = ("-std=c2x", "-w", "-O0", "-g", "-fno-strict-aliasing", "-fno-pie")
SANITIZERS = (
    *("-fsanitize=thread", "--param", "tsan-instrument-func-entry-exit=0"),
    "-fsanitize=signed-integer-overflow,shift",
)
MARKS = """
extern unsigned short iterations[];
#define ENTER(i) iterations[i] = 0
#define ITERATION(i) iterations[i]++
#define EXIT(i) iterations[i] = 0
"""


def can_run(case: RandomKernel) -> bool:
    """Whether its threads can run one by one, and its loops be told apart."""
    return not case.shuffles and case.body.count("ENTER(") < MAX_LOOPS


def gcc_counts(cases: Sequence[RandomKernel], folder: Path) -> list[Requests | None]:
    """The counts of every kernel; None where C leaves its meaning undefined or it is too long."""
    (folder / "kernels.c").write_text(_unit(cases), encoding="utf-8")
    (folder / "kernels.inc").write_text(_table(cases), encoding="utf-8")
    runtime = Path(__file__).with_name("gcc_runtime.c")
    gcc = shutil.which("gcc") or "gcc"
    _call([gcc, *NEWER, *FLAGS, *SANITIZERS, "-c", "kernels.c"], folder)
    _call([gcc, *FLAGS, "-I.", "-c", str(runtime), "-o", "runtime.o"], folder)
    _call([gcc, "-no-pie", "kernels.o", "runtime.o", "-o", "kernels"], folder)
    _call([str(folder / "kernels"), "records"], folder)
    records = np.fromfile(folder / "records", RECORD)
    places = _places(records, folder)
    arrays = _symbols(folder)
    return [_counted(records[records["kernel"] == i], places, arrays) for i in range(len(cases))]


def _call(command: list[str], folder: Path, given: str = "") -> str:
    done = subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, input=given
    )
    return done.stdout


def _unit(cases: Sequence[RandomKernel]) -> str:
    """All kernels in one file; every line knows the line it has in the kernel's own text."""
    shared = SHARED.replace("[[cuda::shared]] ", "")
    parts = [PRELUDE.replace("const uint3", "uint3"), MARKS, shared]
    parts += [f'#line {PRELUDE.count(chr(10)) + 1} "functions"\n', HEAD]
    first = (PRELUDE + HEAD).count("\n") + 1
    for i, case in enumerate(cases):
        signature = SIGNATURE.replace("void k(", f"void k{i}(")
        parts.append(f'#line {first} "kernel"\n{signature}')
        line = first + (SIGNATURE + SHARED).count("\n")
        parts.append(f'#line {line} "kernel"\n{case.body}}}\n')
    return "".join(parts)


def _table(cases: Sequence[RandomKernel]) -> str:
    def three(values: tuple[int, int, int]) -> str:
        return "{" + ", ".join(map(str, values)) + "}"

    return "".join(
        f"KERNEL(k{i}, {three(c.block)}, {three(c.grid)}, {c.params['n']}, {c.params['m']})\n"
        for i, c in enumerate(cases)
    )


def _places(records: np.ndarray, folder: Path) -> dict[int, tuple[str, int]]:
    """File and line of every call instruction that was seen."""
    pcs = sorted({int(p) for field in ("pc", "caller") for p in np.unique(records[field])})
    asked = "".join(f"{max(pc - 1, 0):#x}\n" for pc in pcs)
    answer = _call(["addr2line", "-e", "kernels"], folder, asked).splitlines()
    places = {}
    for pc, text in zip(pcs, answer, strict=True):
        file, _, line = text.split(" ")[0].rpartition(":")
        places[pc] = (Path(file).name, int(line) if line.isdigit() else 0)
    return places


def _symbols(folder: Path) -> dict[str, int]:
    lines = (line.split() for line in _call(["nm", "kernels"], folder).splitlines())
    names = SHARED_SIZES.keys() | CONSTANT_SIZES.keys()
    return {parts[2]: int(parts[0], 16) for parts in lines if parts[-1] in names}


def _array_of(address: int, symbols: dict[str, int]) -> tuple[str, int] | None:
    """Name and first byte of the array around an address; None for per-thread arrays."""
    number = (address - FIRST_ROOM) >> ROOM_BITS
    if 0 <= number < len(GLOBALS):
        return GLOBALS[number], FIRST_ROOM + (number << ROOM_BITS) + (1 << (ROOM_BITS - 1))
    for name, start in symbols.items():
        if start <= address < start + (SHARED_SIZES | CONSTANT_SIZES)[name]:
            return name, start
    return None


def _counted(
    records: np.ndarray, places: dict[int, tuple[str, int]], symbols: dict[str, int]
) -> Requests | None:
    if (records["op"] >= len(OPS)).any():
        return None
    groups: defaultdict[tuple[Key, int, object], dict[int, int]] = defaultdict(dict)
    keys: dict[tuple[int, int, int, str], Key] = {}
    columns = (records[f].tolist() for f in ("address", "pc", "caller", "block", "thread", "op"))
    iterations = records["iterations"].view(np.uint8).reshape(-1, 2 * MAX_LOOPS)
    for address, pc, caller, block, thread, op, size, row in zip(
        *columns, records["size"].tolist(), iterations, strict=True
    ):
        found = _array_of(address, symbols)
        if found is None:
            continue
        name, start = found
        short = (pc, caller, op, name)
        if short not in keys:
            keys[short] = _key(places, *short)
        width = PIECES.get(size, size)
        for offset in range(0, size, width):
            request = (block, thread // 32, row.tobytes(), offset)
            groups[keys[short], width, request][thread % 32] = address - start + offset
    result: Requests = defaultdict(list)
    for (key, width, _), lanes in groups.items():
        result[key].append(_units(key, tuple(sorted(lanes.items())), width))
    return dict(result)


def _key(places: dict[int, tuple[str, int]], pc: int, caller: int, op: int, name: str) -> Key:
    file, line = places[pc]
    return line, 0 if file == "kernel" else places[caller][1], OPS[op], name


def _units(key: Key, lanes: Lanes, width: int) -> int:
    name, op = key[3], key[2]
    if name in CONSTANT_SIZES:
        return passes(lanes)
    lanes = moved_to_start(lanes)
    return wavefronts(lanes, width, op) if name in SHARED_SIZES else sectors(lanes, width)
