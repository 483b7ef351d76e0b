"""The eager functions, one for each name of an operation and each alias; eager_functions.pyi says their types."""

from __future__ import annotations

from ttnn_jit.ops import ALIASES, EAGER, OVERLOADS
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.ttnn.eager_operation import TtnnOperation
from ttnn_jit.ttnn.operators import attach_operators

_BY_NAME = {name: TtnnOperation(name, overloads) for name, overloads in EAGER.items()}
_BY_ALIAS = {alias: TtnnOperation(alias, OVERLOADS[name]) for alias, name in ALIASES.items()}

__all__ = [*_BY_NAME, *_BY_ALIAS]  # noqa: PLE0604 - the names are the declarations'
globals().update(_BY_NAME, **_BY_ALIAS)
attach_operators(Tensor, _BY_NAME)
