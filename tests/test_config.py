"""Configuration files: found, read, overruled by the command line, and refused when wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from coalescecheck import config
from coalescecheck.cli import main
from coalescecheck.config import Settings
from coalescecheck.errors import UsageError
from coalescecheck.launch import Dim3
from coalescecheck.options import Options

KERNEL = """
__global__ void rows(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * n];
}
"""
LAUNCHED = KERNEL + "void run(float *o, float *i) { rows<<<4, 64>>>(o, i, 2); }\n"


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def call(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--no-verify"])


def launches(*arguments: str) -> list[dict[str, Any]]:
    files = json.loads(call(*arguments, "--format", "json", "--fail-on", "never").stdout)["files"]
    return [kernel["launch"] | kernel["params"] for file in files for kernel in file["kernels"]]


ALL_KEYS = """
block = [32, 8]
grid = 64
param = { n = 512, m = "0x10" }
assume = ["n % 32 == 0"]
template = { T = "float", FAST = true }
define = ["A", "B=2"]
include = ["include"]
arch = "sm_90"
kernel = ["r*"]
format = "json"
fail-on = "error"
select = ["CC1", "CC2"]
ignore = ["CC102"]
verify = false
strict = true
baseline = "known.json"
exclude = ["/build/"]
"""
ALL_KEYS_INI = """
block = 32x8
grid = 64
param = n=512, m=0x10
assume = n % 32 == 0
template =
    T=float
    FAST=true
define = A, B=2
include = include
arch = sm_90
kernel = r*
format = json
fail-on = error
select = CC1, CC2
ignore = CC102
verify = False
strict = true
baseline = known.json
exclude = /build/
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("pyproject.toml", "[tool.coalescecheck]\n" + ALL_KEYS, id="pyproject"),
        pytest.param(".coalescecheck.toml", ALL_KEYS, id="own file"),
        pytest.param("setup.cfg", "[coalescecheck]\n" + ALL_KEYS_INI, id="setup.cfg"),
    ],
)
def test_every_key_in_every_kind_of_file(tmp_path: Path, name: str, text: str) -> None:
    options = Settings(config.load(write(tmp_path, name, text)), {}).options
    told = options.config
    assert (told.block, told.grid) == (Dim3(32, 8), Dim3(64))
    assert told.params == (("n", 512), ("m", 16))
    assert options.assume == ("n % 32 == 0",)
    assert options.templates == (("T", "float"), ("FAST", "true"))
    assert options.defines == ("A", "B=2")
    assert options.include_dirs == (str(tmp_path / "include"),)
    assert (options.arch.name, options.kernels, options.format) == ("sm_90", ("r*",), "json")
    assert (str(options.fail_on), options.select, options.ignore) == (
        "error",
        ("CC1", "CC2"),
        ("CC102",),
    )
    assert (options.verify, options.strict) == (False, True)
    assert options.baseline == str(tmp_path / "known.json")
    assert (options.exclude, options.root) == (("/build/",), str(tmp_path))


def test_every_key_is_tried_above() -> None:
    assert [line.partition(" = ")[0] for line in ALL_KEYS.split("\n") if line] == list(config.KEYS)


def test_without_a_file_the_options_are_the_command_line() -> None:
    assert Settings(None, {}).options == Options()


# --- finding ----------------------------------------------------------------------------------


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", "[tool.coalescecheck]\narch = 'sm_90'\n")
    write(tmp_path, "a/.coalescecheck.toml", "arch = 'sm_70'\n")
    write(tmp_path, "b/setup.cfg", "[metadata]\nname = x\n")
    for folder, arch in (("a", "sm_70"), ("b", "sm_90"), (".", "sm_90")):
        path = write(tmp_path, f"{folder}/k.cu", KERNEL)
        assert Settings(config.find([path]), {}).options.arch.name == arch


def test_several_paths_have_the_file_above_them_all(tmp_path: Path) -> None:
    write(tmp_path, ".coalescecheck.toml", "arch = 'sm_90'\n")
    write(tmp_path, "a/.coalescecheck.toml", "arch = 'sm_70'\n")
    paths = [write(tmp_path, f"{folder}/k.cu", KERNEL) for folder in "ab"]
    assert Settings(config.find(paths), {}).options.arch.name == "sm_90"


