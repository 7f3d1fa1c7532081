"""PTX as ``nvcc -ptx -G`` writes it: functions, variables and instructions with their places.

PTX ISA 8.x, chapters 4 (syntax), 5 (state spaces, types) and 11.5 (``.loc``, ``.file``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Place = tuple[int, int]  # a file's number in the module, a line

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]+)"', re.MULTILINE)
_VARIABLE = re.compile(
    r"^\s*(?:\.(?:visible|extern|weak|common|managed)\s+)*\.(global|const|shared)\s+"
    r"(?:\.align\s+\d+\s+|\.attribute\([^)]*\)\s*)*\.(\w+)\s+([\w$]+)((?:\[\d*\])*)\s*(=[^;]*)?;",
    re.MULTILINE,
)
_FUNCTION = re.compile(
    r"\.(entry|func)\s*(?:\(([^)]*)\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?([^{};]*)\{"
)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)\s+(?:\.ptr\s+(?:\.\w+\s+)?(?:\.align\s+\d+\s+)?)?"
    r"([\w$]+)(?:\[(\d*)\])?"
)
_LOCAL = re.compile(r"\.(local|shared)\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([\w$]+)((?:\[\d*\])*)")
_REGISTERS = re.compile(r"\.reg\s+(?:\.v\d\s+)?\.(\w+)\s+(.*)", re.DOTALL)
_GUARDED = re.compile(r"@(!?)([%\w$]+)\s+(.*)", re.DOTALL)
_OPERATION = re.compile(r"([\w.:]+)\s*(.*)", re.DOTALL)
_INTEGERS = re.compile(r"=\s*\{[\s\d,-]*\}")


class Unsupported(Exception):
    """What is not known here: an instruction, a type or a name."""


def bits(type_: str) -> int:
    """The size of a type in bits; 1 for a predicate."""
    if type_ == "pred":
        return 1
    return {"f16x2": 32, "bf16x2": 32}.get(type_) or int(re.sub(r"\D", "", type_))


def separated(text: str) -> list[str]:
    """What stands between the commas that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "[{(") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [part for part in (*parts, text[start:].strip()) if part]


def several(operand: str) -> list[str]:
    """The parts of a vector ``{a, b}``, or the operand alone."""
    return separated(operand[1:-1]) if operand.startswith("{") else [operand]


@dataclass(frozen=True)
class Parameter:
    """``bytes`` is the whole size of an array; ``is_array`` for an object passed by value."""

    name: str
    type: str
    bytes: int
    is_array: bool


@dataclass(frozen=True)
class Instruction:
    """``mul.wide.s32 a, b, c`` under ``guard`` (``unless`` it holds)."""

    text: str
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    place: Place | None
    guard: str = ""
    unless: bool = False


@dataclass
class Function:
    """``labels`` and ``tables`` (of ``brx``) lead to places in ``code``; ``locals`` are sizes."""

    name: str
    is_entry: bool
    parameters: list[Parameter]
    results: list[Parameter]
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[str]] = field(default_factory=dict)
    registers: dict[str, str] = field(default_factory=dict)
    locals: dict[str, int] = field(default_factory=dict)


