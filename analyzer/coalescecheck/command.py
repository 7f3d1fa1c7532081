"""A command whose output may not be taken: a full disk costs the report, and no traceback.

In: click's command.  Out: an exit code.  A reader that goes away early, as ``head`` does, is
click's own affair.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import click

INTERRUPTED = 130  # as shells say it: 128 and the number of SIGINT


class Command(click.Command):
    """A command that says in one line why it cannot write, and exits with ``failed``."""

    failed = 2  # as for a file that cannot be written

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command's function.  click would exit with 1, which stands for findings."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command."""
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            reason = error.strerror or str(error)
        _give_up(sys.stdout)
        with suppress(OSError):
            click.echo(f"error: cannot write: {reason}", err=True)
        _give_up(sys.stderr)
        sys.exit(self.failed)


def _give_up(stream: Any) -> None:
    """Let what could not be written go nowhere: the interpreter tries again at its end."""
    with suppress(OSError, ValueError, AttributeError):
        stream.flush()
        return
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
