"""The placement of a call: the one library and target of its tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.diagnostics.origin import type_name
from ttnn_jit.dispatch.arguments import Arguments
from ttnn_jit.foreign.container_items import items_of
from ttnn_jit.foreign.pytrees import LEAF, leaves
from ttnn_jit.ops import are_numbers
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import ONE_DEVICE_HELP
from ttnn_jit.runtime.libraries import MESH, TTNN, TensorLibrary
from ttnn_jit.runtime.meshes.mesh import HostMesh
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor, check_one_mesh, common_numbers, mesh_of_arguments
from ttnn_jit.runtime.tensors.tensor import Tensor
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.target import PRESETS, SystemDesc


@dataclass(frozen=True)
class Placement:
    """The library of a call's tensors, the target of their device, and the devices of a mesh that have all of them."""

    library: TensorLibrary
    target: SystemDesc
    devices: MeshDevices | None = None


def placement(arguments: Arguments, target: SystemDesc | None, function: str) -> Placement:
    """The one library and target of a call's tensors.

    Args:
        arguments: The arguments of the call.
        target: The target of torch and numpy arguments; None: ``cpu``.
        function: The name of the function, for errors.

    Raises:
        ArgumentError: There is no tensor, or tensors are of several libraries or devices, or on the host.
    """
    if MESH in arguments.libraries:
        return _on_mesh(arguments, function)
    libraries = dict.fromkeys(library for library in arguments.libraries if library is not None)
    if not libraries:
        raise _without_tensor(function, {name: tree.unflatten() for name, tree in arguments.trees.items()})
    if len(libraries) > 1:
        names = " and ".join(sorted(library.title for library in libraries))
        listed = _list_tensors(arguments, lambda _, library: f"a {library.title.removesuffix('s')}")
        raise ArgumentError(
            f"Invalid arguments for function {function}: {names} in one call: {listed}",
            help="make them all ttnn tensors with `ttnn.from_torch`, or none"
            if TTNN in libraries
            else "pass `torch.from_numpy(array)`",
        )
    (library,) = libraries
    return Placement(library, _target_of(arguments, function) if library is TTNN else target or PRESETS["cpu"])


def _on_mesh(arguments: Arguments, function: str) -> Placement:
    """The placement of a call with a tensor of a mesh."""
    mesh = mesh_of_arguments(arguments.leaves)
    assert mesh is not None, "one of the leaves is of a mesh"
    given = check_one_mesh(mesh, arguments.leaves)
    if isinstance(mesh, HostMesh) or any(tensor.device() is None for tensor in given):
        listed = _list_tensors(arguments, lambda tensor, _: "on the host" if tensor.device() is None else "")
        raise ArgumentError(
            f"Invalid arguments for function {function}: {listed}",
            help="move it to the mesh: `ttnn.to_device(tensor, mesh)`, or `ttnn.from_torch(..., device=mesh)`",
        )
    if len({*arguments.libraries} - {None}) > 1:
        listed = _list_tensors(arguments, _beside_mesh)
        raise ArgumentError(f"Invalid arguments for function {function}: {listed}", help=ONE_DEVICE_HELP)
    placed = common_numbers(mesh, given)
    own = tuple(mesh.own(placed))
    remote = tuple(number for number in placed if number not in own) if len(own) < len(placed) else ()
    owners = mesh.ranks.positions if mesh.ranks is not None and remote else ()
    return Placement(MESH, mesh.target, MeshDevices(mesh.shape, own, remote, owners))


def _beside_mesh(tensor: Any, library: TensorLibrary) -> str:
    """What a tensor of a call with tensors of a mesh is."""
    if library is MESH:
        return f"on {tensor.device()}"
    return "on the host" if library is TTNN else f"a {library.title.removesuffix('s')}"


