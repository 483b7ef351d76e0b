"""Functions of texts for several devices as each device runs them, with collectives between the devices.

`FunctionLowering` writes a program of all devices, whose inputs are whole tensors. Here the program is one device's, as
a user of ttnn writes it: an argument that the text only cuts is an input on parts, and so is a result that the text
joins. What the text cuts or joins elsewhere is partitioned or gathered.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError, ShapeError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import OpCall, errors_at, read_op
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor, spec_in_text
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.text_calls.traces_in_texts import executed_ops
from ttnn_jit.frontend.ir.lowered_text import Argument, LoweredText
from ttnn_jit.frontend.ir.lowering import FunctionLowering
from ttnn_jit.frontend.ir.ops_of_text import OpsOfText, TextBuilder, check_shape
from ttnn_jit.ops.families.collective import Collective
from ttnn_jit.ops.families.decomposition import Value
from ttnn_jit.ops.families.text_operation import Enumerated, Role
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.ops.texts.exchange_texts import Placement, placement_of
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.meshes.mesh_devices import MeshDevices
from ttnn_jit.specs.meshes.mesh_shape import MeshShape
from ttnn_jit.specs.target import SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec


@dataclass(frozen=True)
class WholeTensor:
    """An argument or a result of a text, of which each device has a part.

    Attributes:
        spec: The spec of the whole tensor.
        dims: The dimension that each axis of the mesh cuts; -1 for one along which devices have the same.
    """

    spec: TensorSpec
    dims: tuple[int, ...]


@dataclass(frozen=True)
class DeviceText:
    """A function of a text as each device runs it.

    Attributes:
        lowered: The function of one device's tensors.
        arguments: Its arguments.
        results: Its results.
    """

    lowered: LoweredText
    arguments: tuple[WholeTensor, ...]
    results: tuple[WholeTensor, ...]


class DeviceLowering(FunctionLowering):
    """Writes one function as each device of a mesh runs it; arguments as for `FunctionLowering`."""

    def __init__(self, functions: Mapping[str, FuncOp], target: SystemDesc, name: str, mesh: Sequence[int]) -> None:
        super().__init__(functions, target, name, mesh)
        shape = MeshShape((1,) * (2 - len(mesh)) + tuple(mesh))
        self.builder = TextBuilder(name, target, None, devices=MeshDevices(shape, tuple(range(math.prod(mesh)))))
        self._devices = 1
        self._cut: dict[SSAValue, Placement] = {}

    def lower_on_device(self, function: FuncOp, *, is_entry: bool = True) -> DeviceText:
        """The function.

        Args:
            function: The function.
            is_entry: Whether its arguments and results are cut as it cuts and joins them; else they are whole.

        Raises:
            CompileError: An op is not executed here, or exchanges in a way that ttnn has no call for.
        """
        block = function.body.block
        last = block.last_op
        assert isinstance(last, ReturnOp), "a function ends with its return"
        arguments = [each for each in block.args if is_tensor(each.type)]
        cuts = {value: self._cut_alike(value) if is_entry else None for value in arguments}
        outputs, results = [], []
        for value in last.operands:
            joined = self._joined(value) if is_entry else None
            dims = self._nowhere() if joined is None else joined.dims
            owner = value.owner
            outputs.append(owner.operands[0] if joined is not None and isinstance(owner, Operation) else value)
            results.append(WholeTensor(spec_in_text(value.type), dims))
        given = []
        for index, value in enumerate(arguments):
            placement, spec = cuts[value], spec_in_text(value.type)
            given.append(WholeTensor(spec, self._nowhere() if placement is None else placement.dims))
            part = spec if placement is None else spec_in_text(next(iter(value.uses)).operation.results[0].type)
            self._values[value] = (self.input(Argument(index), part),)
            if placement is not None:
                self._cut[value] = placement
        self._open.append(function.sym_name.data)
        skipped = {value.owner for value, own in zip(last.operands, outputs, strict=True) if value is not own}
        ops = [op for op in executed_ops(block) if op not in skipped]
        lowered = self.lower([], ops, outputs)
        return DeviceText(lowered, tuple(given), tuple(results))

    def _nowhere(self) -> tuple[int, ...]:
        return (-1,) * len(self.builder.devices.shape)

    def _placement(self, op: Operation) -> Placement | None:
        """How an op cuts or joins its operand; None if it does neither."""
        found = text_operations().get(name_of(op))
        if found is None or found.role is not Role.EXCHANGES:
            return None
        with errors_at(op):
            call = read_op(op).call(lambda value: spec_in_text(value.type))
            call.mesh = self._mesh
            return placement_of(call)

    def _cut_alike(self, value: SSAValue) -> Placement | None:
        """How all readers of an argument cut it; None if one does not, or cuts otherwise."""
        found = [self._placement(use.operation) for use in value.uses]
        first = found[0] if found else None
        if first is None or not first.is_cut or any(each != first for each in found):
            return None
        return first

    def _joined(self, value: SSAValue) -> Placement | None:
        """How the op that makes a result joins it; None if it does not, or if others read the whole."""
        owner = value.owner
        if not isinstance(owner, Operation) or len([*value.uses]) != 1:
            return None
        found = self._placement(owner)
        return None if found is None or found.is_cut else found

    def exchange(self, op: Operation, read: OpCall) -> None:
        """The result of an op that reads tensors of other devices."""
        operand = read.operands[0]
        if operand in self._cut and self._placement(op) == self._cut[operand]:
            self._values[op.results[0]] = self._read(operand)
            return
        written = read.operation.on_device
        if written is None:
            raise CompileError(f"`{name_of(op)}` has no call in ttnn that each device makes", location=location_of(op))
        ops = OpsOfText(self, location_of(op))

        def exchange(collective: Collective, x: Value, *statics: Any) -> Value:
            location = location_of(op)
            assert location is not None, "ops of texts have places"
            own = tuple(str(each) if isinstance(each, Enumerated) else each for each in statics)
            ((handle, spec),) = self.builder.exchanged(collective, [(x.handle, x.spec)], own, location)
            return Value(ops, spec, handle)

        with errors_at(op):
            call = read.call(lambda value: ops.rebound(self._read(value)[0]))
            call.mesh = self._mesh
            if read.results[0].dtype is not self._read(operand)[0].spec.dtype:
                raise ShapeError("its result has another element type")
            found = written(exchange, call)
            check_shape(found, read.results[0])
        self._values[op.results[0]] = (found,)
