"""What is written by a program and kept in the repository is what it would write now."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]


def script(path: str) -> ModuleType:
    spec = spec_from_file_location("make", ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kept(folder: str, pattern: str) -> dict[str, str]:
    paths = (ROOT / folder).glob(pattern)
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


@pytest.fixture(scope="module")
def reports() -> dict[str, str]:
    make = script("reports/make.py")
    made: dict[str, str] = make.reports(make.examples())
    return made


def test_the_pages_of_the_rules_are_fresh() -> None:
    pages = script("docs/rules/make.py").pages()
    assert kept("docs/rules", "*.md") == pages, "run python docs/rules/make.py"


def test_there_is_one_report_per_format(reports: dict[str, str]) -> None:
    assert set(kept("reports", "examples.*")) == set(reports)


@pytest.mark.parametrize(
    "name",
    [
        f"examples.{ending}"
        for ending in "txt concise.txt json sarif github.txt md xml html".split()
    ],
)
def test_the_reports_are_fresh(reports: dict[str, str], name: str) -> None:
    same = kept("reports", name).get(name) == reports[name]
    assert same, f"{name} is stale: run python reports/make.py"


def test_the_pictures_are_fresh() -> None:
    make = script("reports/make.py")
    drawn = make.pictures(make.examples())
    assert kept("reports/pictures", "*.svg") == drawn, "run python reports/make.py"


@pytest.mark.parametrize("name", ["transpose_sectors", "transpose_banks", "shifted_sectors"])
def test_a_picture_stands_alone(name: str) -> None:
    text = (ROOT / "reports" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme: dark" in text
    assert re.findall(r"href|url\(|@import|<script", text) == []


def test_the_readme_shows_the_pictures() -> None:
    shown = re.findall(r"!\[(.+)\]\((reports/pictures/[^)]+)\)", (ROOT / "README.md").read_text())
    assert len(shown) >= 2
    assert all((ROOT / path).is_file() for _, path in shown)


def test_the_page_shows_the_banks_before_and_after_the_change(reports: dict[str, str]) -> None:
    assert "with <code>tile[32][33]</code>" in reports["examples.html"]
