"""PyTorch's accessors of tensors, through which the kernels of its extensions index.

Its headers are most often not there; these classes have the members and functions that the
documentation of its C++ API gives accessors in kernels, in the order of memory.  In: preprocessed
code.  Out: text to put behind it, for a file that uses them and does not define them.
"""

from __future__ import annotations

import re

_MEMBERS = """using PtrType = T *;
__host__ __device__ I size(I i) const { return sizes_[i]; }
__host__ __device__ I stride(I i) const { return strides_[i]; }
__host__ __device__ T *data() const { return data_; }
"""
_INNER = """__host__ __device__ TensorAccessor<T, N - 1, P, I> operator[](I i) const {
return TensorAccessor<T, N - 1, P, I>{data_ + strides_[0] * i, sizes_ + 1, strides_ + 1}; } };
"""
_ELEMENT = "__host__ __device__ T &operator[](I i) const { return data_[strides_[0] * i]; } };\n"
_LENT = "T *data_; const I *sizes_; const I *strides_; "
_TEXT = f"""
namespace at {{
struct DefaultPtrTraits {{}}; struct RestrictPtrTraits {{}};
template <class T, size_t N, class P = DefaultPtrTraits, class I = int64_t> struct TensorAccessor {{
{_LENT}{_MEMBERS}{_INNER}
template <class T, class P, class I> struct TensorAccessor<T, 1, P, I> {{
{_LENT}{_MEMBERS}{_ELEMENT}
template <class T, size_t N, class P = DefaultPtrTraits, class I = int64_t>
struct GenericPackedTensorAccessor {{ T *data_; I sizes_[N]; I strides_[N];
{_MEMBERS}{_INNER}
template <class T, class P, class I> struct GenericPackedTensorAccessor<T, 1, P, I> {{
T *data_; I sizes_[1]; I strides_[1];
{_MEMBERS}{_ELEMENT}
template <class T, size_t N, class P = DefaultPtrTraits, class I = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;
template <class T, size_t N, class P = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <class T, size_t N, class P = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
}}
namespace torch {{ using namespace ::at; }}
"""
_USED = re.compile(rb"\b(?:Generic)?PackedTensorAccessor(?:32|64)?\s*<")
_DEFINED = re.compile(
    rb"\b(?:class|struct)\s+(?:Generic)?PackedTensorAccessor\w*\s*(?:final\s*)?[:{]"
)


def used_by(code: bytes) -> str:
    """The accessors, where ``code`` names one that it does not define."""
    return _TEXT if _USED.search(code) and not _DEFINED.search(code) else ""
