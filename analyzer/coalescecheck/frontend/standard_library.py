"""Class templates of the standard library that decide which device code is called.

Its headers are not read; these few are written here as C++ has them ([meta.help], [intseq],
[meta.rel]), for a file that uses them.  In: preprocessed code.  Out: text to put behind it.
"""

from __future__ import annotations

import re

_CONSTANTS = """
namespace std {
template <class T, T v> struct integral_constant {
static constexpr T value = v; using value_type = T; using type = integral_constant;
__host__ __device__ constexpr operator T() const { return v; }
__host__ __device__ constexpr T operator()() const { return v; } };
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = integral_constant<bool, true>; using false_type = integral_constant<bool, false>;
}
"""
_SEQUENCES = """
namespace std {
template <class T, T... I> struct integer_sequence { using value_type = T;
__host__ __device__ static constexpr size_t size() { return sizeof...(I); } };
template <size_t... I> using index_sequence = integer_sequence<size_t, I...>;
template <class T, T N, T... I> struct __sequence : __sequence<T, N - 1, N - 1, I...> {};
template <class T, T... I> struct __sequence<T, 0, I...> {
using type = integer_sequence<T, I...>; };
template <class T, T N> using make_integer_sequence = typename __sequence<T, N>::type;
template <size_t N> using make_index_sequence = make_integer_sequence<size_t, N>;
template <class... T> using index_sequence_for = make_index_sequence<sizeof...(T)>;
}
"""
_ARRAY = """
namespace std {
template <class T, size_t N> struct array { T _M_elems[N]; using value_type = T;
__host__ __device__ constexpr T &operator[](size_t i) { return _M_elems[i]; }
__host__ __device__ constexpr const T &operator[](size_t i) const { return _M_elems[i]; }
__host__ __device__ constexpr T &at(size_t i) { return _M_elems[i]; }
__host__ __device__ constexpr const T &at(size_t i) const { return _M_elems[i]; }
__host__ __device__ constexpr T &front() { return _M_elems[0]; }
__host__ __device__ constexpr T &back() { return _M_elems[N - 1]; }
__host__ __device__ constexpr T *data() { return _M_elems; }
__host__ __device__ constexpr const T *data() const { return _M_elems; }
__host__ __device__ constexpr T *begin() { return _M_elems; }
__host__ __device__ constexpr const T *begin() const { return _M_elems; }
__host__ __device__ constexpr T *end() { return _M_elems + N; }
__host__ __device__ constexpr const T *end() const { return _M_elems + N; }
__host__ __device__ static constexpr size_t size() { return N; } };
template <class T, class... U> array(T, U...) -> array<T, 1 + sizeof...(U)>;
template <size_t I, class T, size_t N> __host__ __device__ constexpr T &get(array<T, N> &a) {
return a._M_elems[I]; }
template <size_t I, class T, size_t N> __host__ __device__ constexpr const T &get(
const array<T, N> &a) { return a._M_elems[I]; }
}
"""
_PAIR = """
namespace std {
template <class A, class B> struct pair { A first; B second;
using first_type = A; using second_type = B;
__host__ __device__ constexpr pair() : first(), second() {}
__host__ __device__ constexpr pair(const A &a, const B &b) : first(a), second(b) {} };
template <class A, class B> __host__ __device__ constexpr pair<A, B> make_pair(A a, B b) {
return pair<A, B>(a, b); }
}
"""
_FUNCTIONS = """
namespace std {
template <class T> __host__ __device__ constexpr const T &clamp(
const T &x, const T &low, const T &high) { return x < low ? low : high < x ? high : x; }
template <class T, class U = T> __host__ __device__ constexpr T exchange(T &x, U &&y) {
T old = x; x = y; return old; }
template <class T> __host__ __device__ constexpr T *addressof(T &x) { return &x; }
}
"""
_ELSEWHERE = "namespace cuda { namespace std { using namespace ::std; } }\n"
_USES_CONSTANTS = re.compile(
    rb"\bstd\s*::\s*(?:integral_constant|bool_constant|(?:true|false)_type)\b"
)
_USES_SEQUENCES = re.compile(
    rb"\bstd\s*::\s*(?:(?:make_)?(?:integer|index)_sequence|index_sequence_for)\b"
)
_OTHERS = (
    (re.compile(rb"\bstd\s*::\s*array\b"), _ARRAY),
    (re.compile(rb"\bstd\s*::\s*(?:pair|make_pair)\b"), _PAIR),
    (re.compile(rb"\bstd\s*::\s*(?:clamp|exchange|addressof)\b"), _FUNCTIONS),
)
# a trait whose object or derived class is used: `f(x, std::is_same<T, int>{})`
_TRAIT = re.compile(
    rb"\bstd\s*::\s*(is_\w+)\s*<[^;{}()]*>\s*(?:\{\s*\}|\(\s*\))"
    rb"|:\s*(?:public\s+)?(?:cuda\s*::\s*)?std\s*::\s*(is_\w+)\s*<"
)


def used_by(code: bytes) -> str:
    """The classes of the standard library that ``code`` names."""
    traits = {(m[1] or m[2]).decode() for m in _TRAIT.finditer(code)}
    traits = {t for t in traits if not t.endswith("_v")}
    text = _CONSTANTS if traits or _USES_CONSTANTS.search(code) else ""
    text += "".join(map(_trait, sorted(traits)))
    text += _SEQUENCES if _USES_SEQUENCES.search(code) else ""
    text += "".join(classes for used, classes in _OTHERS if used.search(code))
    return text + _ELSEWHERE if text and re.search(rb"\bcuda\s*::\s*std\b", code) else text


def _trait(name: str) -> str:
    head, arguments = ("class A, class B", "A, B") if name == "is_same" else ("class A", "A")
    base = f"integral_constant<bool, {name}_v<{arguments}>>"
    return f"namespace std {{ template <{head}> struct {name} : {base} {{}}; }}\n"
