"""How the Rodinia kernels of ``drano.py`` were launched when they were measured.

Block, grid and arguments are those of the run scripts and sources of that repository.  Kernels
that were launched in a loop (over matrix columns, diagonals, offsets) stand with some of their
launches: the first, the last and some between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

Dim = str


@dataclass(frozen=True)
class Launch:
    """``file`` is the unit that includes the kernel, below ``Results``."""

    benchmark: str
    file: str
    kernel: str
    block: Dim
    grid: Dim
    params: dict[str, int] = field(default_factory=dict)
    templates: dict[str, str] = field(default_factory=dict)


def _tree() -> Iterator[Launch]:
    folder = "b+tree/kernel/kernel_gpu_cuda_wrapper"
    yield Launch("b+tree", f"{folder}.cu", "findK", "256", "10000")  # height is not recorded
    yield Launch("b+tree", f"{folder}_2.cu", "findRangeK", "256", "6000")


def _backprop() -> Iterator[Launch]:
    for kernel in ("bpnn_layerforward_CUDA", "bpnn_adjust_weights_cuda"):
        sizes = {"in": 65536, "hid": 16}
        yield Launch("backprop", "backprop/backprop_cuda.cu", kernel, "16,16", "1,4096", sizes)


def _bfs() -> Iterator[Launch]:
    for nodes, grid in ((4096, "8"), (65536, "128"), (1000000, "1954")):
        for kernel in ("Kernel", "Kernel2"):
            yield Launch("bfs", "bfs/bfs.cu", kernel, "512", grid, {"no_of_nodes": nodes})


def _dwt2d() -> Iterator[Launch]:
    """The image is not recorded: 192x192 and 1024x1024 are those of the scripts; three levels."""
    for size in (192, 1024):
        yield Launch(
            "dwt2d",
            "dwt2d/components.cu",
            "c_CopySrcToComponents",
            "256",
            str(size * size // 256),
            {"pixels": size * size},
            {"T": "int"},
        )
        for level in (size, size // 2, size // 4):
            if level >= 480:
                continue  # another instantiation, which was not captured
            steps = -(-level // 120)
            yield Launch(
                "dwt2d",
                "dwt2d/dwt_cuda/fdwt53.cu",
                "dwt_cuda::fdwt53Kernel",
                "64",
                f"{-(-level // 64)},{-(-level // (8 * steps))}",
                {"sizeX": level, "sizeY": level, "winSteps": steps},
                {"WIN_SX": "64", "WIN_SY": "8"},
            )


def _gaussian() -> Iterator[Launch]:
    for size, columns in (
        (16, range(15)),
        (208, (0, 1, 2, 3, 50, 101, 150, 199, 203, 204, 205, 206)),
        (1024, (0, 1, 2, 3, 500, 766, 991, 1015, 1020, 1021, 1022)),
    ):
        for t in columns:
            fan1 = {"Size": size, "t": t}
            grid = str(-(-size // 512))
            yield Launch("gaussian", "gaussian/gaussian.cu", "Fan1", "512", grid, fan1)
            fan2, square = fan1 | {"j1": size - t}, f"{size // 4},{size // 4}"
            yield Launch("gaussian", "gaussian/gaussian.cu", "Fan2", "4,4", square, fan2)


def _lud() -> Iterator[Launch]:
    file = "lud/cuda/lud_kernel.cu"
    for k in range(1, 7):  # the last steps: later records replaced the earlier ones
        params = {"matrix_dim": 256, "offset": 256 - 16 * (k + 1)}
        yield Launch("lud", file, "lud_diagonal", "16", "1", params)
        yield Launch("lud", file, "lud_perimeter", "32", str(k), params)
        yield Launch("lud", file, "lud_internal", "16,16", f"{k},{k}", params)


def _needle() -> Iterator[Launch]:
    for i in range(1, 16):
        params = {"cols": 2049, "penalty": 10, "i": i, "block_width": 128}
        yield Launch("nw", "nw/needle.cu", "needle_cuda_shared_2", "16", str(i), params)


def _pathfinder() -> Iterator[Launch]:
    for start in (0, 20, 40, 60, 80):
        params = {
            "iteration": 20 if start < 80 else 19,
            "cols": 100000,
            "rows": 100,
            "startStep": start,
            "border": 20,
        }
        file = "pathfinder/pathfinder.cu"
        yield Launch("pathfinder", file, "dynproc_kernel", "256", "463", params)


def _srad() -> Iterator[Launch]:
    for grid, number, step in (("450", 229916, 1), ("1", 450, 512)):
        params = {"d_Ne": 229916, "d_no": number, "d_mul": step}
        yield Launch("srad_v1", "srad_v1/main.cu", "reduce", "512", grid, params)
    sizes = {"cols": 2048, "rows": 2048}
    yield Launch("srad_v2", "srad_v2/srad.cu", "srad_cuda_2", "16,16", "128,128", sizes)


def _streamcluster() -> Iterator[Launch]:
    for centers in (1, 5, 20):  # K grows while the program runs; its values are not recorded
        params = {"num": 65536, "dim": 256, "K": centers, "stride": centers + 1, "x": 7}
        file = "streamcluster/streamcluster_cuda.cu"
        yield Launch("streamcluster", file, "kernel_compute_cost", "512", "128", params)


def _once() -> Iterator[Launch]:
    """Kernels with one launch, or with launches that differ in nothing that matters."""
    yield Launch("heartwall", "heartwall/main.cu", "kernel", "256", "51")
    yield Launch(
        "hotspot",
        "hotspot/hotspot.cu",
        "calculate_temp",
        "16,16",
        "43,43",
        {"iteration": 2, "grid_cols": 512, "grid_rows": 512, "border_cols": 2, "border_rows": 2},
    )
    cube = {"nx": 512, "ny": 512, "nz": 8}
    yield Launch("hotspot3D", "hotspot3D/3D.cu", "hotspotOpt1", "64,4", "8,128", cube)
    unit = "huffman/main_test_cu.cu"  # the input file is not recorded: test1024_H2.206587175259.in
    yield Launch("huffman", unit, "histo_kernel", "256", "16", {"size": 1 << 20})
    yield Launch("huffman", unit, "vlc_encode_kernel_sm64huff", "256", "1024")
    packed = {"original_num_block_elements": 256}
    yield Launch("huffman", unit, "pack2", "16", "64", packed)
    yield Launch(
        "lavaMD",
        "lavaMD/kernel/kernel_gpu_cuda_wrapper.cu",
        "kernel_gpu_cuda",
        "128",
        "1000",
        {"d_dim_gpu.number_boxes": 1000},
    )
    yield Launch("nn", "nn/nn_cuda.cu", "euclid", "256", "168", {"numRecords": 42760})
    filtered = "particlefilter/ex_particle_CUDA_naive_seq.cu"
    yield Launch("particlefilter", filtered, "kernel", "512", "2", {"Nparticles": 1000})


def launches() -> Iterator[Launch]:
    """All of them."""
    for some in (
        _tree,
        _backprop,
        _bfs,
        _dwt2d,
        _gaussian,
        _lud,
        _needle,
        _pathfinder,
        _srad,
        _streamcluster,
        _once,
    ):
        yield from some()
