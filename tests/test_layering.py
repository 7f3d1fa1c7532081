"""Imports point down LAYERS only, and some libraries belong to one stage."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "analyzer" / "coalescecheck"

# From the ground up; modules of one row do not import each other.
LAYERS = (
    "source",
    "errors launch findings brief",
    "arch isolation files progress git renames command completion",
    "memory ir facts compile_commands",
    "options analysis fingerprint",
    "inclusions",
    "frontend wording totals cost config",
    "lower launches array_uses sampling missing_barriers exchanges",
    "symbolic simulate",
    "racing",
    "verify",
    "advice copies xor_edits pad_edits sharing",
    "instance rules edits",
    "report suppressions",
    "judging baseline cache fixes inputs unheeded",
    "pipeline",
    "running cluster",
    "since",
    "api cli lsp",
    "__main__",
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names.split()}
OWNERS = {
    "pcpp": {"frontend"},
    "tree_sitter": {"frontend"},
    "tree_sitter_cuda": {"frontend"},
    "pycparser": {"lower"},
    "sympy": {"symbolic"},
    "click": {"cli", "command", "completion"},
    "rich": {"report", "progress"},
    "distributed": {"cluster"},
    "pygls": {"lsp"},
    "lsprotocol": {"lsp"},
    "pathspec": {"files", "config"},
}
STRANGERS = {
    # what a stage must not know although it lies below
    "frontend": {"ir", "memory", "analysis", "findings"},
    "memory": {"launch", "findings"},
    "rules": {"ir", "memory", "frontend", "lower", "symbolic", "simulate", "verify", "advice"},
    "report": {"ir", "memory", "frontend", "lower", "symbolic", "simulate", "verify", "rules"},
}
LATE_IMPORTERS = {
    "running.py",  # files that have not changed need no stage
    "unheeded.py",  # nor the rules, where none is named
    "cache.py",  # nor do they make temporary files
    "config.py",  # most projects have no patterns
    "files.py",  # most hooks are given files
    "progress.py",  # most runs show no bar
    "cluster.py",  # the extra may not be there
    "cli.py",  # --help and --version load no stage
    "lsp/cli.py",  # without pygls there is a message
    "frontend/__init__.py",  # its records are used without its parsers
}
MODULES = sorted(ROOT.rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[str, bool]]:
    """The full names a module imports, and whether it does so inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node in inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from ((f"{node.module}.{alias.name}", node in inside) for alias in node.names)


def part(path: Path) -> str:
    """The stage a file belongs to: a module or subpackage of the package."""
    return path.relative_to(ROOT).with_suffix("").parts[0]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down_the_layers(path: Path) -> None:
    own = part(path)
    for name, _ in imported(path):
        top, _, rest = name.partition(".")
        assert own in OWNERS.get(top, {own}), f"{own} may not import {top}"
        target = rest.partition(".")[0]
        if top != "coalescecheck" or target not in RANK or target == own or own == "__init__":
            continue
        assert RANK[target] < RANK[own], f"{own} may not import {target}, which is above it"
        assert target not in STRANGERS.get(own, ()), f"{own} must not know {target}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_what_must_start_fast_imports_inside_functions(path: Path) -> None:
    late = [name for name, inside in imported(path) if inside]
    assert str(path.relative_to(ROOT)) in LATE_IMPORTERS or not late


def test_every_part_has_a_layer() -> None:
    assert {part(path) for path in MODULES} - {"__init__"} <= set(RANK)