def test_a_broken_file_of_others_is_not_our_business(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", "[tool\n")
    write(tmp_path, "setup.cfg", "no section\n")
    assert config.find([write(tmp_path, "k.cu", KERNEL)]) is None


# --- what is stronger -------------------------------------------------------------------------


def test_a_launch_from_the_file_is_stronger_than_the_source(tmp_path: Path) -> None:
    path = write(tmp_path, "k.cu", LAUNCHED)
    write(tmp_path, ".coalescecheck.toml", "block = 128\nparam = { n = 7 }\n")
    (launch,) = launches(path)
    assert (launch["block"], launch["source"], launch["n"]) == ([128, 1, 1], "config", 7)


def test_a_comment_is_stronger_than_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "k.cu", "// coalescecheck: block(32) n=3\n" + KERNEL)
    write(tmp_path, ".coalescecheck.toml", "block = 128\nparam = { n = 7 }\n")
    (launch,) = launches(path)
    assert (launch["block"], launch["source"], launch["n"]) == ([32, 1, 1], "comment", 3)


def test_the_command_line_is_stronger_than_all(tmp_path: Path) -> None:
    path = write(tmp_path, "k.cu", "// coalescecheck: block(32) n=3\n" + KERNEL)
    write(tmp_path, ".coalescecheck.toml", "block = 128\nparam = { n = 7 }\n")
    (launch,) = launches(path, "--block", "256", "--param", "n=1")
    assert (launch["block"], launch["source"], launch["n"]) == ([256, 1, 1], "cli", 1)


def test_lists_are_joined_and_choices_replaced(tmp_path: Path) -> None:
    path = write(tmp_path, "x.toml", "define = ['A']\nselect = ['CC1']\narch = 'sm_90'\n")
    given = {"defines": ["B"], "select": ["CC2"], "arch": "sm_70"}
    options = Settings(config.load(path), given).options
    assert (options.defines, options.select, options.arch.name) == (("A", "B"), ("CC2",), "sm_70")


def test_no_config_and_another_config(tmp_path: Path) -> None:
    path = write(tmp_path, "k.cu", LAUNCHED)
    write(tmp_path, ".coalescecheck.toml", "block = 128\n")
    other = write(tmp_path, "other.toml", "block = 32\n")
    assert launches(path, "--no-config")[0]["source"] == "host"
    assert launches(path, "--config", other)[0]["block"] == [32, 1, 1]


# --- paths ------------------------------------------------------------------------------------


def test_settings_for_some_paths(tmp_path: Path) -> None:
    write(
        tmp_path,
        "pyproject.toml",
        "[tool.coalescecheck]\nblock = 32\ndefine = ['A']\n"
        "[tool.coalescecheck.per-path.'wide/**']\nblock = 256\ndefine = ['B']\n"
        "[tool.coalescecheck.per-path.'*_old.cu']\nignore = ['CC101']\n",
    )
    for name in ("a.cu", "wide/deep/b.cu", "wide/c_old.cu"):
        write(tmp_path, name, KERNEL)
    found = Settings(config.find([str(tmp_path)]), {"defines": ["C"]})
    wide = found.at(str(tmp_path / "wide/deep/b.cu"))
    assert (wide.config.block, wide.defines, wide.ignore) == (Dim3(256), ("A", "B", "C"), ())
    plain = found.at(str(tmp_path / "a.cu"))
    assert (plain.config.block, plain.defines) == (Dim3(32), ("A", "C"))
    assert found.at(str(tmp_path / "wide/c_old.cu")).ignore == ("CC101",)
    blocks = [launch["block"][0] for launch in launches(str(tmp_path))]
    assert blocks == [32, 256, 256]


def test_settings_for_some_paths_in_setup_cfg(tmp_path: Path) -> None:
    path = write(tmp_path, "setup.cfg", "[coalescecheck:src/]\nselect = CC2\n")
    found = Settings(config.load(path), {})
    assert found.at(str(tmp_path / "src" / "a.cu")).select == ("CC2",)
    assert found.at(str(tmp_path / "a.cu")).select == ()


def test_excluded_files_are_left_out_of_folders(tmp_path: Path) -> None:
    write(tmp_path, ".coalescecheck.toml", "exclude = ['/old/']\n")
    for name in ("a.cu", "old/b.cu"):
        write(tmp_path, name, LAUNCHED)
    assert len(launches(str(tmp_path))) == 1


def test_paths_that_go_up_are_those_they_lead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        tmp_path,
        ".coalescecheck.toml",
        "exclude = ['/old/']\n[per-path.'deep/**']\nblock = 256\n",
    )
    for name in ("a.cu", "old/b.cu", "deep/c.cu"):
        write(tmp_path, name, KERNEL)
    monkeypatch.chdir(tmp_path / "deep")
    blocks = [launch["block"] for launch in launches("..")]
    assert blocks.count([256, 1, 1]) == 1
    assert len(blocks) == 2
    (launch,) = launches(".", "--config", "../.coalescecheck.toml")
    assert launch["block"] == [256, 1, 1]


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        pytest.param("x.toml", "block = ", "is no TOML", id="TOML"),
        pytest.param("x.toml", "a = " + "[" * 9999, "", id="nested too deeply"),
        pytest.param("x.toml", "blok = 3", "did you mean block?", id="a misspelt key"),
        pytest.param("x.toml", "what = 3", "there are block, grid", id="an unknown key"),
        pytest.param("x.toml", "block = 1.5", "block must be a size", id="a wrong type"),
        pytest.param("x.toml", "verify = 1", "verify must be true or false", id="a flag"),
        pytest.param("x.toml", "select = [1]", "select must be a list", id="a list"),
        pytest.param("x.toml", "param = { n = 1.5 }", "param must be names", id="a parameter"),
        pytest.param("x.toml", "block = 5000", "x is 5000", id="a block that is too large"),
        pytest.param("x.toml", "arch = 'sm_1'", "sm_80", id="an architecture"),
        pytest.param("x.toml", "format = 'pdf'", "no format is called 'pdf'", id="a format"),
        pytest.param("x.toml", "select = ['E1']", "CC101", id="a rule"),
        pytest.param("x.toml", "fail-on = 'x'", "fail-on", id="a threshold"),
        pytest.param("x.toml", "baseline = 'no.json'", "no.json: no such file", id="a baseline"),
        pytest.param("x.toml", "per-path = 3", "no table of patterns", id="patterns"),
        pytest.param("x.toml", "[per-path.a]\narch = 'sm_90'", "for the whole run", id="whole run"),
        pytest.param("pyproject.toml", "[tool]\n", "no [tool.coalescecheck]", id="no section"),
        pytest.param(
            "pyproject.toml", "tool = { coalescecheck = 3 }", "is no table", id="no table"
        ),
        pytest.param("setup.cfg", "[coalescecheck", "setup.cfg", id="a damaged setup.cfg"),
        pytest.param("setup.cfg", "[coalescecheck]\nverify = 3", "true or false", id="ini flag"),
    ],
)
def test_a_wrong_file_is_wrong_usage(tmp_path: Path, name: str, text: str, words: str) -> None:
    path = write(tmp_path, "k.cu", LAUNCHED)
    result = call(path, "--config", write(tmp_path, name, text))
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_missing_file_or_a_binary_one_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        config.load(str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="cannot be read"):
        config.load(str(tmp_path))
    (tmp_path / "x.toml").write_bytes(b"\xff\x00")
    with pytest.raises(UsageError, match="UTF-8"):
        config.load(str(tmp_path / "x.toml"))


