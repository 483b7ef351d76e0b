"""Runs a function of a text op by op, and compares every result with its golden on equal operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, Region, SSAValue

from ttnn_jit.compiler.text_programs import TextModule, zeros
from ttnn_jit.dialects.text_calls.op_calls import OpCall, is_only_a_number, read_op
from ttnn_jit.dialects.text_calls.shards import check_devices, shard_tilings
from ttnn_jit.dialects.text_calls.tensor_types import is_tensor, spec_in_text
from ttnn_jit.dialects.text_calls.text_attributes import symbol_of
from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict, judge
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.ops.texts.exchange_texts import narrowed
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.ttnn.calling.golden_calls import GoldenCall
from ttnn_jit.ttnn.observing.comparison_tolerances import JudgedCall

if TYPE_CHECKING:
    import torch

_ERROR_ON_CHIP = 2.0**-7
"""Relative error of a step on a chip, which rounds factors by its fidelity, and values between steps."""
_RELATIVE = 2.0**-20
"""Of the golden, and of the root mean square of all its elements: eight roundings to float32."""
_SUM_ERROR = 2.0**-16
"""Relative error of float32 sums, as of eager calls (ttnn/observing/comparison_tolerances.py)."""


@dataclass(frozen=True)
class ComparedOp:
    """An op whose results were compared.

    Attributes:
        op: The op.
        verdicts: The verdict on each result; empty if the results are drawn.
    """

    op: Operation
    verdicts: tuple[Verdict, ...]

    @property
    def matches(self) -> bool:
        """Whether every result is right."""
        return all(each.matches for each in self.verdicts)


class GoldenRun:
    """A run of one function.

    Args:
        module: The module.
        name: The function.
        inputs: Its arguments.

    Attributes:
        results: The results, after the last op was compared.
    """

    def __init__(self, module: TextModule, name: str, inputs: Sequence[torch.Tensor]) -> None:
        self._module = module
        self._function: FuncOp = module.functions[name]
        self._inputs = inputs
        self._devices = math.prod(module.mesh)
        self._values: dict[SSAValue, tuple[torch.Tensor, ...]] = {}
        self.results: list[torch.Tensor] = []
        self._of_region: list[tuple[torch.Tensor, ...]] = []

    def compared(self) -> Iterator[ComparedOp]:
        """Every op that computes, in the order of the run, calls included.

        Raises:
            CompileError: An op is not executed here.
        """
        yield from self._run_function(self._function, [(each,) * self._devices for each in self._inputs])
        self.results = [each[0] for each in self._returned(self._function)]

    def _returned(self, function: FuncOp) -> list[tuple[torch.Tensor, ...]]:
        last = function.body.block.last_op
        return [self._values[each] for each in last.operands if is_tensor(each.type)] if last else []

    def _run_function(self, function: FuncOp, arguments: Sequence[tuple[torch.Tensor, ...]]) -> Iterator[ComparedOp]:
        block = function.body.block
        tensors = [each for each in block.args if is_tensor(each.type)]
        self._values.update(zip(tensors, arguments, strict=True))
        for op in block.ops:
            yield from self._run_op(op)

    def _run_op(self, op: Operation) -> Iterator[ComparedOp]:
        if isinstance(op, ReturnOp) or is_only_a_number(op):
            return
        if isinstance(op, CallOp):
            yield from self._run_call(op, symbol_of(op.callee))
            return
        read = read_op(op)
        if read.operation.role is Role.ALLOCATES:
            self._values[op.results[0]] = (zeros(read.results[0]),) * self._devices
        elif read.operation.role is not Role.NOTHING:
            yield from _BY_ROLE[read.operation.role](self, op, read)

    def _run_decomposition(self, op: Operation, read: OpCall) -> Iterator[ComparedOp]:
        yield from self._run_call(op, read.arguments["decomposition"])

    def _run_callee(self, op: Operation, read: OpCall) -> Iterator[ComparedOp]:
        yield from self._run_call(op, read.arguments["callee"])

    def _run_once(self, op: Operation, _: OpCall) -> Iterator[ComparedOp]:
        yield from self._run_region(op.regions[0], [self._values[each] for each in op.operands])
        self._values.update(zip(op.results, self._of_region, strict=True))

    def _run_call(self, op: Operation, name: str) -> Iterator[ComparedOp]:
        callee = self._module.callee(op, name)
        yield from self._run_function(callee, [self._values[each] for each in op.operands if is_tensor(each.type)])
        tensors = [each for each in op.results if is_tensor(each.type)]
        self._values.update(zip(tensors, self._returned(callee), strict=True))

    def _run_region(self, region: Region, arguments: Sequence[tuple[torch.Tensor, ...]]) -> Iterator[ComparedOp]:
        """Every op of a region; what it returns is `_of_region` afterwards."""
        block = region.block
        self._values.update(zip(block.args, arguments, strict=True))
        *ops, last = block.ops
        for each in ops:
            yield from self._run_op(each)
        self._of_region = [self._values[each] for each in last.operands]

    def _run_choice(self, op: Operation, _: OpCall) -> Iterator[ComparedOp]:
        """All regions, as the program does."""
        found = []
        for region in op.regions:
            yield from self._run_region(region, [])
            found.append(self._of_region)
        index = self._values[op.operands[0]][0]
        number = int(index) if str(index.dtype) != "torch.bool" else 1 - int(index)
        chosen = found[number] if 0 <= number < len(found) else found[-1]
        self._values.update(zip(op.results, chosen, strict=True))

    def _run_loop(self, op: Operation, _: OpCall) -> Iterator[ComparedOp]:
        condition, body = op.regions
        carried = [self._values[each] for each in op.operands]
        while True:
            yield from self._run_region(condition, carried)
            if not bool(self._of_region[0][0]):
                break
            yield from self._run_region(body, carried)
            carried = self._of_region
        self._values.update(zip(op.results, carried, strict=True))

    def _run_on_shards(self, op: Operation, read: OpCall) -> Iterator[ComparedOp]:
        import torch

        given, wanted = shard_tilings(read)
        shards = []
        for value, tiling in zip(op.operands, given, strict=True):
            check_devices(tiling, self._devices)
            wholes = enumerate(self._values[value])
            shards.append(tuple(tiling.part_of(each, device, narrowed).contiguous() for device, each in wholes))
        yield from self._run_region(op.regions[0], shards)
        for value, parts, tiling in zip(op.results, self._of_region, wanted, strict=True):
            self._values[value] = (tiling.whole(parts, torch.cat),) * self._devices

    def _compared(self, op: Operation, read: OpCall) -> Iterator[ComparedOp]:
        """The results on every device; devices with equal operands share them."""
        operands = [each for each in dict.fromkeys(read.operands) if is_tensor(each.type)]
        program = self._module.program_of(op, operands)
        made: dict[tuple[int, ...], list[torch.Tensor]] = {}
        verdicts: list[Verdict] = []
        found = []
        for device in range(self._devices):
            given = [self._values[each][device] for each in operands]
            key = tuple(map(id, given))
            if key not in made:
                made[key] = got = program(*given)
                judged = _Judged(read, dict(zip(operands, given, strict=True)), self._is_on_chip)
                if not read.operation.is_random:
                    verdicts += judged.verdicts(got)
            found.append(made[key])
        for index, value in enumerate(read.written(op)):
            self._values[value] = tuple(results[index] for results in found)
        yield ComparedOp(op, tuple(verdicts))

    def _exchanged(self, op: Operation, read: OpCall) -> Iterator[ComparedOp]:
        operands = [each for each in dict.fromkeys(read.operands) if is_tensor(each.type)]
        given = [each for value in operands for each in self._values[value]]
        got = self._module.program_of(op, operands, on_mesh=True)(*given)
        self._values[op.results[0]] = tuple(got)
        judged = _Judged(read, {value: self._values[value] for value in operands}, self._is_on_chip, self._module.mesh)
        yield ComparedOp(op, tuple(judged.verdicts(got)))

    @property
    def _is_on_chip(self) -> bool:
        return self._module.target.numerics is Numerics.DEVICE


_BY_ROLE: Mapping[Role, Callable[[GoldenRun, Operation, OpCall], Iterator[ComparedOp]]] = {
    Role.COMPUTES: GoldenRun._compared,
    Role.CALLS: GoldenRun._run_decomposition,
    Role.CALLS_ONCE: GoldenRun._run_callee,
    Role.EXCHANGES: GoldenRun._exchanged,
    Role.CHOOSES: GoldenRun._run_choice,
    Role.REPEATS: GoldenRun._run_loop,
    Role.SHARDS: GoldenRun._run_on_shards,
    Role.RUNS_REGION: GoldenRun._run_once,
}


class _Judged:
    """A call of a golden, beside the results of the op.

    Args:
        read: The op.
        values: Its operands: a tensor each, or of an exchange the tensors of all devices.
        on_chip: Whether the op ran with the numerics of a chip.
        mesh: Of an exchange, the extents of the mesh.
    """

    def __init__(
        self,
        read: OpCall,
        values: Mapping[SSAValue, Any],
        on_chip: bool,
        mesh: tuple[int, ...] | None = None,
    ) -> None:
        self._read = read
        self._is_on_chip = on_chip
        self._mesh = mesh
        self._keys = [*values]
        tensors = [each for value in values.values() for each in (value if mesh else (value,))]
        wide = tuple(map(_widened, tensors))
        golden = GoldenCall(None, wide, (), self._golden)  # type: ignore[arg-type]
        specs = [*read.results]
        self._judged = JudgedCall(golden, None, specs, on_chip=on_chip)  # type: ignore[arg-type]
        self._call = golden

    def _golden(self, torch: Any, *tensors: torch.Tensor) -> Any:
        given: Iterable[Any] = tensors
        if self._mesh:
            count = math.prod(self._mesh)
            given = [[*tensors[at : at + count]] for at in range(0, len(tensors), count)]
        call = self._read.call(dict(zip(self._keys, given, strict=True)).get)
        call.mesh = self._mesh or (1,)
        return self._read.operation.golden(torch, call)

    def verdicts(self, got: Sequence[torch.Tensor]) -> list[Verdict]:
        """The verdict on each result."""
        goldens = _listed(self._call())
        specs = [self._read.results[0 if self._mesh else index] for index, _ in enumerate(got)]
        for index, (own, golden) in enumerate(zip(got, goldens, strict=True)):
            if tuple(own.shape) != tuple(golden.shape):
                reason = f"result {index} has the shape {list(own.shape)}, and its golden {list(golden.shape)}"
                return [Verdict(matches=False, reason=reason, pcc=0.0, max_ulp=0.0)]
        if self._read.operation.compared_elements is None:
            return [self._verdict(index, *each) for index, each in enumerate(zip(got, goldens, specs, strict=True))]
        return self._verdicts_on_elements(got, goldens, specs)

    def _verdicts_on_elements(
        self, got: Sequence[torch.Tensor], goldens: Sequence[torch.Tensor], specs: Sequence[TensorSpec]
    ) -> list[Verdict]:
        """Of results that are indices, the elements that they name are compared."""
        import torch

        assert self._read.operation.compared_elements is not None, "results are indices"
        by_value = dict(zip(self._keys, self._call.operands, strict=True))
        call = self._read.call(by_value.get)
        pairs = zip(
            *(self._read.operation.compared_elements(torch, call, each) for each in (got, goldens)), strict=True
        )
        floats = (spec_in_text(value.type) for value in self._keys)
        element = next((spec for spec in floats if not spec.dtype.is_integer), specs[0])
        # The elements at indices are exact, whatever they are rounded to.
        return [
            self._verdict(index, pair[0], pair[1], element if pair[0].is_floating_point() else spec)
            for index, (pair, spec) in enumerate(zip(pairs, specs, strict=True))
        ]

    def _verdict(self, index: int, got: torch.Tensor, golden: torch.Tensor, spec: TensorSpec) -> Verdict:
        golden = golden.to(spec.dtype.torch) if spec.dtype.compute.is_bool else golden
        exact = golden if not golden.is_floating_point() else golden.double()
        if _is_exact(got, golden):
            return Verdict(matches=True, reason="", pcc=1.0, max_ulp=0.0, allclose=True)
        return judge(got, exact, ResultFormat(spec.dtype, self._is_on_chip), self._tolerance(index, spec))

    def _tolerance(self, index: int, spec: TensorSpec) -> Tolerance:
        operation = self._read.operation
        stated = operation.stated_ulp(self._read.call(lambda _: None))
        units = max(stated or 0.5, 0.5) + spec.dtype.is_block_float / 2
        if stated is not None:
            return Tolerance(units)
        return Tolerance(units, relative=_RELATIVE, noise=partial(self._judged.noise, index, self._error()))

    def _error(self) -> float:
        """The relative error of a step: of a sum in float32, or of the element type to which steps are rounded."""
        if self._is_on_chip:
            return _ERROR_ON_CHIP
        if not self._read.operation.rounds_intermediates:
            return _SUM_ERROR
        dtypes = [spec_in_text(value.type).dtype.unpacked for value in self._keys]
        return max([_SUM_ERROR, *(2.0 ** (1 - dtype.mantissa_bits) for dtype in dtypes if not dtype.is_integer)])


def _is_exact(got: torch.Tensor, golden: torch.Tensor) -> bool:
    """Whether a result is its golden, rounded to the result's type; NaN is unequal to itself."""
    import torch

    return torch.equal(got, golden.to(got.dtype))


def _widened(x: torch.Tensor) -> torch.Tensor:
    """Floats as float64, and unsigned integers as int64: torch computes with few unsigned types."""
    if x.is_floating_point():
        return x.double()
    return x if x.dtype.is_signed or x.dtype.itemsize == 1 else x.long()


def _listed(found: Any) -> list[torch.Tensor]:
    return [*found] if isinstance(found, list | tuple) else [found]
