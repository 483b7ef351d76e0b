"""Hidden inputs: tensors that a function finds in the user's world, after its arguments and in order of first use.

One object is one input, even if several paths lead to it: a guard checks that they lead to one object.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError, TtnnJitError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.frontend.reads.read_recorder import ReadRecorder
from ttnn_jit.frontend.writing.frontend_request import FrontendRequest
from ttnn_jit.guards.reads import STATE_STEP, Path, path_text
from ttnn_jit.runtime.device import ONE_DEVICE_HELP
from ttnn_jit.runtime.libraries import MESH, TTNN, LibraryMark, mark_of, tensor_library_of

MakeInput = Callable[..., Any]
"""Makes the program's next input from a spec, a name and the blocks of a tensor of a mesh, and returns its proxy."""


class HiddenInputs:
    """The hidden inputs of one compile.

    Args:
        recorder: Has the paths of objects.
        request: The request that is compiled.
        opens: The user's code is interpreted, so that extents of these tensors may be those of a trace.

    Attributes:
        library: The library of the call's tensors; None: any.
    """

    def __init__(self, recorder: ReadRecorder, request: FrontendRequest, *, opens: bool) -> None:
        self._recorder = recorder
        self._open = request.hidden if opens else None
        self.library = request.library
        self._target = request.target
        self._devices = request.devices
        self._function = request.function.__name__
        self._inputs: dict[Path, Any] = {}
        self._arguments: dict[Path, Any] = {}

    def input(self, tensor: Any, argument: MakeInput, location: Callable[[], Location]) -> Any:
        """The proxy of `tensor`; the tensor itself if it has no path.

        Raises:
            ArgumentError: The call cannot take this tensor.
        """
        path = self._recorder.path_of(tensor)
        if path is None:
            return tensor
        known = self._inputs.get(path, self._arguments.get(path))
        if known is None:
            mark = mark_of(tensor) if path[0][0] == STATE_STEP else self._mark(tensor, path_text(path), location)
            self._recorder.record_tensor(tensor, mark)
            spec = mark.spec if self._open is None else self._open.spec(path, mark.spec)
            blocks = (mark.placement.blocks_on(self._devices),) if mark.placement and self._devices else ()
            known = self._inputs[path] = argument(spec, path_text(path), *blocks)
            self._recorder.bind_proxy(known, path, tensor)
        return known

    def state_input(self, tensor: Any, name: str, argument: MakeInput, location: Callable[[], Location]) -> Any:
        """The proxy of a tensor that this package keeps under `name` (guards/package_state.py)."""
        self._recorder.bind_path(tensor, ((STATE_STEP, name),))
        return self.input(tensor, argument, location)

    def number(self, value: Any, path: Path | None) -> Any:
        """A value that was read at `path`: a number of a trace in place of an int or float that is open."""
        if self._open is None or path is None or type(value) not in {int, float}:
            return value
        return self._open.number(path, value)

    def register_arguments(self) -> None:
        """Use the proxies of the call's tensors wherever these tensors are found."""
        for proxy, path, tensor in self._recorder.proxied_tensors():
            self._recorder.bind_path(tensor, path)
            self._arguments[path] = proxy

    def holds(self, tensor: Any) -> bool:
        """Whether `tensor` is a hidden input."""
        return self._recorder.path_of(tensor) in self._inputs

    def is_input(self, proxy: Any) -> bool:
        """Whether `proxy` is that of a hidden input."""
        return any(proxy is each for each in self._inputs.values())

    def _mark(self, tensor: Any, name: str, location: Callable[[], Location]) -> LibraryMark:
        try:
            self._check_library_and_device(tensor, f"Invalid arguments for function {self._function}: `{name}` is")
            return mark_of(tensor)
        except TtnnJitError as error:
            message = error.message if f"`{name}`" in error.message else f"`{name}`: {error.message}"
            raise type(error)(message, location=location(), help=error.help) from None

    def _check_library_and_device(self, tensor: Any, subject: str) -> None:
        library, expected = tensor_library_of(tensor), self.library
        if library is MESH and self._devices is not None:
            self._check_devices(tensor, subject)
            return
        if library is MESH:
            raise ArgumentError(f"{subject} a tensor of a mesh", help="pass it as an argument")
        if library is TTNN and self._devices is not None:
            where = "the host" if tensor.device() is None else tensor.device()
            raise ArgumentError(
                f"{subject} on {where}, and its arguments are tensors of a mesh",
                help="copy it to the mesh: `ttnn.to_device(tensor, mesh)`",
            )
        if library is not None and expected is not None and library is not expected:
            raise ArgumentError(
                f"{subject} a {library.title.removesuffix('s')}, and its arguments are {expected.title}",
                help="make them all ttnn tensors with `ttnn.from_torch`, or none"
                if TTNN in {library, expected}
                else "take `torch.from_numpy(array)`",
            )
        device = tensor.device() if library is TTNN else None
        if library is TTNN and device is None:
            raise ArgumentError(
                f"{subject} on the host",
                help="move it to a device: `ttnn.to_device(tensor, device)`, or `ttnn.from_torch(..., device=device)`",
            )
        if device is not None and device.target != self._target:
            raise ArgumentError(
                f"{subject} on {device}, and its arguments are on a device of {self._target.name}", help=ONE_DEVICE_HELP
            )

    def _check_devices(self, tensor: Any, subject: str) -> None:
        """Refuse a tensor of a mesh that lacks a part on a device of the program."""
        assert self._devices is not None
        placement = tensor.placement
        if tensor.device() is None:
            raise ArgumentError(f"{subject} on the host", help="move it to the mesh: `ttnn.to_device(tensor, mesh)`")
        if placement.mesh != self._devices.shape or tensor.device().target != self._target:
            raise ArgumentError(f"{subject} on another mesh than its arguments: {tensor.device()}")
        if missing := sorted({*self._devices.numbers} - {*placement.numbers}):
            raise ArgumentError(
                f"{subject} not on device {missing[0]} of the mesh, which has a part of every argument",
                help="pass it as an argument",
            )
