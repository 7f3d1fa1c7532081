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
_SPAN = """
namespace std {
template <class T, size_t N = size_t(-1)> struct span { T *data_; size_t size_;
using element_type = T; using size_type = size_t;
__host__ __device__ constexpr span() : data_(nullptr), size_(0) {}
__host__ __device__ constexpr span(T *p, size_t n) : data_(p), size_(n) {}
template <size_t M> __host__ __device__ constexpr span(T (&a)[M]) : data_(a), size_(M) {}
__host__ __device__ constexpr T &operator[](size_t i) const { return data_[i]; }
__host__ __device__ constexpr T &front() const { return data_[0]; }
__host__ __device__ constexpr T &back() const { return data_[size_ - 1]; }
__host__ __device__ constexpr T *data() const { return data_; }
__host__ __device__ constexpr T *begin() const { return data_; }
__host__ __device__ constexpr T *end() const { return data_ + size_; }
__host__ __device__ constexpr size_t size() const { return size_; }
__host__ __device__ constexpr size_t size_bytes() const { return size_ * sizeof(T); }
__host__ __device__ constexpr bool empty() const { return size_ == 0; }
__host__ __device__ constexpr span<T> first(size_t n) const { return span<T>(data_, n); }
__host__ __device__ constexpr span<T> last(size_t n) const {
return span<T>(data_ + (size_ - n), n); }
__host__ __device__ constexpr span<T> subspan(size_t at) const {
return span<T>(data_ + at, size_ - at); }
__host__ __device__ constexpr span<T> subspan(size_t at, size_t n) const {
return span<T>(data_ + at, n); } };
}
"""
_ATOMICS = """
namespace cuda {
enum memory_order { memory_order_relaxed, memory_order_consume, memory_order_acquire,
memory_order_release, memory_order_acq_rel, memory_order_seq_cst };
template <class T, thread_scope S = thread_scope_system> struct atomic_ref { T *at_;
__host__ __device__ explicit atomic_ref(T &x) : at_(&x) {}
__device__ T load(int order = 0) const { return *(volatile T *)at_; }
__device__ void store(T v, int order = 0) const { *(volatile T *)at_ = v; }
__device__ T exchange(T v, int order = 0) const { return atomicExch(at_, v); }
__device__ T fetch_add(T v, int order = 0) const { return atomicAdd(at_, v); }
__device__ T fetch_sub(T v, int order = 0) const { return atomicAdd(at_, -v); }
__device__ T fetch_min(T v, int order = 0) const { return atomicMin(at_, v); }
__device__ T fetch_max(T v, int order = 0) const { return atomicMax(at_, v); }
__device__ T fetch_and(T v, int order = 0) const { return atomicAnd(at_, v); }
__device__ T fetch_or(T v, int order = 0) const { return atomicOr(at_, v); }
__device__ T fetch_xor(T v, int order = 0) const { return atomicXor(at_, v); }
__device__ bool compare_exchange_strong(T &seen, T v, int one = 0, int other = 0) const {
T old = atomicCAS(at_, seen, v); bool done = old == seen; seen = old; return done; }
__device__ bool compare_exchange_weak(T &seen, T v, int one = 0, int other = 0) const {
T old = atomicCAS(at_, seen, v); bool done = old == seen; seen = old; return done; }
__device__ T operator+=(T v) const { return atomicAdd(at_, v) + v; }
__device__ T operator-=(T v) const { return atomicAdd(at_, -v) - v; }
__device__ T operator++() const { return atomicAdd(at_, (T)1) + 1; }
__device__ T operator++(int) const { return atomicAdd(at_, (T)1); }
__device__ T operator--() const { return atomicAdd(at_, (T)-1) - 1; }
__device__ T operator--(int) const { return atomicAdd(at_, (T)-1); } };
}
namespace cuda { namespace std {
using ::cuda::memory_order_relaxed; using ::cuda::memory_order_acquire;
using ::cuda::memory_order_release; using ::cuda::memory_order_acq_rel;
using ::cuda::memory_order_seq_cst; } }
"""
_SCOPES = """
namespace cuda { enum thread_scope { thread_scope_system, thread_scope_device,
thread_scope_block, thread_scope_thread = 10 }; }
"""
_BARRIER = """
namespace cuda {
template <thread_scope S> struct barrier { unsigned long long state_;
using arrival_token = unsigned long long;
__device__ arrival_token arrive(int n = 1) { return 0; }
__device__ void wait(arrival_token token) const { __syncthreads(); }
__device__ void arrive_and_wait() { __syncthreads(); }
__device__ void arrive_and_drop() {}
friend __device__ void init(barrier *b, int n) {} };
}
"""
_PIPELINE = """
namespace cuda {
enum pipeline_role { pipeline_role_producer, pipeline_role_consumer };
template <thread_scope S, size_t N> struct pipeline_shared_state { unsigned long long state_[N]; };
template <thread_scope S> struct pipeline { int stage_;
__device__ void producer_acquire() { if constexpr (S != thread_scope_thread) __syncthreads(); }
__device__ void producer_commit() {}
__device__ void consumer_wait() { if constexpr (S != thread_scope_thread) __syncthreads(); }
__device__ void consumer_release() {}
__device__ bool quit() { return true; } };
__device__ pipeline<thread_scope_thread> make_pipeline() {
return pipeline<thread_scope_thread>{0}; }
template <class G, thread_scope S, size_t N> __device__ pipeline<S> make_pipeline(
const G &g, pipeline_shared_state<S, N> *state, int role = 0) { return pipeline<S>{0}; }
template <int N, thread_scope S> __device__ void pipeline_consumer_wait_prior(pipeline<S> &p) {
p.consumer_wait(); }
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
    (re.compile(rb"\bstd\s*::\s*span\b"), _SPAN),
    (re.compile(rb"\bstd\s*::\s*(?:pair|make_pair)\b"), _PAIR),
    (re.compile(rb"\bstd\s*::\s*(?:clamp|exchange|addressof)\b"), _FUNCTIONS),
)
_USES_CUDA = (
    (re.compile(rb"\bcuda\s*::\s*atomic_ref\b"), _ATOMICS),
    (re.compile(rb"\bcuda\s*::\s*barrier\b"), _BARRIER),
    (re.compile(rb"\bcuda\s*::\s*(?:make_)?pipeline\b"), _PIPELINE),
)
# a trait whose object or derived class is used: `f(x, std::is_same<T, int>{})`
_TRAIT = re.compile(
    rb"\bstd\s*::\s*(is_\w+)\s*<[^;{}()]{0,500}>\s*(?:\{\s*\}|\(\s*\))"
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
    cuda = "".join(classes for used, classes in _USES_CUDA if used.search(code))
    text += _SCOPES + cuda if cuda else ""
    return text + _ELSEWHERE if text and re.search(rb"\bcuda\s*::\s*std\b", code) else text


def _trait(name: str) -> str:
    head, arguments = ("class A, class B", "A, B") if name == "is_same" else ("class A", "A")
    base = f"integral_constant<bool, {name}_v<{arguments}>>"
    return f"namespace std {{ template <{head}> struct {name} : {base} {{}}; }}\n"
