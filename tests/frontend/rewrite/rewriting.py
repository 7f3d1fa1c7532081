"""What the tests of the rewriter share: rewriting text, and the two judges of its output."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from functools import cache

import pytest
import tree_sitter_cuda
from pycparser import CParser, c_ast
from tree_sitter import Language, Parser

from coalescecheck.frontend.kernel_c import KernelC
from coalescecheck.frontend.rewrite import KernelDecl, find_kernels, rewrite_kernel, syntax
from coalescecheck.frontend.unit import Unit
from coalescecheck.lower.lexer import Lexer
from coalescecheck.source import Span

# gcc before 13 has no bool, true and false in C23 mode
_BEFORE_GCC_13 = "#define bool _Bool\n#define true 1\n#define false 0\n#line 1\n"


def unit_of(text: str) -> Unit:
    """A unit of text that needs no preprocessing; places are those of the text."""
    code = text.encode()
    tree = Parser(Language(tree_sitter_cuda.language())).parse(code)

    def locate(byte: int) -> Span:
        before = code[:byte]
        start = before.rfind(b"\n") + 1
        return Span("k.cu", before.count(b"\n") + 1, byte - start + 1)

    return Unit("k.cu", text, code, tree, locate, ())


def declared(text: str) -> tuple[KernelDecl, ...]:
    """The kernels of a text."""
    return find_kernels(unit_of(text))


def rewritten(text: str, name: str | None = None, **template: str) -> KernelC:
    """The only kernel of a text, or the one called ``name``, as kernel C."""
    unit = unit_of(text)
    kernels = [k for k in find_kernels(unit) if name is None or k.name == name]
    assert len(kernels) == 1
    return rewrite_kernel(unit, kernels[0], template)


def body(kernel: KernelC) -> list[str]:
    """The lines of the kernel function, without indentation."""
    assert kernel.text is not None
    lines = kernel.text[kernel.text.index("[[cuda::global]]") :].splitlines()
    return [line.strip() for line in lines[1:-1]]


def function(kernel: KernelC, name: str) -> list[str]:
    """The lines of one device function of the kernel's text."""
    assert kernel.text is not None
    lines = kernel.text.splitlines()
    start = next(n for n, line in enumerate(lines) if re.match(rf"static .*\b{name}\(", line))
    end = next(n for n in range(start, len(lines)) if lines[n] == "}")
    return [line.strip() for line in lines[start + 1 : end]]


def parsed(kernel: KernelC) -> c_ast.FileAST:
    """pycparser's tree; fails where it refuses the text."""
    assert kernel.text is not None
    return CParser(lexer=Lexer, dialect="c23").parse(kernel.text)


@cache
def has_gcc() -> bool:
    return shutil.which("gcc") is not None


def gcc_errors(kernel: KernelC) -> str:
    """What gcc says against the text; skips the test where there is no gcc."""
    if not has_gcc():
        pytest.skip("gcc is not installed")
    assert kernel.text is not None
    command = ["gcc", "-std=c2x", "-fsyntax-only", "-w", "-x", "c", "-"]
    text = _BEFORE_GCC_13 + kernel.text
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    return done.stderr if done.returncode else ""


def lost_accesses(text: str, kernel: KernelC) -> str:
    """Pointer parameters that occur less often in the C than in the kernel's body."""
    decl = next(k for k in declared(text) if k.name == kernel.name)
    names = {p.name for p in decl.parameters if p.is_pointer}
    source = decl.node.child_by_field_name("body")
    assert source is not None
    before = Counter(
        syntax.text(n)
        for n in syntax.walk(source)
        if n.type in ("identifier", "type_identifier") and syntax.text(n) in names
    )
    after = Counter(re.findall(r"(?<![\w.>])[A-Za-z_]\w*", "\n".join(body(kernel))))
    return ", ".join(f"{n}: {before[n]} -> {after[n]}" for n in names if before[n] > after[n])
