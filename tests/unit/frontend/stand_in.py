"""A `ttnn` namespace for tracing only: the part of the real one that frontends need, without the layers above."""

from __future__ import annotations

import types
from typing import Any

from ttnn_jit.frontend import FrontendRequest, FrontendResult, TensorArgument, lower
from ttnn_jit.ops import ALIASES, IN_PLACE, OVERLOADS
from ttnn_jit.ops.host_ops import CREATES
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

# Frames of this module are not frames of the user.
__name__ = "ttnn_jit.ttnn.namespace.stand_in"


class StandInOperation:
    def __init__(self, name, overloads):
        self.__name__ = f"ttnn.{name}"
        self.__ttnn_overloads__ = overloads

    def __call__(self, *args, **kwargs):
        for argument in (*args, *kwargs.values()):
            tracer = getattr(argument, "__ttnn_call__", None)
            if tracer is not None:
                return tracer(self, args, kwargs)
        raise TypeError(f"{self.__name__} got no tensor")


class StandInJit:
    def __init__(self, function):
        self.__ttnn_jit_wrapped__ = function
        self.func = function

    def __call__(self, *args, **kwargs):
        return self.func(*args, **kwargs)


def deallocate(tensor, force=True):
    return tensor.__ttnn_call__(deallocate, (tensor,), {"force": force})


vars(deallocate)[CREATES] = lambda _ops, args, _: args[0].deallocate()


def from_torch(tensor):
    return tensor.__ttnn_call__(from_torch, (tensor,), {})


ttnn = types.SimpleNamespace(
    **{name: StandInOperation(name, overloads) for name, overloads in (OVERLOADS | IN_PLACE).items()},
    **{alias: StandInOperation(alias, OVERLOADS[name]) for alias, name in ALIASES.items()},
    deallocate=deallocate,
    from_torch=from_torch,
    bfloat16=DataType.BFLOAT16,
    TILE_LAYOUT=Layout.TILE,
)

CPU = PRESETS["cpu"]
WORMHOLE = PRESETS["wormhole_b0"]
BF16 = TensorSpec((32, 32), DataType.BFLOAT16, Layout.TILE)
F32 = TensorSpec((32, 32), DataType.FLOAT32, Layout.TILE)


def lowered(function: Any, *args: Any, graph_capture: bool | None = False, target=WORMHOLE, **kwargs) -> FrontendResult:
    """`function` lowered for these positional arguments; a TensorSpec represents a tensor."""
    import inspect

    from ttnn_jit.foreign.pytrees import map_leaves

    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    arguments = {name: map_leaves(value, _argument) for name, value in bound.arguments.items()}
    return lower(FrontendRequest(function, arguments, target, graph_capture))


def _argument(value):
    return TensorArgument(value) if isinstance(value, TensorSpec) else value
