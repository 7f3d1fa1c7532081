"""Compile commands as their compilers read them; for nvcc ``--dryrun`` shows what it hands on."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from coalescecheck.compile_commands.flags import Build, names_cuda, parse
from coalescecheck.errors import SourceError


def built(command: str, folder: Path) -> Build:
    return parse(shlex.split(command), str(folder))


MACROS = [
    # command, defined, undefined
    pytest.param("nvcc -DA -DB=2 -D C=3", ["A", "B=2", "C=3"], [], id="one by one"),
    pytest.param("nvcc --define-macro=A=1 --define-macro B", ["A=1", "B"], [], id="long names"),
    pytest.param("nvcc -DX=1,Y", ["X=1", "Y"], [], id="nvcc splits lists"),
    pytest.param(r"nvcc '-DX=1\,2'", ["X=1,2"], [], id="an escaped comma"),
    pytest.param("""nvcc '-DX="a,b"'""", ['X="a,b"'], [], id="a quoted comma"),
    pytest.param("clang++ '-DX=f(1,2)'", ["X=f(1,2)"], [], id="clang does not"),
    pytest.param("nvcc -D=Z=1", ["Z=1"], [], id="an equals sign"),
    pytest.param("nvcc -DX=", ["X="], [], id="an empty value"),
    pytest.param("nvcc -DX=1 -DX=2", ["X=2"], [], id="the last one counts"),
    pytest.param("nvcc -DX=1 -U X", [], ["X"], id="undefined after"),
    pytest.param("nvcc -UX,Y -DX=1", ["X=1"], ["Y"], id="defined after"),
    pytest.param("nvcc '-DF(x)=x' -UF", [], ["F"], id="a macro with arguments"),
    pytest.param("nvcc -DX=2 -Xcompiler -DX=1,-DY=4", ["Y=4", "X=2"], [], id="host options first"),
    pytest.param("nvcc -Xcompiler='-Wall -DX=7'", ["X=7"], [], id="several words for the host"),
    pytest.param("nvcc -Xcompiler -UX -DX=2", ["X=2"], [], id="host undefines first"),
    pytest.param("nvcc -Xptxas -DA -o -DB -c k.cu", [], [], id="values of other options"),
    pytest.param("clang++ -Xclang -DA -Xarch_device -DB -Xarch_host -DC", ["A", "B"], [], id="-X"),
    pytest.param("/opt/ccache /opt/bin/nvcc -DX=1,Y", ["X=1", "Y"], [], id="behind a launcher"),
]


@pytest.mark.parametrize(("command", "defined", "undefined"), MACROS)
def test_macros(command: str, defined: list[str], undefined: list[str], tmp_path: Path) -> None:
    build = built(command, tmp_path)
    assert (list(build.defines), list(build.undefines)) == (defined, undefined)


FOLDERS = [
    pytest.param("nvcc -Ia -I b -I=c", ["a", "b", "c"], id="three ways"),
    pytest.param("nvcc --include-path=a --include-path b,c", ["a", "b", "c"], id="long and lists"),
    pytest.param("nvcc -isystem=s -isystem t,u -Ia", ["a", "s", "t", "u"], id="system ones later"),
    pytest.param("clang++ -isystem s -isystemt -Ia -idirafter z", ["a", "s", "t", "z"], id="gcc"),
    pytest.param("nvcc -Xcompiler -I,a -Ib", ["a", "b"], id="of the host compiler"),
    pytest.param("nvcc -Ia -I../x -Ia", ["a", "../x"], id="each once, and outside"),
    pytest.param("nvcc '-Ia b'", ["a b"], id="a blank"),
]


@pytest.mark.parametrize(("command", "expected"), FOLDERS)
def test_folders_count_from_where_the_command_runs(
    command: str, expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "build").mkdir()
    monkeypatch.chdir(tmp_path)
    named = [str(Path("build", name)) if name[0] != "." else name[3:] for name in expected]
    assert list(built(command, Path("build")).include_dirs) == named


def test_folders_outside_the_current_one_are_shown_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert built("nvcc -I../a -I/b", tmp_path / "build").include_dirs == (f"{tmp_path}/a", "/b")


ARCHS = [
    ("nvcc -arch=sm_90", "sm_90"),
    ("nvcc -arch sm_90a", "sm_90"),
    ("nvcc --gpu-architecture=compute_80 --gpu-code=sm_80", "sm_80"),
    ("nvcc -gencode arch=compute_80,code=sm_80", "sm_80"),
    ("nvcc --generate-code=arch=compute_90,code=[compute_90,sm_90]", "sm_90"),
    ("nvcc -gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90", None),
    ("nvcc -arch=compute_80 -code=sm_86", None),
    ("nvcc -arch=native", None),
    ("nvcc -arch=all-major", None),
    ("clang++ --cuda-gpu-arch=sm_70", "sm_70"),
    ("clang++ --offload-arch=sm_70 --offload-arch=sm_80", None),
    ("nvcc -DARCH=sm_50 sm_60.cu", None),
]


@pytest.mark.parametrize(("command", "expected"), ARCHS)
def test_the_architecture_where_one_is_named(
    command: str, expected: str | None, tmp_path: Path
) -> None:
    assert built(command, tmp_path).arch == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("nvcc -x cu a.cpp", True),
        ("nvcc -x=cu a.cpp", True),
        ("nvcc --x cu a.cpp", True),
        ("clang++ -xcuda a.cpp", True),
        ("clang++ -x cuda a.cpp", True),
        ("clang++ -x c++ a.cpp", False),
        ("clang++ -xc++ -DX=cu cu", False),
        ("clang++ -x", False),
    ],
)
def test_the_language(command: str, expected: bool) -> None:
    assert names_cuda(command.split()) is expected


def test_headers_read_before_the_file(tmp_path: Path) -> None:
    for name in ("build/here.h", "inc/there.h"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    command = "nvcc -include here.h,there.h --pre-include=gone.h -I../inc"
    found = built(command, tmp_path / "build").pre_includes
    assert found == (f"{tmp_path}/build/here.h", f"{tmp_path}/inc/there.h", "gone.h")


@pytest.mark.parametrize(
    "option",
    ["nvcc --options-file a.rsp", "nvcc -optf=a.rsp", "clang++ @a.rsp", "nvcc -optf b.rsp,a.rsp"],
)
def test_response_files(option: str, tmp_path: Path) -> None:
    (tmp_path / "b.rsp").write_text("", encoding="utf-8")
    (tmp_path / "a.rsp").write_text('-I"/x y"\n-DA=1 -isystem=/s', encoding="utf-8")
    build = built(option, tmp_path)
    assert build.defines == ("A=1",)
    assert build.include_dirs == ("/x y", "/s")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(None, "cannot be read", id="missing"),
        pytest.param("-D'A", "no closing quotation", id="an open quote"),
        pytest.param("--options-file a.rsp", "too deeply", id="naming itself"),
        pytest.param(" " * (1 << 24) + "-DN=1", "more than 16 MB", id="too long"),
    ],
)
def test_a_response_file_that_is_no_use_is_an_error(
    text: str | None, words: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "a.rsp").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=f"a.rsp.*{words}"):
        built("nvcc --options-file a.rsp", tmp_path)
