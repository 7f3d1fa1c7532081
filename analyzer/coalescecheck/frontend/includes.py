"""Where a header is: beside its includer, under -I folders, or in the same project.

In: the name as written and who includes it.  Out: a path, or None.  System headers are never
looked for.  Must not know what headers contain.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress

from coalescecheck.frontend.tokens import STRING, Token

_PROJECT_DEPTH = 6  # folders above the includer that may be the project's root
_MOST_BESIDE = 200  # folders beside the includer's own that are looked into
_ROOTS = ("", "include", "src")
# Builds pass these as -I for headers that are named without a folder.
_HEADER_FOLDERS = (
    *_ROOTS,
    "inc",
    "includes",
    "common",
    "Common",
    "common/inc",
    "common/include",
    "utils",
)

# Headers of the toolkit and the standard libraries: that they are not read is no news.
_STANDARD_NAMES = """
algorithm any array atomic bitset cassert ccomplex cctype cerrno cfenv cfloat charconv chrono
cinttypes ciso646 climits clocale cmath codecvt compare complex concepts condition_variable
csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque
exception execution filesystem format forward_list fstream functional future initializer_list
iomanip ios iosfwd iostream istream iterator limits list locale map memory memory_resource mutex
new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator set
shared_mutex span sstream stack stdexcept streambuf string string_view system_error thread tuple
type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector
version assert.h complex.h ctype.h errno.h fcntl.h fenv.h float.h getopt.h inttypes.h libgen.h
limits.h locale.h malloc.h math.h memory.h omp.h pthread.h sched.h setjmp.h signal.h stdarg.h
stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h strings.h tgmath.h time.h unistd.h
values.h wchar.h builtin_types.h channel_descriptor.h cooperative_groups.h cublas.h cublas_v2.h
cuComplex.h cublasLt.h cufft.h cufftXt.h curand.h curand_kernel.h cusolverDn.h cusparse.h
device_functions.h device_launch_parameters.h driver_functions.h driver_types.h host_defines.h
host_config.h math_constants.h math_functions.h mma.h nvml.h nvrtc.h sm_20_atomic_functions.h
surface_types.h texture_types.h texture_fetch_functions.h vector_functions.h vector_types.h
cuda.h
"""
_STANDARD = frozenset(_STANDARD_NAMES.split())
_STANDARD_FOLDERS = ("sys/", "bits/", "cub/", "thrust/", "cuda/", "cooperative_groups/", "nv/")


def is_standard(name: str) -> bool:
    """Whether ``name`` belongs to the C++ library, POSIX or the CUDA toolkit."""
    if name in _STANDARD or name.startswith(_STANDARD_FOLDERS):
        return True
    return name.startswith(("cuda_", "nvtx")) and name.endswith((".h", ".hpp"))


def find_header(
    name: str, open_files: Sequence[str], include_dirs: Iterable[str], quoted: bool
) -> str | None:
    """The path of header ``name`` as included by the last of ``open_files``."""
    if not name or "\0" in name:
        return None
    found = _named(name, open_files, include_dirs, quoted)
    return _in_project(name, open_files[-1]) if found is None and ".." not in name else found


def is_guess(found: str, name: str, open_files: Sequence[str], include_dirs: Iterable[str]) -> bool:
    """Whether no compiler would have looked for header ``name`` where it was ``found``; what a
    project names from its root, as in ``lib/gpu/x.cuh``, is none."""
    return "/" not in name and found != _named(name, open_files, include_dirs, quoted=True)


def _named(
    name: str, open_files: Sequence[str], include_dirs: Iterable[str], quoted: bool
) -> str | None:
    """The header beside its includers or below -I, which comes first for ``<...>``."""
    folders = [os.path.dirname(file) for file in reversed(open_files)]
    folders = [*folders, *include_dirs] if quoted else [*include_dirs, *folders]
    for folder in folders:
        candidate = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(candidate):
            return candidate
    return None


def _in_project(name: str, includer: str) -> str | None:
    """``faiss/gpu/x.cuh`` names its file from the project's root, which a build passes as -I."""
    if is_standard(name):
        return None
    roots = _ROOTS if "/" in name else _HEADER_FOLDERS
    own = folder = os.path.dirname(os.path.abspath(includer))
    for _ in range(_PROJECT_DEPTH):
        last = os.path.exists(os.path.join(folder, ".git"))
        for root in roots:
            candidate = os.path.normpath(os.path.join(folder, root, name))
            if os.path.isfile(candidate):
                return _like(includer, candidate)
        parent = os.path.dirname(folder)
        if last or os.path.dirname(parent) == parent:  # never the file system's root
            found = _beside(name, own) if last and own != folder and "/" not in name else None
            return _like(includer, found) if found is not None else None
        folder = parent
    return None


def _like(includer: str, found: str) -> str:
    """An absolute path as the includer is given: relative to where we are, or not."""
    return found if os.path.isabs(includer) else os.path.relpath(found)


def _beside(name: str, folder: str) -> str | None:
    """The one header of that name in the folders beside ``folder``, which projects of one solution
    pass to each other; None where there are several."""
    parent = os.path.dirname(folder)
    with suppress(OSError):
        beside = sorted(entry.path for entry in os.scandir(parent) if entry.is_dir())
        places = [os.path.join(p, root, name) for p in beside[:_MOST_BESIDE] for root in _ROOTS]
        found = [place for place in places if os.path.isfile(place)]
        return found[0] if len(found) == 1 else None
    return None


def header_name(tokens: list[Token]) -> tuple[str, bool]:
    """The name inside ``"..."`` or ``<...>`` and whether it was quoted."""
    if not tokens:
        return "", False
    if tokens[0].type == STRING:
        return str(tokens[0].value)[1:-1], True
    if tokens[0].value != "<":
        return "", False
    name = ""
    for token in tokens[1:]:
        if token.value == ">":
            return name.strip(), False
        name += str(token.value)
    return "", False
