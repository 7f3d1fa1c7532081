"""The process that analyses, seen from the server: asked without blocking, killed when outdated.

A process and not a thread: a thread cannot be stopped when its text is no longer the one on the
screen, and whatever brings the process down leaves the server alive.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from subprocess import PIPE, Popen

from coalescecheck.lsp.messages import Reply, Request, failed, packed, received

# -P: a numpy.py in the folder the editor was started in must not be run
COMMAND = (sys.executable, "-P", "-m", "coalescecheck.lsp.serve")


class Worker:
    """One process, started when it is needed; requests wait for each other."""

    def __init__(self) -> None:
        self._process: Popen[bytes] | None = None
        self._turn = asyncio.Lock()

    def prepare(self) -> None:
        """Start the process, so that it loads its libraries before there is work."""
        with suppress(OSError):  # which the first request will report
            self._started()

    async def ask(self, request: Request) -> Reply:
        """The reply to ``request``.  To cancel this kills the process with its work."""
        async with self._turn:
            try:
                process = self._started()
                return await asyncio.to_thread(_exchanged, process, request)
            except OSError as error:
                return failed(request, f"internal error: {self._post_mortem(error)}")
            except BaseException:
                self.close()
                raise

    def close(self) -> int | None:
        """End the process, whose exit code is returned; another ``ask`` would start a new one."""
        process, self._process = self._process, None
        if process is None:
            return None
        process.kill()
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # what could not be written stays unwritten
                if pipe is not None:
                    pipe.close()
        return code

    def _started(self) -> Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = Popen(COMMAND, stdin=PIPE, stdout=PIPE)
        return self._process

    def _post_mortem(self, error: OSError) -> str:
        code = self.close()
        if code is None:
            return f"the analysis cannot be started: {error}"
        return f"the analysis ended with code {code}; please report this with the file"


def _exchanged(process: Popen[bytes], request: Request) -> Reply:
    """Runs in a thread of its own; ``OSError`` when the process ends before it has answered."""
    source, sink = process.stdout, process.stdin
    if source is None or sink is None:
        raise OSError("no pipes")
    sink.write(packed(request))
    sink.flush()
    reply = received(source)
    if reply is None:
        process.wait()  # so that the exit code is its own
    if not isinstance(reply, Reply):
        raise OSError("no reply")
    return reply
