"""Python's operators and tensor metadata by torch's own functions, for ``__torch_function__``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

_OPERATORS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "pow", "matmul", "lt", "le", "gt", "ge", "ne")},
    **{name: getattr(operator, name) for name in ("neg", "abs", "__eq__", "__pow__", "__floordiv__", "__getitem__")},
    **{name: getattr(operator, name) for name in ("__and__", "__or__", "__xor__", "__lshift__", "__rshift__")},
    **{name: getattr(operator, name) for name in ("__setitem__", "__iadd__", "__isub__", "__imul__")},
    **dict.fromkeys(("__idiv__", "__itruediv__"), operator.itruediv),
    "div": operator.truediv,
    "remainder": operator.mod,
    "__rsub__": lambda right, left: left - right,
    "__rdiv__": lambda right, left: left / right,
    "__rpow__": lambda right, left: left**right,
}
"""The Python operator by the name of torch's method."""

_PROPERTIES = ("shape", "dtype", "layout", "T", "mT")


@cache
def operators() -> dict[Any, Callable[..., Any]]:
    """The Python operator, or attribute getter, by the function that torch passes to ``__torch_function__``."""
    import torch

    found = {getattr(torch.Tensor, name): called for name, called in _OPERATORS.items() if hasattr(torch.Tensor, name)}
    return found | {getattr(torch.Tensor, name).__get__: operator.attrgetter(name) for name in _PROPERTIES}
