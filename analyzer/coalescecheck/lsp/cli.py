"""The command ``coalescecheck-lsp``, which an editor starts and talks to over stdin and stdout."""

from __future__ import annotations

import argparse
import os
import sys

from coalescecheck import __version__

CLEAN, LOST, UNUSABLE = 0, 1, 2
NO_PYGLS = (
    "coalescecheck-lsp: error: the language server needs pygls 2 or newer; "
    "install it with: pip install 'coalescecheck[lsp]'"
)


def main() -> None:
    """Serve until the editor says goodbye: 0 if it did, 1 if it went without, 2 without pygls."""
    parser = argparse.ArgumentParser(
        "coalescecheck-lsp",
        description="The language server of CoalesceCheck, for an editor to start.",
    )
    parser.add_argument("--stdio", action="store_true", help="talk over stdin and stdout (default)")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.parse_args()
    try:
        from coalescecheck.lsp.server import make_server
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        sys.exit(_refused())
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up in the protocol
    server = make_server()
    server.start_io(sys.stdin.buffer, output)
    sys.exit(CLEAN if server.shut_down else LOST)


def _refused() -> int:
    print(NO_PYGLS, file=sys.stderr)
    return UNUSABLE
