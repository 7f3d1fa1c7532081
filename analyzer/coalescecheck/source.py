"""Places in the user's files.

Everything that is reported carries a :class:`Span` of the *original* file: the line
and column the user sees, through macros, includes and template instances.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a source file.

    ``line`` and ``column`` count from 1.  ``note`` says what the place alone does not,
    such as the macro whose expansion produced the code (``"in expansion of macro AT"``);
    ``body`` is then the file and the line of the macro's definition that has it.
    """

    file: str
    line: int
    column: int
    note: str = ""
    body: tuple[str, int] | None = field(default=None, compare=False)

    @property
    def lines(self) -> tuple[tuple[str, int], ...]:
        """File and line of the place, and those in a macro's body."""
        here = (self.file, self.line)
        return (here,) if self.body is None else (here, self.body)

    @property
    def at_line(self) -> str:
        """File and line, to be shown."""
        return f"{shown(self.file)}:{self.line}"

    def __str__(self) -> str:
        return f"{self.at_line}:{self.column}"


def shown(path: str) -> str:
    """A path as people read it: in one line, so that no name passes for a line of a report."""
    return " ".join(path.splitlines())


NOWHERE = Span("", 0, 0)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something the analysis could not use, and what that costs the user.

    ``severity`` is ``"error"`` (a kernel or file is lost), ``"warning"`` (an access is
    unknown because of it) or ``"note"``.  ``hides`` says that memory accesses may be missing
    from the result, as those of a function whose body is not there.
    """

    span: Span
    severity: str
    message: str
    hides: bool = False

    def __str__(self) -> str:
        return f"{self.span}: {self.severity}: {self.message}"


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one line: the characters from ``span`` up to ``end_column`` become ``text``.

    ``also`` are changes elsewhere in the same file without which it would be wrong.
    """

    span: Span
    end_column: int
    text: str
    also: tuple[Edit, ...] = ()

    @property
    def parts(self) -> tuple[Edit, ...]:
        """This change and those that belong to it."""
        return (self, *self.also)
