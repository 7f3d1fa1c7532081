"""The HTML page: what is on it, that no name becomes markup, and how a real browser shows it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest
from chromium import PROGRAM, Browser

import coalescecheck
from coalescecheck.report import renderer
from coalescecheck.report.markup import Markup, join, tag
from coalescecheck.report.model import FileReport, Report, Terminal
from coalescecheck.report.source_view import kernel_source
from hand_made import PATH, TEXT, access, file, kernel
from hostile import ATTACKS, HOSTILE, hostile, ordinary

EXAMPLES = Path(__file__).parents[2] / "examples_cu"
TAGS = set(
    "html head meta title style body a header h1 h2 h4 p ul ol li nav main section span dl dt dd "
    "article strong b details summary div code mark table thead tbody tr th td button figure "
    "figcaption svg text rect line g footer script".split()
)


def page(report: Report) -> str:
    return renderer("html")(report, Terminal())


class Outline(HTMLParser):
    """The tags of a page, its attributes, and the text of its scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["script"] and self.cdata_elem == "script":
            self.scripts.append(data)


# --- markup -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "text"),
    [
        pytest.param(tag("p", "a < b & c"), "<p>a &lt; b &amp; c</p>", id="text"),
        pytest.param(tag("p", tag("b", "x")), "<p><b>x</b></p>", id="children"),
        pytest.param(tag("a", class_='"x"'), '<a class="&quot;x&quot;"></a>', id="attributes"),
        pytest.param(tag("i", open=True, id=None), "<i open></i>", id="flags"),
        pytest.param(tag("meta", charset="utf-8"), '<meta charset="utf-8">', id="void"),
        pytest.param(join("a\x00\u202eb"), "a\ufffd\ufffdb", id="control characters"),
        pytest.param(join(Markup("<b>"), None, "<b>"), "<b>&lt;b&gt;", id="markup stays"),
    ],
)
def test_markup(made: Markup, text: str) -> None:
    assert made == text


# --- the page as text -------------------------------------------------------------------------


@pytest.mark.parametrize("text", [*ATTACKS, HOSTILE], ids=lambda text: ascii(text)[:20])
def test_a_hostile_name_adds_no_element_no_script_and_no_handler(text: str) -> None:
    outline = Outline(page(hostile(text)))
    assert set(outline.tags) <= TAGS
    assert outline.tags.count("script") == 1
    assert outline.scripts == [
        files("coalescecheck.report").joinpath("page.js").read_text(encoding="utf-8")
    ]
    assert [
        name for name, _ in outline.attributes if name.startswith("on") or name == "style"
    ] == []
    links = [value for name, value in outline.attributes if name in ("href", "src")]
    assert [link for link in links if not re.fullmatch(r"#[a-z0-9-]+", link or "")] == []


def test_the_policy_allows_only_this_style_and_script() -> None:
    policy = next(v for k, v in Outline(page(ordinary())).attributes if v and "default-src" in v)
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/=]+'; script-src 'sha256-[\w+/=]+'", policy
    )


def test_the_page_shows_the_kernel_its_numbers_and_the_change() -> None:
    shown = page(ordinary())
    for words in (
        "flip&lt;PAD=0&gt;",
        "warning CC201",
        "32 wavefronts, 1 without conflict",
        "32 sectors of 32 bytes for 128 bytes",
        "with <code>tile[32][33]</code>",
        "bank 0: word at byte 128 for lanes 1",
        "(clean)",
        "lanes step 2048 bytes",
    ):
        assert words in shown


def test_names_in_reasons_are_code() -> None:
    lost = kernel(status="partial", reason="`f()` is not known")
    shown = page(Report("0.1.0", "sm_80", (FileReport(file(lost), ()),)))
    assert "<dd><code>f()</code> is not known</dd>" in shown


def test_addresses_have_the_names_of_the_source() -> None:
    names = {"blockDim_x": "blockDim.x", "blockIdx_x": "blockIdx.x", "in_": "in"}
    shown = access(0, array="in", address="4*blockDim_x*blockIdx_x + in_", names=names)
    text = page(Report("0.1.0", "sm_80", (FileReport(file(kernel(shown)), ()),)))
    assert "<dd>4*blockDim.x*blockIdx.x + in</dd>" in text


def test_every_link_has_its_target() -> None:
    outline = Outline(page(ordinary()))
    targets = {value for name, value in outline.attributes if name == "id"}
    links = {(value or "")[1:] for name, value in outline.attributes if name == "href"}
    assert links <= targets


# --- the source view --------------------------------------------------------------------------


def test_the_source_ends_with_the_kernel() -> None:
    lines = kernel_source(TEXT + "\nint after;\n", kernel(), PATH)
    assert [line.number for line in lines] == list(range(2, 9))


@pytest.mark.parametrize(
    "body", ["{ char c = '}'; }", '{ s = "}{"; }', "{ // }\n}", "{ /* } */ }", "{ if (x) { } }"]
)
def test_braces_in_strings_and_comments_do_not_end_a_kernel(body: str) -> None:
    text = f"\n__global__ void flip()\n{body}\nint after;\n"
    lines = kernel_source(text, kernel(), PATH)
    assert lines[-1].number == 2 + body.count("\n") + 1


