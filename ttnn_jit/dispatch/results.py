"""From a program's native run to what the user's function returns, for each family of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.dispatch.arguments import Family, Placement
from ttnn_jit.foreign.pytrees import map_leaves
from ttnn_jit.guards.reads import GuardText
from ttnn_jit.runtime.buffer import HOST_POOL, POOLED_RESULT_BYTES
from ttnn_jit.runtime.program import Program
from ttnn_jit.runtime.tensor import numpy_array, torch_tensor
from ttnn_jit.runtime.warm_caller import warm_numpy_caller, warm_tensor_caller, warm_torch_caller
from ttnn_jit.specs.tensor_spec import TensorSpec

if TYPE_CHECKING:
    import numpy


def runner_for(family: Family, program: Program, structure: Any) -> Callable[..., Any]:
    """The function from a call's tensors to what the user's function returns.

    Args:
        family: Whose tensors the call has.
        program: The compiled program.
        structure: None for one result, else a nest of tuples, lists and dicts with result indices as leaves.
    """
    if family is Family.TTNN:
        if structure is None:
            return program
        return lambda *tensors: rebuild(structure, _as_tuple(program(*tensors)))
    if family is Family.TORCH:
        return _foreign_runner(program, structure, _torch_addresses, _torch_results)
    return _foreign_runner(program, structure, _numpy_addresses, _numpy_results)


def warm_runner_for(where: Placement, program: Program, structure: Any, guard: GuardText) -> Callable[..., Any]:
    """The function that runs a program again on tensors of the same metadata, or returns `STALE`.

    Args:
        where: Whose tensors the call has, and its target.
        program: The compiled program, of at least one tensor.
        structure: As for `runner_for`.
        guard: When the program still is that of the user's function.
    """
    write = _WARM_CALLERS[where.family]
    shaped = None if structure is None else partial(rebuild, structure)
    return write(program, guard, shaped, COUNTERS, where.target)


_WARM_CALLERS = {Family.TTNN: warm_tensor_caller, Family.TORCH: warm_torch_caller, Family.NUMPY: warm_numpy_caller}


def rebuild(structure: Any, results: Sequence[Any]) -> Any:
    """`structure` with every index replaced by that result."""
    return map_leaves(structure, lambda leaf: results[leaf] if isinstance(leaf, int) else leaf)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _foreign_runner(
    program: Program,
    structure: Any,
    addresses: Callable[[Sequence[Any]], list[int]],
    allocate: Callable[[Sequence[TensorSpec]], list[Any]],
) -> Callable[..., Any]:
    """Runs on memory where it lies; a function that returns an argument itself returns that very object."""
    plan = program.plan

    def run(*tensors: Any) -> Any:
        outputs = allocate(plan.outputs)
        program.run(*addresses(tensors), *addresses(outputs))
        visible = (*tensors, *outputs)
        results = [visible[index] for index in plan.results]
        return results[0] if structure is None else rebuild(structure, results)

    return run


def _torch_addresses(tensors: Sequence[Any]) -> list[int]:
    return [tensor.data_ptr() for tensor in tensors]


def _torch_results(specs: Sequence[TensorSpec]) -> list[Any]:
    import torch

    return [
        torch_tensor(spec, HOST_POOL.allocate(spec.nbytes))
        if spec.nbytes >= POOLED_RESULT_BYTES
        else torch.empty(spec.shape, dtype=spec.dtype.torch, device="cpu")
        for spec in specs
    ]


def _numpy_addresses(arrays: Sequence[numpy.ndarray[Any, Any]]) -> list[int]:
    return [array.__array_interface__["data"][0] for array in arrays]


def _numpy_results(specs: Sequence[TensorSpec]) -> list[Any]:
    import numpy

    return [
        numpy_array(spec, HOST_POOL.allocate(spec.nbytes))
        if spec.nbytes >= POOLED_RESULT_BYTES
        else numpy.empty(spec.shape, dtype=numpy.float32)
        for spec in specs
    ]
