"""What a run is given: files, folders, and builds that say how their files are compiled."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import coalescecheck
from coalescecheck.cli import main

# One load of i[STEP * t] by 32 lanes: with 4-byte elements, STEP elements apart, it touches
# 4, 8, 16 and, from 8 on, 32 sectors of 32 bytes.
KERNEL = """__global__ void k(float *o, const float *i)
{
    int t = threadIdx.x;
    o[t] = i[STEP * t];
}
void run(float *o, const float *i) { k<<<1, 32>>>(o, i); }
"""
NOTE = "analysed without options of the build"


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--fail-on", "never"])


def loads(*arguments: str) -> dict[str, int]:
    """Sectors of the load of each file."""
    result = call(*arguments, "--format", "json")
    files = json.loads(result.stdout)["files"]
    return {file["path"]: sectors(file) for file in files if file["kernels"]}


def sectors(file: Any) -> int:
    (load,) = (a for k in file["kernels"] for a in k["accesses"] if a["op"] == "load")
    return int(load["sectors"]["max"])


class Project:
    """A folder with kernels and a compile_commands.json in ``build``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "build").mkdir()
        self.entries: list[Any] = []

    def write(self, name: str, text: str = KERNEL) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def compiled(self, name: str, options: str, text: str | None = KERNEL) -> None:
        """A file, and its entry."""
        if text is not None:
            self.write(name, text)
        command = f"nvcc {options} -c ../{name} -o k.o"
        self.entry(file=f"../{name}", directory=str(self.folder / "build"), command=command)

    def entry(self, **entry: Any) -> None:
        self.entries.append(entry)
        self.write("build/compile_commands.json", json.dumps(self.entries))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path)


DATABASE = "build/compile_commands.json"


@pytest.mark.parametrize("given", [[DATABASE], ["-p", "build"], ["--build-dir", DATABASE]])
def test_each_file_has_the_options_of_its_own_entry(project: Project, given: list[str]) -> None:
    project.compiled("one.cu", "-DSTEP=1")
    project.compiled("deep/two.cu", "-DSTEP=2")
    project.compiled("host.cpp", "-DSTEP=4")
    project.compiled("four.cpp", "-x cu -DSTEP=4")
    project.write("unused.cu")
    expected = {"one.cu": 4, "deep/two.cu": 8, "four.cpp": 16}
    assert loads(*given) == expected


def test_the_words_of_a_command_may_be_given_one_by_one(project: Project) -> None:
    project.write("k.cu")
    words = ["clang++", "-DSTEP=2", "-c", "k.cu"]
    project.entry(file="k.cu", directory=str(project.folder), arguments=words)
    assert loads(DATABASE) == {"k.cu": 8}


def test_a_folder_counts_from_the_database(project: Project) -> None:
    project.write("k.cu")
    project.entry(file="k.cu", directory="..", command="nvcc -DSTEP=2 -c k.cu")
    assert loads(DATABASE) == {"k.cu": 8}


def test_headers_are_found_as_by_the_compiler(project: Project) -> None:
    for folder, step in (("first", 1), ("second", 2), ("system", 4)):
        project.write(f"{folder}/step.h", f"#define STEP {step}\n")
    text = "#include <step.h>\n" + KERNEL
    project.compiled("a.cu", "-isystem ../system -I../second -I../first", text)
    project.compiled("b.cu", "-isystem=../system", text)
    project.compiled("c.cu", "-include ../first/step.h")
    assert loads(DATABASE) == {"a.cu": 8, "b.cu": 16, "c.cu": 4}


def test_a_header_read_before_the_file_may_be_missing(project: Project) -> None:
    project.compiled("k.cu", "-include gone.h -include cuda_fp16.h -DSTEP=1")
    result = call(DATABASE)
    assert "k.cu:1:1: note: header gone.h was not found" in result.stderr
    assert "cuda_fp16" not in result.stderr


def test_macros_can_be_undefined(project: Project) -> None:
    text = "#ifdef __CUDACC__\n#define STEP 2\n#else\n#define STEP 1\n#endif\n" + KERNEL
    project.compiled("with.cu", "", text)
    project.compiled("without.cu", "-U__CUDACC__", text)
    assert loads(DATABASE) == {"with.cu": 8, "without.cu": 4}


def test_the_command_line_is_stronger(project: Project) -> None:
    project.compiled("k.cu", "-DSTEP=2 -I../weak", "#include <w.h>\n" + KERNEL)
    project.compiled("u.cu", "-USTEP")
    project.write("weak/w.h", "#define WEAK\n")
    project.write("strong/w.h", "#undef STEP\n#define STEP 1\n")
    assert loads(DATABASE, "-D", "STEP=4") == {"k.cu": 16, "u.cu": 16}
    assert loads(DATABASE, "-I", "strong", "-DSTEP=8") == {"k.cu": 4, "u.cu": 32}


def test_a_configuration_file_is_stronger_than_the_build(project: Project) -> None:
    project.compiled("k.cu", "-DSTEP=2")
    project.write(".coalescecheck.toml", 'define = ["STEP=4"]\n')
    assert loads(DATABASE) == {"k.cu": 16}


