# Written by `make docs` from the declarations in ttnn_jit/ops; a test proves it current.
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, Unpack, overload

from ttnn_jit.ops.reduction.losses import LossReductionMode
from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.cores.memory_config import MemoryConfig
from ttnn_jit.specs.tensor_spec import Layout
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.ttnn.calling.eager_operation import TtnnOperation

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "add_",
    "addalpha",
    "addcdiv",
    "addcmul",
    "addmm",
    "all",
    "any",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "assign",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "celu",
    "chunk",
    "clamp",
    "clip",
    "concat",
    "copy",
    "cos",
    "cosh",
    "cumprod",
    "cumsum",
    "deg2rad",
    "digamma",
    "div",
    "div_",
    "div_no_nan",
    "divide",
    "divide_",
    "elu",
    "embedding",
    "eq",
    "eq_",
    "eqz",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expand",
    "expm1",
    "fill",
    "fill_cache",
    "flip",
    "floor",
    "floor_div",
    "floor_divide",
    "fmod",
    "fold",
    "frac",
    "gather",
    "gcd",
    "ge",
    "ge_",
    "geglu",
    "gelu",
    "gez",
    "glu",
    "group_norm",
    "gt",
    "gt_",
    "gtz",
    "hardmish",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "heaviside",
    "hypot",
    "i0",
    "identity",
    "index_fill",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "l1_loss",
    "layer_norm",
    "layer_norm_post_all_gather",
    "layer_norm_pre_all_gather",
    "lcm",
    "ldexp",
    "ldexp_",
    "le",
    "le_",
    "leaky_relu",
    "lerp",
    "lez",
    "lgamma",
    "linear",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_sigmoid",
    "log_softmax",
    "logaddexp",
    "logaddexp2",
    "logaddexp2_",
    "logaddexp_",
    "logical_and",
    "logical_and_",
    "logical_left_shift",
    "logical_not",
    "logical_not_",
    "logical_or",
    "logical_or_",
    "logical_right_shift",
    "logical_xor",
    "logical_xor_",
    "logit",
    "lt",
    "lt_",
    "ltz",
    "mac",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mish",
    "mse_loss",
    "mul",
    "mul_",
    "multigammaln",
    "multiply",
    "multiply_",
    "nan_to_num",
    "ne",
    "ne_",
    "neg",
    "nextafter",
    "nez",
    "norm",
    "normalize_global",
    "normalize_hw",
    "outer",
    "pad",
    "permute",
    "polygamma",
    "polyval",
    "pow",
    "prelu",
    "prod",
    "rad2deg",
    "rdiv",
    "recip",
    "reciprocal",
    "reglu",
    "relu",
    "relu6",
    "relu_max",
    "relu_min",
    "remainder",
    "repeat",
    "repeat_interleave",
    "reshape",
    "reshape_on_device",
    "rms_norm",
    "rms_norm_post_all_gather",
    "rms_norm_pre_all_gather",
    "roll",
    "round",
    "rpow",
    "rsqrt",
    "rsub",
    "rsub_",
    "scale_causal_mask_hw_dims_softmax_in_place",
    "scale_mask_softmax",
    "scale_mask_softmax_in_place",
    "scatter",
    "scatter_add",
    "selu",
    "sigmoid",
    "sigmoid_accurate",
    "sign",
    "signbit",
    "silu",
    "sin",
    "sinh",
    "slice",
    "slice_write",
    "softmax",
    "softmax_in_place",
    "softplus",
    "softshrink",
    "softsign",
    "sort",
    "sparse_matmul",
    "split",
    "sqrt",
    "square",
    "squared_difference",
    "squared_difference_",
    "squeeze",
    "stack",
    "std",
    "std_hw",
    "sub",
    "sub_",
    "subalpha",
    "subtract",
    "subtract_",
    "sum",
    "swiglu",
    "swish",
    "tan",
    "tanh",
    "tanhshrink",
    "threshold",
    "topk",
    "transpose",
    "tril",
    "triu",
    "trunc",
    "unsqueeze",
    "unsqueeze_to_4D",
    "update_cache",
    "var",
    "var_hw",
    "view",
    "where",
    "xlogy",
]

class Keywords(TypedDict, total=False):
    memory_config: MemoryConfig | None
    output_mem_config: MemoryConfig | None
    dtype: DataType | None
    output_tensor: Tensor | None
    optional_output_tensor: Tensor | None
    activations: Sequence[str | Callable[..., Any]] | None
    input_tensor_a_activations: Sequence[str | Callable[..., Any]] | None
    input_tensor_b_activations: Sequence[str | Callable[..., Any]] | None
    accurate_mode: object
    compute_kernel_config: object
    core_grid: object
    cq_id: object
    fast_and_approximate_mode: object
    global_cb: object
    program_config: object
    queue_id: object
    reshape_tile_mode: object
    sub_core_grids: object
    sub_device_id: object
    use_legacy: object
    use_multicore: object
    vector_mode: object