def test_of_several_files_in_a_folder_the_own_one_counts(tmp_path: Path) -> None:
    path = write(tmp_path, "k.cu", LAUNCHED)
    texts = {
        "setup.cfg": "[coalescecheck]\nblock = 32",
        "pyproject.toml": "[tool.coalescecheck]\nblock = 64",
        ".coalescecheck.toml": "block = 96",
    }
    for name, text in texts.items():
        write(tmp_path, name, text)
        found = config.find([path])
        assert found is not None
        assert Path(found.path).name == name


@pytest.mark.parametrize("data", [b"[metadata]\nauthor = Ren\xe9\n", b"\0" * (1 << 20) + b"!"])
def test_a_file_of_other_tools_is_no_matter(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "setup.cfg").write_bytes(data)
    assert config.find([write(tmp_path, "k.cu", LAUNCHED)]) is None


@settings(max_examples=200)
@given(
    st.text(st.sampled_from("[]{}=\"'\n\\ab1.,#:%coalescecheck ") | st.characters(), max_size=60)
)
def test_any_text_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    for name in ("fuzz.toml", "pyproject.toml", "setup.cfg"):
        path = folder / name
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            Settings(config.load(str(path)), {}).options  # noqa: B018
        except UsageError as error:
            assert name in str(error)  # noqa: PT017 - both outcomes are right


def test_a_wrong_command_line_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", "[tool.coalescecheck]\nblock = 32\n")
    path = write(tmp_path, "a.cu", KERNEL)
    for option in ("--block=0x8", "--arch=sm_1", "--param=n"):
        result = CliRunner().invoke(main, [path, option])
        assert result.exit_code == 2
        assert "pyproject.toml" not in result.stderr
    write(tmp_path, "pyproject.toml", "[tool.coalescecheck]\nblock = '0x8'\n")
    assert "pyproject.toml)" in CliRunner().invoke(main, [path, "--grid=4"]).stderr