@pytest.mark.parametrize(
    ("options", "given", "expected"),
    [
        ("-arch=sm_90", [], "sm_90"),
        ("-gencode arch=compute_86,code=sm_86", [], "sm_86"),
        ("-arch=sm_90", ["--arch", "sm_70"], "sm_70"),
        ("-gencode arch=compute_70,code=sm_70 -gencode arch=compute_90,code=sm_90", [], "sm_80"),
        ("-arch=sm_37", [], "sm_80"),
    ],
)
def test_the_architecture_of_the_build(
    project: Project, options: str, given: list[str], expected: str
) -> None:
    project.compiled("k.cu", f"-DSTEP=1 {options}")
    result = call(DATABASE, *given)
    assert f"(architecture {expected})" in result.stdout
    assert ("nothing is known of sm_37" in result.stderr) == ("sm_37" in options)


def test_several_architectures_are_all_named(project: Project) -> None:
    project.compiled("a.cu", "-DSTEP=1 -arch=sm_90")
    project.compiled("b.cu", "-DSTEP=1 -arch=sm_70")
    assert "(architecture sm_90, sm_70)" in call(DATABASE).stdout


def test_of_several_entries_the_first_counts(project: Project) -> None:
    project.compiled("k.cu", "-DSTEP=1")
    project.compiled("k.cu", "-DSTEP=2")
    assert loads(DATABASE) == {"k.cu": 4}
    assert "of several entries for one file the first counts: k.cu" in call(DATABASE).stderr


def test_files_and_folders_have_the_options_of_the_build(project: Project) -> None:
    project.compiled("src/a.cu", "-DSTEP=2")
    project.compiled("src/b.cpp", "-DSTEP=4 -x cu")
    project.compiled("other.cu", "-DSTEP=1")
    project.write("src/c.cu", KERNEL.replace("STEP", "1"))
    assert loads("-p", "build", "src") == {"src/a.cu": 8, "src/c.cu": 4, "src/b.cpp": 16}
    assert loads("-p", "build", "src/a.cu") == {"src/a.cu": 8}
    result = call("-p", "build", "src")
    assert result.stderr == f"build/compile_commands.json: note: no entry for src/c.cu; {NOTE}\n"


def test_the_folder_of_a_build_is_a_folder_like_any_other(project: Project) -> None:
    project.compiled("build/a.cu", "-DSTEP=2")
    project.compiled("other.cu", "-DSTEP=1")
    project.write("build/b.cu", KERNEL.replace("STEP", "1"))
    assert loads("-p", "build", "build") == {"build/a.cu": 8, "build/b.cu": 4}


def test_excluded_files_of_a_build_are_left_out(project: Project) -> None:
    project.compiled("a.cu", "-DSTEP=1")
    project.compiled("third_party/b.cu", "-DSTEP=1")
    assert loads(DATABASE, "--exclude", "third_party/") == {"a.cu": 4}


def test_a_database_without_cuda_files_is_wrong_usage(project: Project) -> None:
    project.compiled("host.cpp", "")
    result = call(DATABASE)
    assert result.exit_code == 2
    assert f"{DATABASE}: it has no entry for a CUDA file" in result.stderr


def test_a_file_that_is_named_twice_is_read_once(project: Project) -> None:
    project.compiled("src/k.cu", "-DSTEP=2")
    (project.folder / "link.cu").symlink_to("src/k.cu")
    given = ("src", "./src/k.cu", str(project.folder / "src/k.cu"), "link.cu", DATABASE)
    assert loads(*given) == {"src/k.cu": 8, "link.cu": 8}


# --- what is wrong costs only what it hits ----------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param('[{"file": ', "is no JSON", id="cut off"),
        pytest.param("[" * 100_000, "is no JSON", id="nested too deeply"),
        pytest.param("{}", "is no list of compile commands", id="an object"),
        pytest.param(b"\xff\xfe[]", "is no JSON", id="no UTF-8"),
        pytest.param(None, "no such file", id="missing"),
        pytest.param("[3]", "entry 1: is no object", id="a number"),
        pytest.param('[{"directory": "."}]', 'entry 1: has no "file"', id="no file"),
        pytest.param('[{"file": "k.cu"}]', 'entry 1: has no "directory"', id="no folder"),
        pytest.param(
            '[{"file": "k.cu", "directory": "."}]',
            'entry 1: has no "command" and no "arguments"',
            id="no command",
        ),
        pytest.param(
            '[{"file": "k.cu", "directory": ".", "arguments": [1], "command": 2}]',
            'entry 1: has no "command" and no "arguments"',
            id="numbers for words",
        ),
        pytest.param(
            '[{"file": "k.cu", "directory": ".", "command": "nvcc -D\\"A"}]',
            "entry 1: command: no closing quotation",
            id="an open quote",
        ),
    ],
)
def test_a_bad_database_leaves_the_other_files(
    project: Project, text: str | bytes | None, words: str
) -> None:
    project.write("good.cu", KERNEL.replace("STEP", "2"))
    if text is not None:
        data = text if isinstance(text, bytes) else text.encode()
        (project.folder / DATABASE).write_bytes(data)
    result = call("good.cu", DATABASE)
    assert result.exit_code == 2
    assert f"{DATABASE}: error: {words}" in result.stderr
    assert "internal error" not in result.stderr
    assert loads("good.cu", DATABASE) == {"good.cu": 8}
    assert call(DATABASE).exit_code == 2


