"""Complex numbers and pairs of the standard library, of libcu++ and of Thrust, as kernels use them.

Their headers are not read.  Layouts are those of nvcc 13.0: a complex number of libcu++ and Thrust
is aligned to its size and moves in one request, one of the standard library and a pair are two
numbers.  Functions take them by value, as compilers load them, and what they compute is left out:
addresses hang on none of it.  In: preprocessed code.  Out: text to put behind it.
"""

from __future__ import annotations

import re

_COMPLEX = """
template <class T> struct %(align)s complex { T re_; T im_; using value_type = T;
%(hd)s complex() : re_(0), im_(0) {}
%(hd)s complex(T re) : re_(re), im_(0) {}
%(hd)s complex(T re, T im) : re_(re), im_(im) {}
template <class U> %(hd)s complex(complex<U> z) : re_(z.re_), im_(z.im_) {}
%(hd)s T real() const { return re_; }
%(hd)s T imag() const { return im_; }
%(hd)s void real(T re) { re_ = re; }
%(hd)s void imag(T im) { im_ = im; }
%(operators)s };
%(functions)s
"""
_OPERATOR = """%(hd)s complex &operator%(op)s=(T x) { complex z = *this;
return *this = complex(z.re_ %(op)s x, z.im_ %(op)s x); }
%(hd)s complex &operator%(op)s=(complex x) { complex z = *this;
return *this = complex(z.re_ %(op)s x.re_, z.im_ %(op)s x.im_); }
friend %(hd)s complex operator%(op)s(complex a, complex b) {
return complex(a.re_ %(op)s b.re_, a.im_ %(op)s b.im_); }
friend %(hd)s complex operator%(op)s(complex a, T b) { return complex(a.re_ %(op)s b, a.im_); }
friend %(hd)s complex operator%(op)s(T a, complex b) { return complex(a %(op)s b.re_, b.im_); }
"""
_SIGN = """friend %(hd)s complex operator%(op)s(complex z) {
return complex(%(op)s z.re_, %(op)s z.im_); }
"""
_COMPARED = """friend %(hd)s bool operator%(op)s(complex a, complex b) {
return a.re_ %(op)s b.re_ %(join)s a.im_ %(op)s b.im_; }
"""
_OF_COMPLEX = """template <class T> %(hd)s complex<T> %(name)s(complex<T> z) {
return complex<T>(z.re_, z.im_); }
"""
_TO_REAL = """template <class T> %(hd)s T %(name)s(complex<T> z) { return z.re_ + z.im_; }
"""
_POLAR = """template <class T> %(hd)s complex<T> polar(T r, T angle = T()) {
return complex<T>(r * cosf(angle), r * sinf(angle)); }
"""
_HD = "__host__ __device__"
# a name that a library has for other numbers as well is not given where these may be meant
_ONLY_COMPLEX = ("conj", "proj")
_ALSO_REAL = "exp log log10 pow sqrt sin cos tan sinh cosh tanh asin acos atan".split()


def _complex(align: str, *, every: bool) -> str:
    """The class with the functions of complex numbers: ``every`` one, or those of no others."""
    hd = {"hd": _HD}
    operators = "".join(_OPERATOR % (hd | {"op": op}) for op in "+-*/")
    operators += "".join(_SIGN % (hd | {"op": op}) for op in "+-")
    operators += "".join(
        _COMPARED % (hd | {"op": op, "join": join}) for op, join in (("==", "&&"), ("!=", "||"))
    )
    complex_ = (*_ONLY_COMPLEX, *(_ALSO_REAL if every else ()))
    real = ("real", "imag", "norm", "arg", *(("abs",) if every else ()))
    functions = "".join(_OF_COMPLEX % (hd | {"name": name}) for name in complex_)
    functions += "".join(_TO_REAL % (hd | {"name": name}) for name in real) + _POLAR % hd
    parts = {"align": align, "operators": operators, "functions": functions}
    return _COMPLEX % (hd | parts)


_ALIGNED = "alignas(2 * sizeof(T))"
_PAIR = f"""
namespace thrust {{
template <class A, class B> struct pair {{ A first; B second;
using first_type = A; using second_type = B;
{_HD} pair() : first(), second() {{}}
{_HD} pair(const A &a, const B &b) : first(a), second(b) {{}} }};
template <class A, class B> {_HD} pair<A, B> make_pair(A a, B b) {{ return pair<A, B>(a, b); }}
}}
"""
_THRUST = f"namespace thrust {{ {_complex(_ALIGNED, every=True)} }}\n"
_CUDA = f"namespace cuda {{ namespace std {{ {_complex(_ALIGNED, every=False)} }} }}\n"
_STD = f"namespace std {{ {_complex('', every=False)} }}\n"
_USES = (
    (re.compile(rb"\bthrust\s*::\s*(?:make_)?pair\b"), _PAIR),
    (re.compile(rb"\bthrust\s*::\s*complex\b"), _THRUST),
    (re.compile(rb"\bcuda\s*::\s*std\s*::\s*complex\b"), _CUDA),
    (re.compile(rb"(?<!::)\bstd\s*::\s*complex\b"), _STD),
)
_UNQUALIFIED = re.compile(rb"(?<![\w:])complex\s*<")
_DIRECTIVE = re.compile(rb"\busing\s+namespace\s+(std|thrust)\s*;")
_OWN = re.compile(rb"\b(?:struct|class)\s+complex\b")


def used_by(code: bytes) -> str:
    """The classes that ``code`` names."""
    found = [text for used, text in _USES if used.search(code)]
    if _UNQUALIFIED.search(code) and not _OWN.search(code):
        named = {directive[1] for directive in _DIRECTIVE.finditer(code)}
        found += [_STD] if b"std" in named else []
        found += [_THRUST] if b"thrust" in named else []
    return "".join(dict.fromkeys(found))
