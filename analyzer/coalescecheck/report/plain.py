"""Text that a terminal or a log shows as it is: names of a user's files cannot steer either.

In: finished text.  Out: the same without control characters, of which some move the cursor, set
the window's title or reorder what stands around them.
"""

from __future__ import annotations

import re

# what HTML does not allow either, apart from line ends and tabs
CONTROLS = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]"

_CONTROL = re.compile(CONTROLS)
_OR_COLOUR = re.compile(rf"(\x1b\[[\d;]*m)|{CONTROLS}")


def plain(text: str, *, coloured: bool = False) -> str:
    """``text`` with a sign for each control character; colours stay where it is ``coloured``."""
    if coloured:
        return _OR_COLOUR.sub(lambda found: found[1] or "\ufffd", text)
    return _CONTROL.sub("\ufffd", text)


def one_line(text: str) -> str:
    """``text`` as one line of a log; what a file's name has that is no text becomes ``?``."""
    return plain(" ".join(text.splitlines())).encode("utf-8", "replace").decode("utf-8")