class _Abs(TtnnOperation):
    """|x|."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Acos(TtnnOperation):
    """The inverse of cos, in [0, pi]; NaN beyond [-1, 1]."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Acosh(TtnnOperation):
    """The inverse of cosh, at least 0; NaN below 1."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Add(TtnnOperation):
    """x + y."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Addalpha(TtnnOperation):
    """x + alpha * y, rounded once."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, alpha: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, alpha: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Addcdiv(TtnnOperation):
    """x + value * y / z."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, input_tensor_c: Tensor | float, value: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, input_c: Tensor | float, value: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Addcmul(TtnnOperation):
    """x + value * y * z."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, input_tensor_c: Tensor | float, value: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, input_c: Tensor | float, value: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Addmm(TtnnOperation):
    """`beta` times a tensor, plus `alpha` times the product of two matrices; with a `beta` of 0 the tensor is not read."""

    def __call__(self, input_tensor: Tensor, mat1_tensor: Tensor, mat2_tensor: Tensor, alpha: float = ..., beta: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _All(TtnnOperation):
    """1 where no element along the dimensions is zero, else 0, in x's dtype."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Any(TtnnOperation):
    """1 where an element along the dimensions is not zero, else 0, in x's dtype."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Argmax(TtnnOperation):
    """The index of the largest element along `dim`, or in the flat tensor; the first of equal ones, NaN is the largest."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Argmin(TtnnOperation):
    """The index of the smallest element along `dim`, or in the flat tensor; the first of equal ones, NaN is the smallest."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Asin(TtnnOperation):
    """The inverse of sin, in [-pi/2, pi/2]; NaN beyond [-1, 1]."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Asinh(TtnnOperation):
    """The inverse of sinh."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Assign(TtnnOperation):
    """A copy of the tensor."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Atan(TtnnOperation):
    """The inverse of tan, in [-pi/2, pi/2]."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Atan2(TtnnOperation):
    """The angle of the point (y, x), x the first operand, as in C99 Annex F."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Atanh(TtnnOperation):
    """The inverse of tanh; NaN beyond [-1, 1]."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseAnd(TtnnOperation):
    """The bits that are set in both x and y."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseLeftShift(TtnnOperation):
    """x * 2**y, truncated to the element's width; 0 where y is below 0 or above 31."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, shift_bits: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseNot(TtnnOperation):
    """The bits that are not set in x."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseOr(TtnnOperation):
    """The bits that are set in x or y."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseRightShift(TtnnOperation):
    """The floor of x / 2**y; all bits are the sign bit where y is below 0 or above 31."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, shift_bits: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseXor(TtnnOperation):
    """The bits that are set in exactly one of x and y."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Cbrt(TtnnOperation):
    """The cube root."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Ceil(TtnnOperation):
    """The least integer that is not below x."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Celu(TtnnOperation):
    """x where it is positive, else alpha * (exp(x / alpha) - 1)."""

    def __call__(self, input_tensor: Tensor, alpha: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Chunk(TtnnOperation):
    """At most `chunks` parts along `dim`, of equal extents except the last one."""

    @overload
    def __call__(self, input_tensor: Tensor, chunks: int, dim: int = ..., **keywords: Unpack[Keywords]) -> list[Tensor]: ...
    @overload
    def __call__(self, input: Tensor, chunks: int, dim: int = ..., **keywords: Unpack[Keywords]) -> list[Tensor]: ...

class _Clamp(TtnnOperation):
    """x limited to [min, max]; NaN in any of them gives NaN. A bound of the largest float32 does not limit infinities.

    Or: x limited to [min, max] element by element; NaN in any of them gives NaN."""

    @overload
    def __call__(self, input_tensor: Tensor, min: float = ..., max: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, min: Tensor | float = ..., max: Tensor | float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Concat(TtnnOperation):
    """The tensors one after the other along `dim`.

    Or: Tensors in `groups` equal parts along `dim`: the first part of each, then the second of each, and so on."""

    @overload
    def __call__(self, tensors: Sequence[Tensor], dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensors: Sequence[Tensor], dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, tensors: Sequence[Tensor], dim: int = ..., *, groups: int, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensors: Sequence[Tensor], dim: int = ..., *, groups: int, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Copy(TtnnOperation):
    """The first tensor in the element type of the second, which is written."""

    @overload
    def __call__(self, input_a: Tensor, input_b: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Cos(TtnnOperation):
    """Cosine of x radians, to the largest float."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Cosh(TtnnOperation):
    """Hyperbolic cosine."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Cumprod(TtnnOperation):
    """The cumulative products along `dim`: of floats in float64, rounded once; of integers the low bits."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int, *, out: Tensor | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, *, out: Tensor | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Cumsum(TtnnOperation):
    """The cumulative sums along `dim`: of floats in float64, rounded once; of integers the low bits."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int, *, out: Tensor | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, *, out: Tensor | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Deg2Rad(TtnnOperation):
    """x degrees in radians."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Digamma(TtnnOperation):
    """The derivative of lgamma; NaN at the negative integers."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _DivNoNan(TtnnOperation):
    """x / y, correctly rounded; 0 where y is zero."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Divide(TtnnOperation):
    """x / y, correctly rounded.

    Or: The floor of the exact x / y.

    Or: The exact x / y without its fraction.

    Or: x / y of integers, in float32.

    Or: The floor of the quotient of integers; 0 where y is 0.

    Or: The quotient of integers without its fraction; 0 where y is 0."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, *, rounding_mode: None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: Literal['floor'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, *, rounding_mode: Literal['floor'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: Literal['trunc'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, *, rounding_mode: Literal['trunc'], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Elu(TtnnOperation):
    """x where it is positive, else alpha * (exp(x) - 1)."""

    def __call__(self, input_tensor: Tensor, alpha: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Embedding(TtnnOperation):
    """The row of `weight` at every index, (..., indices) and (rows, columns) to (..., indices, columns), and (batch, 1, 1, indices) to (batch, indices, columns), by default in the layout of `weight`; an index out of range is clamped, and a float index is truncated."""

    @overload
    def __call__(self, input_tensor: Tensor, weight: Tensor, layout: Layout | None = ..., *, padding_idx: object = ..., embeddings_type: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, weight: Tensor, layout: Layout | None = ..., *, padding_idx: object = ..., embeddings_type: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Eq(TtnnOperation):
    """1 where x equals y, else 0, in the first operand's dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Eqz(TtnnOperation):
    """1 where x is zero, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Erf(TtnnOperation):
    """The error function."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Erfc(TtnnOperation):
    """1 - erf(x), the digits of the right tail kept."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Erfinv(TtnnOperation):
    """The inverse of erf; NaN beyond [-1, 1]."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Exp(TtnnOperation):
    """e to the power x."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Exp2(TtnnOperation):
    """2 to the power x."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Expand(TtnnOperation):
    """The tensor repeated along dimensions of extent 1, and along new ones in front, to `output_shape`."""

    @overload
    def __call__(self, input_tensor: Tensor, output_shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalAttnMatmul(TtnnOperation):
    """Queries [positions, heads, users, channels] times a matrix for each user and group of heads."""

    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, compute_with_storage_grid_size: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalConcatenateHeads(TtnnOperation):
    """Heads [batch, heads, positions, channels of one] as rows [batch, 1, positions, channels]."""

    @overload
    def __call__(self, input_tensor: Tensor, *, compute_with_storage_grid_size: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, *, compute_with_storage_grid_size: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalCreateQkvHeads(TtnnOperation):
    """Heads of rows of groups; a group is the queries that share a key, that key, and its value."""

    @overload
    def __call__(self, input_tensor: Tensor, num_heads: int, num_kv_heads: int | None = ..., transpose_k_heads: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...
    @overload
    def __call__(self, input: Tensor, num_q_heads: int, num_kv_heads: int | None = ..., transpose_k_heads: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...

class _ExperimentalCreateQkvHeadsFromSeparateTensors(TtnnOperation):
    """Heads of rows of queries, and of rows of pairs of a key and its value."""

    @overload
    def __call__(self, input_tensor: Tensor, input_tensor_kv: Tensor, num_heads: int, num_kv_heads: int | None = ..., transpose_k_heads: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...
    @overload
    def __call__(self, input: Tensor, input_kv: Tensor, num_q_heads: int, num_kv_heads: int | None = ..., transpose_k_heads: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...

class _ExperimentalGroupAttnMatmul(TtnnOperation):
    """Queries [positions, heads, users, channels] times a matrix for each user and group of heads."""

    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, *, compute_with_storage_grid_size: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalNlpConcatHeads(TtnnOperation):
    """Heads [batch, heads, positions, channels of one] as rows [batch, 1, positions, channels]."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalNlpConcatHeadsDecode(TtnnOperation):
    """The first `num_heads` heads of every user as a row, [1, 1, users, channels], padded with 0 to 32 rows."""

    @overload
    def __call__(self, input_tensor: Tensor, num_heads: int, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, num_q_heads: int, **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalNlpCreateQkvHeads(TtnnOperation):
    """Heads of queries, of keys, transposed by default, and of values, from rows in four dimensions."""

    @overload
    def __call__(self, input_tensor: Tensor, input_tensor_kv: Tensor | None = ..., *, num_heads: int, num_kv_heads: int | None = ..., transpose_k_heads: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...
    @overload
    def __call__(self, input: Tensor, kv_input_tensor: Tensor | None = ..., *, num_q_heads: int, num_kv_heads: int | None = ..., transpose_k_heads: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...

class _ExperimentalNlpCreateQkvHeadsDecode(TtnnOperation):
    """Heads of queries, keys and values of one position of every user, each [1, users, heads, channels]."""

    @overload
    def __call__(self, input_tensor: Tensor, num_heads: int, num_kv_heads: int | None = ..., *, overlap_qkv_coregrid: object = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...
    @overload
    def __call__(self, input: Tensor, num_q_heads: int, num_kv_heads: int | None = ..., *, overlap_qk_coregrid: object = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...

class _ExperimentalNlpCreateQkvHeadsFalcon7B(TtnnOperation):
    """71 heads of queries, one of keys and one of values, in this order, from rows in four dimensions."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...
    @overload
    def __call__(self, input: Tensor, **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...

class _ExperimentalPagedFillCache(TtnnOperation):
    """Writes all positions of one user, or of the users in `batch_idx_tensor`, to a paged cache, in place."""

    @overload
    def __call__(self, cache: Tensor, input: Tensor, page_table: Tensor, batch_idx_tensor: Tensor | None = ..., batch_idx: int = ..., *, mesh_coords: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, cache_tensor: Tensor, input_tensor: Tensor, page_table: Tensor, batch_idx_tensor: Tensor | None = ..., batch_idx: int = ..., *, mesh_coords: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalPagedUpdateCache(TtnnOperation):
    """Writes a row of `input` [1, users, heads, channels] for each user to the user's position of a cache, in place; positions out of range are skipped."""

    @overload
    def __call__(self, cache: Tensor, input: Tensor, update_idxs_tensor: Tensor | None = ..., page_table: Tensor | None = ..., update_idxs: Sequence[int] = ..., *, share_cache: object = ..., mesh_coords: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, cache_tensor: Tensor, input_tensor: Tensor, update_idxs_tensor: Tensor | None = ..., page_table: Tensor | None = ..., update_idxs: Sequence[int] = ..., *, share_cache: object = ..., mesh_coords: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalRotaryEmbedding(TtnnOperation):
    """Rotates channels i and i + n/2 of every row by the angle of its position, or of position `token_index`."""

    @overload
    def __call__(self, input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, token_index: int | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, cos_cached: Tensor, sin_cached: Tensor, token_idx: int | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalRotaryEmbeddingHf(TtnnOperation):
    """Rotates channels i and i + n/2 of every row by the angle of its position; in decode mode, of its user."""

    @overload
    def __call__(self, input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, is_decode_mode: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, cos_cached: Tensor, sin_cached: Tensor, is_decode_mode: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalRotaryEmbeddingLlama(TtnnOperation):
    """Rotates channels 2i and 2i + 1 of every row by the angle of its position, in decode mode of its user: the row times cosines, plus each 32 channels of it times `trans_mat`, times sines."""

    @overload
    def __call__(self, input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, trans_mat: Tensor, is_decode_mode: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, cos_cached: Tensor, sin_cached: Tensor, trans_mat: Tensor, is_decode_mode: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _ExperimentalRotaryEmbeddingLlamaFusedQk(TtnnOperation):
    """`rotary_embedding_llama` of queries and of keys in decode mode; the angles of both are concatenated."""

    @overload
    def __call__(self, q_input_tensor: Tensor, k_input_tensor: Tensor, cos_cache: Tensor, sin_cache: Tensor, trans_mat: Tensor, **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...
    @overload
    def __call__(self, q_input_tensor: Tensor, k_input_tensor: Tensor, cos_cached: Tensor, sin_cached: Tensor, trans_mat: Tensor, **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...

class _ExperimentalSplitQueryKeyValueAndSplitHeads(TtnnOperation):
    """Heads of queries, of keys, transposed, and of values, from rows in four dimensions; each shard of sharded rows has all three for some heads."""

    @overload
    def __call__(self, input_tensor: Tensor, num_heads: int = ..., *, compute_with_storage_grid_size: object = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...
    @overload
    def __call__(self, input: Tensor, num_heads: int = ..., *, compute_with_storage_grid_size: object = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...

class _Expm1(TtnnOperation):
    """exp(x) - 1, the digits of small results kept."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Fill(TtnnOperation):
    """y, a number or a tensor, in x's shape and dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, fill_value: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, fill_value: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _FillCache(TtnnOperation):
    """Writes `input` [1, heads, positions, channels] to the first positions of one user of a cache, in place."""

    @overload
    def __call__(self, cache: Tensor, input: Tensor, batch_idx: int, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, cache_tensor: Tensor, input_tensor: Tensor, batch_index: int, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Flip(TtnnOperation):
    """The tensor with its elements in reverse order along `dims`."""

    @overload
    def __call__(self, input_tensor: Tensor, dims: int | Sequence[int] | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int | Sequence[int] | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Floor(TtnnOperation):
    """The largest integer that is not above x."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _FloorDivide(TtnnOperation):
    """The floor of x / y.

    Or: The floor of the quotient of integers; 0 where y is 0."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Fmod(TtnnOperation):
    """The exact remainder of x / y rounded towards zero; it has the sign of x.

    Or: The remainder of the quotient toward zero; 0 where y is 0."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Fold(TtnnOperation):
    """Images whose blocks of `stride_h` rows and `stride_w` columns become the channels of one position.

    Or: The same for images in channels-first order; the result is channels-last."""

    @overload
    def __call__(self, input_tensor: Tensor, stride_h: int, stride_w: int, padding: Sequence[int] = ..., pad_c: int = ..., pad_h: int = ..., pad_w: int = ..., *, use_transpose_as_fold: Literal[False] = ..., grid_size: object = ..., override_memory_config: MemoryConfig | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, stride_h: int, stride_w: int, padding: Sequence[int] = ..., pad_c: int = ..., pad_h: int = ..., pad_w: int = ..., *, use_transpose_as_fold: Literal[False] = ..., grid_size: object = ..., override_memory_config: MemoryConfig | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, stride_h: int, stride_w: int, padding: Sequence[int] = ..., pad_c: int = ..., pad_h: int = ..., pad_w: int = ..., *, use_transpose_as_fold: Literal[True], grid_size: object = ..., override_memory_config: MemoryConfig | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, stride_h: int, stride_w: int, padding: Sequence[int] = ..., pad_c: int = ..., pad_h: int = ..., pad_w: int = ..., *, use_transpose_as_fold: Literal[True], grid_size: object = ..., override_memory_config: MemoryConfig | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Frac(TtnnOperation):
    """x - trunc(x)."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Gather(TtnnOperation):
    """The elements at the indices `index` along `dim`; an index out of range is clamped."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, *, sparse_grad: object = ..., out: Tensor | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, *, sparse_grad: object = ..., out: Tensor | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Gcd(TtnnOperation):
    """The greatest common divisor of integers, not below 0."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Ge(TtnnOperation):
    """1 where x is not below y, else 0, in the first operand's dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Geglu(TtnnOperation):
    """The first half along `dim`, times `gelu` of the second."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Gelu(TtnnOperation):
    """x times the normal distribution function of x.

    Or: x * sigmoid(2 sqrt(2 / pi) (x + 0.044715 x**3)): gelu with tanh in place of erf."""

    @overload
    def __call__(self, input_tensor: Tensor, *, approximate: Literal['none'] = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, *, variant: Literal['none'] = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, *, approximate: Literal['tanh'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, *, variant: Literal['tanh'], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Gez(TtnnOperation):
    """1 where x is not below zero, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Glu(TtnnOperation):
    """The first half along `dim`, times `sigmoid` of the second."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _GroupNorm(TtnnOperation):
    """Groups of channels (the last dimension) minus their mean, divided by their standard deviation, times `weight`, plus `bias`."""

    @overload
    def __call__(self, input_tensor: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., *, num_groups: int, epsilon: float = ..., output_layout: Layout | None = ..., input_mask: object = ..., negative_mask: object = ..., reciprocals: object = ..., inplace: object = ..., num_out_blocks: object = ..., use_welford: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., *, num_groups: int, eps: float = ..., output_layout: Layout | None = ..., input_mask: object = ..., negative_mask: object = ..., reciprocals: object = ..., inplace: object = ..., num_out_blocks: object = ..., use_welford: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Gt(TtnnOperation):
    """1 where x is above y, else 0, in the first operand's dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Gtz(TtnnOperation):
    """1 where x is above zero, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Hardmish(TtnnOperation):
    """x * (x + 2.8) / 5, its second factor limited to [0, 5]: a piecewise approximation of mish."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Hardshrink(TtnnOperation):
    """0 where |x| is at most lambd, else x; NaN stays NaN."""

    def __call__(self, input_tensor: Tensor, lambd: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Hardsigmoid(TtnnOperation):
    """(x + 3) / 6, limited to [0, 1]."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Hardswish(TtnnOperation):
    """x * hardsigmoid(x)."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Hardtanh(TtnnOperation):
    """x limited to [min_val, max_val]; NaN stays NaN."""

    def __call__(self, input_tensor: Tensor, min_val: float = ..., max_val: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Heaviside(TtnnOperation):
    """0 below zero, `value` at zero, 1 above; NaN stays NaN."""

    def __call__(self, input_tensor: Tensor, value: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Hypot(TtnnOperation):
    """sqrt(x * x + y * y) without overflow on the way."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _I0(TtnnOperation):
    """The modified Bessel function of the first kind and order 0."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Identity(TtnnOperation):
    """x."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _IndexFill(TtnnOperation):
    """The tensor with `value` at the indices `index` along `dim`."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, value: float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, value: float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Isclose(TtnnOperation):
    """1 where |x - y| <= atol + rtol * |y|, else 0, in x's dtype; both sides in float32, as in torch."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, rtol: float = ..., atol: float = ..., equal_nan: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, rtol: float = ..., atol: float = ..., equal_nan: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Isfinite(TtnnOperation):
    """1 where x is neither infinite nor NaN, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Isinf(TtnnOperation):
    """1 where x is infinite, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Isnan(TtnnOperation):
    """1 where x is NaN, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Isneginf(TtnnOperation):
    """1 where x is negative infinity, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Isposinf(TtnnOperation):
    """1 where x is positive infinity, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _L1Loss(TtnnOperation):
    """The absolute differences, their sum or their mean."""

    def __call__(self, input_reference: Tensor, input_prediction: Tensor, reduction: LossReductionMode = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _LayerNorm(TtnnOperation):
    """Rows minus their mean, divided by their standard deviation, times `weight`, plus `bias`, both per column."""

    @overload
    def __call__(self, input_tensor: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., residual_input_tensor: Tensor | None = ..., epsilon: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., residual_input_tensor: Tensor | None = ..., eps: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _LayerNormPostAllGather(TtnnOperation):
    """`layer_norm` of a part of rows; `stats` has from each device their sums of squares and their sums."""

    @overload
    def __call__(self, input_tensor: Tensor, stats: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., epsilon: float = ..., *, use_2d_core_grid: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, stats: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., eps: float = ..., *, use_2d_core_grid: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _LayerNormPreAllGather(TtnnOperation):
    """The sums of the squares of rows and their sums, each in the first column of a tile, zeros in the others."""

    @overload
    def __call__(self, input_tensor: Tensor, residual_input_tensor: Tensor | None = ..., *, use_2d_core_grid: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, residual_input_tensor: Tensor | None = ..., *, use_2d_core_grid: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Lcm(TtnnOperation):
    """The least common multiple of integers; 0 where one is 0."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Ldexp(TtnnOperation):
    """x * 2**y; zeros and infinities stay where y is finite."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Le(TtnnOperation):
    """1 where x is not above y, else 0, in the first operand's dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LeakyRelu(TtnnOperation):
    """x where it is positive, else slope * x."""

    @overload
    def __call__(self, input_tensor: Tensor, slope: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, negative_slope: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Lerp(TtnnOperation):
    """input + weight * (end - input)."""

    def __call__(self, input: Tensor | float, end: Tensor | float, weight: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Lez(TtnnOperation):
    """1 where x is not above zero, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Lgamma(TtnnOperation):
    """The logarithm of |gamma(x)|; infinite at 0 and the negative integers."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Linear(TtnnOperation):
    """The product of matrices (`matmul`), plus `bias`, which is broadcast to it, then the unary function that `activation` names."""

    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, bias: Tensor | None = ..., transpose_a: bool = ..., transpose_b: bool = ..., activation: str | object | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Log(TtnnOperation):
    """The natural logarithm; NaN below zero."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Log10(TtnnOperation):
    """The logarithm to base 10; NaN below zero."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Log1P(TtnnOperation):
    """log(1 + x), the digits of small results kept; NaN below -1."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Log2(TtnnOperation):
    """The logarithm to base 2; NaN below zero."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogSigmoid(TtnnOperation):
    """log(sigmoid(x))."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogSoftmax(TtnnOperation):
    """The logarithm of `softmax`, without its underflow."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int = ..., numeric_stable: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int = ..., numeric_stable: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Logaddexp(TtnnOperation):
    """log(exp(x) + exp(y))."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Logaddexp2(TtnnOperation):
    """log2(2**x + 2**y)."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalAnd(TtnnOperation):
    """1 where both x and y are not zero, else 0, in the first operand's dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalLeftShift(TtnnOperation):
    """x * 2**y, truncated to the element's width; 0 where y is below 0 or above 31."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, shift_bits: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalNot(TtnnOperation):
    """1 where x is zero, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalOr(TtnnOperation):
    """1 where x or y or both are not zero, else 0, in the first operand's dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalRightShift(TtnnOperation):
    """The bits of x shifted right by y, with zeros shifted in; 0 where y is below 0 or above 31."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, shift_bits: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalXor(TtnnOperation):
    """1 where one of x and y is not zero, else 0, in the first operand's dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Logit(TtnnOperation):
    """log(x / (1 - x)); NaN beyond [0, 1].

    Or: log(x / (1 - x)) of x limited to [eps, 1 - eps]."""

    @overload
    def __call__(self, input_tensor: Tensor, *, eps: None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, eps: float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Lt(TtnnOperation):
    """1 where x is below y, else 0, in the first operand's dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Ltz(TtnnOperation):
    """1 where x is below zero, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Mac(TtnnOperation):
    """x * y + z, rounded once."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, input_tensor_c: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, input_c: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Matmul(TtnnOperation):
    """The product of matrices, (..., m, k) by (..., k, n); leading dimensions broadcast and vectors are matrices as in torch.matmul.

    Or: The product of matrices, then the unary function that `activation` names."""

    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, transpose_a: bool = ..., transpose_b: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, transpose_a: bool = ..., transpose_b: bool = ..., activation: str | object | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Max(TtnnOperation):
    """The largest element along dimensions; NaN where one is."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Maximum(TtnnOperation):
    """The larger of x and y; NaN if either is."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Mean(TtnnOperation):
    """The mean along dimensions: the sum divided by the number of elements.

    Or: The mean along dimensions, times `scalar`."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., *, scalar: float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., *, scalar: float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Min(TtnnOperation):
    """The smallest element along dimensions; NaN where one is."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Minimum(TtnnOperation):
    """The smaller of x and y; NaN if either is."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Mish(TtnnOperation):
    """x * tanh(log(1 + exp(x)))."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _MseLoss(TtnnOperation):
    """The squares of the differences, their sum or their mean."""

    def __call__(self, input_reference: Tensor, input_prediction: Tensor, reduction: LossReductionMode = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Multigammaln(TtnnOperation):
    """The logarithm of the multivariate gamma function of 4 dimensions; NaN where x is not above 1.5."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Multiply(TtnnOperation):
    """x * y."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _NanToNum(TtnnOperation):
    """x with NaN and the infinities replaced, by default by 0 and the largest numbers of x's dtype."""

    def __call__(self, input_tensor: Tensor, nan: float = ..., posinf: float = ..., neginf: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Ne(TtnnOperation):
    """1 where x differs from y, else 0, in the first operand's dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Neg(TtnnOperation):
    """-x: the sign bit flipped."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Nextafter(TtnnOperation):
    """The next number of x's dtype after x toward y; y where they are equal."""

    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Nez(TtnnOperation):
    """1 where x is not zero, NaN too, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Norm(TtnnOperation):
    """The vector norm of order `p` along dimensions: 0 counts nonzero elements, infinity gives the largest."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., p: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., p: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _NormalizeGlobal(TtnnOperation):
    """The elements minus the mean of all, divided by the standard deviation of all, without Bessel's correction."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _NormalizeHw(TtnnOperation):
    """The elements minus their mean over rows and columns, divided by `std_hw`."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Outer(TtnnOperation):
    """The products of all pairs of elements of two vectors, which may lie along any dimension."""

    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Pad(TtnnOperation):
    """The tensor padded with `value`; `padding` has the elements before and after, along the last dimensions.

    Or: The tensor padded with `value` to `output_padded_shape`, its first element at `input_tensor_start`.

    Or: The tensor padded by `padding`, with a reflection that does not repeat its edges.

    Or: The tensor padded by `padding`, with copies of its edges.

    Or: The tensor padded by `padding`, with the elements of its other end."""

    @overload
    def __call__(self, input_tensor: Tensor, padding: Sequence[tuple[int, int]], value: float = ..., *, mode: Literal['constant'] = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, padding: Sequence[tuple[int, int]], value: float = ..., *, mode: Literal['constant'] = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, output_padded_shape: Sequence[int], input_tensor_start: Sequence[int] = ..., value: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, output_tensor_shape: Sequence[int], input_tensor_start: Sequence[int] = ..., value: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, padding: Sequence[tuple[int, int]], *, mode: Literal['reflect'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, padding: Sequence[tuple[int, int]], *, mode: Literal['reflect'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, padding: Sequence[tuple[int, int]], *, mode: Literal['replicate'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, padding: Sequence[tuple[int, int]], *, mode: Literal['replicate'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, padding: Sequence[tuple[int, int]], *, mode: Literal['circular'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, padding: Sequence[tuple[int, int]], *, mode: Literal['circular'], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Permute(TtnnOperation):
    """The tensor with permuted dimensions: dimension i of the result is `permutation[i]` of the operand."""

    @overload
    def __call__(self, input_tensor: Tensor, permutation: Sequence[int], *, pad_value: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: Sequence[int], *, pad_value: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Polygamma(TtnnOperation):
    """The derivative number k of digamma; at 0 and the negative integers its limit from above, infinite."""

    def __call__(self, input_tensor: Tensor, k: int, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Polyval(TtnnOperation):
    """The polynomial in x with the coefficients `coeffs`, that of the highest power first, by Horner's rule."""

    @overload
    def __call__(self, input_tensor_a: Tensor, coeffs: Sequence[float], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, coeffs: Sequence[float], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Pow(TtnnOperation):
    """x to the power y, as in C99 Annex F."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, exponent: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Prelu(TtnnOperation):
    """x where it is positive, else weight * x; a weight per channel, dimension 1, or one for all."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, weight: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, weight: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Prod(TtnnOperation):
    """The product along dimensions."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Rad2Deg(TtnnOperation):
    """x radians in degrees."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Rdiv(TtnnOperation):
    """y / x, correctly rounded.

    Or: The floor of the exact y / x.

    Or: The exact y / x without its fraction."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, *, rounding_mode: None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: Literal['floor'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, *, rounding_mode: Literal['floor'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: Literal['trunc'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, *, rounding_mode: Literal['trunc'], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Reciprocal(TtnnOperation):
    """1 / x, correctly rounded."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Reglu(TtnnOperation):
    """The first half along `dim`, times `relu` of the second."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Relu(TtnnOperation):
    """max(x, 0); NaN stays NaN."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Relu6(TtnnOperation):
    """x limited to [0, 6]; NaN stays NaN."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _ReluMax(TtnnOperation):
    """x where it is positive, else 0, and at most `upper_limit`."""

    def __call__(self, input_tensor: Tensor, upper_limit: float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _ReluMin(TtnnOperation):
    """x, and at least `lower_limit`."""

    def __call__(self, input_tensor: Tensor, lower_limit: float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Remainder(TtnnOperation):
    """fmod with the sign of y, as Python's %.

    Or: The remainder of floor division, with the sign of y; 0 where y is 0."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Repeat(TtnnOperation):
    """The tensor repeated along every dimension; `repeat_dimensions` holds the counts."""

    @overload
    def __call__(self, input_tensor: Tensor, repeat_dimensions: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, repeat_dims: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...

class _RepeatInterleave(TtnnOperation):
    """Every element along `dim`, `repeats` times in a row."""

    @overload
    def __call__(self, input_tensor: Tensor, repeats: int, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, repeats: int, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Reshape(TtnnOperation):
    """The elements in row-major order as a tensor of another shape; an extent of -1 follows from the others.

    Or: The elements as a tensor of `padded_shape`, cut to those with indices below `shape`."""

    @overload
    def __call__(self, input_tensor: Tensor, shape: Sequence[int], *, pad_value: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, logical_shape: Sequence[int], *, pad_value: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, shape: Sequence[int], padded_shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, logical_shape: Sequence[int], padded_shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...

class _ReshapeOnDevice(TtnnOperation):
    """The elements as a tensor of these four extents, one of which may be -1."""

    @overload
    def __call__(self, input_tensor: Tensor, W: int, Z: int, Y: int, X: int, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, W: int, Z: int, Y: int, X: int, **keywords: Unpack[Keywords]) -> Tensor: ...

class _RmsNorm(TtnnOperation):
    """Rows divided by the root of the mean of their squares, times `weight`, plus `bias`, both per column."""

    @overload
    def __call__(self, input_tensor: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., residual_input_tensor: Tensor | None = ..., epsilon: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., residual_input_tensor: Tensor | None = ..., eps: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _RmsNormPostAllGather(TtnnOperation):
    """`rms_norm` of a part of rows; `stats` has their sums of squares, one tile's width from each device."""

    @overload
    def __call__(self, input_tensor: Tensor, stats: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., epsilon: float = ..., *, use_2d_core_grid: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, stats: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., eps: float = ..., *, use_2d_core_grid: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _RmsNormPreAllGather(TtnnOperation):
    """The sums of the squares of rows, each in the first column of a tile, zeros in the others."""

    @overload
    def __call__(self, input_tensor: Tensor, residual_input_tensor: Tensor | None = ..., *, use_2d_core_grid: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, residual_input_tensor: Tensor | None = ..., *, use_2d_core_grid: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Roll(TtnnOperation):
    """Elements rotated by `shifts` along `dim`; the flattened tensor is rotated if `dim` is None."""

    @overload
    def __call__(self, input_tensor: Tensor, shifts: int | Sequence[int] | None = ..., dim: int | Sequence[int] | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, shifts: int | Sequence[int] | None = ..., dims: int | Sequence[int] | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Round(TtnnOperation):
    """The nearest integer, ties to even.

    Or: x rounded to `decimals` decimals, ties to even; to tens, hundreds and so on where negative."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, decimals: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Rpow(TtnnOperation):
    """y to the power x, as in C99 Annex F."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, exponent: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Rsqrt(TtnnOperation):
    """1 / sqrt(x)."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Rsub(TtnnOperation):
    """y - x."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _ScaleMaskSoftmax(TtnnOperation):
    """The softmax of rows times `scale` plus `mask`; `is_causal_mask` and `numeric_stable` have no effect."""

    @overload
    def __call__(self, input_tensor: Tensor, scale: float | None = ..., mask: Tensor | None = ..., is_causal_mask: bool = ..., numeric_stable: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, scale: float | None = ..., mask: Tensor | None = ..., is_causal_mask: bool = ..., numeric_stable: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Scatter(TtnnOperation):
    """The tensor with elements of `src` in place of the elements at the indices `index` along `dim`.

    Or: The tensor with elements of `src` added to the elements at the indices `index` along `dim`.

    Or: The tensor with elements of `src` multiplied into the elements at the indices `index` along `dim`.

    Or: The tensor with elements of `src` combined by the maximum with the elements at the indices `index` along `dim`.

    Or: The tensor with elements of `src` combined by the minimum with the elements at the indices `index` along `dim`."""

    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: Literal['add'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: Literal['add'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: Literal['multiply'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: Literal['multiply'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: Literal['amax'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: Literal['amax'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: Literal['amin'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: Literal['amin'], **keywords: Unpack[Keywords]) -> Tensor: ...

class _ScatterAdd(TtnnOperation):
    """The tensor with elements of `src` added to the elements at the indices `index` along `dim`."""

    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, src: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Selu(TtnnOperation):
    """scale * x where x is positive, else scale * alpha * (exp(x) - 1)."""

    def __call__(self, input_tensor: Tensor, scale: float = ..., alpha: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Sigmoid(TtnnOperation):
    """1 / (1 + exp(-x))."""

    def __call__(self, input_tensor: Tensor, *, mode: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _SigmoidAccurate(TtnnOperation):
    """`sigmoid`, which is always accurate here."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Sign(TtnnOperation):
    """-1, 0 or 1, as x is below zero, zero or above; zeros keep their sign, NaN stays NaN."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Signbit(TtnnOperation):
    """1 where x is below zero or -0, and not NaN (the sign of NaN depends on the processor), else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Silu(TtnnOperation):
    """x * sigmoid(x), the smooth relu."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Sin(TtnnOperation):
    """Sine of x radians, to the largest float."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Sinh(TtnnOperation):
    """Hyperbolic sine."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Slice(TtnnOperation):
    """Per dimension, the elements from `begins` to before `ends`, each `step`-th."""

    @overload
    def __call__(self, input_tensor: Tensor, begins: Sequence[int], ends: Sequence[int], step: Sequence[int] = ..., *, pad_value: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, slice_start: Sequence[int], slice_end: Sequence[int], slice_step: Sequence[int] = ..., *, pad_value: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _SliceWrite(TtnnOperation):
    """x with `part` in place of the elements of the slice."""

    def __call__(self, input_tensor: Tensor, part: Tensor, begins: Sequence[int], ends: Sequence[int], step: Sequence[int] = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Softmax(TtnnOperation):
    """exp(x - m) over its sum along `dim`, m the largest element there. `numeric_stable` has no effect."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int = ..., numeric_stable: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int = ..., numeric_stable: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Softplus(TtnnOperation):
    """log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold."""

    def __call__(self, input_tensor: Tensor, beta: float = ..., threshold: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Softshrink(TtnnOperation):
    """x moved towards zero by lambd, 0 where that would cross zero; NaN stays NaN."""

    def __call__(self, input_tensor: Tensor, lambd: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Softsign(TtnnOperation):
    """x / (1 + |x|)."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Sort(TtnnOperation):
    """The sorted elements along `dim`, and their former indices; always stable, NaN is the largest."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int = ..., descending: bool = ..., stable: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, Tensor]: ...
    @overload
    def __call__(self, input: Tensor, dim: int = ..., descending: bool = ..., stable: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, Tensor]: ...

class _SparseMatmul(TtnnOperation):
    """Products of matrices, zeros where the element of `sparsity` is zero; with `indices`, products with the matrices at these indices."""

    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, sparsity: Tensor, indices: Tensor | None = ..., nnz: int | None = ..., is_input_a_sparse: bool = ..., is_input_b_sparse: bool = ..., *, output_tile: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Split(TtnnOperation):
    """Parts of `split_size` elements along `dim`; the last one has the rest.

    Or: Parts along `dim` with the numbers of elements in `split_size`; the last one has at most the rest."""

    @overload
    def __call__(self, input_tensor: Tensor, split_size: int, dim: int = ..., **keywords: Unpack[Keywords]) -> list[Tensor]: ...
    @overload
    def __call__(self, input: Tensor, split_size: int, dim: int = ..., **keywords: Unpack[Keywords]) -> list[Tensor]: ...
    @overload
    def __call__(self, input_tensor: Tensor, split_size: Sequence[int], dim: int = ..., **keywords: Unpack[Keywords]) -> list[Tensor]: ...
    @overload
    def __call__(self, input: Tensor, split_sizes: Sequence[int], dim: int = ..., **keywords: Unpack[Keywords]) -> list[Tensor]: ...

class _Sqrt(TtnnOperation):
    """Square root, correctly rounded; NaN below zero."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Square(TtnnOperation):
    """x * x."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _SquaredDifference(TtnnOperation):
    """(x - y) squared."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Squeeze(TtnnOperation):
    """The tensor without those of the dimensions `dim` (None: all) whose extents are 1."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int | Sequence[int] | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Stack(TtnnOperation):
    """Tensors of one shape, concatenated along a new dimension before `dim`."""

    @overload
    def __call__(self, tensors: Sequence[Tensor], dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensors: Sequence[Tensor], dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Std(TtnnOperation):
    """The standard deviation along dimensions; `correction` is Bessel's: the divisor is one less."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., correction: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., correction: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _StdHw(TtnnOperation):
    """The standard deviation over rows and columns: the square root of `var_hw`."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Subalpha(TtnnOperation):
    """x - alpha * y, rounded once."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, alpha: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, alpha: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Subtract(TtnnOperation):
    """x - y."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Sum(TtnnOperation):
    """The sum along dimensions.

    Or: The sum along dimensions, times `scalar`."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., *, scalar: float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., *, scalar: float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Swiglu(TtnnOperation):
    """The first half along `dim`, times `silu` of the second."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Tan(TtnnOperation):
    """Tangent of x radians, to the largest float."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Tanh(TtnnOperation):
    """Hyperbolic tangent."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Tanhshrink(TtnnOperation):
    """x - tanh(x), the digits of small results kept."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Threshold(TtnnOperation):
    """x where it is above the threshold (or NaN), else value."""

    def __call__(self, input_tensor: Tensor, threshold: float = ..., value: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Topk(TtnnOperation):
    """The `k` largest or smallest elements along `dim`, in order, and their indices there, UINT16 or else UINT32; NaN is the largest.

    Or: The `k` largest or smallest elements along `dim`, in order, and the elements of `indices_tensor` there."""

    @overload
    def __call__(self, input_tensor: Tensor, k: int = ..., dim: int = ..., largest: bool = ..., sorted: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, Tensor]: ...
    @overload
    def __call__(self, input: Tensor, k: int = ..., dim: int = ..., largest: bool = ..., sorted: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, Tensor]: ...
    @overload
    def __call__(self, input_tensor: Tensor, k: int = ..., dim: int = ..., largest: bool = ..., sorted: bool = ..., *, indices_tensor: Tensor, **keywords: Unpack[Keywords]) -> tuple[Tensor, Tensor]: ...
    @overload
    def __call__(self, input: Tensor, k: int = ..., dim: int = ..., largest: bool = ..., sorted: bool = ..., *, indices_tensor: Tensor, **keywords: Unpack[Keywords]) -> tuple[Tensor, Tensor]: ...

class _TransformerAttentionSoftmax(TtnnOperation):
    """The softmax of rows / sqrt(`head_size`) plus `attention_mask`; `causal_mask` has no effect."""

    @overload
    def __call__(self, input_tensor: Tensor, head_size: int | None = ..., attention_mask: Tensor | None = ..., causal_mask: bool = ..., numeric_stable: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, head_size: int | None = ..., attention_mask: Tensor | None = ..., causal_mask: bool = ..., numeric_stable: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _TransformerChunkedScaledDotProductAttention(TtnnOperation):
    """Causal attention of a chunk of queries to paged caches; the chunk begins at position `chunk_start_idx` or at the position in `chunk_start_idx_tensor`."""

    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, page_table_tensor: Tensor, chunk_start_idx: int | None = ..., chunk_start_idx_tensor: Tensor | None = ..., scale: float | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _TransformerConcatenateHeads(TtnnOperation):
    """Heads [batch, heads, positions, channels of one] as rows [batch, positions, channels]."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _TransformerJointScaledDotProductAttention(TtnnOperation):
    """Attention of two sequences that are concatenated; the results of the first and of the second sequence."""

    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, joint_tensor_q: Tensor, joint_tensor_k: Tensor, joint_tensor_v: Tensor, scale: float | None = ..., *, joint_strategy: Literal['rear'] = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...

class _TransformerPagedScaledDotProductAttentionDecode(TtnnOperation):
    """Attention of one position per user to paged caches, whose page table is [users, pages per user]."""

    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, page_table_tensor: Tensor, is_causal: bool = ..., attn_mask: Tensor | None = ..., cur_pos_tensor: Tensor | None = ..., attention_sink: Tensor | None = ..., scale: float | None = ..., sliding_window_size: int | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _TransformerScaledDotProductAttention(TtnnOperation):
    """Scaled dot-product attention: softmax(queries times keys times `scale`, plus `attn_mask`) times values; `is_causal` masks later positions, `sliding_window_size` those out of the window."""

    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, attn_mask: Tensor | None = ..., is_causal: bool = ..., scale: float | None = ..., sliding_window_size: int | None = ..., attention_sink: Tensor | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _TransformerScaledDotProductAttentionDecode(TtnnOperation):
    """Attention of one position per user, queries [1, users, heads, channels], to keys up to `cur_pos` or `cur_pos_tensor` if `is_causal`; zeros for users whose position is below 0."""

    def __call__(self, input_tensor_q: Tensor, input_tensor_k: Tensor, input_tensor_v: Tensor, is_causal: bool = ..., attn_mask: Tensor | None = ..., cur_pos: Sequence[int] = ..., cur_pos_tensor: Tensor | None = ..., attention_sink: Tensor | None = ..., scale: float | None = ..., sliding_window_size: int | None = ..., *, share_cache: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _TransformerSplitQueryKeyValueAndSplitHeads(TtnnOperation):
    """Heads of queries, of keys, transposed by default, and of values, from rows of all three, or from two tensors of rows; sharded rows consist of groups."""

    @overload
    def __call__(self, input_tensor: Tensor, input_tensor_kv: Tensor | None = ..., *, num_heads: int, num_kv_heads: int | None = ..., transpose_key: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...
    @overload
    def __call__(self, input: Tensor, kv_input_tensor: Tensor | None = ..., *, num_q_heads: int, num_kv_heads: int | None = ..., transpose_key: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, ...]: ...

class _Transpose(TtnnOperation):
    """The tensor with two dimensions exchanged."""

    @overload
    def __call__(self, input_tensor: Tensor, dim1: int, dim2: int, *, pad_value: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim0: int, dim1: int, *, pad_value: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Tril(TtnnOperation):
    """The elements whose column is at most their row plus `diagonal`, zeros elsewhere."""

    @overload
    def __call__(self, input_tensor: Tensor, diagonal: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, diagonal: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Triu(TtnnOperation):
    """The elements whose column is at least their row plus `diagonal`, zeros elsewhere."""

    @overload
    def __call__(self, input_tensor: Tensor, diagonal: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, diagonal: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Trunc(TtnnOperation):
    """x without its fraction."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Unsqueeze(TtnnOperation):
    """The tensor with a dimension of extent 1 before `dim`."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, **keywords: Unpack[Keywords]) -> Tensor: ...

class _UnsqueezeTo4D(TtnnOperation):
    """The tensor with dimensions of extent 1 in front, four in all."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _UpdateCache(TtnnOperation):
    """Writes a row of `input` [1, heads, users, channels] for each user to one position of a cache, `update_idx` or the number in `update_idx_tensor`, in place."""

    @overload
    def __call__(self, cache: Tensor, input: Tensor, update_idx: int | None = ..., batch_offset: int = ..., update_idx_tensor: Tensor | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, cache_tensor: Tensor, input_tensor: Tensor, update_index: int | None = ..., batch_offset: int = ..., update_idx_tensor: Tensor | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Var(TtnnOperation):
    """The variance along dimensions; `correction` is Bessel's: the divisor is one less."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., correction: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., correction: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _VarHw(TtnnOperation):
    """The variance over rows and columns, the last two dimensions, without Bessel's correction."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _View(TtnnOperation):
    """The elements as a tensor of another shape, as by `reshape`."""

    @overload
    def __call__(self, input_tensor: Tensor, shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Where(TtnnOperation):
    """true_value where the predicate is not zero (NaN counts as not zero), else false_value."""

    def __call__(self, predicate: Tensor | float, true_value: Tensor | float, false_value: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Xlogy(TtnnOperation):
    """x * log(y); 0 where x is zero, unless y is NaN."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_a: Tensor | float, input_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

def functions_of(submodule: str) -> dict[str, TtnnOperation]: ...
abs: _Abs
acos: _Acos
acosh: _Acosh
add: _Add
add_: _Add
addalpha: _Addalpha
addcdiv: _Addcdiv
addcmul: _Addcmul
addmm: _Addmm
all: _All
any: _Any
argmax: _Argmax
argmin: _Argmin
asin: _Asin
asinh: _Asinh
assign: _Assign
atan: _Atan
atan2: _Atan2
atanh: _Atanh
bitwise_and: _BitwiseAnd
bitwise_left_shift: _BitwiseLeftShift
bitwise_not: _BitwiseNot
bitwise_or: _BitwiseOr
bitwise_right_shift: _BitwiseRightShift
bitwise_xor: _BitwiseXor
cbrt: _Cbrt
ceil: _Ceil
celu: _Celu
chunk: _Chunk
clamp: _Clamp
clip: _Clamp
concat: _Concat
copy: _Copy
cos: _Cos
cosh: _Cosh
cumprod: _Cumprod
cumsum: _Cumsum
deg2rad: _Deg2Rad
digamma: _Digamma
div: _Divide
div_: _Divide
div_no_nan: _DivNoNan
divide: _Divide
divide_: _Divide
elu: _Elu
embedding: _Embedding
eq: _Eq
eq_: _Eq
eqz: _Eqz
erf: _Erf
erfc: _Erfc
erfinv: _Erfinv
exp: _Exp
exp2: _Exp2
expand: _Expand
expm1: _Expm1
fill: _Fill
fill_cache: _FillCache
flip: _Flip
floor: _Floor
floor_div: _FloorDivide
floor_divide: _FloorDivide
fmod: _Fmod
fold: _Fold
frac: _Frac
gather: _Gather
gcd: _Gcd
ge: _Ge
ge_: _Ge
geglu: _Geglu
gelu: _Gelu
gez: _Gez
glu: _Glu
group_norm: _GroupNorm
gt: _Gt
gt_: _Gt
gtz: _Gtz
hardmish: _Hardmish
hardshrink: _Hardshrink
hardsigmoid: _Hardsigmoid
hardswish: _Hardswish
hardtanh: _Hardtanh
heaviside: _Heaviside
hypot: _Hypot
i0: _I0
identity: _Identity
index_fill: _IndexFill
isclose: _Isclose
isfinite: _Isfinite
isinf: _Isinf
isnan: _Isnan
isneginf: _Isneginf
isposinf: _Isposinf
l1_loss: _L1Loss
layer_norm: _LayerNorm
layer_norm_post_all_gather: _LayerNormPostAllGather
layer_norm_pre_all_gather: _LayerNormPreAllGather
lcm: _Lcm
ldexp: _Ldexp
ldexp_: _Ldexp
le: _Le
le_: _Le
leaky_relu: _LeakyRelu
lerp: _Lerp
lez: _Lez
lgamma: _Lgamma
linear: _Linear
log: _Log
log10: _Log10
log1p: _Log1P
log2: _Log2
log_sigmoid: _LogSigmoid
log_softmax: _LogSoftmax
logaddexp: _Logaddexp
logaddexp2: _Logaddexp2
logaddexp2_: _Logaddexp2
logaddexp_: _Logaddexp
logical_and: _LogicalAnd
logical_and_: _LogicalAnd
logical_left_shift: _LogicalLeftShift
logical_not: _LogicalNot
logical_not_: _LogicalNot
logical_or: _LogicalOr
logical_or_: _LogicalOr
logical_right_shift: _LogicalRightShift
logical_xor: _LogicalXor
logical_xor_: _LogicalXor
logit: _Logit
lt: _Lt
lt_: _Lt
ltz: _Ltz
mac: _Mac
matmul: _Matmul
max: _Max
maximum: _Maximum
mean: _Mean
min: _Min
minimum: _Minimum
mish: _Mish
mse_loss: _MseLoss
mul: _Multiply
mul_: _Multiply
multigammaln: _Multigammaln
multiply: _Multiply
multiply_: _Multiply
nan_to_num: _NanToNum
ne: _Ne
ne_: _Ne
neg: _Neg
nextafter: _Nextafter
nez: _Nez
norm: _Norm
normalize_global: _NormalizeGlobal
normalize_hw: _NormalizeHw
outer: _Outer
pad: _Pad
permute: _Permute
polygamma: _Polygamma
polyval: _Polyval
pow: _Pow
prelu: _Prelu
prod: _Prod
rad2deg: _Rad2Deg
rdiv: _Rdiv
recip: _Reciprocal
reciprocal: _Reciprocal
reglu: _Reglu
relu: _Relu
relu6: _Relu6
relu_max: _ReluMax
relu_min: _ReluMin
remainder: _Remainder
repeat: _Repeat
repeat_interleave: _RepeatInterleave
reshape: _Reshape
reshape_on_device: _ReshapeOnDevice
rms_norm: _RmsNorm
rms_norm_post_all_gather: _RmsNormPostAllGather
rms_norm_pre_all_gather: _RmsNormPreAllGather
roll: _Roll
round: _Round
rpow: _Rpow
rsqrt: _Rsqrt
rsub: _Rsub
rsub_: _Rsub
scale_causal_mask_hw_dims_softmax_in_place: _ScaleMaskSoftmax
scale_mask_softmax: _ScaleMaskSoftmax
scale_mask_softmax_in_place: _ScaleMaskSoftmax
scatter: _Scatter
scatter_add: _ScatterAdd
selu: _Selu
sigmoid: _Sigmoid
sigmoid_accurate: _SigmoidAccurate
sign: _Sign
signbit: _Signbit
silu: _Silu
sin: _Sin
sinh: _Sinh
slice: _Slice
slice_write: _SliceWrite
softmax: _Softmax
softmax_in_place: _Softmax
softplus: _Softplus
softshrink: _Softshrink
softsign: _Softsign
sort: _Sort
sparse_matmul: _SparseMatmul
split: _Split
sqrt: _Sqrt
square: _Square
squared_difference: _SquaredDifference
squared_difference_: _SquaredDifference
squeeze: _Squeeze
stack: _Stack
std: _Std
std_hw: _StdHw
sub: _Subtract
sub_: _Subtract
subalpha: _Subalpha
subtract: _Subtract
subtract_: _Subtract
sum: _Sum
swiglu: _Swiglu
swish: _Silu
tan: _Tan
tanh: _Tanh
tanhshrink: _Tanhshrink
threshold: _Threshold
topk: _Topk
transpose: _Transpose
tril: _Tril
triu: _Triu
trunc: _Trunc
unsqueeze: _Unsqueeze
unsqueeze_to_4D: _UnsqueezeTo4D
update_cache: _UpdateCache
var: _Var
var_hw: _VarHw
view: _View
where: _Where
xlogy: _Xlogy
