"""Options from text: what is understood, and how nonsense is refused."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from coalescecheck.errors import UsageError
from coalescecheck.facts import Fact, parse_facts, strongest
from coalescecheck.findings import Severity
from coalescecheck.launch import Dim3
from coalescecheck.options import Options, make_options, parse_block, parse_grid, parse_param


def test_nothing_given_is_the_default() -> None:
    assert make_options() == Options()
    assert Options().fail_on is Severity.WARNING


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("256", (256, 1, 1)),
        ("32x8", (32, 8, 1)),
        ("32,8", (32, 8, 1)),
        ("8X8x4", (8, 8, 4)),
        ("(32, 8, 1)", (32, 8, 1)),
        (64, (64, 1, 1)),
        ((32, 8), (32, 8, 1)),
    ],
)
def test_blocks(text: Any, block: tuple[int, int, int]) -> None:
    assert parse_block(text) == Dim3(*block)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no dimension"),
        ("32x", "no dimension"),
        ("32x-8", "no dimension"),
        ("1x2x3x4", "no dimension"),
        ("n", "no dimension"),
        ("0", "from 1 to 1024"),
        ("1x1x65", "from 1 to 64"),
        ("64x64", "at most 1024"),
        ((), "one to three"),
        ("(32", "no dimension"),
        ("32)", "no dimension"),
    ],
)
def test_blocks_that_cannot_be_launched(text: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_block(text)


def test_a_grid_may_be_wider_than_a_block() -> None:
    assert parse_grid("100000x65535") == Dim3(100000, 65535, 1)
    with pytest.raises(UsageError, match="65535"):
        parse_grid("1x65536")


@pytest.mark.parametrize(
    ("text", "param"),
    [
        ("n=512", ("n", 512)),
        ("s.n = -1", ("s.n", -1)),
        ("N=0x200", ("N", 512)),
        ("n=+7", ("n", 7)),
        ("s.d[2].m=4", ("s.d[2].m", 4)),
    ],
)
def test_params(text: str, param: tuple[str, int]) -> None:
    assert parse_param(text) == param


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n", "NAME=VALUE"),
        ("n=", "NAME=VALUE"),
        ("=5", "NAME=VALUE"),
        ("2n=5", "NAME=VALUE"),
        ("n=1.5", "no integer"),
        ("n=four", "no integer"),
        ("n=16..4096", "no integer"),
    ],
)
def test_params_that_say_nothing(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse_param(text)


def test_the_last_value_of_a_name_counts() -> None:
    assert make_options(params=["n=1", "m=2", "n=3"]).params == (("n", 3), ("m", 2))


def test_mappings_are_taken_as_they_are() -> None:
    options = make_options(params={"n": 512}, templates={"T": "float"})
    assert (options.params, options.templates) == ((("n", 512),), (("T", "float"),))


@pytest.mark.parametrize(
    "given",
    [{"n": "x"}, {"n": 3.5}, {"n": None}, {"n m": 1}, {"": 1}],
)
def test_a_mapping_that_says_nothing_is_wrong_usage(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"^param: "):
        make_options(params=given)


def test_whole_numbers_of_any_kind_are_taken() -> None:
    options = make_options(params={"n": True, "m": numpy.int64(-3)}, block=numpy.int32(64))
    assert options.params == (("n", 1), ("m", -3))
    assert options.block == Dim3(64)


@pytest.mark.parametrize("block", [32.0, (32.5,), (32, "x"), None.__class__])
def test_a_block_of_no_whole_numbers_is_wrong_usage(block: Any) -> None:
    with pytest.raises(UsageError, match=r"^block: "):
        make_options(block=block)


def test_one_text_is_a_list_of_one() -> None:
    options = make_options(
        params="n=5",
        assume="n % 5 == 0",
        defines="AB=1",
        include_dirs="inc",
        kernels="flip",
        exclude="old/",
        templates="T=float",
    )
    assert options == make_options(
        params=["n=5"],
        assume=["n % 5 == 0"],
        defines=["AB=1"],
        include_dirs=["inc"],
        kernels=["flip"],
        exclude=["old/"],
        templates=["T=float"],
    )


def test_template_arguments_are_kept_as_written() -> None:
    assert make_options(templates=["T=unsigned int"]).templates == (("T", "unsigned int"),)


def test_rules_may_be_joined_by_commas() -> None:
    assert make_options(select=["CC101, CC2", "CC9"]).select == ("CC101", "CC2", "CC9")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"arch": "sm_81"}, "sm_80"),
        ({"fail_on": "info"}, "never"),
        ({"emit": "ast"}, "kernel-c"),
    ],
)
def test_unknown_choices_name_the_known_ones(option: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make_options(**option)


def test_a_range_of_a_parameter_is_two_facts() -> None:
    options = make_options(params=["n=16..4096", "m=2"], assume=["n % 8 == 0"])
    assert options.params == (("m", 2),)
    assert options.assume == ("n % 8 == 0", "n >= 16", "n <= 4096")
    assert parse_facts(options.assume) == {"n": Fact(16, 4096, 8)}


@pytest.mark.parametrize("text", ["n=4..", "n=..4", "n=9..1", "n=a..b"])
def test_ranges_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="range"):
        make_options(params=[text])


@pytest.mark.parametrize("text", ["n", "n % 0 == 0", "n % 4 == 1", "n != 3", "2 < n", ""])
def test_facts_that_say_nothing(text: str) -> None:
    with pytest.raises(UsageError, match="no fact"):
        make_options(assume=[text])


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        (Fact(), 40),
        (Fact(multiple=32), 64),
        (Fact(low=1024), 1024),
        (Fact(low=1000, multiple=32), 1024),
        (Fact(high=20), 20),
        (Fact(high=20, multiple=8), 16),
    ],
)
def test_a_sample_satisfies_its_fact(fact: Fact, value: int) -> None:
    assert fact.near(40) == value


def test_a_weaker_bound_is_not_told_beside_a_stronger_one() -> None:
    told = ("n >= 18", "whole warps: i < n", "m >= 20", "n >= 19", "n != 0", "a*n >= 3")
    assert strongest(told) == ("whole warps: i < n", "m >= 20", "n >= 19", "n != 0", "a*n >= 3")


def test_names_may_be_of_any_alphabet() -> None:
    options = make_options(params=["größe=3", "Δ.λ=4"], assume=["ширина % 8 == 0"])
    assert options.params == (("größe", 3), ("Δ.λ", 4))
    assert options.assume == ("ширина % 8 == 0",)
