# Written by `make docs` from the declarations in ttnn_jit/ops; a test proves it current.
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, Unpack, overload

from ttnn_jit.specs.dtypes import DataType
from ttnn_jit.specs.memory_config import MemoryConfig
from ttnn_jit.specs.tensor_spec import Layout
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.ttnn.eager_operation import TtnnOperation

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "add_",
    "addcdiv",
    "addcmul",
    "argmax",
    "asin",
    "asinh",
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
    "cos",
    "cosh",
    "cumprod",
    "cumsum",
    "deg2rad",
    "digamma",
    "div",
    "div_",
    "divide",
    "divide_",
    "elu",
    "embedding",
    "eq",
    "eq_",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "expand",
    "expm1",
    "fill",
    "flip",
    "floor",
    "floor_div",
    "floor_divide",
    "fmod",
    "fold",
    "frac",
    "gather",
    "ge",
    "ge_",
    "gelu",
    "gt",
    "gt_",
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
    "layer_norm",
    "ldexp",
    "ldexp_",
    "le",
    "le_",
    "leaky_relu",
    "lerp",
    "lgamma",
    "linear",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_sigmoid",
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
    "lt",
    "lt_",
    "mac",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mish",
    "mul",
    "mul_",
    "multiply",
    "multiply_",
    "nan_to_num",
    "ne",
    "ne_",
    "neg",
    "pad",
    "permute",
    "pow",
    "prelu",
    "prod",
    "rad2deg",
    "rdiv",
    "recip",
    "reciprocal",
    "relu",
    "relu6",
    "remainder",
    "repeat",
    "repeat_interleave",
    "reshape",
    "reshape_on_device",
    "rms_norm",
    "roll",
    "round",
    "rpow",
    "rsqrt",
    "rsub",
    "rsub_",
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
    "softplus",
    "softshrink",
    "softsign",
    "sort",
    "split",
    "sqrt",
    "square",
    "squared_difference",
    "squared_difference_",
    "squeeze",
    "stack",
    "std",
    "sub",
    "sub_",
    "subtract",
    "subtract_",
    "sum",
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
    "var",
    "view",
    "where",
    "xlogy",
]

class Keywords(TypedDict, total=False):
    memory_config: MemoryConfig | None
    dtype: DataType | None
    output_tensor: Tensor | None
    optional_output_tensor: Tensor | None
    activations: Sequence[str | Callable[..., Any]] | None
    input_tensor_a_activations: Sequence[str | Callable[..., Any]] | None
    input_tensor_b_activations: Sequence[str | Callable[..., Any]] | None
    accurate_mode: object
    compute_kernel_config: object
    core_grid: object
    fast_and_approximate_mode: object
    global_cb: object
    program_config: object
    queue_id: object
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

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Addcdiv(TtnnOperation):
    """x + value * y / z."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, input_tensor_c: Tensor | float, value: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Addcmul(TtnnOperation):
    """x + value * y * z."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, input_tensor_c: Tensor | float, value: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Argmax(TtnnOperation):
    """The place of the largest element along `dim`, of equal ones the first; NaN is the largest."""

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

