"""The eager functions, one for each operation and each alias; eager_functions.pyi has their types.

They are made on first access. A name with a dot belongs to a submodule of ttnn.
"""

from __future__ import annotations

from ttnn_jit.ops import ALIASES, EAGER, IN_PLACE, OVERLOADS, SAME_FUNCTION
from ttnn_jit.process.compile_lock import compiling
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.ttnn.calling.eager_operation import InPlaceOperation, TtnnOperation
from ttnn_jit.ttnn.calling.operators import attach_operators


class _Functions(dict[str, TtnnOperation]):
    """Name -> its function, one object per process."""

    def __missing__(self, name: str) -> TtnnOperation:
        with compiling():
            if name not in self:
                self[name] = _make_function(name)
            return self[name]


def _make_function(name: str) -> TtnnOperation:
    if name in SAME_FUNCTION:
        return _FUNCTIONS[SAME_FUNCTION[name]]
    if name in IN_PLACE:
        return InPlaceOperation(name, IN_PLACE[name])
    overloads = EAGER[name] if name in EAGER else OVERLOADS[ALIASES[name]]
    function = TtnnOperation(name, overloads)
    if name in EAGER and (own := overloads[0].qualified_name):
        function.python_fully_qualified_name = f"ttnn.{own}"
    return function


_FUNCTIONS = _Functions()

_NAMES = (*EAGER, *ALIASES, *IN_PLACE)
__all__ = [name for name in _NAMES if "." not in name]


def functions_of(submodule: str) -> dict[str, TtnnOperation]:
    """The eager functions of a submodule of ttnn, such as ``transformer``, by their names in it."""
    split = (name.rpartition(".") for name in _NAMES)
    return {last: _FUNCTIONS[f"{home}.{last}"] for home, _, last in split if home == submodule}


def __getattr__(name: str) -> TtnnOperation:
    try:
        function = globals()[name] = _FUNCTIONS[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name) from None
    return function


attach_operators(Tensor, _FUNCTIONS)
