"""Loops that lanes leave at different times: exact counts against threads run one by one.

Every case is the body of a kernel and the same as a Python generator of (array, element,
iterations) for one thread; lanes in the same iterations make one request.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest
from summaries import Shape, count, results

from property.hardware_in_python import sectors

Touch = tuple[str, int, tuple[int, ...]]
Thread = Callable[[int], Iterator[Touch]]


def returns_from_inside(t: int) -> Iterator[Touch]:
    for i in range(4):
        for j in range(6):
            if i * 6 + j > t:
                return
            yield "o", t + 64 * j + i, (i, j)
        yield "p", t * 3 + i, (i,)
    yield "q", t * 2, ()


def returns_where_it_is_hit(t: int) -> Iterator[Touch]:
    for i in range(7):
        if 3 * i == t - 4:
            return
        yield "o", t * 3 + i, (i,)
    yield "p", t * 2, ()


def returns_from_trips_of_its_own(t: int) -> Iterator[Touch]:
    for i in range(t % 5):
        if t < 10 * i:
            return
        yield "o", t * 3 + i, (i,)
    yield "p", t * 2, ()


def returns_on_two_conditions(t: int) -> Iterator[Touch]:
    for i in range(5):
        if t % 2 == 0 and i > t // 8:
            return
        yield "o", t + i, (i,)
    yield "p", t * 2, ()


def breaks_outside_and_goes_on_inside(t: int) -> Iterator[Touch]:
    for i in range(4):
        for j in range(6):
            if (i + j + t) % 3 == 0:
                continue
            yield "o", t + 64 * j + i, (i, j)
        if t == i * 9:
            break
        yield "p", t * i, (i,)


def counts_up_to_what_it_must_not_be(t: int) -> Iterator[Touch]:
    for k, j in enumerate(range(t % 4, 7)):
        yield "o", j * 3 + t * 2, (k,)
    yield "p", t * 2, ()


def breaks_at_one_trip(t: int) -> Iterator[Touch]:
    for j in range(t % 7):
        if j == 4:
            break
        if (t + j) % 2:
            continue
        yield "o", t * 2 + j, (j,)


def stops_at_the_first_of_two_ends(t: int) -> Iterator[Touch]:
    i = 0
    while i < 5 and i < t:
        yield "o", i * 9, (i,)
        i += 1
    yield "p", i * 8, ()


def halves_of_the_thread(t: int) -> Iterator[Touch]:
    s, k = t, 0
    while s > 0:
        yield "o", s * 8 + t, (k,)
        s, k = s // 2, k + 1
    yield "p", t * 2, ()


def quarters_down_to_a_bound(t: int) -> Iterator[Touch]:
    s, k = 5 * t + 3, 0
    while s > 6:
        yield "o", s + t, (k,)
        s, k = s // 4, k + 1


def halves_that_stop_at_two(t: int) -> Iterator[Touch]:
    s, k = t + 1, 0
    while s != 2 and s != 0:
        yield "o", s * 3 + t, (k,)
        s, k = s // 2, k + 1


def halves_of_what_doubles(t: int) -> Iterator[Touch]:
    for i in range(5):
        for j in range(i + 1):
            stride = 2**i >> j
            yield "o", 2 * t - (t & (stride - 1)) + stride, (i, j)


def round_a_ring(t: int) -> Iterator[Touch]:
    at = t % 24
    for k in range(30):
        yield "o", 32 * at + t, (k,)
        at = (at + 5) % 24


def into_a_ring(t: int) -> Iterator[Touch]:
    at = 3 * t
    for k in range(9):
        yield "o", at + t, (k,)
        at = (at - 7) & 31


CASES: list[tuple[str, Thread]] = [
    (
        "for (int i = 0; i < 4; i++) { for (int j = 0; j < 6; j++) {"
        " if (i * 6 + j > t) return; o[t + 64 * j + i] = 1; } p[t * 3 + i] = 1; } q[t * 2] = 1;",
        returns_from_inside,
    ),
    (
        "for (int i = 0; i < 7; i++) { if (3 * i == t - 4) return; o[t * 3 + i] = 1; }"
        " p[t * 2] = 1;",
        returns_where_it_is_hit,
    ),
    (
        "for (int i = 0; i < t % 5; i++) { if (t < 10 * i) return; o[t * 3 + i] = 1; }"
        " p[t * 2] = 1;",
        returns_from_trips_of_its_own,
    ),
    (
        "for (int i = 0; i < 5; i++) { if (t % 2 == 0 && i > t / 8) return; o[t + i] = 1; }"
        " p[t * 2] = 1;",
        returns_on_two_conditions,
    ),
    (
        "for (int i = 0; i < 4; i++) { for (int j = 0; j < 6; j++) {"
        " if ((i + j + t) % 3 == 0) continue; o[t + 64 * j + i] = 1; }"
        " if (t == i * 9) break; p[t * i] = 1; }",
        breaks_outside_and_goes_on_inside,
    ),
    (
        "for (int j = t % 4; j != 7; ++j) o[j * 3 + t * 2] = 1; p[t * 2] = 1;",
        counts_up_to_what_it_must_not_be,
    ),
    (
        "for (int j = 0; j < t % 7; j++) { if (j == 4) break; if ((t + j) % 2) continue;"
        " o[t * 2 + j] = 1; }",
        breaks_at_one_trip,
    ),
    (
        "int i; for (i = 0; i < 5 && i < t; i++) o[i * 9] = 1; p[i * 8] = 1;",
        stops_at_the_first_of_two_ends,
    ),
    ("for (int k = 0, s = t % 24; k < 30; k++, s = (s + 5) % 24) o[32 * s + t] = 1;", round_a_ring),
    ("for (int k = 0, s = 3 * t; k < 9; k++, s = (s - 7) & 31) o[s + t] = 1;", into_a_ring),
    ("for (int s = t; s > 0; s /= 2) o[s * 8 + t] = 1; p[t * 2] = 1;", halves_of_the_thread),
    ("for (int s = 5 * t + 3; s > 6; s >>= 2) o[s + t] = 1;", quarters_down_to_a_bound),
    (
        "for (unsigned n = 2; n < 64; n <<= 1) for (unsigned s = n / 2; s > 0; s >>= 1)"
        " o[2 * t - (t & (s - 1)) + s] = 1;",
        halves_of_what_doubles,
    ),
]


def truth(thread: Thread, threads: int) -> dict[str, list[int]]:
    """The sectors of all requests of every array."""
    lanes: defaultdict[tuple[object, ...], list[tuple[int, int]]] = defaultdict(list)
    for t in range(threads):
        for array, element, iterations in thread(t):
            lanes[array, t // 32, iterations].append((t % 32, 4 * element))
    found = defaultdict(list)
    for (array, *_), request in lanes.items():
        found[str(array)].append(sectors(tuple(request), 4))
    return found


@pytest.mark.parametrize("block", [(40,), (64,), (7,)], ids=str)
@pytest.mark.parametrize(("body", "thread"), CASES, ids=[c[1].__name__ for c in CASES])
def test_requests_have_the_lanes_that_are_left(body: str, thread: Thread, block: Shape) -> None:
    expected = truth(thread, block[0])
    analysed = results(
        "int t = threadIdx.x; " + body, block, (1,), parameters="float *o, float *p, float *q"
    )
    assert {found.array for found in analysed} == expected.keys() | {f.array for f in analysed}
    for found in analysed:
        counts = expected.get(found.array, [])
        assert (found.certainty, found.requests) == ("exact", len(counts)), found.array
        if counts:
            assert (count(found).min, count(found).max) == (min(counts), max(counts))
            assert found.totals is not None
            assert found.totals.units.exact == sum(counts)


def test_the_end_of_a_loop_that_every_thread_leaves_is_not_claimed() -> None:
    """All threads return at i = 6, long before the loop's own end."""
    body = "for (int i = 0; i < 100; i++) { if (i > 5) return; o[i] = 1; } a[i0] = 1;"
    body = "int i0 = threadIdx.x; " + body
    found = next(
        r for r in results(body, grid=(1,), parameters="float *o, float *a") if r.array == "a"
    )
    assert found.requests in (None, 0)


def test_an_end_in_the_middle_of_halves_covers_the_truth() -> None:
    body = "int t = threadIdx.x; for (int s = t + 1; s != 2 && s; s >>= 1) o[s * 3 + t] = 1;"
    (found,) = results(body, (64,), (1,), parameters="float *o")
    expected = truth(halves_that_stop_at_two, 64)["o"]
    assert count(found).min <= min(expected)
    assert max(expected) <= count(found).max
