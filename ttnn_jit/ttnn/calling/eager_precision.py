"""The precision of eager matrix products: the requested one, or ttnn's default."""

from __future__ import annotations

from ttnn_jit.ops import BoundCall
from ttnn_jit.ops.language.binding import with_precision
from ttnn_jit.ops.result_options import ResultOptions
from ttnn_jit.specs.target import Numerics, SystemDesc


def with_eager_precision(bound: BoundCall, target: SystemDesc, options: ResultOptions) -> BoundCall:
    """`bound` with its precision on `target`, if its operation has a precision.

    Args:
        bound: The call.
        target: The target; with IEEE numerics there is no precision to choose.
        options: The result options; a core grid changes the default.
    """
    if bound.operation.precision_index is None:
        return bound
    from ttnn_jit.specs.product_precision import ProductPrecision, eager_precision

    def precision(requested: str | None) -> str | None:
        if target.numerics is Numerics.IEEE:
            return None
        if requested is None and not bound.operation.has_default_precision:
            return None
        left, right = (operand.dtype for operand in bound.operands[:2])
        by_itself = eager_precision((left, right), options.dtype or left, has_grid=options.has_grid)
        if requested is None or by_itself.fidelity is None:
            return str(by_itself)
        return str(ProductPrecision.of(requested).or_fidelity(by_itself.fidelity))

    return with_precision(bound, precision)