class _Atan(TtnnOperation):
    """The inverse of tan, in [-pi/2, pi/2]."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Atan2(TtnnOperation):
    """The angle of the point (y, x), x the first operand, as C99 Annex F says."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Atanh(TtnnOperation):
    """The inverse of tanh; NaN beyond [-1, 1]."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseAnd(TtnnOperation):
    """The bits that x and y both have."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseLeftShift(TtnnOperation):
    """x * 2**y without the bits that leave the word; 0 where y is below 0 or above 31."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, shift_bits: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseNot(TtnnOperation):
    """The bits that x has not."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseOr(TtnnOperation):
    """The bits that x or y has."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseRightShift(TtnnOperation):
    """The floor of x / 2**y; all bits are those of the sign where y is below 0 or above 31."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, shift_bits: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _BitwiseXor(TtnnOperation):
    """The bits that one of x and y has."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

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
    """At most `chunks` parts along `dim`, of equal extents but for the last one."""

    @overload
    def __call__(self, input_tensor: Tensor, chunks: int, dim: int = ..., **keywords: Unpack[Keywords]) -> list[Tensor]: ...
    @overload
    def __call__(self, input: Tensor, chunks: int, dim: int = ..., **keywords: Unpack[Keywords]) -> list[Tensor]: ...

class _Clamp(TtnnOperation):
    """x limited to [min, max]; NaN stays NaN. The largest float32 is no bound, for infinities neither.

    Or: x limited to [min, max] element by element; NaN in any of them gives NaN."""

    @overload
    def __call__(self, input_tensor: Tensor, min: float = ..., max: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, min: Tensor | float = ..., max: Tensor | float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Concat(TtnnOperation):
    """The tensors one after the other along `dim`."""

    @overload
    def __call__(self, tensors: Sequence[Tensor], dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensors: Sequence[Tensor], dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Cos(TtnnOperation):
    """Cosine of x radians, to the largest float."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Cosh(TtnnOperation):
    """Hyperbolic cosine."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Cumprod(TtnnOperation):
    """The products of the elements up to each along `dim`, in float64 and each rounded once."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Cumsum(TtnnOperation):
    """The sums of the elements up to each along `dim`, in float64 and each rounded once."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Deg2Rad(TtnnOperation):
    """x degrees in radians."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Digamma(TtnnOperation):
    """The derivative of lgamma; NaN at the negative integers."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Divide(TtnnOperation):
    """x / y, correctly rounded.

    Or: The floor of the exact x / y.

    Or: The exact x / y without its fraction."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: Literal['floor'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: Literal['trunc'], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Elu(TtnnOperation):
    """x where it is positive, else alpha * (exp(x) - 1)."""

    def __call__(self, input_tensor: Tensor, alpha: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Embedding(TtnnOperation):
    """For every index the row of `weight` that it names; one beyond is taken for the nearest there is."""

    @overload
    def __call__(self, input_tensor: Tensor, weight: Tensor, layout: Layout = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, weight: Tensor, layout: Layout = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Eq(TtnnOperation):
    """1 where x equals y, else 0, in the first operand's dtype."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

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
    """The tensor repeated along dimensions of extent 1, and new ones in front, to have that shape."""

    @overload
    def __call__(self, input_tensor: Tensor, output_shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Expm1(TtnnOperation):
    """exp(x) - 1, the digits of small results kept."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Fill(TtnnOperation):
    """y, a number or a tensor, in x's shape and dtype."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, fill_value: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, fill_value: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

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
    """The floor of x / y."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Fmod(TtnnOperation):
    """What is left of x when y is taken off as often as goes, exactly; the sign of x."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Fold(TtnnOperation):
    """Images of blocks of `stride_h` rows and `stride_w` columns, their elements as channels of one place."""

    @overload
    def __call__(self, input_tensor: Tensor, stride_h: int, stride_w: int, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, stride_h: int, stride_w: int, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Frac(TtnnOperation):
    """x - trunc(x)."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Gather(TtnnOperation):
    """The elements along `dim` that `index` names; one beyond is taken for the nearest there is."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, *, sparse_grad: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, *, sparse_grad: object = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Ge(TtnnOperation):
    """1 where x is not below y, else 0, in the first operand's dtype."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Gelu(TtnnOperation):
    """x times the normal distribution function of x.

    Or: x * sigmoid(2 sqrt(2 / pi) (x + 0.044715 x**3)): gelu with tanh in place of erf."""

    @overload
    def __call__(self, input_tensor: Tensor, *, approximate: Literal['none'] = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, *, approximate: Literal['tanh'], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Gt(TtnnOperation):
    """1 where x is above y, else 0, in the first operand's dtype."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

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

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _I0(TtnnOperation):
    """The modified Bessel function of the first kind and order 0."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Identity(TtnnOperation):
    """x."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _IndexFill(TtnnOperation):
    """The tensor with `value` in all places along `dim` that `index` names."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, value: float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, value: float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Isclose(TtnnOperation):
    """1 where |x - y| <= atol + rtol * |y|, else 0, in x's dtype; both sides in float32, as torch has them."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, rtol: float = ..., atol: float = ..., equal_nan: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

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

class _LayerNorm(TtnnOperation):
    """Rows less their mean, by their standard deviation, times `weight`, plus `bias`, one of each per column."""

    @overload
    def __call__(self, input_tensor: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., residual_input_tensor: Tensor | None = ..., epsilon: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., residual_input_tensor: Tensor | None = ..., eps: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Ldexp(TtnnOperation):
    """x * 2**y; zeros and infinities stay where y is finite."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Le(TtnnOperation):
    """1 where x is not above y, else 0, in the first operand's dtype."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LeakyRelu(TtnnOperation):
    """x where it is positive, else slope * x."""

    @overload
    def __call__(self, input_tensor: Tensor, slope: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, negative_slope: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Lerp(TtnnOperation):
    """input + weight * (end - input)."""

    def __call__(self, input: Tensor | float, end: Tensor | float, weight: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Lgamma(TtnnOperation):
    """The logarithm of |gamma(x)|; infinite at 0 and the negative integers."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Linear(TtnnOperation):
    """The product of matrices, plus `bias`, then the function of one tensor that `activation` names."""

    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, bias: Tensor | None = ..., transpose_a: bool = ..., transpose_b: bool = ..., activation: str | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

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

class _Logaddexp(TtnnOperation):
    """log(exp(x) + exp(y))."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Logaddexp2(TtnnOperation):
    """log2(2**x + 2**y)."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalAnd(TtnnOperation):
    """1 where both x and y are not zero, else 0, in the first operand's dtype."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalLeftShift(TtnnOperation):
    """x * 2**y without the bits that leave the word; 0 where y is below 0 or above 31."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, shift_bits: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalNot(TtnnOperation):
    """1 where x is zero, else 0, in x's dtype."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalOr(TtnnOperation):
    """1 where x or y or both are not zero, else 0, in the first operand's dtype."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalRightShift(TtnnOperation):
    """The bits of x moved down by y, filled up with zeros; 0 where y is below 0 or above 31."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, shift_bits: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _LogicalXor(TtnnOperation):
    """1 where one of x and y is not zero, else 0, in the first operand's dtype."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Lt(TtnnOperation):
    """1 where x is below y, else 0, in the first operand's dtype."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Mac(TtnnOperation):
    """x * y + z, rounded once."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, input_tensor_c: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Matmul(TtnnOperation):
    """The product of matrices; leading dimensions are broadcast, and vectors taken, as in torch.matmul."""

    def __call__(self, input_tensor_a: Tensor, input_tensor_b: Tensor, transpose_a: bool = ..., transpose_b: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Max(TtnnOperation):
    """The largest element along dimensions; NaN where one is."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Maximum(TtnnOperation):
    """The larger of x and y; NaN if either is."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Mean(TtnnOperation):
    """The mean along dimensions: their sum by their number of elements."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Min(TtnnOperation):
    """The smallest element along dimensions; NaN where one is."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Minimum(TtnnOperation):
    """The smaller of x and y; NaN if either is."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Mish(TtnnOperation):
    """x * tanh(log(1 + exp(x)))."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Multiply(TtnnOperation):
    """x * y."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _NanToNum(TtnnOperation):
    """x with NaN and the infinities replaced, by default by 0 and the largest numbers of x's dtype."""

    def __call__(self, input_tensor: Tensor, nan: float = ..., posinf: float = ..., neginf: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Ne(TtnnOperation):
    """1 where x differs from y, else 0, in the first operand's dtype."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Neg(TtnnOperation):
    """-x: the sign bit flipped."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Pad(TtnnOperation):
    """The tensor with as many elements `value` before and after, along each dimension, as `padding` says.

    Or: The tensor in one of shape `output_padded_shape` from `input_tensor_start` on, `value` around it.

    Or: The tensor with as many elements around it as `padding` says, reflected at its edges, which are not repeated.

    Or: The tensor with as many elements around it as `padding` says, those at its edges.

    Or: The tensor with as many elements around it as `padding` says, those of its other end."""

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
    """The tensor with its dimensions in another order: dimension i of the result is `permutation[i]` of it."""

    @overload
    def __call__(self, input_tensor: Tensor, permutation: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Pow(TtnnOperation):
    """x to the power y, as C99 Annex F says."""

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
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: Literal['floor'], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, *, rounding_mode: Literal['trunc'], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Reciprocal(TtnnOperation):
    """1 / x, correctly rounded."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Relu(TtnnOperation):
    """max(x, 0); NaN stays NaN."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Relu6(TtnnOperation):
    """x limited to [0, 6]; NaN stays NaN."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Remainder(TtnnOperation):
    """fmod with the sign of y, as Python's %."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Repeat(TtnnOperation):
    """The tensor many times over, along every dimension as often as `repeat_dimensions` says."""

    @overload
    def __call__(self, input_tensor: Tensor, repeat_dimensions: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, repeat_dims: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...

class _RepeatInterleave(TtnnOperation):
    """Every element along `dim` many times in a row."""

    @overload
    def __call__(self, input_tensor: Tensor, repeats: int, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, repeats: int, dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Reshape(TtnnOperation):
    """The elements in row-major order as a tensor of another shape; an extent of -1 is the one that is left."""

    @overload
    def __call__(self, input_tensor: Tensor, shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, logical_shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...

class _ReshapeOnDevice(TtnnOperation):
    """The elements as a tensor of these four extents, one of which may be -1."""

    @overload
    def __call__(self, input_tensor: Tensor, W: int, Z: int, Y: int, X: int, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, W: int, Z: int, Y: int, X: int, **keywords: Unpack[Keywords]) -> Tensor: ...

class _RmsNorm(TtnnOperation):
    """Rows by the root of the mean of their squares, times `weight`, plus `bias`, one of each per column."""

    @overload
    def __call__(self, input_tensor: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., residual_input_tensor: Tensor | None = ..., epsilon: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, weight: Tensor | None = ..., bias: Tensor | None = ..., residual_input_tensor: Tensor | None = ..., eps: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Roll(TtnnOperation):
    """Elements moved on by `shifts` along `dim`, those beyond the end to the front; flat if `dim` is None."""

    @overload
    def __call__(self, input_tensor: Tensor, shifts: int | Sequence[int] | None = ..., dim: int | Sequence[int] | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, shifts: int | Sequence[int] | None = ..., dims: int | Sequence[int] | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Round(TtnnOperation):
    """The nearest integer, the even one of two.

    Or: The number of that many decimals that is nearest to x, the even one of two; tens where negative."""

    @overload
    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, decimals: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Rpow(TtnnOperation):
    """y to the power x, as C99 Annex F says."""

    @overload
    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor | float, exponent: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Rsqrt(TtnnOperation):
    """1 / sqrt(x)."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Rsub(TtnnOperation):
    """y - x."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Scatter(TtnnOperation):
    """The tensor with elements of `src` in the places along `dim` that `index` names.

    Or: The tensor with elements of `src` added to the places along `dim` that `index` names.

    Or: The tensor with elements of `src` multiplied into the places along `dim` that `index` names.

    Or: The tensor with elements of `src` that are larger in the places along `dim` that `index` names.

    Or: The tensor with elements of `src` that are smaller in the places along `dim` that `index` names."""

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
    """The tensor with elements of `src` added to the places along `dim` that `index` names."""

    @overload
    def __call__(self, input: Tensor, dim: int, index: Tensor, src: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensor: Tensor, dim: int, index: Tensor, src: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Selu(TtnnOperation):
    """scale * x where x is positive, else scale * alpha * (exp(x) - 1)."""

    def __call__(self, input_tensor: Tensor, scale: float = ..., alpha: float = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Sigmoid(TtnnOperation):
    """1 / (1 + exp(-x))."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Sign(TtnnOperation):
    """-1, 0 or 1, as x is below zero, zero or above; zeros keep their sign, NaN stays NaN."""

    def __call__(self, input_tensor: Tensor, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Signbit(TtnnOperation):
    """1 where x is below zero or -0, and no NaN (whose sign differs between processors), else 0, in x's dtype."""

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
    def __call__(self, input_tensor: Tensor, begins: Sequence[int], ends: Sequence[int], step: Sequence[int] = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, slice_start: Sequence[int], slice_end: Sequence[int], slice_step: Sequence[int] = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _SliceWrite(TtnnOperation):
    """x with `part` in the place of the elements that `slice` would give."""

    def __call__(self, input_tensor: Tensor, part: Tensor, begins: Sequence[int], ends: Sequence[int], step: Sequence[int] = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Softmax(TtnnOperation):
    """exp(x - m) by its sum along `dim`, m the largest element there, whatever `numeric_stable` says."""

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
    """The elements along `dim` in order, and the places that they had; always stable, NaN is the largest."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int = ..., descending: bool = ..., stable: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, Tensor]: ...
    @overload
    def __call__(self, input: Tensor, dim: int = ..., descending: bool = ..., stable: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, Tensor]: ...

class _Split(TtnnOperation):
    """Parts of `split_size` elements along `dim`, the last one of what is left.

    Or: Parts of as many elements along `dim` as `split_size` says, one after the other."""

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

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Squeeze(TtnnOperation):
    """The tensor without the dimensions `dim`, of all if that is None, where their extents are 1."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim: int | Sequence[int] | None = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Stack(TtnnOperation):
    """Tensors of one shape one after the other along a new dimension before `dim`."""

    @overload
    def __call__(self, tensors: Sequence[Tensor], dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input_tensors: Sequence[Tensor], dim: int = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Std(TtnnOperation):
    """The standard deviation along dimensions; with `correction` by Bessel's, one element less."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., correction: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., correction: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _Subtract(TtnnOperation):
    """x - y."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Sum(TtnnOperation):
    """The sum along dimensions."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

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
    """The `k` largest elements along `dim`, or the smallest, in order, and their places; NaN is the largest."""

    @overload
    def __call__(self, input_tensor: Tensor, k: int, dim: int = ..., largest: bool = ..., sorted: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, Tensor]: ...
    @overload
    def __call__(self, input: Tensor, k: int, dim: int = ..., largest: bool = ..., sorted: bool = ..., **keywords: Unpack[Keywords]) -> tuple[Tensor, Tensor]: ...

class _Transpose(TtnnOperation):
    """The tensor with two dimensions exchanged."""

    @overload
    def __call__(self, input_tensor: Tensor, dim1: int, dim2: int, **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dim0: int, dim1: int, **keywords: Unpack[Keywords]) -> Tensor: ...

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

class _Var(TtnnOperation):
    """The variance along dimensions; with `correction` by Bessel's, one element less."""

    @overload
    def __call__(self, input_tensor: Tensor, dim: int | Sequence[int] | None = ..., keepdim: bool = ..., correction: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, dims: int | Sequence[int] | None = ..., keep_dim: bool = ..., correction: bool = ..., **keywords: Unpack[Keywords]) -> Tensor: ...

class _View(TtnnOperation):
    """The elements as a tensor of another shape, as `reshape` gives them."""

    @overload
    def __call__(self, input_tensor: Tensor, shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...
    @overload
    def __call__(self, input: Tensor, shape: Sequence[int], **keywords: Unpack[Keywords]) -> Tensor: ...

class _Where(TtnnOperation):
    """true_value where the predicate is not zero (NaN counts as not zero), else false_value."""

    def __call__(self, predicate: Tensor | float, true_value: Tensor | float, false_value: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

class _Xlogy(TtnnOperation):
    """x * log(y); 0 where x is zero, unless y is NaN."""

    def __call__(self, input_tensor_a: Tensor | float, input_tensor_b: Tensor | float, **keywords: Unpack[Keywords]) -> Tensor: ...

abs: _Abs
acos: _Acos
acosh: _Acosh
add: _Add
add_: _Add
addcdiv: _Addcdiv
addcmul: _Addcmul
argmax: _Argmax
asin: _Asin
asinh: _Asinh
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
cos: _Cos
cosh: _Cosh
cumprod: _Cumprod
cumsum: _Cumsum
deg2rad: _Deg2Rad
digamma: _Digamma
div: _Divide
div_: _Divide
divide: _Divide
divide_: _Divide
elu: _Elu
embedding: _Embedding
eq: _Eq
eq_: _Eq
erf: _Erf
erfc: _Erfc
erfinv: _Erfinv
exp: _Exp
exp2: _Exp2
expand: _Expand
expm1: _Expm1
fill: _Fill
flip: _Flip
floor: _Floor
floor_div: _FloorDivide
floor_divide: _FloorDivide
fmod: _Fmod
fold: _Fold
frac: _Frac
gather: _Gather
ge: _Ge
ge_: _Ge
gelu: _Gelu
gt: _Gt
gt_: _Gt
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
layer_norm: _LayerNorm
ldexp: _Ldexp
ldexp_: _Ldexp
le: _Le
le_: _Le
leaky_relu: _LeakyRelu
lerp: _Lerp
lgamma: _Lgamma
linear: _Linear
log: _Log
log10: _Log10
log1p: _Log1P
log2: _Log2
log_sigmoid: _LogSigmoid
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
lt: _Lt
lt_: _Lt
mac: _Mac
matmul: _Matmul
max: _Max
maximum: _Maximum
mean: _Mean
min: _Min
minimum: _Minimum
mish: _Mish
mul: _Multiply
mul_: _Multiply
multiply: _Multiply
multiply_: _Multiply
nan_to_num: _NanToNum
ne: _Ne
ne_: _Ne
neg: _Neg
pad: _Pad
permute: _Permute
pow: _Pow
prelu: _Prelu
prod: _Prod
rad2deg: _Rad2Deg
rdiv: _Rdiv
recip: _Reciprocal
reciprocal: _Reciprocal
relu: _Relu
relu6: _Relu6
remainder: _Remainder
repeat: _Repeat
repeat_interleave: _RepeatInterleave
reshape: _Reshape
reshape_on_device: _ReshapeOnDevice
rms_norm: _RmsNorm
roll: _Roll
round: _Round
rpow: _Rpow
rsqrt: _Rsqrt
rsub: _Rsub
rsub_: _Rsub
scatter: _Scatter
scatter_add: _ScatterAdd
selu: _Selu
sigmoid: _Sigmoid
sigmoid_accurate: _Sigmoid
sign: _Sign
signbit: _Signbit
silu: _Silu
sin: _Sin
sinh: _Sinh
slice: _Slice
slice_write: _SliceWrite
softmax: _Softmax
softplus: _Softplus
softshrink: _Softshrink
softsign: _Softsign
sort: _Sort
split: _Split
sqrt: _Sqrt
square: _Square
squared_difference: _SquaredDifference
squared_difference_: _SquaredDifference
squeeze: _Squeeze
stack: _Stack
std: _Std
sub: _Subtract
sub_: _Subtract
subtract: _Subtract
subtract_: _Subtract
sum: _Sum
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
var: _Var
view: _View
where: _Where
xlogy: _Xlogy
