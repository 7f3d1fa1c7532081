"""A short run of the fuzzer, the same every time."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fuzz import bombs
from fuzz.bombs import PTX, WORDS
from fuzz.cases import KINDS, SOURCE, Case, case
from fuzz.judge import problems, run_apart
from fuzz.mutations import mutated

CASES = {"source": 60, "bomb": 15, "settings": 60, "baseline": 30, "cache": 15, "arguments": 30}


@pytest.mark.parametrize("kind", CASES)
def test_nothing_crashes_or_hangs(tmp_path: Path, kind: str) -> None:
    found = list(problems([case(number, kind) for number in range(CASES[kind])], tmp_path))
    assert found == []


@pytest.mark.parametrize("number", range(2))
def test_a_process_of_its_own_ends_as_it_should(tmp_path: Path, number: int) -> None:
    assert list(run_apart(case(number), tmp_path)) == []


@pytest.mark.parametrize("of", [WORDS, PTX], ids=["words", "PTX"])
def test_words_without_end_are_read_in_time(tmp_path: Path, of: tuple[str, ...]) -> None:
    around = (bombs.HEAD + '    asm volatile("', '" :: "l"(a));') if of is PTX else ("", ";")
    texts = [around[0] + bombs.MOST // len(word) * word + around[1] for word in of]
    texts = ['#include "nowhere.h"\nconcept A_b = 1;\n' + text + bombs.TAIL for text in texts]
    cases = [Case(at, "bomb", {SOURCE: text.encode()}) for at, text in enumerate(texts)]
    assert list(problems(cases, tmp_path)) == []


def test_every_kind_is_run() -> None:
    assert set(CASES) == set(KINDS)


def test_a_number_is_always_the_same_case() -> None:
    assert [case(number) for number in range(20)] == [case(number) for number in range(20)]
    assert mutated(b"a b c", [b"d"], random.Random(3)) == mutated(
        b"a b c", [b"d"], random.Random(3)
    )


# --- what the fuzzer has to see ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("damage", "key"),
    [
        pytest.param("raise KeyError('x')", "defect internal error in reading", id="an exception"),
        pytest.param("import os; os._exit(9)", "death 9", id="a process that ends"),
        pytest.param("while True: pass", "hang", id="a hang"),
    ],
)
def test_it_sees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, key: str) -> None:
    monkeypatch.setattr("fuzz.judge.SECONDS", 1)
    monkeypatch.setattr("coalescecheck.pipeline.load", lambda *_: exec(damage))
    fine = Case(1, "arguments", {"case.cu": b""}, ("--version",))
    found = list(problems([case(0, "source"), fine], tmp_path))
    assert [problem.number for problem in found] == [0]
    assert found[0].key.startswith(key)
