"""The request to a frontend."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from ttnn_jit.diagnostics.source import Location, start_of
from ttnn_jit.frontend.writing.result_layout import ResultLayout
from ttnn_jit.guards.reads import Path
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import TensorLibrary
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class FrontendRequest:
    """A Python function, and all else that its module depends on.

    Attributes:
        function: The function.
        arguments: A value for every parameter, by name: `TensorArgument` for tensors, alone or in tuples, lists and
            dicts; compile-time values as themselves. ``*args`` is a tuple, ``**kwargs`` a dict.
        target: The rules and the numerics to compile for.
        graph_capture: True traces, False interprets the AST, None interprets and traces only where there is no source.
        layout: The layout of results; None keeps that of each result's first operand.
        library: The library of the call's tensors, which hidden inputs must share; None: any.
        last_core: The last core (x, y) that may be used; None: the target's.
        hidden: Puts extents of a trace into the specs of hidden inputs, by path; None: they have none.
    """

    function: types.FunctionType
    arguments: Mapping[str, Any]
    target: SystemDesc
    graph_capture: bool | None = None
    layout: ResultLayout | None = None
    library: TensorLibrary | None = None
    last_core: tuple[int, int] | None = None
    hidden: Callable[[Path, TensorSpec], TensorSpec] | None = None

    @property
    def definition(self) -> Location:
        """The location of the function's definition."""
        return start_of(self.function.__code__)
