"""What a shell completes behind an option: to be given to click as ``shell_complete``.

Not ``click.Path``, which would look at the files itself and refuse some in its own words.
"""

from __future__ import annotations

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _names_of(kind: str) -> Completion:
    """The shell's own names of ``kind``, which is one of those that click's scripts know."""

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem]:
        return [CompletionItem(begun, type=kind)]

    return complete


A_FILE, A_FOLDER = _names_of("file"), _names_of("dir")
