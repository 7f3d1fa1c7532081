"""pcpp's macro engine, made safe: bounded, quiet, and reporting places instead of printing.

In: tokens (see ``tokens``).  Out: expanded tokens, or the truth of an ``#if``.  Errors go to
a callback.  It must not know files or output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

from pcpp import Preprocessor

from coalescecheck.frontend.if_values import condition_value
from coalescecheck.frontend.tokens import BLANK, Token, strip_blanks, tokenize

_OPTIONAL = "__VA_OPT__"
MAX_USE = 1_000_000  # tokens one macro use may cost
MAX_FILE = 4_000_000  # tokens all uses of a small file may cost

Report = Callable[[int, int, str], None]
"""File number, offset, message."""

_PCPP_FAULTS = (IndexError, AttributeError, TypeError, ValueError, KeyError, RecursionError)


_read: dict[str, Any] = {}
"""pcpp's macros by the predefined ones' definitions; expanding one copies what it stands for."""


class MacroLimit(Exception):
    """An expansion is larger than the tool follows."""


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """A number as pcpp asks its evaluator for it."""

    number: int

    def value(self) -> int:
        return self.number


def _with_options(written: list[Token], *, given: bool) -> list[Token]:
    """The tokens of a macro with what ``__VA_OPT__( )`` holds, or without if nothing is given."""
    out: list[Token] = []
    at = 0
    while at < len(written):
        opening = next((i for i in range(at + 1, len(written)) if written[i].type != BLANK), None)
        if written[at].value != _OPTIONAL or opening is None or written[opening].value != "(":
            out.append(copy(written[at]))
            at += 1
            continue
        depth, end = 1, opening + 1
        while end < len(written) and depth:
            depth += (written[end].value == "(") - (written[end].value == ")")
            end += 1
        if given:
            out += [copy(token) for token in written[opening + 1 : end - 1]]
        elif out and strip_blanks(out)[-1:] and strip_blanks(out)[-1].value == "##":
            out = strip_blanks(out)[:-1]  # nothing to paste
        at = end
    return out


class Macros(Preprocessor):  # type: ignore[misc]  # pcpp is untyped
    """The macro table and its two services: expand and evaluate."""

    evaluator: Any

    def __init__(self, report: Report, text_size: int) -> None:
        super().__init__()
        self._report = report
        self._left = 0
        self._total = MAX_FILE + 4 * text_size
        self.expand_linemacro = False  # __LINE__ is written when tokens are rendered
        self.define_text("__LINE__ __LINE__")
        self.evaluator = lambda tokens, **names: _Evaluated(
            condition_value(tokens, self.on_unknown_macro_in_expr)
        )

    def define_text(self, definition: str) -> None:
        """Define ``NAME value`` or ``NAME(args) value``."""
        self.define(tokenize(definition, 0, -1))

    def define_all(self, definitions: Iterable[str]) -> None:
        """As :meth:`define_text` for each, reading only those that no file before had."""
        for definition in definitions:
            name = definition.partition(" ")[0].partition("(")[0]
            if definition not in _read:
                self.define_text(definition)
                _read[definition] = self.macros[name]
            self.macros[name] = _read[definition]

    def define_directive(self, tokens: list[Token]) -> bool:
        """Handle the tokens after ``#define``; False when they make no sense."""
        if not tokens or tokens[0].type != self.t_ID:
            return False
        try:
            self.define(tokens)
        except _PCPP_FAULTS:
            return False
        return True

    def expand(self, tokens: list[Token]) -> list[Token]:
        """The macro expansion of ``tokens`` (which are used up).

        Raises MacroLimit when it is too large or too deep.
        """
        self._left = min(MAX_USE, self._total)
        before = self._left
        try:
            return self.expand_macros(tokens)
        except RecursionError:
            raise MacroLimit("macros nest too deeply") from None
        except _PCPP_FAULTS as fault:
            raise MacroLimit(f"a macro cannot be expanded ({fault})") from None
        finally:
            self._total -= before - self._left

    def expand_macros(
        self, tokens: list[Token], expanding_from: list[str] | None = None
    ) -> list[Token]:
        """pcpp's recursive expansion, which calls this method again: count what it costs."""
        self._spend(len(tokens))
        result: list[Token] = super().expand_macros(tokens, expanding_from or [])
        self._spend(len(result))
        return result

    def macro_prescan(self, macro: Any) -> None:
        """pcpp's look at a definition, which changes its tokens: keep those of ``__VA_OPT__``."""
        if any(token.value == _OPTIONAL for token in macro.value):
            macro.optional = list(macro.value)
        super().macro_prescan(macro)

    def macro_expand_args(self, macro: Any, args: list[list[Token]]) -> list[Token]:
        """pcpp's replacement of parameters, with ``__VA_OPT__``, which it does not know."""
        written = getattr(macro, "optional", None)
        if written is not None and macro.variadic:
            rest = self.expand_macros([copy(token) for token in args[-1]])
            macro = copy(macro)
            macro.optional = None
            macro.value = _with_options(written, given=bool(strip_blanks(rest)))
            super().macro_prescan(macro)
        result: list[Token] = super().macro_expand_args(macro, args)
        return result

    def truth(self, tokens: list[Token]) -> bool | None:
        """Whether an ``#if`` condition holds; None when it cannot be evaluated."""
        self._left = min(MAX_USE, self._total)
        faults: list[str] = []
        report, self._report = self._report, lambda file, offset, message: faults.append(message)
        try:
            value, _ = self.evalexpr(tokens)
        except (MacroLimit, *_PCPP_FAULTS):
            return None
        finally:
            self._report = report
        return None if faults else bool(value)

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise MacroLimit(f"the expansion of a macro exceeds {MAX_USE} tokens")

    def on_error(self, file: Any, line: Any, msg: str) -> None:
        """pcpp's error hook: ``file`` and ``line`` are our file number and offset."""
        self._report(file if isinstance(file, int) else -1, line, msg)

    def on_unknown_macro_in_defined_expr(self, tok: Token) -> bool:
        """``defined(__has_include)`` and friends hold in C++17."""
        return tok.value in ("__has_include", "__has_cpp_attribute")

    def on_unknown_macro_in_expr(self, ident: str) -> int:
        """Names that are no macros count as 0 in ``#if``, but ``true`` is 1."""
        return int(ident == "true")
