"""Compares predicted totals with what Nsight Compute counts on a GPU.

    python benchmarks/gpu/check.py predict > predicted.json      # anywhere
    python benchmarks/gpu/check.py measure predicted.json        # where nvcc, ncu and a GPU are

``measure`` builds ``driver.cu``, profiles it, and prints one line per launch: predicted and
measured global sectors (loads, stores) and shared wavefronts.  It exits with 1 on a difference.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
EXAMPLES = HERE.parents[1] / "examples_cu"
STRIDES = (1, 2, 8, 16, 32)
METRICS = {
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}


def predict() -> list[dict[str, object]]:
    """The totals of every launch of the driver, in its order."""
    import coalescecheck

    launches = []
    for name in ("patterns", "transpose"):
        launches += list(coalescecheck.analyze(EXAMPLES / f"{name}.cu").kernels)
    for stride in STRIDES:
        report = coalescecheck.analyze(EXAMPLES / "stride.cu", params={"stride": stride})
        launches += list(report.kernels)
    return [
        {
            "kernel": kernel.name,
            "template": kernel.template,
            "params": kernel.params,
            **{name: _total(kernel, *name.split("_")[:2]) for name in METRICS},
        }
        for kernel in launches
    ]


def _total(kernel: object, space: str, op: str) -> list[float]:
    """Least and greatest possible count of the launch."""
    low = high = 0.0
    for access in kernel.accesses:  # type: ignore[attr-defined]
        count = access.sectors if space == "global" else access.wavefronts
        if access.space != space or access.access.op.value != op or count is None:
            continue
        requests = access.requests or 0
        exact = count.mean is not None
        low += requests * (count.mean if exact else count.min)
        high += requests * (count.mean if exact else count.max)
    return [low, high]


def measure(predicted: list[dict[str, object]]) -> int:
    """Profile the driver; the number of launches that differ."""
    with tempfile.TemporaryDirectory() as folder:
        binary = f"{folder}/driver"
        subprocess.run(
            ["nvcc", "-arch=native", "-O3", "-o", binary, str(HERE / "driver.cu")], check=True
        )
        command = ["ncu", "--csv", "--clock-control", "none", "--cache-control", "none",
                   "--metrics", ",".join(METRICS.values()), binary]  # fmt: skip
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    counted = _counted(output)
    wrong = 0
    for launch, (name, values) in zip(predicted, counted, strict=True):
        if str(launch["kernel"]) not in name:
            raise SystemExit(f"launch order: {launch['kernel']} predicted, {name} measured")
        parts = []
        for metric in METRICS:
            low, high = launch[metric]  # type: ignore[misc]
            agrees = low <= values[metric] <= high
            wrong += not agrees
            expected = f"{low:.0f}" if low == high else f"{low:.0f}..{high:.0f}"
            parts.append(f"{metric} {expected} / {values[metric]:.0f}{'' if agrees else ' !'}")
        sys.stdout.write(f"{name[:40]:40} {launch['params']}  {'  '.join(parts)}\n")
    sys.stdout.write(f"{len(counted)} launches, {wrong} differences\n")
    return wrong


def _counted(output: str) -> list[tuple[str, dict[str, float]]]:
    """Kernel name and metric values of every launch, from ncu's CSV."""
    start = output.index('"ID"')
    launches: dict[str, tuple[str, dict[str, float]]] = {}
    names = {metric: name for name, metric in METRICS.items()}
    for row in csv.DictReader(io.StringIO(output[start:])):
        _, values = launches.setdefault(row["ID"], (row["Kernel Name"], {}))
        values[names[row["Metric Name"]]] = float(row["Metric Value"].replace(",", ""))
    return list(launches.values())


if __name__ == "__main__":
    if sys.argv[1:] == ["predict"]:
        json.dump(predict(), sys.stdout)
    elif len(sys.argv) == 3 and sys.argv[1] == "measure":
        sys.exit(min(measure(json.loads(Path(sys.argv[2]).read_text())), 1))
    else:
        sys.exit(__doc__)
