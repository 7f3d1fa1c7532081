"""Control flow as structured IR, told by its printed form."""

from __future__ import annotations

import pytest
from written_kernels import kernel_c

from coalescecheck.ir.dump import dump_body
from coalescecheck.ir.kernel import Scope
from coalescecheck.lower import lower

CASES = {
    "an early return guards what follows": (
        "if (n > 3) return; out[0] = 1;",
        """
if n > 3:
  leave kernel
store #0.0 out = 1
""",
    ),
    "a for loop": (
        "for (int i = 0; i < n; i += 2) { if (i == 4) continue; if (i == 6) break; out[i] = i; }",
        """
i: i32 = 0
loop loop while i < n:
  if i == 4:
    continue loop
  if i == 6:
    leave loop
  store #0.0 out + (i64(i) * 4l) = i
 step:
  i: i32 = i + 2
""",
    ),
    "a load in a loop's condition belongs to its test": (
        "while (out[n] > 0) n--;",
        """
loop loop while $t > 0:
 test:
  $t: i32 = load #0.0 out + (i64(n) * 4l)
 body:
  n: i32 = n - 1
""",
    ),
    "a do loop tests last": (
        "do n--; while (n > 0);",
        """
loop (test last) loop while n > 0:
  n: i32 = n - 1
""",
    ),
    "pure sides of && and ?: stay expressions": (
        "if (n > 0 && n < 9 || !n) n = n > 4 ? n - 4 : 0;",
        """
if ((n > 0) && (n < 9)) || !(n != 0):
  n: i32 = (n > 4) ? (n - 4) : 0
""",
    ),
    "a load on the right of && runs only where the left holds": (
        "if (n > 0 && out[n]) n = 1;",
        """
$t.1: bool = n > 0
if $t.1:
  $t: i32 = load #0.0 out + (i64(n) * 4l)
  $t.1: bool = $t != 0
if $t.1:
  n: i32 = 1
""",
    ),
    "a switch without falling through is a list of exclusive branches": (
        "switch (n) { case 1: out[0] = 1; break; case 2: out[1] = 2; break; default: out[2] = 3; }",
        """
$t: i32 = n
if $t == 1:
  store #0.0 out = 1
if $t == 2:
  store #1.0 out + 4l = 2
if !(($t == 1) || ($t == 2)):
  store #2.0 out + 8l = 3
""",
    ),
    "a forward goto leaves a scope": (
        "for (;;) { if (n > 3) goto done; n++; } done: out[0] = n;",
        """
scope done:
  loop loop while true:
    if n > 3:
      leave done
    n: i32 = n + 1
store #0.0 out = n
""",
    ),
    "a backward goto repeats a loop": (
        "again: n++; if (n < 9) goto again;",
        """
loop again while true:
  n: i32 = n + 1
  if n < 9:
    continue again
  leave again
""",
    ),
    "pointer steps are bytes": (
        "int *p = out + n; p -= 2; p[1] = n; *(p + 1u) = 2;",
        """
p: ptr = out + (i64(n) * 4l)
p: ptr = p + -8l
store #0.0 p + 4l = n
store #1.0 p + 4l = 2
""",
    ),
    "subscripts are extended by their own type": (
        "unsigned u = n; unsigned char c = u;"
        " out[u] = 1; out[c] = 2; out[u + 1] = 3; out[n - 1l] = 4;",
        """
u: u32 = u32(n)
c: u8 = u8(u)
store #0.0 out + (i64(u) * 4l) = 1
store #1.0 out + (i64(c) * 4l) = 2
store #2.0 out + (i64(u + 1u) * 4l) = 3
store #3.0 out + ((i64(n) - 1l) * 4l) = 4
""",
    ),
    "two-dimensional subscripts add up": (
        "[[cuda::shared]] int s[4][8]; s[threadIdx.y][n + 1] = 1;",
        """
store #0.0 (&s + (i64(threadIdx.y) * 32l)) + (i64(n + 1) * 4l) = 1
""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_control_flow(name: str) -> None:
    body, expected = CASES[name]
    kernel = lower(kernel_c(f"[[cuda::global]] void k(int *out, int n) {{ {body} }}"))
    (scope,) = kernel.body
    assert isinstance(scope, Scope)
    assert dump_body(scope.body[1:]) == expected.lstrip("\n")
