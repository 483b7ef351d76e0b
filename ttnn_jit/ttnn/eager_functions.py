"""The eager functions, one for each name of an operation and each alias; eager_functions.pyi says their types.

Those of a submodule, whose names have a dot, stand in the submodule.
"""

from __future__ import annotations

from ttnn_jit.ops import ALIASES, EAGER, IN_PLACE, OVERLOADS
from ttnn_jit.runtime.tensor import Tensor
from ttnn_jit.ttnn.eager_operation import InPlaceOperation, TtnnOperation
from ttnn_jit.ttnn.operators import attach_operators

_BY_NAME = {name: TtnnOperation(name, overloads) for name, overloads in EAGER.items()}
_BY_ALIAS = {alias: TtnnOperation(alias, OVERLOADS[name]) for alias, name in ALIASES.items()}
_IN_PLACE = {name: InPlaceOperation(name, overloads) for name, overloads in IN_PLACE.items()}

_EVERY = {**_BY_NAME, **_BY_ALIAS, **_IN_PLACE}


def functions_of(submodule: str) -> dict[str, TtnnOperation]:
    """The functions of a submodule of ttnn, ``transformer``, by their names in it; of ttnn itself for an empty one."""
    split = ((name.rpartition("."), function) for name, function in _EVERY.items())
    return {last: function for (home, _, last), function in split if home == submodule}


__all__ = [*functions_of("")]  # noqa: PLE0604 - the names are the declarations'
globals().update(functions_of(""))
attach_operators(Tensor, _BY_NAME)
