"""Inside the process that analyses: jobs come in on stdin, replies go out on stdout.

It ends when stdin does, so it never outlives an idle server.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

from coalescecheck.lsp.job import answer
from coalescecheck.lsp.messages import Request, packed, received


def main() -> None:
    """Answer until there is nothing left to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up among the replies
    with suppress(BrokenPipeError), output:
        while isinstance(request := received(sys.stdin.buffer), Request):
            output.write(packed(answer(request)))
            output.flush()


if __name__ == "__main__":
    main()
