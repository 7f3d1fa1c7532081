"""One kernel instance being rewritten: the parts of the rewriter and what they share.

In: the index of a file.  Out: an :class:`Output` that the parts fill.  Each part is one module;
they reach each other through this object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from tree_sitter import Node

from coalescecheck.frontend.rewrite import index, syntax, traits, types, unread
from coalescecheck.frontend.rewrite.aliasing import Aliasing
from coalescecheck.frontend.rewrite.alignments import Alignments
from coalescecheck.frontend.rewrite.body import FunctionWriter
from coalescecheck.frontend.rewrite.builtin_types import builtin_type
from coalescecheck.frontend.rewrite.calls import Calls
from coalescecheck.frontend.rewrite.captures import Captures
from coalescecheck.frontend.rewrite.closures import Closures
from coalescecheck.frontend.rewrite.constant_calls import ConstantCalls
from coalescecheck.frontend.rewrite.constant_objects import ConstantObjects
from coalescecheck.frontend.rewrite.constraints import Constraints
from coalescecheck.frontend.rewrite.construction import Construction
from coalescecheck.frontend.rewrite.conversion_ranks import ConversionRanks
from coalescecheck.frontend.rewrite.conversions import Conversions
from coalescecheck.frontend.rewrite.copying import Copying
from coalescecheck.frontend.rewrite.declarations import Declarations
from coalescecheck.frontend.rewrite.deduction import has_placeholder
from coalescecheck.frontend.rewrite.emit import Mark, Piece
from coalescecheck.frontend.rewrite.env import Env, Names, ValueBound
from coalescecheck.frontend.rewrite.ex import (
    ASSIGN,
    CONDITIONAL,
    UNARY,
    Ex,
    address_of,
    dereferenced,
)
from coalescecheck.frontend.rewrite.ex import call as c_call
from coalescecheck.frontend.rewrite.expressions import Expressions
from coalescecheck.frontend.rewrite.functions import Functions
from coalescecheck.frontend.rewrite.globals import Globals
from coalescecheck.frontend.rewrite.index import EnumeratorEntry, RecordEntry, Scope
from coalescecheck.frontend.rewrite.initialisers import Initialisers
from coalescecheck.frontend.rewrite.inline_asm import InlineAsm
from coalescecheck.frontend.rewrite.intrinsic_tables import (
    BUILTIN_VARIABLES,
    SCALAR_RESULT,
    VECTOR_RESULT,
)
from coalescecheck.frontend.rewrite.intrinsics import Intrinsics
from coalescecheck.frontend.rewrite.lambdas import Lambdas
from coalescecheck.frontend.rewrite.local_names import LocalNames
from coalescecheck.frontend.rewrite.methods import Methods
from coalescecheck.frontend.rewrite.naming import Naming
from coalescecheck.frontend.rewrite.offsetof import OffsetOf
from coalescecheck.frontend.rewrite.operators import Operators
from coalescecheck.frontend.rewrite.output import Output, c_name
from coalescecheck.frontend.rewrite.overloads import Overloads
from coalescecheck.frontend.rewrite.packing import PackPragmas
from coalescecheck.frontend.rewrite.qualified import QualifiedNames
from coalescecheck.frontend.rewrite.records import Records
from coalescecheck.frontend.rewrite.specialisations import Specialisations
from coalescecheck.frontend.rewrite.statements import Statements
from coalescecheck.frontend.rewrite.substitution import Substitution
from coalescecheck.frontend.rewrite.typenames import TypeNames
from coalescecheck.frontend.rewrite.types import CType, Record
from coalescecheck.frontend.rewrite.virtual import Virtual
from coalescecheck.source import Span

T = TypeVar("T", bound=CType)

_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")

# what is shown as it is written, where it is not understood
_EXPRESSIONS = ("field_expression", "binary_expression", "unary_expression", "call_expression")


class Session:
    """Everything one rewriting shares.

    ``code`` is the preprocessed text before any repair; ``locate`` gives the user's place of a
    byte of it.
    """

    def __init__(self, top: Scope, code: bytes, locate: Callable[[int], Span]) -> None:
        self.top = top
        self._code = code
        self.kernel: Node | None = None  # that is rewritten
        self.place = 0  # where what has no place in the code is reported
        self.output = Output()
        self._locate = locate
        self.pragmas = PackPragmas(code)
        self.virtual = Virtual(top)
        self.substitution = Substitution()
        self._dynamic: dict[str, CType] = {}
        self._free: set[str] = set()
        self.unread = False  # the statement at hand holds code that could not be read
        self._hidden: dict[int, unread.Hidden] = {}  # names such code may declare, by function
        self.assumptions: dict[str, None] = {}  # on free template values, in words
        self._opaque = 0
        self._builtin: dict[str, CType] = {}
        self._anonymous: dict[tuple[int, str], RecordEntry] = {}
        self.local_enumerators: dict[int, dict[str, ValueBound]] = {}
        self._enumerations: dict[int, types.Enumeration] = {}
        self._numbers: dict[tuple[int, str], int | None] = {}
        self._writing: list[FunctionWriter] = []
        self.records = Records(self)
        self.specialisations = Specialisations(self)
        self.names = Names(top, self.records.member, self.records.early_member)
        self.qualified = QualifiedNames(self)
        self.typenames = TypeNames(self)
        self.alignments = Alignments(self)
        self.conversions = Conversions(self)
        self.expressions = Expressions(self)
        self.naming = Naming(self)
        self.operators = Operators(self)
        self.ranks = ConversionRanks(self)
        self.constraints = Constraints(self, code)
        self.overloads = Overloads(self)
        self.aliasing = Aliasing(self)
        self.functions = Functions(self)
        self.intrinsics = Intrinsics(self)
        self.calls = Calls(self)
        self.constant_calls = ConstantCalls(self)
        self.methods = Methods(self)
        self.construction = Construction(self)
        self.copying = Copying(self)
        self.initialisers = Initialisers(self)
        self.captures = Captures(self)
        self.lambdas = Lambdas(self)
        self.closures = Closures(self)
        self.offsets = OffsetOf(self)
        self.asm = InlineAsm(self)
        self.globals = Globals(self)
        self.constant_objects = ConstantObjects(self)
        self.statements = Statements(self)
        self.declarations = Declarations(self)
        self.local_names = LocalNames(self)
        self.expressions.register("requires_expression", self.constraints.emit)

    @property
    def top_env(self) -> Env:
        return self.names.scope_env(self.top)

    # -- diagnostics and the unknown ----------------------------------------------------

    def say(self, node: Node, severity: str, message: str, *, hides: bool = False) -> None:
        """A diagnostic at a node; see ``Diagnostic`` for ``hides``."""
        if self.substitution.fails_at(node):
            return
        place = self.place if syntax.is_given(node) else node.start_byte
        self.output.say(self._locate(place), severity, message, hides=hides)

    def opaque_call(self, arguments: list[Ex], result: CType, mark: Mark, source: str = "") -> Ex:
        """A call of a function nobody knows, numbered; ``source`` is what it stands for."""
        self._opaque += 1
        return self._prototyped(f"opaque__{self._opaque}", arguments, result, mark, source)

    def opaque_named(self, name: str, arguments: list[Ex], result: CType, node: Node) -> Ex:
        """A call of a function whose name is all that is known."""
        return self._prototyped(name, arguments, result, Mark(node.start_byte))

    def say_opaque(self, what: str, arguments: list[Ex], result: CType, node: Node) -> Ex:
        """An opaque call with a warning."""
        self.say(node, "warning", f"{what} is not understood: its value is unknown")
        source = syntax.flat(node) if node.type in _EXPRESSIONS else ""
        return self.opaque_call(arguments, result, Mark(node.start_byte), source)

    def unknown_place(self, what: str, whole: Ex, arguments: list[Ex], node: Node) -> Ex:
        """Memory at an address nobody knows, as a part of ``whole``: ``*opaque(…)``.

        One access for all of ``p[i].a.b[n]``: its parts are not read one by one."""
        self.say(node, "warning", f"{what} is not understood: this access is unknown")
        mark, source = Mark(node.start_byte), f"*{syntax.flat(node)}"
        type_ = self.output.part_of(whole.type)
        if whole.lvalue and not whole.pure and not isinstance(whole.type, types.Pointer):
            whole = Ex(address_of(whole), types.Pointer(whole.type), UNARY)
        pointer = self.opaque_call([whole, *arguments], types.Pointer(type_), mark, source)
        return dereferenced(pointer.piece, type_, mark)

    def _prototyped(
        self, name: str, arguments: list[Ex], result: CType, mark: Mark, source: str = ""
    ) -> Ex:
        kept = [a for a in arguments if not isinstance(a.type, types.Closure | types.GroupType)]
        kept = [a for a in kept if a.type != types.VOID and not has_placeholder(a.type)]
        if isinstance(result, types.Auto | types.Array) or has_placeholder(result):
            result = types.UNKNOWN
        parameters = [a.decayed for a in kept]
        known = self.output.prototype(name, result, parameters, source)
        return c_call(known, [a.at(ASSIGN) for a in kept], result, mark)

    def calling(self, name: str, pieces: list[Piece], result: CType, mark: Mark) -> Ex:
        """A call of a declared function."""
        return c_call(name, pieces, result, mark)

    def free_name(self, name: str, node: Node) -> Ex:
        """A name nobody defined: it stays a symbol."""
        if not name or syntax.is_c_word(name) or name in self.output.unknown_types:
            # none, or a word of C: a syntax error, said already
            return self.opaque_call([], types.UNKNOWN, Mark(node.start_byte))  # a type in C
        failed = self.substitution.fails_at(node)
        function = unread.function_around(node)
        if function.id not in self._hidden:
            self._hidden[function.id] = unread.hidden_names(function)
        if syntax.text(node) in self._hidden[function.id]:
            message = f"`{name}` may be declared by code that could not be read"
            self.say(node, "warning", f"{message}: its value is unknown")
            return self.opaque_call([], types.UNKNOWN, Mark(node.start_byte), name)
        if name not in self._free and not failed:
            self._free.add(name)
            self.output.unique(name)
            self.output.globals.append((0, f"[[cuda::undeclared]] extern const int {name};"))
            self.say(
                node,
                "warning",
                f"`{name}` is not declared in what could be read: its value stays symbolic",
            )
        return Ex((Mark(node.start_byte), name), types.INT, pure=True)

    def is_free(self, name: str) -> bool:
        """Whether C text is made of symbols nobody defined, numbers and operators only."""
        words = set(_WORD.findall(name))
        return bool(words) and words <= self._free

    def is_parameter(self, text: str) -> bool:
        """Whether C text is the name of a template value nobody knows."""
        return text in self._free

    def free_value(self, name: str, type_: CType) -> str:
        """A symbol of its own for a template value nobody knows."""
        c = self.output.unique(c_name(name))
        self._free.add(c)
        declared = types.declare(types.unqualified(type_), c)
        self.output.globals.append((0, f"[[cuda::free]] extern const {declared};"))
        return c

    def output_unknown(self, name: str, given_by: str | None = None) -> str:
        """The C name of an unknown type.

        ``given_by`` is the template parameter it depends on, "" for a type that is not declared,
        None for a template parameter itself, or a sentence that says why nothing gives it.
        """
        return self.output.need_unknown(name, given_by)

    def unplaced(self, layout: types.Layout, what: str) -> CType:
        """A type of unknown size, behind which no member of ``layout`` has a known place."""
        reason = f"`{layout.shown}` has {what}"
        return types.Unknown(self.output_unknown(f"unplaced_members_of_{layout.cname}", reason))

    def unknown_type(self, name: str, node: Node) -> CType:
        self.say(node, "warning", f"type `{name}` is not known: accesses of its size are unknown")
        return types.Unknown(self.output_unknown(types.mangled([name]), ""))

    def undecided_type(self, name: str, node: Node) -> CType:
        """A class template whose arguments do not tell which specialisation is meant."""
        self.say(node, "warning", f"which specialisation of `{name}` is meant is not known")
        return types.Unknown(self.output_unknown(types.mangled([name]), ""))

    def original(self, node: Node) -> str:
        """The text of an operator as the user wrote it (repairs may have disguised it)."""
        if syntax.is_given(node):
            return syntax.text(node)
        return self._code[node.start_byte : node.end_byte].decode("utf-8", "replace")

    # -- shared knowledge ---------------------------------------------------------------

    def builtin(self, name: str) -> CType | None:
        type_ = builtin_type(name)
        if type_ is not None:
            self.output.need(type_)
        return type_

    def builtin_variable(self, name: str) -> CType:
        """The type of ``threadIdx`` and the like; declares it."""
        known = self._builtin.get(name)
        if known is None:
            record = BUILTIN_VARIABLES[name]
            known = self._builtin[name] = self.builtin(record) or types.UNKNOWN
            self.output.globals.append((0, f"extern const {record} {name};"))
        return known

    def dynamic_shared(self, name: str, type_: CType) -> CType:
        """The type a dynamic shared array was first declared with."""
        return self._dynamic.setdefault(name, type_)

    def type_if_named(self, node: Node, env: Env) -> CType | None:
        """The type a name stands for; None if it is no type."""
        match node.type:
            case "primitive_type" | "sized_type_specifier" | "template_type":
                return self.typenames.type(node, env)
            case "identifier" | "type_identifier":
                name = syntax.text(node)
                found = self.names.find(env, name)
                if found is None:
                    return self.builtin(name) or self._undeclared(name)
                return self.typenames.of_found(found, env)
            case "template_function":
                return self.applied_template(node, None, env)
            case "qualified_identifier":
                return traits.type_trait(self, node, env) or self._qualified_type(node, env)
            case _:
                return None

    def trait(self, node: Node, env: Env) -> CType | None:
        """The type that a trait of the standard library gives."""
        return traits.type_trait(self, node, env)

    def _undeclared(self, name: str) -> CType | None:
        """A name that nothing declares is a type where it was used as one before."""
        known = self.output.unknown_types.get(name)
        return None if known is None else types.Unknown(known)

    def _qualified_type(self, node: Node, env: Env) -> CType | None:
        found, last = self.qualified.resolve(node, env)
        if found is None:
            path = "".join(syntax.text(node).split())
            return self.builtin(path.rsplit("::", 1)[-1]) if path.startswith("std::") else None
        if last.type in ("template_type", "template_function", "template_method"):
            return self.typenames.applied(found, last, env)
        return self.typenames.of_found(found, env)

    def applied_template(self, node: Node, arguments: list[Node] | None, env: Env) -> CType | None:
        """A class template's instance; None if the name is no class template."""
        if node.type == "qualified_identifier":
            found, last = self.qualified.resolve(node, env)
        else:
            name = node.child_by_field_name("name") or node
            found, last = self.names.find(env, syntax.text(name)), node
        if found is None:
            return None
        if arguments is None:
            return self.typenames.applied(found, last, env)
        for entry in found.entries:
            if isinstance(entry, RecordEntry) and entry.arguments is None:
                return self.specialisations.applied(entry, arguments, found.env, env)
        return None

    def anonymous_entry(self, node: Node, name: str, scope: Scope | None) -> RecordEntry:
        """The entry of a record that has no name in the index."""
        key = (node.id, name)
        entry = self._anonymous.get(key)
        if entry is None:
            entry = RecordEntry(name, scope or index.Scope("", None), node)
            self._anonymous[key] = entry
        return entry

    def enumeration(self, node: Node, env: Env) -> types.Enumeration:
        """The identity of an enumeration."""
        known = self._enumerations.get(node.id)
        if known is None:
            scoped = syntax.child(node, "class", "struct") is not None
            at: Env | None = env
            while at is not None and at.scope is None:
                at = at.parent
            scope = at.scope if at is not None else None
            known = self._enumerations[node.id] = types.Enumeration(scoped, scope)
        return known

    def enumerator(self, entry: EnumeratorEntry, env: Env) -> int | None:
        """The value of an enumerator."""
        around: Env | None = env
        while around is not None and around.record is None:
            around = around.parent
        own = around.record if around is not None else None
        key = (id(entry), own.cname if own is not None else "")  # each instance has its own
        if key not in self._numbers:
            self._numbers[key] = None  # one that refers to itself has no value
            listed = entry.enum.node.child_by_field_name("body")
            if listed is not None and unread.is_faulty(listed):
                number = None
            elif entry.value is not None:
                inside = Env(env, scope=entry.enum.inner)  # it may name those before it
                number = self.expressions.constant(entry.value, inside)
            elif entry.previous is None:
                number = 0
            else:
                before = self.enumerator(entry.previous, env)
                number = None if before is None else before + 1
            self._numbers[key] = number
        return self._numbers[key]

    @contextmanager
    def reading(self, node: Node | None) -> Iterator[None]:
        """While ``node`` is read, ``unread`` tells whether part of it could not be."""
        around = self.unread
        self.unread = node is not None and node.has_error and unread.is_faulty(node)
        try:
            yield
        finally:
            self.unread = around

    # -- the function being written -----------------------------------------------------

    def entered(self, writer: FunctionWriter) -> None:
        """A function begins; temporaries belong to the innermost one."""
        self._writing.append(writer)

    def left(self) -> None:
        """The innermost function is written."""
        self._writing.pop()

    def note_reference(self, name: str) -> None:
        """A pointer of the function being written is a reference for the user."""
        if self._writing:
            self._writing[-1].references.add(name)

    def temporary(self, type_: CType) -> str:
        """A fresh variable of the function being written."""
        self.output.need(type_)
        return self._writing[-1].temporary(type_) if self._writing else "tmp__0"

    def self_record(self, env: Env) -> Record | None:
        return env.function.self_type if env.function is not None else None

    @staticmethod
    def self_object(env: Env, record: T) -> T:
        """A type as a method sees its object or a part of it: const in a const method."""
        return types.qualified(record, const=env.function is not None and env.function.self_const)

    def self_name(self, env: Env) -> str:
        return env.function.self_name if env.function is not None else "self"

    def chosen_object(self, condition: Ex, a: Ex, b: Ex, type_: CType) -> Ex:
        """``c ? a : b`` for objects: the choice of an address, so that one is read."""
        piece = (
            condition.at(CONDITIONAL + 1), " ? ", address_of(a), " : ", address_of(b),
        )  # fmt: skip
        return dereferenced(("(", piece, ")"), type_)

    def library_result(self, name: str, arguments: list[Ex]) -> CType:
        """The result type of a library function on vector types, as far as it is known."""
        vectors = [a.type for a in arguments if isinstance(a.type, Record)]
        if vectors and name in VECTOR_RESULT:
            return types.unqualified(vectors[0])
        if vectors and name in SCALAR_RESULT:
            return types.FLOAT
        return types.UNKNOWN
