"""One case: files in a folder, and what to do with them.

In: a number.  Out: the same case every time, as damaged sources, settings, baselines, cache
entries or arguments.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

from coalescecheck.cache import HASH_BYTES, MAGIC
from fuzz.bombs import bomb
from fuzz.mutations import damaged, mutated

ROOT = Path(__file__).parents[2]
SEEDS = ("examples_cu", "tests/data/puzzles", "tests/language/cu")
SOURCE, CACHE = "case.cu", "cache"
FORMATS = "text json concise sarif github markdown junit html".split()
KINDS = ("source",) * 14 + ("bomb",) * 2 + ("settings", "baseline", "cache", "arguments")

SMALL = b"""#include "step.h"
__global__ void strided(float *out, const float *in, int n) {
    __shared__ float tile[32][32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x][threadIdx.y] = in[STEP * i];
    out[i] = tile[threadIdx.y][threadIdx.x];
}
void run(float *out, const float *in) { strided<<<4, dim3(32, 8)>>>(out, in, 512); }
"""
PYPROJECT = b"""[tool.coalescecheck]
arch = "sm_90"
block = "32x8"
grid = [4, 4]
param = { n = 4096 }
assume = ["n % 32 == 0", "n >= 16"]
include = ["include"]
exclude = ["/third_party/", "old/**"]
fail-on = "error"
format = "text"
select = ["CC1", "CC201"]

[tool.coalescecheck.per-path."old/**"]
ignore = ["CC101"]
define = ["X=1", "Y"]
template = { T = "float" }
"""
SETUP = b"""[metadata]
name = x

[coalescecheck]
arch = sm_80
block = 32,8
param = n=16..4096, m=3
assume = n % 32 == 0
verify = false
strict = true

[coalescecheck:old/**]
ignore = CC101, CC102
"""
ARGUMENTS = [
    "--block=32x8", "--block=(32,8)", "--grid=64", "--param=n=512", "--param=n=16..4096",
    "--param=s.n=0x200", "--assume=n % 32 == 0", "--assume=n >= 1 && n < 5", "--template=T=float",
    "-DSTEP=8", "-DF(x)=x", "-Iinclude", "--arch=sm_90", "--kernel=str*", "--select=CC1,CC201",
    "--ignore=CC102", "--fail-on=note", "--exclude=/a/**", "--sweep=block=32x8,16x16", "--jobs=1",
    "--compare=case.cu", "--stats", "--diff", "--emit=ir", "--emit=kernel-c", "--strict",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """``files`` by name; ``arguments`` of the command; ``damage`` is done after a first run
    that fills the cache."""

    number: int
    kind: str
    files: dict[str, bytes]
    arguments: tuple[str, ...] = (SOURCE,)
    damage: Random | None = field(default=None, compare=False)

    def write(self, folder: Path) -> None:
        """Put the files into the empty ``folder``."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


@cache
def seeds() -> Sequence[bytes]:
    """Our own CUDA files."""
    paths = [path for folder in SEEDS for path in sorted((ROOT / folder).glob("*.cu"))]
    return [path.read_bytes() for path in paths]


def case(number: int, kind: str | None = None) -> Case:
    """The case of this number; ``kind`` is one of ``KINDS``, else by chance."""
    chance = Random(number)
    kind = kind or chance.choice(KINDS)
    shown = ("--format", chance.choice(FORMATS))
    if kind in ("source", "bomb"):
        text = bomb(chance).encode() if kind == "bomb" else chance.choice(seeds())
        if kind == "source" or chance.random() < 0.2:
            text = mutated(text, seeds(), chance)
        return Case(number, kind, {SOURCE: text}, (SOURCE, *shown))
    files = {SOURCE: SMALL, "step.h": b"#define STEP 8\n"}
    if kind == "settings":
        name, text = chance.choice(
            (("pyproject.toml", PYPROJECT), (".coalescecheck.toml", _own()), ("setup.cfg", SETUP))
        )
        files[name] = mutated(text, (PYPROJECT, SETUP, SMALL), chance, most=3)
        return Case(number, kind, files, (SOURCE,))
    if kind == "baseline":
        files["known.json"] = mutated(_baseline(), (SETUP,), chance)
        return Case(number, kind, files, (SOURCE, "--baseline", "known.json", *shown))
    if kind == "cache":
        return Case(number, kind, files, (SOURCE, *shown), damage=chance)
    return Case(number, kind, files, (SOURCE, *_arguments(chance)))


def _own() -> bytes:
    return PYPROJECT.replace(b"tool.coalescecheck.", b"").replace(b"[tool.coalescecheck]\n", b"")


def _baseline() -> bytes:
    entry = {"fingerprint": "0123456789abcdef:1", "rule": "CC101", "file": SOURCE}
    return json.dumps({"version": 1, "findings": [entry] * 3}).encode()


def _arguments(chance: Random) -> list[str]:
    """Arguments as the system can pass them: no NUL, bytes that are no text as surrogates."""
    pool = [argument.encode() for argument in ARGUMENTS]
    chosen = [mutated(each, pool, chance, most=2) for each in chance.sample(pool, 2)]
    whole = [each.replace(b"\0", b"") for each in chosen]
    options = [each for each in whole if b"=" in each or each.startswith((b"-D", b"-I"))]
    # a damaged option that names a file or starts many processes is no case of ours
    wanted = [o for o in options if not o.startswith((b"--out", b"--write", b"--jobs", b"--fix"))]
    return [os.fsdecode(each) for each in wanted]


def damage_entry(folder: Path, chance: Random) -> None:
    """Change the one entry of the cache below ``folder``; in half of the cases with a correct
    checksum, so that its records are read."""
    path = next(path for path in folder.rglob("*") if path.is_file())
    data = path.read_bytes()
    if chance.random() < 0.5:
        path.write_bytes(damaged(data, chance))
        return
    head = data[: len(MAGIC) + HASH_BYTES]
    body = damaged(data[len(head) + HASH_BYTES :], chance)
    path.write_bytes(head + hashlib.sha256(body).digest() + body)
