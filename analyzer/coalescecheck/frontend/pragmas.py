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
_GNU = rb"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)"
_CXX = rb"\[\[[^][]*\]\]"
# also what a macro of a missing header leaves there: `namespace LIB_EXPORT lib {`
_NAMESPACE = re.compile(
    rb"\bnamespace\b\s*((?:(?:" + _GNU + rb"|" + _CXX + rb"|__declspec\s*\([^()]*\)"
    rb"|[A-Z_][A-Z0-9_]*(?=\s+[A-Za-z_\[]))\s*){1,8})(?=[A-Za-z_][\w:]*\s*\{|\{)"
)  # fmt: skip
_UNSIZED = rb"\[\[(?![^][]*(?:packed|aligned))[^][]*\]\]"  # one that changes no layout
_TYPE = re.compile(
    rb"\b(?:struct|class|union|enum|using\s+\w+)\s*((?:" + _UNSIZED + rb"\s*){1,8})"
    rb"|\benum(?:\s+(?:class|struct))?\s*((?:(?:" + _GNU + rb"|" + _CXX + rb")\s*){1,8})"
)
_CUDA = re.compile(
    rb"__attribute__\s*\(\(\s*_*(global|device|shared|constant|host|managed)_*\s*\)\)"
)
_UNROLL = re.compile(rb"\s*unroll\b\s*(.*?)\s*")


def as_attributes(code: bytes) -> bytes:
    """``code`` with every pragma that stands before the body of a statement rewritten."""
    if b"__attribute__" in code:  # what CUDA's words stand for
        code = _CUDA.sub(lambda m: (b"__" + m[1] + b"__").ljust(len(m[0])), code)
    code = _NAMESPACE.sub(_without_last, code) if b"namespace" in code else code
    if b"[[" in code or b"__attribute__" in code:
        code = _TYPE.sub(_without_last, code)
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


def _without_last(match: re.Match[bytes]) -> bytes:
    """A match with blanks for its last group, which ends it."""
    attributes = match[match.lastindex or 0]
    return match[0][: len(match[0]) - len(attributes)] + re.sub(rb"[^\n]", b" ", attributes)
