"""Our frozen records against those of the standard library, made of the same text."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import sys
from typing import Any

import pytest

from coalescecheck import records

TEXT = """
@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: str = "up"
    more: list = field(default_factory=list, compare=False)
    note: str = field(default="", repr=False)

    @property
    def both(self):
        return self.x, self.y

@dataclass(frozen=True, slots=True)
class Empty:
    pass

@dataclass(frozen=True, slots=True)
class Special:
    x: int
    only: int = field(default=2, kw_only=True)

@dataclass(frozen=True, slots=True)
class Below(Point):
    z: int = 3

@dataclass(frozen=True, slots=True)
class Named:
    x: int
    def __repr__(self):
        return "named"
    def __eq__(self, other):
        return True
    def __hash__(self):
        return 7
"""
MAKERS = {"standard": dataclasses.dataclass, "ours": records.dataclass}


def made(maker: str) -> Any:
    """A module with the classes, so that they can be pickled."""
    module = type(sys)(f"records_{maker}")
    sys.modules[module.__name__] = module
    vars(module).update(dataclass=MAKERS[maker], field=dataclasses.field)
    exec(TEXT, vars(module))
    return module


@pytest.mark.parametrize("maker", MAKERS)
def test_it_is_a_frozen_record(maker: str) -> None:
    kinds = made(maker)
    one, two = kinds.Point(1, more=[2]), kinds.Point(x=1)
    assert (one.x, one.y, one.more, two.more, one.both) == (1, "up", [2], [], (1, "up"))
    assert one == two
    assert hash(one) == hash(two)
    assert one != kinds.Point(1, "down")
    assert one != 1
    assert kinds.Point(1) != kinds.Below(1)
    assert two.more is not kinds.Point(1).more
    assert repr(one) == "Point(x=1, y='up', more=[2])"
    assert dataclasses.replace(one, x=5).x == 5
    assert [field.name for field in dataclasses.fields(one)] == ["x", "y", "more", "note"]
    assert kinds.Point.__match_args__ == ("x", "y", "more", "note")
    for change in (lambda: setattr(one, "x", 2), lambda: delattr(one, "x")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()
    assert not hasattr(one, "__dict__")
    with pytest.raises(TypeError):
        kinds.Point()


@pytest.mark.parametrize("maker", MAKERS)
def test_copies_are_equal(maker: str) -> None:
    kinds = made(maker)
    for record in (kinds.Point(1, "a", [3], "n"), kinds.Empty(), kinds.Special(1, only=4)):
        for copied in (
            pickle.loads(pickle.dumps(record)),
            copy.deepcopy(record),
            copy.copy(record),
        ):
            assert copied == record
            assert repr(copied) == repr(record)


@pytest.mark.parametrize("maker", MAKERS)
def test_what_the_class_defines_itself_stays(maker: str) -> None:
    kinds = made(maker)
    assert (repr(kinds.Named(1)), kinds.Named(1) == 2, hash(kinds.Named(1))) == ("named", True, 7)
    assert (kinds.Special(1, only=3).only, kinds.Below(1).z, kinds.Below(1).x) == (3, 3, 1)
    assert kinds.Empty() == kinds.Empty()
    assert repr(kinds.Empty()) == "Empty()"
