"""Goldens of all values of a function: control flow as programs have it, and the golden of every op that computes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Self

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.compiler.texts.host_calls import HostCall
from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.text_steps import OnDevices, Step, SteppedRun
from ttnn_jit.dialects.text_calls.op_calls import OpCall
from ttnn_jit.module_builders.base.torch_types import dtype_of
from ttnn_jit.module_builders.goldens.golden_map_tensor import GoldenMapTensor
from ttnn_jit.module_builders.goldens.op_goldens import OpGolden, rounded
from ttnn_jit.specs.target import resolve_target
from ttnn_jit.ttmlir.wrapping import wrapped


class GoldenSteps(SteppedRun):
    """A run of a function by goldens.

    Args:
        module: The module.
        name: The function.
        inputs: Its arguments: one tensor for all devices, or a tensor of each.
        mesh: The extents of the mesh.
    """

    def __init__(
        self, module: ModuleOp, name: str, inputs: Sequence[torch.Tensor | OnDevices], mesh: Sequence[int]
    ) -> None:
        super().__init__(TextModule(module, resolve_target("cpu"), mesh), name, inputs)
        self._mesh = tuple(mesh)
        self.computed: dict[SSAValue, OpGolden] = {}

    @classmethod
    def around(cls, op: Operation, mesh: Sequence[int]) -> Self:
        """A run in the function around an op, which computes nothing yet."""
        function: Operation | None = op
        while not isinstance(function, FuncOp):
            assert function is not None, "operations are made in functions"
            function = function.parent_op()
        module = function.parent_op()
        while module is not None and (above := module.parent_op()) is not None:
            module = above
        assert isinstance(module, ModuleOp), "functions are in modules"
        return cls(module, function.sym_name.data, [], mesh)

    def run(self) -> None:
        """Computes the goldens of all values.

        Raises:
            CompileError: An op has no golden.
        """
        for _ in self.steps():
            pass

    def run_op(self, op: Operation) -> None:
        """Computes the goldens of the results of one op, whose operands have one."""
        for _ in self._run_op(op):
            pass

    def tensor(self, value: SSAValue) -> GoldenMapTensor:
        """The golden of a value: one part if all devices have the same."""
        parts = self.values[value]
        alike = all(each is parts[0] for each in parts)
        return GoldenMapTensor({0: parts[0]} if alike else dict(enumerate(parts)), self._mesh)

    def _compute(self, op: Operation, read: OpCall) -> Iterator[Step]:
        return self._by_golden(op, read)

    def _exchange(self, op: Operation, read: OpCall) -> Iterator[Step]:
        return self._by_golden(op, read)

    def host_results(self, call: HostCall, operands: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The golden of a function of the host's module."""
        read = call.read
        found = read.operation.golden(torch, read.call(dict(zip(read.operands, operands, strict=True)).get))
        return [*found]

    def _by_golden(self, op: Operation, read: OpCall) -> Iterator[Step]:
        operands = {each: self.tensor(each) for each in read.operands}
        golden = OpGolden(op, operands, self._mesh)
        results = {}
        for value, parts in zip(read.written(op), golden.results(), strict=False):
            dtype = dtype_of(wrapped(value.type).element_type)
            tensor = GoldenMapTensor(rounded(parts, dtype), self._mesh)
            results[value] = tuple(tensor.parts(math.prod(self._mesh)))
            self.computed[value] = golden
        self.values.update(results)
        yield Step(op, read, {each: self.values[each] for each in read.operands}, results)
