"""The eager functions, one for each name of an operation and each alias; eager_functions.pyi says their types."""

from __future__ import annotations

from ttnn_jit.ops import ALIASES, EAGER, IN_PLACE, OVERLOADS
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.ttnn.eager_operation import InPlaceOperation, TtnnOperation
from ttnn_jit.ttnn.operators import attach_operators

_BY_NAME = {name: TtnnOperation(name, overloads) for name, overloads in EAGER.items()}
_BY_ALIAS = {alias: TtnnOperation(alias, OVERLOADS[name]) for alias, name in ALIASES.items()}
_IN_PLACE = {name: InPlaceOperation(name, overloads) for name, overloads in IN_PLACE.items()}

__all__ = [*_BY_NAME, *_BY_ALIAS, *_IN_PLACE]  # noqa: PLE0604 - the names are the declarations'
globals().update(_BY_NAME, **_BY_ALIAS, **_IN_PLACE)
attach_operators(Tensor, _BY_NAME)
