"""The C translation unit being built: sections, unique names, prototypes, diagnostics.

In: declarations as they are needed.  Out: the sections in an order C accepts.  It must not
know about C++.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from coalescecheck.frontend.rewrite import types
from coalescecheck.frontend.rewrite.emit import Line, Piece, Writer
from coalescecheck.frontend.rewrite.types import CType, Layout, Record
from coalescecheck.frontend.spelling import Spellings
from coalescecheck.source import Diagnostic, Span

PART = "__part"  # behind the name of a type: of a part of it
_KEYWORDS = frozenset(
    (
        "restrict _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn "
        "_Static_assert _Thread_local alignas alignof typeof typeof_unqual offsetof inline "
        "register asm "
        "threadIdx blockIdx blockDim gridDim true false nullptr"
    ).split()
)


def c_name(name: str) -> str:
    """A C++ identifier that is a keyword in C gets an underscore."""
    return name + "_" if name in _KEYWORDS else name


class Output:
    """Sections of one kernel's translation unit."""

    def __init__(self) -> None:
        self.types: list[Line] = []
        self.globals: list[Line] = []
        self.prototypes: list[str] = []
        self.functions: list[list[Line]] = []
        self.diagnostics: list[Diagnostic] = []
        self.unknown_types: dict[str, str] = {}  # C names by name; C names by themselves too
        self.spellings = Spellings()
        self._taken: set[str] = set(_KEYWORDS)
        self._signatures: dict[tuple[str, str, tuple[str, ...]], str] = {}
        self._given_by: dict[str, str] = {}  # template parameters by the types that they decide
        self._declared: set[str] = set()
        self._said: set[tuple[int, int, str]] = set()

    def unique(self, name: str) -> str:
        """A file-scope name nothing else has."""
        candidate, number = name, 2
        while candidate in self._taken:
            candidate, number = f"{name}__{number}", number + 1
        self._taken.add(candidate)
        return candidate

    def prototype(
        self, name: str, result: CType, parameters: Sequence[CType], source: str = ""
    ) -> str:
        """Declares a function with no body; overloads beyond the first get a number.

        ``source`` is the user's expression for which a call of it stands, with ``*`` before it
        that for which what the result points to does."""
        for type_ in (result, *parameters):
            self.need(type_)
        spelled = tuple(types.spell(types.unqualified(p)) for p in parameters)
        key = (name, types.spell(result), spelled)
        known = self._signatures.get(key)
        if known is None:
            known = self._signatures[key] = self.unique(name)
            arguments = ", ".join(spelled) or "void"
            declarator = types.declare(result, f"{known}({arguments})")
            kind = "place" if source.startswith("*") else "value"
            shown = json.dumps(source.removeprefix("*"))
            marker = f"[[cuda::{kind}({shown})]] " if source else ""
            self.prototypes.append(f"{marker}extern {declarator};")
        return known

    def need(self, type_: CType) -> None:
        """Makes sure that every name in the spelling of ``type_`` is declared."""
        while True:
            match type_:
                case types.Pointer() | types.Reference():
                    type_ = type_.target
                case types.Array():
                    type_ = type_.element
                case types.FunctionType():
                    for parameter in type_.parameters:
                        self.need(parameter)
                    type_ = type_.result
                case _:
                    break
        match type_:
            case types.Scalar() if type_.name in types.HALF_NAMES:
                self._typedef(type_.name, f"typedef unsigned short {type_.name};")
            case types.Unknown():
                self.need_unknown(type_.name or "unknown_t")
            case Record() if type_.layout.source is None:
                self._record(type_.layout)
            case types.Auto() | types.Dependent():
                self.need_unknown("unknown_t")
            case _:
                pass

    def part_of(self, type_: CType) -> CType:
        """The type of a part of an object of unknown type: what tells one tells the other."""
        if not isinstance(type_, types.Unknown) or not type_.name:
            return types.UNKNOWN
        name = type_.name.removesuffix(PART)
        return types.Unknown(self.need_unknown(f"{name}{PART}", self._given_by.get(name, "")))

    def need_unknown(self, name: str, given_by: str | None = None) -> str:
        """Declares a type of unknown size and gives its C name; see ``Session.output_unknown``."""
        known = self.unknown_types.get(name)
        if known is None:
            known = self.unknown_types[name] = self.unique(name)
            argument = "" if given_by is None else f'("{given_by}")'
            marker = f"[[cuda::unknown_type{argument}]]"
            self.types.append((0, f"{marker} typedef long {known};"))
            self.unknown_types[known] = known
            self._given_by[known] = name if given_by is None else given_by
        return known

    def _typedef(self, name: str, declaration: str) -> None:
        if name not in self._declared:
            self._declared.add(name)
            self._taken.add(name)
            self.types.append((0, declaration))

    def _record(self, layout: Layout) -> None:
        if layout.cname not in self._declared:
            self._taken.add(layout.cname)
            self.define_record(layout)

    def define_record(self, layout: Layout, forward: bool = False) -> None:
        """Writes the definition of a record whose fields' types are declared.

        ``forward`` says that ``typedef struct X X;`` was written before.
        """
        self._declared.add(layout.cname)
        for member in layout.fields:
            self.need(member.type)
        keyword = "union" if layout.union else "struct"
        marked = f"{keyword} [[gnu::packed]]" if layout.packed else keyword
        if not layout.complete:
            if not forward:
                self.types.append((0, f"typedef {keyword} {layout.cname} {layout.cname};"))
            return
        body = " ".join(_members(layout)) or "char empty__;"
        if forward:
            self.types.append((0, f"{marked} {layout.cname} {{ {body} }};"))
        else:
            name = layout.cname
            self.types.append((0, f"typedef {marked} {name} {{ {body} }} {name};"))

    def forward(self, layout: Layout) -> None:
        """Declares a record before it is complete, for pointers to it."""
        keyword = "union" if layout.union else "struct"
        self.types.append((0, f"typedef {keyword} {layout.cname} {layout.cname};"))

    def say(self, span: Span, severity: str, message: str, *, hides: bool = False) -> None:
        """Adds a diagnostic once per place."""
        key = (span.line, span.column, message)
        if key not in self._said:
            self._said.add(key)
            self.diagnostics.append(Diagnostic(span, severity, message, hides))

    def write(self, writer: Writer) -> None:
        """All sections, in the order C needs."""
        for depth, piece in self.types + self.globals:
            writer.line(depth, piece)
        for prototype in self.prototypes:
            writer.line(0, prototype)
        for function in self.functions:
            for depth, piece in function:
                writer.line(depth, piece)


def _members(layout: Layout) -> list[str]:
    """Declarations of the fields; a declared alignment goes to the first one."""
    out: list[str] = []
    for number, member in enumerate(layout.fields):
        if isinstance(member.type, types.GroupType):
            continue
        wanted = max(member.align, layout.align if number == 0 else 0)
        natural = types.align_of(member.type) or 0
        align = f"_Alignas({wanted}) " if wanted > natural else ""
        if isinstance(member.type, Record) and not member.name:
            inner = member.type.layout
            keyword = "union" if inner.union else "struct"
            out.append(f"{keyword} {{ {' '.join(_members(inner))} }};")
            continue
        bits = f" : {member.bits}" if member.bits is not None else ""
        out.append(f"{align}{types.declare(member.type, member.name)}{bits};")
    return out


def block(lines: Sequence[Line], head: Piece) -> list[Line]:
    """A function definition from its head and body lines."""
    return [(0, (head, " {")), *lines, (0, "}")]
