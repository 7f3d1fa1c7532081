"""Macro expansion, conditionals and local headers, with the way back to every character.

In: a file's text and options.  Out: a :class:`Unit`.  Only lines that name a macro are
tokenised and expanded (by pcpp, see ``macros``); all others are copied, which is fast and
keeps raw text as it is.  It must not know CUDA beyond the predefined macros.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import tree_sitter_cuda
from tree_sitter import Language, Parser

from coalescecheck.errors import SourceError
from coalescecheck.frontend import (
    includes,
    left_out,
    library_pairs,
    pragmas,
    standard_library,
    tensor_accessors,
)
from coalescecheck.frontend.cleaning import clean, logical_lines
from coalescecheck.frontend.conditionals import Conditionals
from coalescecheck.frontend.macros import MacroLimit, Macros
from coalescecheck.frontend.positions import FilePlaces, OutputBuilder, PositionMap
from coalescecheck.frontend.predefined import command_line, predefined
from coalescecheck.frontend.reading import read_source
from coalescecheck.frontend.rendering import render
from coalescecheck.frontend.tokens import IDENTIFIER, Token, strip_blanks, tokenize
from coalescecheck.frontend.unit import Unit
from coalescecheck.source import NOWHERE, Diagnostic, Span

MAX_OUTPUT = 48 * 1024 * 1024  # bytes of preprocessed text
_MAX_INCLUDES = 2000  # openings of headers for one file
_MAX_DEPTH = 60  # headers open at once
_MAX_PENDING = 20_000  # tokens of a macro call that never closes
_MAX_DIAGNOSTICS = 100

_WORDS = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
_DIRECTIVE = re.compile(r"[ \t\v]*(?:\#|%:)[ \t\v]*([A-Za-z_]*)")
# `a < a < a …`, `a<b>::a<b>::…`: the parser tries every way to read it, in time as the length
# squared or worse
_SPLICE = re.compile(r"\[(?=::)")  # of `a[::f()]`: the grammar takes `[:` for one token
_NESTING = 1000
_NESTED = re.compile(
    rb"(?:\w[\w:]*\s*<\s*){%d}|(?:\w+\s*<[^<>;{}]{0,99}>\s*::\s*){%d}" % (_NESTING, _NESTING)
)
_IGNORED = frozenset({"", "line", "ident", "sccs", "assert", "unassert", "include_alias"})


def preprocess(
    path: str,
    text: str,
    *,
    defines: Iterable[str] = (),
    include_dirs: Sequence[str] = (),
    arch_number: int = 800,
    undefines: Iterable[str] = (),
    pre_includes: Iterable[str] = (),
) -> Unit:
    """The preprocessed and parsed form of ``text``, which was read from ``path``."""
    run = _Run(path, text, list(include_dirs))
    run.macros.define_all(predefined(arch_number, text))
    for name in undefines:
        run.macros.macros.pop(name, None)
    for definition in command_line(defines):
        run.macros.define_text(definition)
    run.file(path, text, pre_includes)
    code, positions = run.finish()
    code = pragmas.as_attributes(code)
    appended = (standard_library, library_pairs, tensor_accessors)
    code += "".join(each.used_by(code) for each in appended).encode()
    if code.count(b"<") >= _NESTING and _NESTED.search(code):
        raise SourceError(f"{path}: nests too deeply")
    tree = Parser(Language(tree_sitter_cuda.language())).parse(code)
    return Unit(path, text, code, tree, positions.locate, tuple(run.diagnostics))


class _OutputFull(Exception):
    """The preprocessed text has reached its limit; nothing more is added."""


@dataclass(slots=True)
class _Open:
    """A file being read: its number, its places and the macros that existed at its start."""

    path: str
    number: int
    places: FilePlaces
    names: frozenset[str]
    conditionals: Conditionals = field(default_factory=Conditionals)
    left_out: left_out.LeftOut = field(default_factory=left_out.LeftOut)


class _Run:
    """One preprocessing run: the state that all files of it share."""

    def __init__(self, path: str, text: str, include_dirs: list[str]) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.macros = Macros(self._report, len(text))
        self._include_dirs = include_dirs
        self._output = OutputBuilder()
        self._files: list[FilePlaces] = []
        self._stack: list[_Open] = []
        self._once: set[str] = set()
        self._opened = 0
        self._guessed: set[str] = set()
        self._left_out: list[tuple[int, int, str, list[str]]] = []
        self._pending: list[Token] = []
        self._said: set[tuple[int, int, str]] = set()
        self._texts: dict[str, str] = {os.path.realpath(path): text}

    def file(self, path: str, text: str, pre_includes: Iterable[str]) -> None:
        """Read the main file after these headers; a full output ends the run early."""
        try:
            for header in pre_includes:
                self._read_before(path, header)
            self._read(path, text)
        except _OutputFull:
            self._pending = []

    def finish(self) -> tuple[bytes, PositionMap]:
        code, positions = self._output.finish()
        known = left_out.defined(code) if self._left_out else set()
        for number, offset, directive, names in self._left_out:
            message = left_out.message(directive, names, known)
            if message:
                self._say(number, offset, "warning", message)
        return code, positions

    # -- files ---------------------------------------------------------------------------

    def _read_before(self, path: str, header: str) -> None:
        """Read a header of the compiler's ``-include``, as if the first line asked for it."""
        try:
            text = read_source(header)
        except SourceError:
            if not includes.is_standard(header):
                message = f"header {header} was not found; what it declares is unknown"
                self.diagnostics.append(Diagnostic(Span(path, 1, 1), "note", message))
            return
        self._read_header(header, text)

    def _read_header(self, path: str, text: str) -> None:
        self._texts[os.path.realpath(path)] = text
        self._opened += 1
        places = FilePlaces(path, text)
        self._read(path, text)
        if not self._output.ends_line():  # its last line may have no end of its own
            self._output.copy(places, len(text), "\n")

    def _read(self, path: str, text: str) -> None:
        opened = _Open(
            path, len(self._files), FilePlaces(path, text), frozenset(self.macros.macros)
        )
        self._files.append(opened.places)
        self._stack.append(opened)
        cleaned = clean(text)
        if cleaned.open_comment is not None:
            self._say(opened.number, cleaned.open_comment, "error", "this comment never ends")
        self.macros.define_text(f'__FILE__ "{path}"')
        self._lines(opened, cleaned.text)
        self._flush()
        for offset, directive in opened.conditionals.unfinished():
            self._say(opened.number, offset, "error", f"this #{directive} has no #endif")
        for branch in opened.left_out.branches(cleaned.text):
            self._left_out.append((opened.number, *branch))
        self._stack.pop()
        if self._stack:
            self.macros.define_text(f'__FILE__ "{self._stack[-1].path}"')

    def _lines(self, opened: _Open, text: str) -> None:
        table = self.macros.macros
        copied_from, copied_to = 0, 0  # a run of lines without macros, not written yet
        for offset, line in logical_lines(text):
            directive = _DIRECTIVE.match(line)
            plain = (
                directive is None
                and opened.conditionals.active
                and not self._pending
                and "_Pragma" not in line
                and table.keys().isdisjoint(_WORDS.findall(line))
            )
            if plain:
                if copied_to != offset:
                    copied_from = offset
                copied_to = offset + len(line)
                continue
            self._copy(opened, text, copied_from, copied_to)
            copied_from = copied_to = 0
            if directive is not None:
                self._directive(opened, directive[1], line, offset, directive.end())
            elif opened.conditionals.active:
                self._expand_line(opened, line, offset)
            else:
                opened.left_out.line(line, offset, opened.conditionals)
        self._copy(opened, text, copied_from, copied_to)

    def _copy(self, opened: _Open, text: str, start: int, end: int) -> None:
        for match in _SPLICE.finditer(text, start, end):
            before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
            if before.count('"') % 2 == 0:
                self._output.copy(
                    opened.places, start, text[start : match.end()].replace("\v", " ")
                )
                self._output.space()
                start = match.end()
        self._output.copy(opened.places, start, text[start:end].replace("\v", " "))
        self._check_size(opened, start)

    def _check_size(self, opened: _Open, offset: int) -> None:
        if self._output.size > MAX_OUTPUT:
            message = f"the preprocessed text exceeds {MAX_OUTPUT >> 20} MB; the rest is not read"
            self._say(opened.number, offset, "error", message)
            raise _OutputFull

    # -- text ----------------------------------------------------------------------------

    def _expand_line(self, opened: _Open, line: str, offset: int) -> None:
        """Expand a line, once the macro calls that it opens are complete."""
        self._pending += tokenize(line, offset, opened.number)
        if len(self._pending) > _MAX_PENDING or _is_complete(self._pending):
            self._flush()
            self._check_size(opened, offset)

    def _flush(self) -> None:
        if not self._pending:
            return
        tokens, self._pending = self._pending, []
        render(self._expanded(tokens), self._files, self._output)

    def _expanded(self, tokens: list[Token]) -> list[Token]:
        first = (tokens[0].source, tokens[0].lexpos, tokens[-1].lexpos + len(tokens[-1].value))
        written = [(t.type, t.value, t.lexpos, t.lineno, t.source) for t in tokens]
        try:
            return self.macros.expand(tokens)
        except MacroLimit as limit:
            copies = [Token(*parts) for parts in written]
            word = next((t for t in copies if t.value in self.macros.macros), copies[0])
            message = f"{limit}; `{word.value}` is left as it is"
            self._say(first[0], word.lexpos, "error", message)
            return copies

    # -- directives ----------------------------------------------------------------------

    def _directive(self, opened: _Open, name: str, line: str, offset: int, start: int) -> None:
        def arguments() -> list[Token]:
            return strip_blanks(tokenize(line[start:].rstrip(), offset + start, opened.number))

        if name in ("if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif"):
            self._conditional(opened, name, arguments(), offset)
        elif not opened.conditionals.active or name in _IGNORED:
            return
        elif name in ("define", "undef"):
            self._flush()
            tokens = arguments()
            if name == "undef":
                if tokens:
                    self.macros.macros.pop(tokens[0].value, None)
                return
            for token in tokens:
                token.body = (opened.number, token.lexpos)
            if not self.macros.define_directive(tokens):
                self._say(opened.number, offset, "warning", "this #define cannot be read")
        elif name in ("include", "include_next", "import"):
            self._flush()
            self._include(opened, arguments(), offset, once=name == "import")
        elif name == "pragma":
            self._flush()
            self._pragma(opened, arguments(), line, offset)
        elif name in ("error", "warning"):
            severity = "warning" if name == "error" else "note"
            self._say(opened.number, offset, severity, f"#{name}{line[start:].rstrip()}")
        else:
            self._say(opened.number, offset, "note", f"unknown directive #{name} is passed over")

    def _conditional(self, opened: _Open, name: str, tokens: list[Token], offset: int) -> None:
        def condition() -> bool:
            if name.endswith("def"):
                if not tokens:
                    self._say(opened.number, offset, "warning", f"#{name} without a name")
                    return False
                defined = tokens[0].value in self.macros.macros
                defined = defined or self.macros.on_unknown_macro_in_defined_expr(tokens[0])
                return defined != name.endswith("ndef")
            return self._truth(opened, name, tokens, offset)

        if not opened.conditionals.directive(name, condition, offset):
            self._say(opened.number, offset, "warning", f"#{name} without #if is passed over")

    def _truth(self, opened: _Open, name: str, tokens: list[Token], offset: int) -> bool:
        tokens = self._answer_has(tokens)
        truth = self.macros.truth(tokens) if tokens else None
        if truth is None:
            message = f"the condition of #{name} cannot be evaluated; it is taken as false"
            self._say(opened.number, offset, "warning", message)
        return bool(truth)

    def _answer_has(self, tokens: list[Token]) -> list[Token]:
        """Replace ``__has_include(...)`` and ``__has_...(...)`` by 1 or 0."""
        result: list[Token] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            result.append(token)
            at += 1
            if not str(token.value).startswith("__has_"):
                continue
            close = next((i for i in range(at, len(tokens)) if tokens[i].value == ")"), None)
            opening = strip_blanks(tokens[at:])[:1]
            if close is None or not opening or opening[0].value != "(":
                continue
            inside = strip_blanks(tokens[at:close])[1:]
            known = token.value == "__has_include" and self._has_include(strip_blanks(inside))
            token.type, token.value = "CPP_INTEGER", str(int(known))
            at = close + 1
        return result

    def _has_include(self, tokens: list[Token]) -> bool:
        name, quoted = includes.header_name(tokens)
        if includes.is_standard(name):
            return True
        return self._find(name, quoted) is not None

    def _find(self, name: str, quoted: bool) -> str | None:
        return includes.find_header(name, self._open_files(), self._include_dirs, quoted)

    def _open_files(self) -> list[str]:
        return [opened.path for opened in self._stack]

    def _include(self, opened: _Open, tokens: list[Token], offset: int, once: bool) -> None:
        if tokens and tokens[0].type == IDENTIFIER:
            tokens = strip_blanks(self._expanded(tokens))
        name, quoted = includes.header_name(tokens)
        if not name:
            self._say(opened.number, offset, "warning", "this #include names no header")
            return
        found = self._find(name, quoted)
        if found is None:
            if not includes.is_standard(name):
                message = f"header {name} was not found; what it declares is unknown"
                self._say(opened.number, offset, "note", message)
            return
        key = os.path.realpath(found)
        if key in self._once:
            return
        if includes.is_guess(found, name, self._open_files(), self._include_dirs):
            self._say_guess(opened.number, offset, name, found)
        if once:
            self._once.add(key)
        problem = self._include_problem(key)
        if problem:
            self._say(opened.number, offset, "warning", f"header {name} is passed over: {problem}")
            return
        try:
            text = self._texts.get(key) or read_source(found)
        except SourceError as error:
            self._say(opened.number, offset, "warning", str(error))
            return
        self._read_header(found, text)

    def _say_guess(self, number: int, offset: int, name: str, found: str) -> None:
        if name not in self._guessed:
            self._guessed.add(name)
            folder = os.path.dirname(found) or "."
            message = f"header {name} is taken from {folder}, a guess: `-I {folder}` makes it sure"
            self._say(number, offset, "note", message)

    def _include_problem(self, key: str) -> str:
        """Why a header must not be opened (again)."""
        if len(self._stack) >= _MAX_DEPTH:
            return f"headers nest deeper than {_MAX_DEPTH}"
        if self._opened >= _MAX_INCLUDES:
            return f"more than {_MAX_INCLUDES} headers were opened"
        names = frozenset(self.macros.macros)
        for open_file in self._stack:
            if os.path.realpath(open_file.path) == key and open_file.names == names:
                return "it includes itself"
        return ""

    def _pragma(self, opened: _Open, tokens: list[Token], line: str, offset: int) -> None:
        word = tokens[0].value if tokens else ""
        if word == "once":
            self._once.add(os.path.realpath(opened.path))
            return
        if not self._output.ends_line():
            self._output.copy(opened.places, offset, "\n")
        if word not in ("unroll", "nounroll"):  # the others take no macros
            text = line.rstrip().replace("\v", " ")
            self._output.copy(opened.places, offset, text + "\n")
            return
        end = tokens[0].lexpos - offset + len(word)
        self._output.copy(opened.places, offset, line[:end].replace("\v", " "))
        rest = strip_blanks(tokens[1:])
        if rest:
            self._output.space()
            render(self._expanded(rest), self._files, self._output)
        self._output.copy(opened.places, offset + len(line.rstrip()), "\n")

    # -- diagnostics ---------------------------------------------------------------------

    def _report(self, number: int, offset: int, message: str) -> None:
        """What pcpp complains about is a macro that stays unexpanded."""
        self._say(number, offset, "warning", message)

    def _say(self, number: int, offset: int, severity: str, message: str) -> None:
        key = (number, offset, message)
        if key in self._said or len(self._said) >= _MAX_DIAGNOSTICS:
            return
        self._said.add(key)
        span = self._files[number].span(offset) if 0 <= number < len(self._files) else NOWHERE
        self.diagnostics.append(Diagnostic(span, severity, message))


def _is_complete(tokens: list[Token]) -> bool:
    """Whether no call may go on in the next line."""
    depth = 0
    for token in tokens:
        if token.value == "(":
            depth += 1
        elif token.value == ")":
            depth -= 1
    if depth > 0:
        return False
    last = next((t for t in reversed(tokens) if t.type != "CPP_WS"), None)
    return last is None or last.type != IDENTIFIER
