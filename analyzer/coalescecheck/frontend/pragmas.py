"""Pragmas between the head of a statement and its body, and attributes of namespaces, which the
grammar has no place for.

In ``for (...)`` newline ``#pragma unroll`` newline ``for (...)`` it would end the outer loop at
the pragma.  In: preprocessed text.  Out: text of the same length, in which such a pragma is an
attribute, ``[[unroll(4)]]``, or blank where it says nothing of loops.  In ``namespace
__attribute__((visibility("default"))) lib {`` all that is declared would be lost.
"""

from __future__ import annotations

import re

_PRAGMA = rb"[ \t]*\#[ \t]*pragma\b([^\n]*)\n"
_BODY = re.compile(rb"(?:\)|\belse\b|\bdo\b)\s*\n(?=[ \t]*\#)((?:%b\s*)+)" % _PRAGMA)
_ONE = re.compile(_PRAGMA)
# also what a macro of a missing header leaves there: `namespace LIB_EXPORT lib {`
_NAMESPACE = re.compile(
    rb"\bnamespace\b\s*((?:(?:__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)|\[\[[^][]*\]\]"
    rb"|__declspec\s*\([^()]*\)|[A-Z_][A-Z0-9_]*(?=\s+[A-Za-z_\[]))\s*){1,8})"
    rb"(?=[A-Za-z_][\w:]*\s*\{|\{)"
)
_UNROLL = re.compile(rb"\s*unroll\b\s*(.*?)\s*")


def as_attributes(code: bytes) -> bytes:
    """``code`` with every pragma that stands before the body of a statement rewritten."""
    if b"namespace" in code:
        code = _NAMESPACE.sub(lambda m: m[0][: m.start(1) - m.start()] + _blank(m[1]), code)
    if b"pragma" not in code:
        return code
    return _BODY.sub(lambda m: m[0][: m.start(1) - m.start()] + _ONE.sub(_rewritten, m[1]), code)


def _rewritten(pragma: re.Match[bytes]) -> bytes:
    unroll = _UNROLL.fullmatch(pragma[1])
    if unroll is None:
        attribute = b""
    else:
        factor = unroll[1]
        if factor and not (factor.startswith(b"(") and factor.endswith(b")")):
            factor = b"(" + factor + b")"
        attribute = b"[[unroll" + factor + b"]]"
    return attribute.ljust(len(pragma[0]) - 1) + b"\n"


def _blank(text: bytes) -> bytes:
    return re.sub(rb"[^\n]", b" ", text)
