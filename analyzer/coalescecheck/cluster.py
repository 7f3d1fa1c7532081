"""The same work on the machines of a Dask cluster.

In: the address of a scheduler.  Out: an ``Executor``.  A worker has to see the same files under
the same paths and to run the same code of this tool; one that does not refuses the work, which is
then done here.  Nothing is copied to a worker but paths and options.
"""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import chdir, contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from coalescecheck.cache import sources
from coalescecheck.errors import UsageError
from coalescecheck.options import Options
from coalescecheck.report.model import Result

TIMEOUT = 5  # seconds to find the scheduler
WORKER_TIMEOUT = 20  # seconds until it has a worker
_ONE_AT_A_TIME = Lock()  # the current folder belongs to all threads of a worker

Task = Callable[[str, Options], Result]


class Unlike(Exception):
    """A worker would not read or do the same as this machine."""


class Here(NamedTuple):
    """What a worker has to agree with: the current folder, this tool's code, a file's text."""

    folder: str
    code: bytes
    sources: bytes


@contextmanager
def connected(address: str) -> Iterator[Executor]:
    """The cluster whose scheduler is at ``address``, such as ``tcp://host:8786``.

    A ``UsageError`` says why there is none.
    """
    try:
        import distributed
        from distributed.comm.addressing import get_address_host_port
    except ImportError:
        raise UsageError(
            "executor: dask needs the extra of that name: pip install 'coalescecheck[dask]'"
        ) from None
    for name in ("distributed", "distributed.client"):  # we say ourselves what failed
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        get_address_host_port(address)  # a client of a wrong address ends in a traceback
        client = distributed.Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UsageError(f"executor: no Dask scheduler at {address}: {error}") from None
    try:
        client.wait_for_workers(1, timeout=WORKER_TIMEOUT)
    except TimeoutError:
        client.close()
        raise UsageError(f"executor: the Dask scheduler at {address} has no worker") from None
    try:
        yield _Cluster(client.get_executor(pure=False))
    finally:
        client.close()


class _Cluster(Executor):
    """Sends tasks along with what the worker has to agree with."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, task: Task, /, path: str, options: Options) -> Future[Result]:  # type: ignore[override]
        said = sources(path, options)
        if said is None:  # nobody can tell what the file is made of
            here: Future[Result] = Future()
            here.set_result(task(path, options))
            return here
        agreed = Here(os.getcwd(), _code(), said)
        return self._executor.submit(there, agreed, task, path, options)


def there(here: Here, task: Task, path: str, options: Options) -> Result:
    """Do one task on a worker; ``Unlike`` where its result might be another."""
    if here.code != _code():
        raise Unlike("the worker has another version of coalescecheck")
    with _ONE_AT_A_TIME, chdir(here.folder):
        if sources(path, options) != here.sources:
            raise Unlike("the worker does not see the same files")
        return task(path, options)


@cache
def _code() -> bytes:
    """A hash of this package's text, which is the same on every machine."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(f"{file.relative_to(folder).as_posix()}\n".encode())
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.digest()
