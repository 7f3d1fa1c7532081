"""Which old file a new one was."""

from __future__ import annotations

from coalescecheck import renames

OLD = "a\nb\nc\nd\n"


def test_half_of_the_lines_are_enough() -> None:
    assert renames.found({"new.cu": "a\nb\nx\ny\n"}, {"old.cu": OLD}) == {"new.cu": "old.cu"}
    assert renames.found({"new.cu": "a\nx\ny\nz\n"}, {"old.cu": OLD}) == {}
    assert renames.found({"new.cu": "a\nb\nw\nx\ny\n"}, {"old.cu": OLD}) == {}  # 2 of 5


def test_each_old_file_has_one_heir_the_most_alike() -> None:
    new = {"some.cu": "a\nb\nc\nx\n", "all.cu": "d\n  c\nb\n\na\n"}
    assert renames.found(new, {"old.cu": OLD}) == {"all.cu": "old.cu"}


def test_among_very_many_files_only_equal_ones_are_found() -> None:
    many = {f"{number}.cu": f"{number}\n" for number in range(renames.MOST)}
    new = {**many, "same.cu": OLD, "half.cu": "1\n2\nc\nd\n"}
    gone = {"old.cu": OLD, "other.cu": "3\n4\nc\nd\n"}
    assert renames.found(new, gone) == {"same.cu": "old.cu"}


def test_of_equal_files_one_kept_a_name() -> None:
    gone = {"then/a/k.cu": OLD, "then/a/other.cu": OLD, "then/b/old.cu": OLD}
    assert renames.found({"b/new.cu": OLD}, gone) == {"b/new.cu": "then/b/old.cu"}
    assert renames.found({"b/k.cu": OLD}, gone) == {"b/k.cu": "then/a/k.cu"}
