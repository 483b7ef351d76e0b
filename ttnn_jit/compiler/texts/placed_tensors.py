"""The parts of a written program that open devices, and place tensors on those of a mesh."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.emitpy import indented, opened, placement
from ttnn_jit.emitpy.value_text import call_text
from ttnn_jit.frontend.ir.device_lowering import DeviceText, WholeTensor
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.tensor_spec import TensorSpec

_INDENT = "    "


@dataclass(frozen=True)
class MainCall:
    """The call of an entry point by the main function.

    Attributes:
        function: The entry point.
        preparation: The function that makes what it reads behind its arguments; empty if it reads nothing else.
        specs: The specs of its arguments.
        distribution: On a mesh, the function that cuts whole tensors; else empty.
        aggregation: On a mesh, the function that joins its results; else empty.
        placing: The sources of these two.
    """

    function: str
    preparation: str
    specs: Sequence[TensorSpec]
    distribution: str = ""
    aggregation: str = ""
    placing: tuple[str, ...] = ()


def main_source(name: str, mesh: Sequence[int], calls: Sequence[MainCall]) -> str:
    """The main function, which calls each entry point with tensors of ones, and prints what it returns.

    Args:
        name: Its name.
        mesh: The shape of the mesh that it opens; () for one device.
        calls: The entry points.
    """
    lines = [f"def {name}():", f"{_INDENT}device = {opened(mesh)}"]
    for call in calls:
        lines += [_INDENT + line for line in _call_lines(call)]
    lines += [f"{_INDENT}ttnn.close_{'mesh_device' if mesh else 'device'}(device)"]
    lines += ["", "", 'if __name__ == "__main__":', f"{_INDENT}{name}()"]
    return "\n".join(lines)


def _call_lines(call: MainCall) -> list[str]:
    passed = ["*arguments"] if call.specs else []
    lines = []
    if call.distribution and passed:
        made = [f"torch.ones({list(each.shape)}, dtype={each.dtype.torch})" for each in call.specs]
        lines += [
            f"arguments = {call.distribution}(",
            f"{_INDENT}device,",
            *(f"{_INDENT}{each}," for each in made),
            ")",
        ]
    elif passed:
        made = [f"ttnn.ones({list(each.shape)}, {placement(each)}, device=device)" for each in call.specs]
        lines += ["arguments = [", *(f"{_INDENT}{each}," for each in made), "]"]
    if call.preparation:
        lines.append(f"prepared = {call.preparation}({', '.join(['device', *passed])})")
        passed.append("*prepared")
    result = f"{call.function}({', '.join(passed or ['device'])})"
    lines.append(f"print({call.aggregation}({result}))" if call.aggregation else f"print({result})")
    return lines


# --- Tensors of a mesh ------------------------------------------------------------------------------------------------


def placing_functions(
    names: Sequence[str], entry: str, parameters: Sequence[str], text: DeviceText, mesh: Sequence[int]
) -> tuple[str, str]:
    """The functions that cut the arguments of an entry point, and join its results.

    Raises:
        CompileError: ttnn has no mapper that cuts so.
    """
    extents = [*(1,) * (2 - len(mesh)), *mesh]
    cut = [_cut(name, each, extents) for name, each in zip(parameters, text.arguments, strict=True)]
    distribute = [
        f"def {names[0]}({', '.join(['device', *parameters])}):",
        f'{_INDENT}"""Whole tensors of torch, cut among the devices as `{entry}` takes them."""',
        f"{_INDENT}return [",
        *(indented(indented(f"{each},")) for each in cut),
        f"{_INDENT}]",
    ]
    results = [f"result_{index}" for index in range(len(text.results))] if len(text.results) != 1 else ["result"]
    joined = [_joined(name, each, extents) for name, each in zip(results, text.results, strict=True)]
    aggregate = [
        f"def {names[1]}(results):",
        f'{_INDENT}"""Whole tensors of torch of what `{entry}` returns."""',
    ]
    if results:
        aggregate.append(f"{_INDENT}{', '.join(results)} = results")
    aggregate += [f"{_INDENT}return [", *(indented(indented(f"{each},")) for each in joined), f"{_INDENT}]"]
    return "\n".join(distribute), "\n".join(aggregate)


def _cut(name: str, tensor: WholeTensor, extents: Sequence[int]) -> str:
    """The source of a tensor of a mesh, made of a whole one."""
    return call_text("ttnn.from_torch", [name, placement(tensor.spec), "device=device", _mapper(tensor.dims, extents)])


def _mapper(dims: Sequence[int], extents: Sequence[int]) -> str:
    if all(dim < 0 for dim in dims):
        return "mesh_mapper=ttnn.ReplicateTensorToMesh(device)"
    own = {dim for dim in dims if dim >= 0}
    if len(own) < sum(dim >= 0 for dim in dims):
        if any(dim < 0 and extent > 1 for dim, extent in zip(dims, extents, strict=True)):
            raise CompileError(f"no mapper of ttnn cuts a tensor along {dims}")
        return f"mesh_mapper=ttnn.ShardTensorToMesh(device, dim={own.pop()})"
    texts = (f"ttnn.PlacementShard({dim})" if dim >= 0 else "ttnn.PlacementReplicate()" for dim in dims)
    return f"mesh_mapper=ttnn.create_mesh_mapper(device, ttnn.MeshMapperConfig([{', '.join(texts)}]))"


def _joined(name: str, tensor: WholeTensor, extents: Sequence[int]) -> str:
    """The source of a whole tensor, made of one of a mesh."""
    dims = tensor.dims
    axes = [axis for axis, dim in enumerate(dims) if dim >= 0]
    if not axes:
        return f"ttnn.to_torch(ttnn.get_device_tensors({name})[0])"
    if len(axes) == len(dims) and len({*dims}) == len(dims):
        composer = f"ttnn.create_mesh_composer({name}.device(), ttnn.MeshComposerConfig({[*dims]}))"
        return call_text("ttnn.to_torch", [name, f"mesh_composer={composer}"])
    step, count = math.prod(extents[axes[-1] + 1 :]), math.prod(extents[axis] for axis in axes)
    taken = "" if count == math.prod(extents) else f"[: {step * count} : {step}]" if step > 1 else f"[:{count}]"
    each = f"[ttnn.to_torch(each) for each in ttnn.get_device_tensors({name}){taken}]"
    return f"torch.cat({each}, {dims[axes[0]]})"