@dataclass
class Module:
    """``statics`` are the sizes of variables in global and constant memory, ``values`` what some
    of them hold at first; ``shared`` are offsets, ``dynamic`` names the array without a size."""

    files: dict[int, str]
    functions: dict[str, Function] = field(default_factory=dict)
    statics: dict[str, int] = field(default_factory=dict)
    values: dict[str, bytes] = field(default_factory=dict)
    shared: dict[str, int] = field(default_factory=dict)
    dynamic: set[str] = field(default_factory=set)
    shared_bytes: int = 0

    def share(self, name: str, size: int, align: int) -> None:
        start = -(-self.shared_bytes // align) * align
        self.shared[name], self.shared_bytes = start, start + size


def parse(text: str) -> Module:
    """The module that ``nvcc -ptx -G`` has written."""
    module = Module({int(number): name for number, name in _FILE.findall(text)})
    code = re.sub(r"\.section\s+\.debug.*", "", _COMMENT.sub("", text), flags=re.DOTALL)
    for found in _VARIABLE.finditer(code):
        _declare(module, *found.groups())
    for found in _FUNCTION.finditer(code):
        kind, results, name, parameters, _ = found.groups()
        function = Function(name, kind == "entry", _parameters(parameters), _parameters(results))
        _read_body(module, function, code[found.end() : _closing(code, found.end())])
        module.functions[name] = function
    return module


def _parameters(text: str | None) -> list[Parameter]:
    return [
        Parameter(name, type_, bits(type_) // 8 * int(count or 1), bool(count))
        for type_, name, count in _PARAMETER.findall(text or "")
    ]


def _size(type_: str, dims: str) -> int:
    size = bits(type_) // 8
    for count in re.findall(r"\[(\d*)\]", dims):
        size *= int(count or 0)
    return size


def _declare(
    module: Module, space: str, type_: str, name: str, dims: str, initial: str | None
) -> None:
    size = _size(type_, dims)
    if space == "shared":
        if size:
            module.share(name, size, 16)
        else:
            module.dynamic.add(name)
        return
    module.statics[name] = size
    if initial and _INTEGERS.fullmatch(initial.strip()):
        width = bits(type_) // 8
        numbers = map(int, re.findall(r"-?\d+", initial))
        module.values[name] = b"".join(
            (n % (1 << 8 * width)).to_bytes(width, "little") for n in numbers
        )


def _closing(code: str, at: int) -> int:
    depth = 1
    while depth:
        depth += (code[at] == "{") - (code[at] == "}")
        at += 1
    return at - 1


def _read_body(module: Module, function: Function, body: str) -> None:
    body = re.sub(r"^\s*\.loc\s+([^\n]*)$", r".loc \1;", body, flags=re.MULTILINE)
    body = re.sub(r"^\s*([\w$]+):", r".label \1;", body, flags=re.MULTILINE)
    place: Place | None = None
    label = ""
    for statement in body.split(";"):
        text = statement.strip().lstrip("{} \t\n")  # scopes; no instruction starts with a brace
        word, *rest = text.split(None, 1)[:2] or [""]
        if word == ".label":
            label = rest[0]
            function.labels[label] = len(function.code)
        elif word == ".loc":
            file, line = rest[0].split()[:2]
            place = int(file), int(line)
        elif word == ".branchtargets":
            function.tables[label] = separated(rest[0])
        elif word == ".reg":
            _read_registers(function, text)
        elif word in (".local", ".shared"):
            space, align, type_, name, dims = _LOCAL.match(text).groups()  # type: ignore[union-attr]
            if space == "local":
                function.locals[name] = _size(type_, dims)
            else:
                module.share(name, _size(type_, dims), max(int(align or 1), 16))
        elif word == ".param":
            (made,) = _parameters(text)
            operands = (made.name, str(made.bytes))
            function.code.append(Instruction(text, ".param", (), operands, place))
        elif word and not word.startswith("."):
            function.code.append(_instruction(text, place))


def _read_registers(function: Function, text: str) -> None:
    found = _REGISTERS.match(text)
    assert found is not None, text
    type_, names = found.groups()
    for name in separated(names):
        many = re.match(r"(.*)<(\d+)>", name)
        if many is None:
            function.registers[name] = type_
            continue
        for number in range(int(many.group(2))):
            function.registers[f"{many.group(1)}{number}"] = type_


def _instruction(text: str, place: Place | None) -> Instruction:
    guard, unless, rest = "", False, text
    guarded = _GUARDED.match(text)
    if guarded is not None:
        guard, unless, rest = guarded.group(2), bool(guarded.group(1)), guarded.group(3)
    found = _OPERATION.match(rest)
    assert found is not None, text
    opcode, *modifiers = found.group(1).split(".")
    operands = tuple(separated(found.group(2)))
    return Instruction(text, opcode, tuple(modifiers), operands, place, guard, unless)