def _target_of(arguments: Arguments, function: str) -> SystemDesc:
    """The target of the one device of the call's tensors, which are ttnn's."""
    devices = {id(tensor.device()): tensor.device() for tensor in arguments.tensors}
    if None in devices.values():
        listed = _list_tensors(arguments, lambda tensor, _: "on the host" if tensor.device() is None else "")
        raise ArgumentError(
            f"Invalid arguments for function {function}: {listed}",
            help="move it to a device: `ttnn.to_device(tensor, device)`, or `ttnn.from_torch(..., device=device)`",
        )
    if len(devices) > 1:
        listed = _list_tensors(arguments, lambda tensor, _: f"on {tensor.device()}")
        raise ArgumentError(
            f"Invalid arguments for function {function}: tensors on different devices: {listed}", help=ONE_DEVICE_HELP
        )
    target: SystemDesc = arguments.tensors[0].device().target
    return target


def check_devices(function: str, arguments: Sequence[Any], hidden: Iterable[tuple[str, Any]]) -> None:
    """Refuse hidden inputs, given with their names, that are on another device than the arguments.

    Raises:
        ArgumentError: A ttnn tensor among them is on another device.
    """
    if isinstance(arguments[0], MeshTensor):
        for name, tensor in hidden:
            if isinstance(tensor, MeshTensor) and tensor.mesh is not arguments[0].mesh:
                raise ArgumentError(f"Invalid arguments for function {function}: `{name}` is on another mesh")
        return
    for name, tensor in hidden:
        if type(tensor) is Tensor and tensor.device() is not arguments[0].device():
            raise ArgumentError(
                f"Invalid arguments for function {function}: tensors on different devices: `{name}` is on "
                f"{tensor.device()}, and the arguments are on {arguments[0].device()}",
                help=ONE_DEVICE_HELP,
            )


def _list_tensors(arguments: Arguments, describe: Callable[[Any, TensorLibrary], str]) -> str:
    """The descriptions of the tensors of each argument, without empty ones."""
    libraries = iter(arguments.libraries)
    listed = []
    for parameter, tree in arguments.trees.items():
        pairs = [(leaf, next(libraries)) for leaf in tree.leaves]
        texts = filter(None, dict.fromkeys(describe(leaf, library) for leaf, library in pairs if library is not None))
        what = f"`{parameter}`" if tree.treedef is LEAF else f"a tensor in `{parameter}`"
        listed += [f"{what} is {text}" for text in texts]
    return ", ".join(listed)


def _without_tensor(name: str, arguments: Mapping[str, Any]) -> ArgumentError:
    """The error of a call of the function `name` without a tensor; `arguments` are by parameter."""
    message = f"Invalid arguments for function {name}: there is no tensor among them"
    if not arguments:
        return ArgumentError(f"{message}: it has no parameters", help="give it the tensors that it computes with")
    listed = ", ".join(f"`{parameter}` is {_kind_of(value)}" for parameter, value in arguments.items())
    helps = [hint for parameter, value in arguments.items() if (hint := _conversion_hint(parameter, value))]
    return ArgumentError(f"{message}: {listed}", help=[*helps, _ANY_TENSOR.format(next(iter(arguments)))][0])


_ANY_TENSOR = "pass a torch, numpy or ttnn tensor for `{}`"


def _kind_of(value: Any) -> str:
    if value is None:
        return "None"
    if items_of(value) is None:
        return f"a {type_name(value)}"
    kind = type(value).__name__
    if not leaves(value):
        return f"an empty {kind}"
    return f"a {kind} of numbers" if are_numbers(value) else f"a {kind} without a tensor in it"


def _conversion_hint(parameter: str, value: Any) -> str | None:
    """The help text that converts the argument of a `parameter` to a tensor; None if that is impossible."""
    if are_numbers(value):
        return (
            f"pass a tensor for `{parameter}`: `torch.tensor({parameter})` or `numpy.array({parameter}, numpy.float32)`"
        )
    if hasattr(type(value), "__array__"):
        return f"pass a tensor for `{parameter}`: `numpy.asarray({parameter}, numpy.float32)`"
    return None
