"""SIMT simulation of one launch of an ``ir.Kernel``: addresses, counts, memory, races.

In: a kernel, block and grid, parameters, buffers.  Out: :class:`Simulation`.  It shares the IR
with the symbolic analysis and nothing else, so that the agreement of the two means something.
"""

from coalescecheck.simulate.accesses import Hazard
from coalescecheck.simulate.course import Course, course_of
from coalescecheck.simulate.races import Race
from coalescecheck.simulate.run import MAX_STEPS, Simulation, simulate
from coalescecheck.simulate.trace import AccessTrace
from coalescecheck.simulate.values import MADE_UP, UNDEFINED

__all__ = [
    "MADE_UP",
    "MAX_STEPS",
    "UNDEFINED",
    "AccessTrace",
    "Course",
    "Hazard",
    "Race",
    "Simulation",
    "course_of",
    "simulate",
]
