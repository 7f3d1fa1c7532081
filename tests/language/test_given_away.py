"""What an unknown function may change: all that pointers and references given to it lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from coalescecheck import analyze

CLASSES = """
struct Guard { int &n; __device__ Guard(int &m) : n(m) {} };
struct Deep { Guard g; int x; };
struct Reader { const int &n; __device__ Reader(const int &m) : n(m) {} };
struct Ends { int &n; __device__ Ends(int &m) : n(m) {} __device__ ~Ends() { n = 2; } };
struct Holds { Ends held; };
struct Node { int *p; Node *next; };
extern __device__ void writes(Guard *g);
extern __device__ void sees(const Guard *g);
extern __device__ void refers(const Guard &g);
extern __device__ void copies(Guard g);
extern __device__ void deep(const Deep &d);
extern __device__ void many(int *const *p);
extern __device__ void linked(const Node *n);
extern __device__ void looks(const int *p);
extern __device__ void keep(int *p);
extern __device__ void reads(Reader r);
extern __device__ void other();
extern __device__ bool more();
template <typename F> __device__ void apply(F f);
"""


@pytest.mark.parametrize(
    "text",
    [
        "Guard g(n); writes(&g);",
        "Guard g(n); sees(&g);",
        "Guard g(n); refers(g);",
        "Guard g(n); copies(g);",
        "copies(Guard(n));",
        "Deep d{Guard(n), 1}; deep(d);",
        "int m = 2; int *p[2] = {&n, &m}; many(p);",
        "int *p[20]; for (int i = 0; i < 20; ++i) p[i] = &n; many(p);",
        "Node last{&n, nullptr}; Node first{nullptr, &last}; linked(&first);",
        "apply([&](int i) { n = i; });",
        "auto f = [&n](int i) { n = i; }; apply(f);",
        "keep(&n); n = 1; looks(&n);",
        "{ Ends e(n); }",
        "{ Holds h{Ends(n)}; }",
        "for (int i = 0; i < 3; ++i) { Ends e(n); if (i) break; }",
        "n = 1; { Ends e(n); n = 1; }",
    ],
)
def test_what_may_have_changed_is_unknown(text: str, tmp_path: Path) -> None:
    assert counted(text, tmp_path) == ("data-dependent", 1, 32)


@pytest.mark.parametrize(
    "text",
    [
        "looks(&n);",
        "keep(&n); n = 1;",
        "Reader r(n); reads(r);",
        "int m = 2; Guard g(m); writes(&g);",
        "apply([n](int i) { return n + i; });",
        "Ends *e = nullptr;",
        "int m = 2; { Ends e(m); }",
    ],
)
def test_what_nobody_can_have_changed_is_known(text: str, tmp_path: Path) -> None:
    certainty, least, most = counted(text, tmp_path)
    assert certainty.startswith("exact")
    assert (least, most) == (4, 4)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for (int i = 0; i < 4; ++i) { other();", "keep(&n); }"),
        ("for (int i = 0; i < 4; ++i) { n = 1; other();", "keep(&n); }"),
        ("for (int i = 0; i < 4; ++i) { n = 1; other();", "Guard g(n); writes(&g); }"),
        ("do { n = 1; for (int j = 0; j < 2; ++j) other();", "keep(&n); } while (more());"),
        ("again: n = 1; other();", "keep(&n); if (more()) goto again;"),
        ("do { keep(&n); n = 1; } while (more());", ""),
    ],
)
def test_a_loop_gives_away_before_it_calls_again(before: str, after: str, tmp_path: Path) -> None:
    assert counted(before, tmp_path, after) == ("data-dependent", 1, 32)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for (int i = 0; i < 4; ++i) { other(); n = 1;", "keep(&n); }"),
        ("for (int i = 0; i < 4; ++i) { int n = 1;", "other(); keep(&n); }"),
        ("for (int i = 0; i < 4; ++i) { other();", "looks(&n); }"),
    ],
)
def test_a_loop_that_sets_again_what_it_gave_away(before: str, after: str, tmp_path: Path) -> None:
    certainty, least, most = counted(before, tmp_path, after)
    assert certainty.startswith("exact")
    assert (least, most) == (4, 4)


def counted(text: str, tmp_path: Path, after: str = "") -> tuple[str, int, int]:
    path = tmp_path / "k.cu"
    path.write_text(
        f"{CLASSES}__global__ void k(float *a) {{ int n = 1; {text}\n"
        f"a[threadIdx.x * n] = 1; {after} }}\n"
        "void h(float *a) { k<<<1, 32>>>(a); }\n"
    )
    (kernel,) = analyze(path).kernels
    (access,) = [a for a in kernel.accesses if a.array == "a"]
    assert access.sectors is not None
    return access.certainty, access.sectors.min, access.sectors.max


@pytest.mark.parametrize(
    ("call", "counts"),
    [("change(&s);", ("data-dependent", 1, 32)), ("see(s.n);", ("exact-symbolic", 4, 5))],
)
def test_arrays_in_parameters(call: str, counts: tuple[str, int, int], tmp_path: Path) -> None:
    path = tmp_path / "kernel.cu"
    path.write_text(
        "struct S { int n[3]; };\n"
        "extern __device__ void change(S *s);\n"
        "extern __device__ void see(const int *n);\n"
        f"__global__ void k(S s, float *p) {{ {call} p[threadIdx.x + s.n[1]] = 1; }}\n"
        "void run(S s, float *p) { k<<<1, 32>>>(s, p); }\n"
    )
    (kernel,) = analyze(path).kernels
    (store,) = [a for a in kernel.accesses if a.access.op == "store"]
    assert store.sectors is not None
    assert (store.certainty, store.sectors.min, store.sectors.max) == counts
    assert store.verified.simulation != "disagrees"
