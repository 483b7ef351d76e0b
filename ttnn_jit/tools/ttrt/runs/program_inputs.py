"""Inputs of programs: drawn, counted, or constant."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.tools.texts.inputs import draw_inputs, require_memory
from ttnn_jit.tools.ttrt.runs.golden_comparison import golden_to_torch

if TYPE_CHECKING:
    import torch

    from ttnn_jit.tools.ttrt.loaded_binaries import Binary, BinaryProgram

Shards = list["torch.Tensor"]
"""The tensors of every device, or the one of all."""


def initial_inputs(binary: Binary, program: BinaryProgram, kind: str, seed: int, density: int) -> list[Shards]:
    """The inputs of a program; a presharded one has an equal part on every device.

    Args:
        binary: The binary.
        program: The program.
        kind: ``randn``: normally distributed floats, and integers that the operations which read them take;
            ``arange``: 0, 1, 2 and so on; ``zeros``; ``ones``.
        seed: Of ``randn``, and of ``ones`` with a density.
        density: Of ``ones``: one element in so many is 1.

    Raises:
        ArgumentError: The density is below 1, or the machine has too little memory.
    """
    import torch

    if density < 1:
        raise ArgumentError(f"--ones-density takes a number of at least 1, got {density}")
    module = binary.fbb.text_module
    specs = module.program(program.name).arguments
    require_memory(specs)
    if kind == "randn":
        drawn = draw_inputs(module.functions[program.name], specs, seed)
    else:
        generator = torch.Generator().manual_seed(seed)
        drawn = [_BY_KIND[kind](spec, generator, density) for spec in specs]
    return [_on_devices(each, described) for each, described in zip(drawn, program.inputs, strict=True)]


def _on_devices(tensor: torch.Tensor, described: dict[str, Any]) -> Shards:
    desc = described["desc"]
    if desc.get("shard_status") != "Presharded":
        return [tensor]
    count = math.prod(desc.get("mesh_shape") or [1])
    return [tensor.clone() for _ in range(count)]


def golden_inputs(program: BinaryProgram, binary: Any) -> list[Shards] | None:
    """The inputs that a binary holds as goldens, which its other goldens belong to; None if one is not there."""
    found = []
    for index in range(program.num_inputs()):
        stored = binary.get_debug_info_golden(f"input_{index}")
        if not stored:
            return None
        tensor = golden_to_torch(stored[min(stored)])
        found.append(_on_devices(tensor.reshape(_own_shape(program.inputs[index]["desc"])), program.inputs[index]))
    return found


def _own_shape(desc: dict[str, Any]) -> Sequence[int]:
    """The extents on one device."""
    if desc.get("shard_status") == "Presharded" and desc.get("local_shape"):
        return list(desc["local_shape"])
    return list(desc["shape"])


def _counted(spec: TensorSpec, _: torch.Generator, __: int) -> torch.Tensor:
    import torch

    return torch.arange(spec.volume).to(spec.dtype.torch).reshape(tuple(spec.shape))


def _zeros(spec: TensorSpec, _: torch.Generator, __: int) -> torch.Tensor:
    import torch

    return torch.zeros(tuple(spec.shape), dtype=spec.dtype.torch)


def _ones(spec: TensorSpec, generator: torch.Generator, density: int) -> torch.Tensor:
    import torch

    chosen = torch.randint(0, density, tuple(spec.shape), generator=generator)
    return (chosen == 0).to(spec.dtype.torch)


_BY_KIND: dict[str, Callable[[TensorSpec, torch.Generator, int], torch.Tensor]] = {
    "arange": _counted,
    "zeros": _zeros,
    "ones": _ones,
}