def test_a_bad_entry_leaves_the_others(project: Project) -> None:
    project.entry(file="x.cu")
    project.compiled("k.cu", "-DSTEP=2")
    result = call(DATABASE)
    assert result.exit_code == 2
    assert "entry 1: has no" in result.stderr
    assert loads(DATABASE) == {"k.cu": 8}


def test_a_missing_file_of_a_build_leaves_the_others(project: Project) -> None:
    project.compiled("gone.cu", "", text=None)
    project.compiled("k.cu", "-DSTEP=2")
    result = call(DATABASE)
    assert result.exit_code == 2
    assert "gone.cu: error: gone.cu: no such file" in result.stderr
    assert loads(DATABASE) == {"k.cu": 8}


@pytest.mark.parametrize("given", [[DATABASE], ["-p", "build", "k.cu", "other.cu"]])
def test_a_file_whose_options_cannot_be_read_is_not_analysed(
    project: Project, given: list[str]
) -> None:
    project.compiled("k.cu", "--options-file gone.rsp")
    project.compiled("other.cu", "-DSTEP=2")
    result = call(*given)
    assert result.exit_code == 2
    assert "k.cu is not analysed: response file build/gone.rsp cannot be read" in result.stderr
    assert loads(*given) == {"other.cu": 8}


def test_a_build_folder_without_a_database_is_wrong_usage(project: Project) -> None:
    result = call("-p", "build", "k.cu")
    assert result.exit_code == 2
    assert "build-dir: build: there is no compile_commands.json in it" in result.stderr


def test_a_folder_without_cuda_files_leaves_the_others(project: Project) -> None:
    project.write("good.cu", KERNEL.replace("STEP", "2"))
    (project.folder / "empty").mkdir()
    result = call("empty", "good.cu")
    assert result.exit_code == 0
    assert result.stderr.startswith("empty: warning: no .cu or .cuh file in this folder")
    assert loads("empty", "good.cu") == {"good.cu": 8}
    assert call("empty", "empty").exit_code == 2


@pytest.mark.parametrize(
    ("given", "locked", "code", "severity"),
    [
        (".", "data", 0, "warning"),  # a part of what is given
        ("data", "data", 2, "error"),
        ("data/", "data", 2, "error"),
    ],
)
def test_a_folder_that_cannot_be_looked_into_is_told(
    project: Project, monkeypatch: pytest.MonkeyPatch, given: str, locked: str, code: int,
    severity: str,
) -> None:  # fmt: skip
    project.write("good.cu", KERNEL.replace("STEP", "2"))
    project.write("data/lost.cu")
    scandir = os.scandir

    def refused(path: Any) -> Any:  # whoever runs the tests may be allowed everything
        if Path(path).name == locked:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    result = call(given, "good.cu")
    assert result.exit_code == code
    place = "data" if given == "." else given
    assert result.stderr == f"{place}: {severity}: cannot be looked into: Permission denied\n"
    assert loads(given, "good.cu") == {"good.cu": 8}


@pytest.mark.parametrize("mode", [["--stats"], ["--emit", "ir"], ["--compare", "good.cu"]])
def test_other_reports_know_the_build_too(project: Project, mode: list[str]) -> None:
    project.write("good.cu", KERNEL.replace("STEP", "2"))
    project.compiled("k.cu", "-DSTEP=2")
    project.entry(file="x.cu")
    result = call(DATABASE, *mode)
    assert result.exit_code == 2
    assert "entry 2: has no" in result.stderr
    assert "STEP" not in result.stdout + result.stderr


def test_the_cache_knows_the_options_of_the_build(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COALESCECHECK_CACHE", str(project.folder / "cache"))
    project.write("step.h", "#define STEP 1\n")
    project.compiled("k.cu", "-DSTEP=1")
    assert loads(DATABASE) == {"k.cu": 4}
    project.entries.clear()
    project.compiled("k.cu", "-DSTEP=2")
    assert loads(DATABASE) == {"k.cu": 8}
    project.entries.clear()
    project.compiled("k.cu", "-include ../step.h")
    assert loads(DATABASE) == {"k.cu": 4}
    project.write("step.h", "#define STEP 4\n")
    assert loads(DATABASE) == {"k.cu": 16}
    project.entries.clear()
    project.compiled("k.cu", "-include ../step.h -USTEP")
    assert loads(DATABASE) == {"k.cu": 16}


def test_from_python(project: Project) -> None:
    project.compiled("k.cu", "-DSTEP=2")
    for report in (
        coalescecheck.analyze(DATABASE),
        coalescecheck.analyze("k.cu", build_dir="build", defines=iter(["A"])),
        coalescecheck.analyze([], build_dir=Path("build")),
    ):
        assert [a.sectors.max for k in report.kernels for a in k.accesses if a.sectors] == [8, 4]
