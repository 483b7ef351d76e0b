"""The request to a frontend."""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, Protocol

from ttnn_jit.diagnostics.source import Location, start_of
from ttnn_jit.frontend.writing.result_layout import ResultLayout
from ttnn_jit.guards.reads import Path
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.libraries import TensorLibrary
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec


class OpenReads(Protocol):
    """Puts numbers of a trace in place of what a compile reads."""

    def spec(self, path: Path, spec: TensorSpec) -> TensorSpec:
        """The spec of the hidden input at `path`, with extents of the trace."""

    def number(self, path: Path, value: float) -> float:
        """The number at `path`; one of the trace if it is open."""


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
        hidden: Opens hidden inputs and hidden numbers; None: they are fixed.
        devices: The devices of a mesh that run the program; None: one device.
    """

    function: types.FunctionType
    arguments: Mapping[str, Any]
    target: SystemDesc
    graph_capture: bool | None = None
    layout: ResultLayout | None = None
    library: TensorLibrary | None = None
    last_core: tuple[int, int] | None = None
    hidden: OpenReads | None = None
    devices: MeshDevices | None = None

    @property
    def definition(self) -> Location:
        """The location of the function's definition."""
        return start_of(self.function.__code__)