def test_marks_nest_and_a_load_shares_its_mark_with_the_store() -> None:
    text = "\n__global__ void flip() { out[i] += in[order[i]]; }\n"
    column = {name: text.splitlines()[1].index(name) + 1 for name in ("out", "in[", "order")}
    results = (
        access(0, at=(2, column["out"])),
        access(1, at=(2, column["out"])),
        access(2, at=(2, column["in["])),
        access(3, at=(2, column["order"])),
    )
    (line,) = kernel_source(text, kernel(*results), PATH)
    assert "".join(piece.text for piece in line.pieces) == text.splitlines()[1]
    marked = [piece for piece in line.pieces if piece.accesses]
    assert [[r.access.id for r in piece.accesses] for piece in marked] == [[0, 1], [2]]
    inner = [piece for piece in marked[1].inside if piece.accesses]
    assert [(piece.text, piece.accesses[0].access.id) for piece in inner] == [("order[i]", 3)]


# --- in a browser -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if PROGRAM is None:
        pytest.skip("there is no chromium here")
    with Browser(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("page") / "report.html"
    report = coalescecheck.analyze(EXAMPLES / "transpose.cu", verify=False)
    target.write_text(page(report), encoding="utf-8")
    return target


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 375, 1280])
def test_the_page_fits_its_width_and_can_be_read(
    browser: Browser, example: Path, width: int, dark: bool
) -> None:
    browser.open(example, width=width, dark=dark)
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run(CONTRAST) >= 4.5  # WCAG 2.1, success criterion 1.4.3
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(18, 22, 28)" if dark else "rgb(255, 255, 255)")


def test_headings_of_the_table_are_not_broken(browser: Browser, example: Path) -> None:
    browser.open(example, width=375)
    script = "Math.max(...[...document.querySelectorAll('th')].map(h => h.offsetHeight))"
    assert browser.run(script) < 45  # two lines of 21 pixels, with padding


# The lowest contrast of any text on the page that stands on an opaque ground.
CONTRAST = """(function () {
  function numbers(colour) { return colour.match(/[\\d.]+/g).map(Number); }
  function light(rgb) {
    var v = rgb.slice(0, 3).map(function (c) {
      c /= 255; return c <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
    });
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
  }
  function ground(node) {
    for (; node; node = node.parentElement) {
      var c = numbers(getComputedStyle(node).backgroundColor);
      if (c.length < 4 || c[3] > 0) { return c; }
    }
    return [255, 255, 255];
  }
  var least = 21;
  document.querySelectorAll("h1,h2,p,dt,dd,td,th,summary,code,figcaption,li,a").forEach(
    function (node) {
      var a = light(numbers(getComputedStyle(node).color)), b = light(ground(node));
      least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
    });
  return least;
})()"""


def test_nothing_is_loaded_and_nothing_complains(browser: Browser, example: Path) -> None:
    browser.open(example, width=1280)
    asked = [e["params"]["request"]["url"] for e in browser.events if _is(e, "requestWillBeSent")]
    assert asked == [example.as_uri()]
    assert [e for e in browser.events if _is(e, "entryAdded") or _is(e, "exceptionThrown")] == []


def test_a_hostile_page_runs_nothing(browser: Browser, tmp_path: Path) -> None:
    target = tmp_path / "hostile.html"
    target.write_text(page(hostile()), encoding="utf-8")
    browser.open(target, width=375)
    assert [e for e in browser.events if _is(e, "javascriptDialogOpening")] == []
    assert browser.run("document.querySelectorAll('img, iframe, object, form').length") == 0
    assert browser.run("document.documentElement.scrollWidth") <= 375


def _is(event: dict[str, object], name: str) -> bool:
    return str(event.get("method", "")).endswith(f".{name}")


ROWS = "Array.from(document.querySelectorAll('#k3 tbody tr')).map(r => r.cells[6].textContent)"
FOCUS = "document.activeElement.textContent"


def test_the_table_is_sorted_with_the_keyboard_alone(browser: Browser, example: Path) -> None:
    browser.open(example, width=1280)
    browser.run("document.querySelector('#k3 .source').focus()")
    for _ in range(40):
        browser.press("Tab", 9)
        if browser.run(FOCUS) == "times ideal":
            break
    assert browser.run(FOCUS) == "times ideal"
    browser.press("Enter", 13)
    assert browser.run(ROWS) == ["32×", "1×", "1×", "1×"]
    browser.press("Enter", 13)
    assert browser.run(ROWS) == ["1×", "1×", "1×", "32×"]
    state = "document.querySelector('#k3 th[aria-sort]').getAttribute('aria-sort')"
    assert browser.run(state) == "ascending"


def test_an_access_that_is_linked_to_opens(browser: Browser, example: Path) -> None:
    browser.open(example, width=375)
    link = "document.querySelector('#k1 td a')"
    target = f"document.querySelector({link}.getAttribute('href'))"
    assert browser.run(f"{target}.open") is False
    browser.run(f"{link}.focus()")
    browser.press("Enter", 13)
    browser.wait_for(f"{target}.open")
