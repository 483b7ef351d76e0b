"""The interpreter of modules for a mesh: a tile interpreter for each device, op by op, and collectives between them.

Folds are in the order that `ops/families/collective.py` defines, on whole arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import Block

from ttnn_jit.diagnostics.errors import ArgumentError, ShapeError
from ttnn_jit.dialects.argument_notes import updates_of, whole_arguments_of
from ttnn_jit.dialects.declared_ops import CollectiveOp
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.interpreters.tensor_interpreter import Tensor, packed_numbers
from ttnn_jit.interpreters.tile_interpreter import Machine, machine_of, run_op
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.ops import OVERLOADS, Elementwise
from ttnn_jit.ops.collectives.device_folds import COMBINING, DIVISION
from ttnn_jit.ops.families.collective import REDUCE_MEAN, Fill, Fold, Join, Shard, Slice, Source, shape_of, tree_fold
from ttnn_jit.specs.dtypes import COMPUTE_TYPE
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.tensor_spec import TensorSpec

Array = np.ndarray[Any, Any]


def interpret_on_mesh(
    module: ModuleOp, devices: MeshDevices, inputs: Sequence[Array], entry: str | None = None
) -> list[Array]:
    """The results of a module's entry point on each device, result by result.

    Args:
        module: A module in d2m form.
        devices: The devices that run it.
        inputs: For each argument an array on each device in order, or one if it is of the whole mesh.
        entry: The name of the entry point; None: the only one.

    Raises:
        ArgumentError: The arrays do not fit the function, or it exchanges with other ranks, or is too large.
        CompileError: As `interpret` does.
    """
    if devices.remote:
        raise ArgumentError("the module is of one rank of several, which the interpreter does not have")
    machines = [machine_of(module, entry) for _ in devices.numbers]
    function = machines[0].function
    whole, given, wanted = whole_arguments_of(function), iter(inputs), len(function.args) * len(machines)
    wanted -= len(whole) * (len(machines) - 1)
    if len(inputs) != wanted:
        raise ArgumentError(f"the function takes {wanted} tensors on {len(machines)} devices, got {len(inputs)}")
    arguments = []
    for index, _ in enumerate(function.args):
        own = [next(given)] if index in whole else [next(given) for _ in machines]
        arguments.append(own * (len(machines) // len(own)))
    with NumpyVector.quiet():
        for machine, arrays in zip(machines, zip(*arguments, strict=True), strict=True):
            machine.bind(function.body.block, arrays)
        _Mesh(devices, machines).run(function.body.block)
    alone = {result for argument, result in updates_of(function) if argument in whole}
    of_devices = [machine.results() for machine in machines]
    found: list[Array] = []
    for index, same in enumerate(zip(*of_devices, strict=True)):
        found += same[:1] if index in alone else same
    return found


class _Mesh:
    """The machines of the devices, which run every op together."""

    def __init__(self, devices: MeshDevices, machines: Sequence[Machine]) -> None:
        self._devices = devices
        self._machines = machines
        self._by_number = dict(zip(devices.numbers, machines, strict=True))

    def run(self, block: Block) -> None:
        """Executes the ops of a function's body."""
        for op in block.ops:
            match op:
                case CollectiveOp():
                    self._exchange(op)
                case CallOp():
                    body = self._machines[0].functions[op.callee.root_reference.data].body.block
                    for machine in self._machines:
                        passed = [machine.environment[value] for value in op.operands]
                        machine.environment.update(zip(body.args, passed, strict=True))
                    self.run(body)
                    for machine in self._machines:
                        machine.environment.update(zip(op.results, machine.returned, strict=True))
                case _:
                    for machine in self._machines:
                        run_op(machine, op)

    def _exchange(self, op: CollectiveOp) -> None:
        operands = {
            number: [machine.environment[value] for value in op.operands] for number, machine in self._by_number.items()
        }
        shapes = [each.values.shape for each in operands[self._devices.numbers[0]]]
        try:
            results = op.operation.exchanged(self._devices, shapes, op.statics)
        except (ArgumentError, ShapeError) as error:
            raise refusal(op, error.message) from None
        evaluation = _Evaluation(operands, shapes, self._machines[0])
        made = {number: [*map(evaluation.value, own)] for number, own in results.items()}
        for number, machine in self._by_number.items():
            for result, values in zip(op.results, made[number], strict=True):
                machine.environment[result] = Tensor(values, spec_of(result.type))


class _Evaluation:
    """The values of expressions over the operands of a collective."""

    def __init__(
        self, operands: Mapping[int, Sequence[Tensor]], shapes: Sequence[tuple[int, ...]], machine: Machine
    ) -> None:
        self._operands = operands
        self._shapes = shapes
        self._math, self._numerics = machine.math, machine.numerics
        self._spec: TensorSpec = next(iter(operands.values()))[0].spec

    def value(self, source: Source) -> Array:
        """The elements of an expression in their compute type; block floats are rounded as they are packed."""
        values = self._evaluated(source)
        if not self._spec.dtype.is_block_float or isinstance(source, Shard | Fold):
            return values
        return packed_numbers(values, self._spec.dtype, self._numerics)

    def _evaluated(self, source: Source) -> Array:
        match source:
            case Shard(device, operand):
                found: Array = self._operands[device][operand].values
                return found
            case Slice(of, dim, begin, end):
                return self._evaluated(of)[(slice(None),) * dim + (slice(begin, end),)]
            case Join(dim, parts):
                return np.concatenate([*map(self._evaluated, parts)], dim)
            case Fill(_, _, _, number):
                dtype = self._spec.dtype
                value = self._math.round_to(self._math.arithmetic(dtype.compute).const(number), dtype, self._numerics)
                return np.full(shape_of(source, self._shapes), value, dtype.compute.numpy)
            case Fold():
                return self._folded(source)
        raise AssertionError("one rank has all devices")

    def _folded(self, fold: Fold) -> Array:
        dtype = self._spec.dtype
        compute = dtype if dtype.is_integer else COMPUTE_TYPE

        def applied(name: str) -> Callable[[Array, Any], Array]:
            operation, arithmetic = OVERLOADS[name][0], self._math.arithmetic(compute.compute)
            assert isinstance(operation, Elementwise), "folds combine elements"

            def apply(left: Array, right: Any) -> Array:
                found: Array = self._math.round_to(operation.emit(arithmetic, left, right), compute, self._numerics)
                return found

            return apply

        terms = [self._evaluated(term) for term in fold.terms]
        total = tree_fold(applied(COMBINING[fold.reduction]), terms, fold.levels)
        if fold.reduction == REDUCE_MEAN:
            total = applied(DIVISION)(total, np.full(total.shape, len(terms), np.float32))
        if dtype.is_block_float:
            return packed_numbers(total, dtype, self._numerics)
        return total if dtype is compute else self._math.typecast(total, compute, dtype, self._numerics)
