"""Numbers in constant memory that a launch fixes, as its arguments are: ``dims.stride[1]`` of a
parameter struct, a ``__constant__ int width`` that the host has set.

In: a kernel.  Out: each such number as a parameter by its name in the source.  No thread can write
there (CUDA C++ Programming Guide, ``__constant__``), so that all of them read one value.
"""

from __future__ import annotations

from coalescecheck.ir.kernel import Array, Kernel, Param
from coalescecheck.ir.per_kernel import per_kernel


@per_kernel
def scalars_of(kernel: Kernel) -> dict[str, Param]:
    """Every number that is the same for the whole launch, by name."""
    constants = (param for params in constants_of(kernel).values() for param in params.values())
    return {param.name: param for param in (*kernel.params, *constants)}


@per_kernel
def constants_of(kernel: Kernel) -> dict[str, dict[int, Param]]:
    """By array the integers that a launch fixes, by their offset in bytes.

    Left out are arrays whose contents the source tells, and such of the file that have the name of
    a parameter.  An element of a parameter may be one of the kernel's ``params`` as well.
    """
    taken = {param.name for param in kernel.params}
    found = {
        array.name: {e.offset: Param(array.name + e.name, e.type) for e in array.integers}
        for array in kernel.arrays.values()
        if not (array.const and array.values is not None)
    }
    return {
        name: params
        for name, params in found.items()
        if params
        and (
            kernel.arrays[name].parameter
            or taken.isdisjoint(param.name for param in params.values())
        )
    }


def initial_values(kernel: Kernel) -> dict[str, int]:
    """What the source gives them at first, until the host writes others."""
    return {
        param.name: int(value)
        for name, params in constants_of(kernel).items()
        for offset, param in params.items()
        if (value := _initial(kernel.arrays[name], offset)) is not None
    }


def _initial(array: Array, offset: int) -> int | float | None:
    values, at = array.values or (), offset // array.element_size
    return values[at] if at < len(values) else None
