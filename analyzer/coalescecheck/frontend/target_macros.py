"""The macros of <nv/target>, by which libraries choose code for a target: ``NV_IF_TARGET(…)``.

In: the architecture number of a device pass.  Out: ``NAME value`` definitions that keep the code
for that target.  Source: libcu++'s documentation of <nv/target>.
"""

from __future__ import annotations

from collections.abc import Iterator

_ARCHITECTURES = (35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 101, 103,
                  110, 120, 121)  # fmt: skip
_MOST_CASES = 12  # of one NV_DISPATCH_TARGET


def target_macros(arch: int) -> Iterator[str]:
    """Definitions for a pass with ``__CUDA_ARCH__`` of ``arch`` (800 for sm_80)."""
    known = {"NV_IS_DEVICE": 1, "NV_IS_HOST": 0, "NV_ANY_TARGET": 1, "NV_NO_TARGET": 0}
    for number in _ARCHITECTURES:
        known[f"NV_PROVIDES_SM_{number}"] = int(arch >= 10 * number)
        known[f"NV_IS_EXACTLY_SM_{number}"] = int(arch == 10 * number)
    yield from (f"{name} {value}" for name, value in known.items())
    yield "NV_TARGET_BLOCK__(...) { __VA_ARGS__ }"
    yield "NV_IF_TARGET(c, ...) NV_TARGET_IF__(c, __VA_ARGS__, (), ())"
    yield "NV_IF_ELSE_TARGET(c, t, f) NV_TARGET_IF__(c, t, f, ())"
    yield "NV_TARGET_IF__(c, t, f, ...) NV_TARGET_IF_##c(t, f)"
    yield "NV_TARGET_IF_1(t, f) NV_TARGET_BLOCK__ t"
    yield "NV_TARGET_IF_0(t, f) NV_TARGET_BLOCK__ f"
    yield "NV_DISPATCH_TARGET(...) NV_TARGET_CASE_1(__VA_ARGS__, 1, (), 1, ())"
    for case in range(1, _MOST_CASES + 1):
        yield f"NV_TARGET_CASE_{case}(c, ...) NV_TARGET_CASE_{case}__(c, __VA_ARGS__)"
        yield f"NV_TARGET_CASE_{case}__(c, ...) NV_TARGET_CASE_{case}_##c(__VA_ARGS__)"
        yield f"NV_TARGET_CASE_{case}_1(t, ...) NV_TARGET_BLOCK__ t"
        yield f"NV_TARGET_CASE_{case}_0(t, ...) NV_TARGET_CASE_{case + 1}(__VA_ARGS__)"
