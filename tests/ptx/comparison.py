"""Holds what nvcc's code asks of memory against what the analysis says of the source.

By hand, over sources of any kind: ``python -m ptx.comparison PATH...`` in the tests folder.  The
code is made without optimisation, so that a request of it is one of the source; a struct that is
copied in parts, or a value that is read again, shows as requests of another width or of a line
that has none, and is left out.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from coalescecheck import pipeline
from coalescecheck.analysis import AccessResult, KernelAnalysis
from coalescecheck.errors import UnsupportedConstruct
from coalescecheck.frontend.kernel_c import KernelC
from coalescecheck.launches import cases_of
from coalescecheck.options import Options, make_options

from .machine import Dim
from .requests import Line, Seen, requests
from .text import Function, Module, Unsupported, parse, separated

_GRID = (5, 2, 2)  # where the launch does not say
_POINTER = 0x70 << 40
_APART = 1 << 36  # of the arrays
# integers that nobody gives, one row for each run: even sizes, odd ones
_SIZES: tuple[Callable[[int], int], ...] = (
    lambda at: 64 + 32 * at,
    lambda at: (37, 53, 71, 101, 23)[at % 5] + at,
)
_ALWAYS_MET = ("nullptr", "2**32", "2**24", "same for all")  # by such sizes and pointers
_WHOLE = "whole warps: "
_UNITS = {"global": "sectors", "shared": "wavefronts"}


@dataclass
class Report:
    """``wrong`` are requests outside of what was said of them, in words."""

    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def compiled(path: Path, folder: Path, includes: Sequence[str] = ()) -> Module | None:
    """The module nvcc makes of a source; None where it does not take it."""
    out = folder / "out.ptx"
    searched = [word for include in includes for word in ("-I", include)]
    command = ["nvcc", "-ptx", "-G", "-w", "-arch=sm_80", "-std=c++17", *searched, str(path)]
    done = subprocess.run([*command, "-o", str(out)], capture_output=True, timeout=120, check=False)
    return parse(out.read_text()) if done.returncode == 0 else None


def compare(path: Path, folder: Path, includes: Sequence[str] = ()) -> Report:
    """Run the kernels of one source whose launch and parameters are known well enough."""
    report = Report()
    module = compiled(path, folder, includes)
    if module is None:
        report.counts["sources nvcc does not take"] += 1
        return report
    entries = [function for function in module.functions.values() if function.is_entry]
    names = dict(zip([e.name for e in entries], _demangled(entries), strict=True))
    options = replace(make_options(verify=False), include_dirs=tuple(includes))
    for kernel, analysis in _analysed(path, options):
        matching = [e for e in entries if _is_instance(names[e.name], analysis)]
        if len(matching) != 1:
            report.counts["kernels without one entry"] += 1
            continue
        run = _prepared(module, matching[0], kernel, analysis)
        if run is None:
            report.counts["kernels with parameters or launches that are not made here"] += 1
            continue
        _compare_all(report, run, str(path.parent))
    return report


# --- kernels ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kernel:
    """An entry with the analysis of it; ``names`` are those of its parameters in the source."""

    module: Module
    entry: Function
    analysis: KernelAnalysis
    names: tuple[str, ...]
    block: Dim
    grid: Dim


def _analysed(path: Path, options: Options) -> Iterator[tuple[KernelC, KernelAnalysis]]:
    source = pipeline.load(str(path), options)
    for kernel in source.kernels:
        for case in cases_of(kernel, source, options) if kernel.text is not None else ():
            with suppress(UnsupportedConstruct):
                yield kernel, pipeline.analyze_instance(kernel, case.launch, options)


def _demangled(entries: Iterable[Function]) -> list[str]:
    text = "\n".join(entry.name for entry in entries)
    done = subprocess.run(["c++filt"], input=text, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def _is_instance(name: str, analysis: KernelAnalysis) -> bool:
    """Whether ``name``, as in ``void ns::k<4, float>(float*)``, is the kernel analysed."""
    unnamed = name.replace("(anonymous namespace)::", "")
    found = re.match(r"(?:void )?([\w:]+)(?:<(.*?)>)?(?:\(|$)", unnamed)
    if found is None or found.group(1) != analysis.name.replace("(anonymous namespace)::", ""):
        return False
    wanted = [_plain(value) for value in analysis.template.values()]
    return [_plain(value) for value in separated(found.group(2) or "")][: len(wanted)] == wanted


def _plain(argument: str) -> str:
    """A template argument without the ways to write it: ``(unsigned int)4`` and ``4u``."""
    text = re.sub(r"\((?:bool|char|short|int|unsigned int|long|unsigned long)\)", "", argument)
    text = text.replace("unsigned int", "unsigned").replace(" ", "")
    return {"true": "1", "false": "0"}.get(text, re.sub(r"(?<=\d)[uUlL]+$", "", text))


def _prepared(
    module: Module, entry: Function, kernel: KernelC, analysis: KernelAnalysis
) -> _Kernel | None:
    """None for objects as parameters and blocks that are not known."""
    launch = analysis.launch
    names = _parameter_names(kernel)
    objects = any(parameter.is_array for parameter in entry.parameters)
    if launch.block is None or launch.block.size > 1024:
        return None
    if objects or len(names) != len(entry.parameters) or not _stands_alone(analysis):
        return None
    grid = _GRID if launch.grid is None else tuple(launch.grid)
    return _Kernel(module, entry, analysis, names, tuple(launch.block), grid)


def _parameter_names(kernel: KernelC) -> tuple[str, ...]:
    """Those of the definition, which is the last thing of that name in the text."""
    text = kernel.text or ""
    *_, head = re.finditer(rf"\b{re.escape(kernel.function)}\s*\(", text)
    depth, end = 1, head.end()
    while depth:
        depth += (text[end] == "(") - (text[end] == ")")
        end += 1
    declared = (re.sub(r"\[[^]]*\]|\)\(.*", "", p) for p in separated(text[head.end() : end - 1]))
    return tuple(re.findall(r"\w+", parameter)[-1] for parameter in declared if parameter != "void")


def _stands_alone(analysis: KernelAnalysis) -> bool:
    """Whether all that is assumed of the kernel is assumed of an access."""
    of_accesses = {text for access in analysis.accesses for text in access.assumptions}
    return all(text in of_accesses or _holds(text, {}, True) for text in analysis.assumptions)


# --- runs -------------------------------------------------------------------------------------


def _compare_all(report: Report, kernel: _Kernel, own: str) -> None:
    by_line: defaultdict[tuple[str, int, str, str], list[AccessResult]] = defaultdict(list)
    for access in kernel.analysis.accesses:
        span = access.access.span
        by_line[Path(span.file).name, span.line, str(access.access.op), access.space].append(access)
    launched = dict(zip(("blockDim", "gridDim"), (kernel.block, kernel.grid), strict=True))
    dims = {f"{n}_{axis}": d["xyz".index(axis)] for n, d in launched.items() for axis in "xyz"}
    for size in _SIZES:
        sizes, given = _arguments(kernel, size)
        try:
            seen = requests(kernel.module, kernel.entry, kernel.block, kernel.grid, given, own)
        except Unsupported as reason:
            report.counts[f"runs that end at {str(reason)[:30]}"] += 1
            return
        for line, units in seen.items():
            accesses = by_line[line[:4]]
            said = f"{kernel.analysis.name}{kernel.analysis.template} with {sizes}"
            _compare_line(report, line, units, accesses, sizes | dims, said)


def _arguments(kernel: _Kernel, size: Callable[[int], int]) -> tuple[dict[str, int], list[bytes]]:
    """The values of the integer parameters, and the bytes of all."""
    sizes: dict[str, int] = {}
    given: list[bytes] = []
    for parameter, name in zip(kernel.entry.parameters, kernel.names, strict=True):
        if name in kernel.analysis.arrays:
            number = _POINTER + _APART * len(given) + _offset(kernel.analysis, name)
            if name in kernel.analysis.launch.nulls:
                number = 0
        elif parameter.type[0] == "f":
            given.append(struct.pack("<f" if parameter.bytes == 4 else "<d", 1.5))
            continue
        else:
            number = sizes[name] = kernel.analysis.params.get(name, size(len(sizes)))
        given.append((number % (1 << 8 * parameter.bytes)).to_bytes(parameter.bytes, "little"))
    return sizes, given


def _offset(analysis: KernelAnalysis, pointer: str) -> int:
    """How far into its array a launch lets a pointer begin, in bytes: some elements, where it does
    not say."""
    offset = dict(analysis.launch.offsets).get(pointer, 0)
    return 3 * analysis.arrays[pointer].element_size if offset is None else offset


def _compare_line(
    report: Report,
    line: Line,
    seen: Seen,
    accesses: list[AccessResult],
    sizes: Mapping[str, int],
    kernel: str,
) -> None:
    same = [a for a in accesses if a.width_bytes == line.width and len(a.access.pieces) == 1]
    if not same:
        report.counts["lines without such an access"] += 1
        return
    for whole, units in ((True, seen.whole), (False, seen.partial)):
        if not units:
            continue
        if not all(_holds(text, sizes, whole) for a in same for text in a.assumptions):
            report.counts["requests beyond what is assumed"] += 1
            continue
        counts = [getattr(access, _UNITS[line.space]) for access in same]
        least = min(1 if count is None else count.min for count in counts)
        most = max(128 if count is None else count.max for count in counts)
        if least <= min(units) and max(units) <= most:
            report.counts["agree, one number" if least == most else "agree, bounds"] += 1
        else:
            said = [(a.certainty, a.access.index, *a.assumptions) for a in same]
            where = f"{line.file}:{line.line}: {line.op} of {line.width} bytes in {kernel}"
            report.wrong.append(f"{where}: {sorted(units)}, said {least}..{most} {said}")


def _holds(assumption: str, sizes: Mapping[str, int], whole: bool) -> bool:
    """Whether it is sure to hold where the parameters have these ``sizes``."""
    if assumption.startswith(_WHOLE):
        return whole
    if any(text in assumption for text in _ALWAYS_MET):
        return True
    text = re.sub(r"\b(\w+)\.(\w+)", r"\1_\2", assumption)
    try:
        return bool(eval(text, {"__builtins__": {}}, dict(sizes)))
    except (NameError, SyntaxError, TypeError):
        return False


def main(paths: Sequence[str]) -> int:
    """Print what is wrong and how much was compared; 1 where something is wrong."""
    total = Report()
    for path in pipeline.source_files(paths):
        with TemporaryDirectory() as folder:
            found = compare(Path(path).resolve(), Path(folder))
        for text in found.wrong:
            print(text, flush=True)
        total.wrong += found.wrong
        total.counts += found.counts
    for name, count in total.counts.most_common():
        print(f"{count:7} {name}")
    return 1 if total.wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
