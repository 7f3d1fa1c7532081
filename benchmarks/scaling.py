"""CPU time against the size of a file: generated files of 1, 10 and 100 kernels.

    python benchmarks/scaling.py [--counts 1,10,100] [--rounds 3]

Every kernel of a file has its own names and constants, so that nothing is found again, and each
file is read by a process that has read one other kernel, so that libraries are loaded.  Linear
growth means the same time per kernel in every row, a ratio of 1.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from coalescecheck import pipeline
from coalescecheck.options import make_options

KERNEL = """
__global__ void tile_{at}(float *out_{at}, const float *in_{at}, int width_{at})
{{
    __shared__ float part_{at}[16][{pitch}];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0.0f;
    for (int step = 0; step < width_{at} / 16; ++step) {{
        part_{at}[threadIdx.y][threadIdx.x] = in_{at}[y * width_{at} + step * 16 + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 16; ++k)
            sum += part_{at}[k][threadIdx.x] * {at}.5f;
        __syncthreads();
    }}
    if (x < width_{at} && y < width_{at})
        out_{at}[y * width_{at} + x] = sum;
}}

void launch_{at}(float *out, const float *in)
{{
    tile_{at}<<<dim3({width} / 16, {width} / 16), dim3(16, 16)>>>(out, in, {width});
}}
"""


WARMING = 997  # the number of the kernel that loads the libraries


def source(kernels: range) -> str:
    """A file with these kernels."""
    return "".join(KERNEL.format(at=at, pitch=16 + at % 7, width=160 + 16 * at) for at in kernels)


def seconds(warming: str, path: str) -> float:
    """CPU time of one file, after another."""
    pipeline.analyze_file(warming, make_options())
    start = time.process_time()
    result = pipeline.analyze_file(path, make_options())
    assert all(kernel.status == "analysed" for kernel in result.report.analysis.kernels)
    return time.process_time() - start


def best(folder: Path, count: int, rounds: int) -> float:
    """The least CPU time of a file of ``count`` kernels."""
    warming, path = folder / "warming.cu", folder / f"{count}.cu"
    warming.write_text(source(range(WARMING, WARMING + 1)), encoding="utf-8")
    path.write_text(source(range(count)), encoding="utf-8")
    times = []
    for _ in range(rounds):
        with ProcessPoolExecutor(1) as fresh:
            times.append(fresh.submit(seconds, str(warming), str(path)).result())
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--counts", default="1,10,100")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    counts = [int(count) for count in args.counts.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        each = {count: best(Path(folder), count, args.rounds) / count for count in counts}
    print(f"{'kernels':>8}{'lines':>8}{'CPU s':>10}{'ms per kernel':>15}{'ratio':>8}")
    for count in counts:
        lines = source(range(count)).count("\n")
        ratio = each[count] / each[counts[-1]]
        total = each[count] * count
        print(f"{count:8}{lines:8}{total:10.3f}{1000 * each[count]:15.1f}{ratio:8.2f}")


if __name__ == "__main__":
    main()
