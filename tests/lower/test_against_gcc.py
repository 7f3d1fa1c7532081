"""Lowered C computes what gcc computes: integer types, effects, control flow, aggregates.

``c_semantics.txt`` holds shared functions, then one function body per ``// sentence``.  The
same text is compiled by gcc (unknown attributes are ignored) and run by the IR interpreter of
this folder; both write ``out`` from ``in`` and ``n``.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
from ir_machine import Machine
from written_kernels import VECTORS, kernel_c

from coalescecheck.lower import lower

SIZE = 64
N = 11
INPUT = [(7 * i * i + 3 * i - 50) % 201 - 100 for i in range(SIZE)]


def _cases() -> tuple[str, dict[str, str]]:
    """The shared functions, and the bodies by sentence."""
    text = Path(__file__).with_name("c_semantics.txt").read_text(encoding="utf-8")
    shared, *blocks = text.split("\n\n// ")
    shared = shared.split("\n", 1)[1]  # without the comment: pycparser takes none
    return VECTORS + shared + "\n", dict(block.split("\n", 1) for block in blocks)


SHARED, CASES = _cases()


def _function(index: int, body: str) -> str:
    return f"[[cuda::global]] void k{index}(int *out, const int *in, int n) {{ {body} }}\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("gcc is not installed")
    folder: Path = tmp_path_factory.mktemp("gcc")
    source, target = folder / "kernels.c", folder / "kernels.so"
    functions = (_function(i, body) for i, body in enumerate(CASES.values()))
    source.write_text(SHARED + "".join(functions), encoding="utf-8")
    newer = ["-Dbool=_Bool", "-Dtrue=1", "-Dfalse=0", "-Dauto=__auto_type"]  # gcc 12 lacks them
    flags = ["-std=c2x", "-w", "-O0", "-fwrapv", "-fno-strict-aliasing", "-shared", "-fPIC"]
    subprocess.run([compiler, *newer, *flags, "-o", str(target), str(source)], check=True)
    return ctypes.CDLL(str(target))


@pytest.mark.parametrize("name", CASES)
def test_lowered_code_computes_what_gcc_computes(name: str, library: ctypes.CDLL) -> None:
    index = list(CASES).index(name)
    out, values = (ctypes.c_int * SIZE)(), (ctypes.c_int * SIZE)(*INPUT)
    getattr(library, f"k{index}")(out, values, ctypes.c_int(N))

    kernel = lower(kernel_c(SHARED + _function(index, CASES[name]), f"k{index}"))
    memory = {"out": bytearray(4 * SIZE), "in": bytearray(values)}
    Machine(kernel, memory, {"n": N}).run()

    assert not kernel.diagnostics
    assert list((ctypes.c_int * SIZE).from_buffer(memory["out"])) == list(out)
