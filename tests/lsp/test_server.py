"""The language server as an editor sees it: over stdio, with the process that analyses."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from editor import Editor, codes, edit
from lsprotocol import types

from coalescecheck.cli import main
from coalescecheck.lsp.messages import Reply
from coalescecheck.lsp.server import make_server
from coalescecheck.lsp.session import Analysed, Document

# lanes are 128 bytes apart: 32 sectors for 128 bytes, which 4 could hold
STRIDED = """\
__global__ void strided(float *out, const float *in)
{
    int i = threadIdx.x;
    /* größer 𝄞 */ out[i] = in[i * 32];
}
void run(float *out, float *in) { strided<<<4, 128>>>(out, in); }
"""
# a column of 32 words lies in one bank
COLUMN = """\
__global__ void flip(float *out, const float *in)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void run(float *out, float *in) { flip<<<1, dim3(32, 32)>>>(out, in); }
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.cu"
    path.write_text(STRIDED, encoding="utf-8")
    return path


def test_what_is_said_of_a_strided_load(path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open(path)
        (found,) = await editor.diagnostics(uri)
        assert (found.code, found.severity) == ("CC101", types.DiagnosticSeverity.Warning)
        assert found.source == "coalescecheck"
        assert "32 sectors per warp, 4 would do (8x)" in found.message
        # four blanks; 14 characters of comment, one of two units; a blank; "out[i] = "
        assert found.range == types.Range(types.Position(3, 29), types.Position(3, 39))
        assert found.code_description is None
        (launch,) = found.related_information or []
        assert launch.location.uri == uri
        assert launch.location.range.start.line == 5
        assert "block 128" in launch.message

        load = await editor.hover(uri, 3, 38)
        assert "**global load** `in[i * 32]`: 32 sectors per request, 4 would do" in load
        assert "wasteful" in load
        assert "- certainty: exact" in load
        assert "- useful: 12.5% of the moved bytes" in load
        assert "- in `strided, block 128`: block 128, grid 4 (launch in the source, line 6)" in load
        assert "32 sectors of 32 bytes for 128 bytes" in load
        assert "**CC101** warning" in load

        store = await editor.hover(uri, 3, 20)
        assert "**global store** `out[i]`: 4 sectors per request\n" in store
        assert "✓ fine" in store
        assert "4 sectors of 32 bytes for 128 bytes" in store
        kernel = await editor.hover(uri, 0, 17)
        assert "`strided, block 128`" in kernel
        assert "- accesses: 2, 1 of them wasteful" in kernel
        assert await editor.hover(uri, 2, 4) == ""
        assert await editor.hover(uri, 3, 39) == ""

    edit(path.parent, story)


@pytest.mark.parametrize(("encoding", "start"), [("utf-8", 33), ("utf-32", 28)])
def test_columns_are_in_the_units_the_editor_asks_for(
    path: Path, encoding: types.PositionEncodingKind, start: int
) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open(path)
        (found,) = await editor.diagnostics(uri)
        assert (found.range.start.character, found.range.end.character) == (start, start + 10)
        assert "`in[i * 32]`" in await editor.hover(uri, 3, start)
        assert "`in[i * 32]`" not in await editor.hover(uri, 3, start - 1)

    general = types.GeneralClientCapabilities(position_encodings=[encoding])
    edit(path.parent, story, capabilities=types.ClientCapabilities(general=general))


def test_the_fix_is_that_of_the_command(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_text(COLUMN, encoding="utf-8")
    copy = path.with_name("copy.cu")
    shutil.copyfile(path, copy)

    async def story(editor: Editor) -> None:
        uri = editor.open(path)
        (found,) = await editor.diagnostics(uri)
        assert found.code == "CC201"
        assert "declared here" in str(found.related_information)
        hover = await editor.hover(uri, 5, 42)
        assert "32 wavefronts, 1 without conflict" in hover
        assert "lanes  0-7  → bank  0  0  0  0  0  0  0  0" in hover
        assert "bank  0: 32 words, lanes 0 | 1 | 2 | 3 | 4 | 5 | … | 31" in hover
        assert await editor.actions(uri, found, only=["refactor"]) == []
        fix, silence = await editor.actions(uri, found, only=["quickfix"])
        assert fix.title == (
            "Declare tile[32][33] instead of tile[32][32]: 32 wavefronts → 1 wavefront"
        )
        assert (fix.is_preferred, [*(fix.diagnostics or ())]) == (True, [found])
        assert silence.title == "Ignore CC201 here"
        editor.apply(uri, fix.edit)
        assert await editor.diagnostics(uri) == []
        assert "✓ fine" in await editor.hover(uri, 5, 42)
        monkeypatch.chdir(path.parent)
        CliRunner().invoke(main, ["copy.cu", "--no-config", "--fix"])
        assert editor.texts[uri] == copy.read_text(encoding="utf-8")
        assert path.read_text(encoding="utf-8") == COLUMN

    edit(path.parent, story)


def test_a_finding_is_silenced_by_an_action(path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open(path)
        (found,) = await editor.diagnostics(uri)
        (silence,) = await editor.actions(uri, found)
        editor.apply(uri, silence.edit)
        assert editor.texts[uri].split("\n")[3] == "    // coalescecheck: ignore[CC101]"
        assert await editor.diagnostics(uri) == []
        assert "CC101 is silenced here" in await editor.hover(uri, 4, 29)

    edit(path.parent, story)


def test_broken_code_and_back(path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open(path)
        before = await editor.diagnostics(uri)
        for broken in (STRIDED[:90], STRIDED.replace("[i * 32];", "[i * ;"), "", "\0}{", "#if"):
            editor.change(uri, broken)
            assert "CC101" not in codes(await editor.diagnostics(uri))
        editor.change(uri, STRIDED)
        assert await editor.diagnostics(uri) == before

    edit(path.parent, story)


def test_only_the_newest_text_is_spoken_of(path: Path) -> None:
    slow = STRIDED + "".join(
        STRIDED.replace("strided", f"strided{n}").replace("run", f"run{n}") for n in range(200)
    )

    async def story(editor: Editor) -> None:
        uri = editor.open(path, slow)
        for n in range(20):
            editor.change(uri, STRIDED.replace("32", str(33 + n)))
        editor.change(uri, STRIDED.replace("i * 32", "i"))
        assert await editor.hover(uri, 3, 29) != ""
        assert await editor.diagnostics(uri) == []
        versions = [each.version or 0 for each in editor.published]
        assert versions == sorted(set(versions))
        assert (min(versions) > 1, versions[-1]) == (True, 22)

    edit(path.parent, story)


def test_settings_comments_and_exclusions_apply(path: Path) -> None:
    settings = path.with_name(".coalescecheck.toml")
    settings.write_text('ignore = ["CC101"]\n', encoding="utf-8")
    silent = STRIDED.replace("32];", "32]; // coalescecheck: ignore[CC101] known")

    async def story(editor: Editor) -> None:
        uri = editor.open(path)
        assert await editor.diagnostics(uri) == []
        for text, expected in (
            ('select = ["CC101"]\n', ["CC101"]),
            ('exclude = ["kernel.*"]\n', []),
            ("block = 0\n", ["None"]),
            ("[per-path.'kernel.cu']\nignore = ['all']\n", []),
            ("", ["CC101"]),
        ):
            settings.write_text(text, encoding="utf-8")
            seen = len(editor.published)
            editor.save(uri)
            assert codes(await editor.diagnostics(uri, seen)) == expected
        assert any("block" in message for message in editor.logged)
        editor.change(uri, silent)
        assert await editor.diagnostics(uri) == []

    edit(path.parent, story)


def test_headers_are_found_and_nothing_is_written(tmp_path: Path) -> None:
    below = tmp_path / "include"
    below.mkdir()
    header = below / "load.cuh"
    header.write_text("__device__ float load(const float *in, int i) { return in[i * 32]; }\n")
    path = tmp_path / "not yet saved.cu"
    text = """\
#include "include/load.cuh"
__global__ void strided(float *out, const float *in)
{
    out[threadIdx.x] = load(in, threadIdx.x);
}
void run(float *out, float *in) { strided<<<4, 128>>>(out, in); }
"""

    async def story(editor: Editor) -> None:
        uri = editor.open(path, text)
        (found,) = await editor.diagnostics(uri)
        assert (found.code, found.range.start) == ("CC101", types.Position(3, 23))
        assert found.message.startswith("load.cuh:1: ")
        there = (found.related_information or [])[0].location
        assert (there.uri, there.range.start) == (header.as_uri(), types.Position(0, 55))
        assert await editor.actions(uri, found) == []  # the comment belongs into the header

    before = sorted(tmp_path.rglob("*"))
    edit(tmp_path, story)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_closed_document_has_no_diagnostics(path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open(path)
        assert await editor.diagnostics(uri) != []
        seen = len(editor.published)
        identifier = types.TextDocumentIdentifier(uri)
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
        assert await editor.hover(uri, 3, 29) == ""
        assert [list(each.diagnostics) for each in editor.published[seen:]] == [[]]

    edit(path.parent, story)


def test_other_languages_are_left_alone(path: Path) -> None:
    async def story(editor: Editor) -> None:
        uri = editor.open(path.with_suffix(".cpp"), STRIDED, "cpp")
        assert await editor.hover(uri, 3, 29) == ""
        assert "in[i * 32]" in await editor.hover(editor.open(path), 3, 29)
        assert [each.uri for each in editor.published] == [path.as_uri()]

    edit(path.parent, story)


def test_a_defect_in_an_answer_is_a_line_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(uri: str) -> Analysed:
        return Analysed(Document(uri, "/k.cu", "", 1), Reply(None))  # type: ignore[arg-type]

    server = make_server()
    logged: list[str] = []
    monkeypatch.setattr(server.session, "current", broken)
    monkeypatch.setattr(server, "log", lambda kind, message: logged.append(message))
    where = types.HoverParams(types.TextDocumentIdentifier("file:///k.cu"), types.Position(0, 0))
    assert asyncio.run(server.hover(where)) is None
    assert len(logged) == 1
    assert logged[0].startswith("internal error in hover: ")


def test_an_editor_that_leaves_without_a_word(path: Path) -> None:
    async def story(editor: Editor) -> None:
        editor.open(path)

    edit(path.parent, story, goodbye=False)
