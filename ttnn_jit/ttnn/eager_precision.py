"""How exactly an eager product of matrices is computed: as its caller asks, else as ttnn does by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ttnn_jit.ops import BoundCall
from ttnn_jit.ops.binding import with_precision
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import DataType


def precisely(bound: BoundCall, target: SystemDesc, kwargs: Mapping[str, Any], dtype: DataType | None) -> BoundCall:
    """`bound` with the precision that it has on `target`, if its operation has one.

    Args:
        bound: The call.
        target: Where numerics are IEEE, none.
        kwargs: What the caller gave: a program config or a core grid changes the default.
        dtype: The element type asked of the result; None: that of the first factor.
    """
    if bound.operation.precision_place is None:
        return bound
    from ttnn_jit.specs.product_precision import ProductPrecision, eager_precision

    def precision(asked: str | None) -> str | None:
        if target.numerics is Numerics.IEEE:
            return None
        if asked is None and not bound.operation.has_default_precision:
            return None
        left, right = (operand.dtype for operand in bound.operands[:2])
        has_grid = any(kwargs.get(name) is not None for name in ("program_config", "core_grid"))
        by_itself = eager_precision((left, right), dtype or left, has_grid=has_grid)
        if asked is None or by_itself.fidelity is None:
            return str(by_itself)
        return str(ProductPrecision.of(asked).or_fidelity(by_itself.fidelity))

    return with_precision(bound, precision)
