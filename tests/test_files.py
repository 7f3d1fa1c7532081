"""Which files of a folder are read; git's own answer is the judge where git is at hand."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from coalescecheck.errors import SourceError, UsageError
from coalescecheck.files import Exclusions, excluded, source_files
from coalescecheck.frontend.reading import read_source

TREE = [
    *"a.cu build/b.cu build/keep/c.cu deep/d.cuh deep/build/e.cu deep/f_gen.cu deep/g.cu".split(),
    "third party/h.cu",
    *"host.cpp .hidden/i.cu deep/kept_gen.cu".split(),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in TREE:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", encoding="utf-8")
    return tmp_path


def found(tree: Path, *patterns: str, below: str = ".") -> list[str]:
    paths = source_files([str(tree / below)], Exclusions(str(tree), patterns))
    return [Path(path).relative_to(tree).as_posix() for path in paths]


def test_without_an_ignore_file_all_cuda_files_are_read_in_order(tree: Path) -> None:
    assert found(tree) == sorted(name for name in TREE if name != "host.cpp")


def test_git_itself_has_no_sources(tree: Path) -> None:
    (tree / ".git" / "hooks").mkdir(parents=True)
    (tree / ".git" / "hooks" / "x.cu").write_text("", encoding="utf-8")
    assert not [name for name in found(tree) if ".git" in name]


GITIGNORES = [
    pytest.param({".gitignore": "build/\n"}, id="a folder"),
    pytest.param({".gitignore": "/build\n"}, id="only at the top"),
    pytest.param({".gitignore": "*_gen.cu\n!kept_gen.cu\n"}, id="all but one"),
    pytest.param({".gitignore": "deep/**\n!deep/g.cu\n"}, id="below a folder"),
    pytest.param({".gitignore": "*.cu\n", "deep/.gitignore": "!g.cu\n"}, id="inner ones win"),
    pytest.param({"deep/.gitignore": "/build\n*.cuh\n"}, id="only an inner one"),
    pytest.param({".gitignore": "build/\n!build/keep/\n"}, id="nothing below an ignored folder"),
    pytest.param({".gitignore": "third\\ party/\n# a.cu\n\n"}, id="blanks and comments"),
    pytest.param({".gitignore": ".*/\n[ab].cu\n"}, id="globs"),
    pytest.param({".gitignore": "*\n!*.*\n!*/\n"}, id="only names without a dot"),
    pytest.param({".gitignore": "/**\n!*/\n!g.cu\n"}, id="everything but one"),
    pytest.param({".gitignore": "deep\n!deep/\n"}, id="a folder taken in again"),
    pytest.param({".gitignore": "*.cu\n!deep/\n"}, id="of which files stay out"),
    pytest.param({".gitignore": "deep/**\n!deep/build/\n!deep/g.cu\n"}, id="or all"),
]


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
@pytest.mark.parametrize("below", [".", "deep"])
@pytest.mark.parametrize("files", GITIGNORES)
def test_what_git_ignores_is_left_out(tree: Path, files: dict[str, str], below: str) -> None:
    for name, text in files.items():
        (tree / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
    command = ["git", "ls-files", "-z", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=tree / below, check=True, capture_output=True, text=True)
    names = [(Path(below) / name).as_posix() for name in listed.stdout.split("\0") if name]
    expected = sorted(name for name in names if name.endswith((".cu", ".cuh")))
    assert found(tree, below=below) == expected


def test_exclusions_are_patterns_of_their_folder(tree: Path) -> None:
    assert found(tree, "/build/", "*_gen.cu", ".hidden") == [
        "a.cu",
        "deep/build/e.cu",
        "deep/d.cuh",
        "deep/g.cu",
        "third party/h.cu",
    ]


def test_a_file_given_by_name_is_always_read(tree: Path) -> None:
    (tree / ".gitignore").write_text("*\n", encoding="utf-8")
    path = str(tree / "a.cu")
    assert source_files([path, path]) == (path,)


def test_a_folder_in_which_everything_is_ignored_is_wrong_usage(tree: Path) -> None:
    (tree / ".gitignore").write_text("*\n", encoding="utf-8")
    with pytest.raises(UsageError, match="not ignored"):
        source_files([str(tree)])


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("/deep/", "deep/d.cuh", True),
        ("deep/build", "deep/build/e.cu", True),
        ("/build/", "deep/build/e.cu", False),
        ("*_gen.cu", "deep/new_gen.cu", True),
        ("*.cu", "../a.cu", False),  # not below the folder of the patterns
    ],
)
def test_whether_a_pattern_leaves_one_file_out(
    tree: Path, pattern: str, name: str, expected: bool
) -> None:
    path = os.path.normpath(tree / name)
    assert excluded(path, Exclusions(str(tree), (pattern,))) is expected


@pytest.mark.parametrize("text", [b"\xff\xfe[\n", b"[[[\n!\n\\\n", b"\0\0\n"])
def test_a_damaged_ignore_file_costs_nothing(tree: Path, text: bytes) -> None:
    (tree / ".gitignore").write_bytes(text)
    assert "a.cu" in found(tree)


def test_links_to_themselves_and_to_nothing_cost_nothing(tree: Path) -> None:
    expected = found(tree)
    os.symlink("self.cu", tree / "self.cu")
    os.symlink("nowhere.cu", tree / "dangling.cu")
    os.symlink(".", tree / "again")
    assert found(tree) == expected
    with pytest.raises(SourceError, match="levels of symbolic links"):
        read_source(str(tree / "self.cu"))


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_a_device_without_end_is_refused() -> None:
    with pytest.raises(SourceError, match="more than the"):
        read_source("/dev/zero")
