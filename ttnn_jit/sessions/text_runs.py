"""Runs of functions of texts: op by op beside goldens, and as a whole beside their ops."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from ttnn_jit.compiler.texts.text_programs import TextModule
from ttnn_jit.compiler.texts.text_steps import OnDevices, OpWatcher, Step, SteppedRun
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.spelling.naming import names_around, names_of
from ttnn_jit.dialects.text.printer import op_text
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.events.listeners import error_text, silence
from ttnn_jit.golden.comparison_checks import ChecksConfig
from ttnn_jit.golden.comparison_recorder import (
    ComparedCall,
    Finding,
    Follower,
    Outcome,
    Recorder,
    recorders_of_this_thread,
)
from ttnn_jit.golden.comparison_records import ComparisonRecord, Mode, Status
from ttnn_jit.golden.golden_chain import GoldenChain
from ttnn_jit.golden.judging import judge
from ttnn_jit.golden.verdict import ResultFormat, relative_of_pcc
from ttnn_jit.interpreters.host_level.address_space import NoGoldenOfHost
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.sessions.text_goldens import JudgedOp, distinct_devices, shape_mismatch
from ttnn_jit.specs.target import Numerics
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.ttnn.observing.comparison_tolerances import chained_tolerance

if TYPE_CHECKING:
    import torch

ISOLATED = ChecksConfig(accumulated=False)
"""Each op on the operands that it got."""


def run_text(module: TextModule, name: str, inputs: Sequence[torch.Tensor], origin: Any = None) -> list[torch.Tensor]:
    """The results of a function of a text on tensors that all devices have; compared where a session wants it.

    Raises:
        CompileError: An op is not executed here.
    """
    results = module.program(name)(*inputs)
    compare_run(module, name, inputs, [(each,) for each in results], origin)
    return results


def compare_run(
    module: TextModule,
    name: str,
    inputs: Sequence[torch.Tensor | OnDevices],
    results: Sequence[OnDevices],
    origin: Any = None,
) -> None:
    """Compare a run of a function for those who record in this thread: its ops with goldens, its results with its ops.

    Args:
        module: The module.
        name: The function.
        inputs: Its arguments: one tensor for all devices, or a tensor of each.
        results: What it returned: one tensor for all devices, or a tensor of each.
        origin: What was submitted, which the recorders are told.
    """
    for recorder in recorders_of_this_thread():
        run = GoldenRun(module, name, inputs, recorder, origin)
        with silence():
            try:
                for _ in run.compared():
                    pass
            except CompileError as error:  # an op is not executed by itself
                run.note_error(error)
            else:
                run.compare_whole(results)


@dataclass(frozen=True)
class ComparedOp:
    """An op whose results were compared.

    Attributes:
        op: The op.
        records: The comparisons of its results; one that says why there is none, if the results are drawn at random.
        nans: The largest share of NaN in a result.
    """

    op: Operation
    records: tuple[ComparisonRecord, ...]
    nans: float = 0.0

    @property
    def matches(self) -> bool:
        """Whether no result is wrong on the operands that the op got."""
        return not self.failures

    @property
    def failures(self) -> list[str]:
        """What is wrong on the operands that the op got; empty if nothing is."""
        isolated = [each for each in self.records if each.mode is Mode.ISOLATED]
        return [each.reason for each in isolated if each.reason and each.status not in _UNJUDGED]

    @property
    def has_no_golden(self) -> bool:
        """Whether nothing says what is right, so that the results were not compared."""
        return any(each.status is Status.NO_GOLDEN for each in self.records)


_UNJUDGED = frozenset({Status.SKIPPED, Status.NO_GOLDEN})


class GoldenRun:
    """A run of one function, op by op beside goldens.

    Args:
        module: The module.
        name: The function.
        inputs: Its arguments: one tensor for all devices, or a tensor of each.
        recorder: Takes the comparisons; None: each op is compared on the operands that it got.
        origin: What was submitted, which the recorder is told.
    """

    def __init__(
        self,
        module: TextModule,
        name: str,
        inputs: Sequence[torch.Tensor | OnDevices],
        recorder: Recorder | None = None,
        origin: Any = None,
    ) -> None:
        self._module = module
        self._name = name
        self._run = SteppedRun(module, name, inputs, frees=recorder is None)
        self._recorder = recorder or Recorder(lambda: ISOLATED, _ignore)
        self._origin = origin
        self._names: dict[SSAValue, str] = {}
        self._chain = GoldenChain()
        self._devices = math.prod(module.mesh)
        self._is_on_chip = module.target.numerics is Numerics.DEVICE

    @property
    def results(self) -> list[torch.Tensor]:
        """The results, after the last op was compared."""
        return self._run.results

    def compared(self) -> Iterator[ComparedOp]:
        """Every op that computes, in the order of the run, calls included.

        Raises:
            CompileError: An op is not executed here.
        """
        follower = self._recorder.follower
        watcher = None if type(follower) is Follower else _Watcher(self, follower)
        # A loop over the steps would hold the tensors of one while the next one runs.
        return map(self._compared, self._run.steps(watcher))

    def _compared(self, step: Step) -> ComparedOp:
        return ComparedOp(step.op, tuple(self._compare(step)), _nans(step))

    def note_error(self, error: CompileError) -> None:
        """Record that the function does not run op by op."""
        call = self._call_of(self._module.functions[self._name], None)
        self._recorder.noted(call, Mode.WHOLE, Status.RAISED, error_text(error))

    def compare_whole(self, results: Sequence[OnDevices]) -> None:
        """Compare the results of the function as a whole with those of its ops, one by one."""
        call = self._call_of(self._module.functions[self._name], None)
        specs = self._module.program(self._name).results
        for output, (got, stepped, spec) in enumerate(zip(results, self._run.results_on_devices, specs, strict=True)):
            for device, (whole, one_by_one) in enumerate(zip(got, stepped, strict=False)):
                outcome = self._outcome_of_whole(whole, one_by_one, spec)
                self._recorder.compared(call.on(device if len(got) > 1 else None), Mode.WHOLE, output, outcome)

    def _outcome_of_whole(self, whole: torch.Tensor, stepped: torch.Tensor, spec: TensorSpec) -> Outcome:
        relative = relative_of_pcc(self._recorder.checks.pcc)
        tolerance = chained_tolerance(relative, partial(_difference, stepped, self._chain.get(stepped)))
        exact = stepped.double() if stepped.is_floating_point() else stepped
        verdict = judge(whole.to(stepped.dtype), exact, ResultFormat(spec.dtype, self._is_on_chip), tolerance)
        return Outcome(verdict, whole, stepped, spec.dtype.mlir, str(tolerance))

    def _compare(self, step: Step) -> Iterator[ComparisonRecord]:
        found: list[ComparisonRecord] = []
        recorder = self._recorder.also(lambda finding: found.append(finding.record))
        number = next(self._recorder.numbers)
        if step.read.operation.is_random:
            reason = "its results are drawn at random"
            recorder.noted(self._call_of(step.op, None, number), Mode.ISOLATED, Status.SKIPPED, reason)
        elif step.is_exchange:
            self._compare_exchange(step, recorder, number)
        else:
            self._compare_on_devices(step, recorder, number)
        return iter(found)

    def _compare_exchange(self, step: Step, recorder: Recorder, number: int) -> None:
        got = [each for tensors in step.results.values() for each in tensors]
        call = self._call_of(step.op, None, number)
        for mode, relative in self._modes():
            values: Mapping[SSAValue, Any] = step.operands
            if relative is not None:
                self._note_beginnings(call, step)
                values = {value: tuple(map(self._golden_of, each)) for value, each in values.items()}
            judged = JudgedOp(step.read, values, self._is_on_chip, self._module.mesh, relative)
            names = [self.name_of(value) for value, tensors in step.results.items() for _ in tensors]
            self._judge(recorder, call, mode, judged, (got, names), devices=self._devices)

    def _compare_on_devices(self, step: Step, recorder: Recorder, number: int) -> None:
        for device, given, got in distinct_devices(step, self._devices):
            call = self._call_of(step.op, device if self._devices > 1 else None, number)
            for mode, relative in self._modes():
                values: Mapping[SSAValue, Any] = given
                if relative is not None:
                    self._note_beginnings(call, step)
                    values = {value: self._golden_of(tensor) for value, tensor in given.items()}
                judged = JudgedOp(step.read, values, self._is_on_chip, relative=relative)
                self._judge(recorder, call, mode, judged, (got, [*map(self.name_of, step.results)]))

    def _modes(self) -> Iterator[tuple[Mode, float | None]]:
        """The modes, and for a chain of ops the allowed relative difference."""
        checks = self._recorder.checks
        if checks.isolated:
            yield Mode.ISOLATED, None
        if checks.accumulated:
            yield Mode.ACCUMULATED, relative_of_pcc(checks.pcc)

    def _judge(
        self,
        recorder: Recorder,
        call: ComparedCall,
        mode: Mode,
        judged: JudgedOp,
        results: tuple[Sequence[torch.Tensor], Sequence[str]],
        *,
        devices: int = 0,
    ) -> None:
        """Compares results, which have names, with their goldens; those of an exchange are on so many devices."""
        got, names = results
        try:
            outcome = judged.outcome_by_parts(got, *names[:1])
            if outcome is not None:
                recorder.compared(call, mode, 0, outcome)
                return
            goldens = judged.goldens()
        except NoGoldenOfHost as error:
            recorder.noted(call, mode, Status.NO_GOLDEN, str(error))
            return
        except Exception as error:  # noqa: BLE001 - errors of goldens are reported
            recorder.noted(call, mode, Status.GOLDEN_FAILED, f"its golden failed: {error_text(error)}")
            return
        reason = shape_mismatch(got, goldens)
        if reason:
            recorder.noted(call, mode, Status.SHAPE_MISMATCH, reason)
            return
        for index, outcome in enumerate(judged.outcomes(got, goldens, names)):
            if mode is Mode.ACCUMULATED:
                self._chain.set(got[index], outcome.golden)
            number, device = divmod(index, devices) if devices else (index, 0)
            recorder.compared(call.on(device) if devices else call, mode, number, outcome)

    def _golden_of(self, tensor: torch.Tensor) -> torch.Tensor:
        """The golden of a value; the value itself where a chain begins."""
        known = self._chain.get(tensor)
        return tensor if known is None else known

    def _note_beginnings(self, call: ComparedCall, step: Step) -> None:
        """Tell of operands with which a chain begins, once each."""
        for value, tensors in step.operands.items():
            if any(self._chain.get(tensor) is None for tensor in tensors):
                for tensor in tensors:
                    if self._chain.get(tensor) is None:
                        self._chain.set(tensor, tensor.double() if tensor.is_floating_point() else tensor)
                self._recorder.follower.chain_begins(call, self.name_of(value))

    def name_of(self, value: SSAValue) -> str:
        """``%0``, as the text of the module has it."""
        if not self._names:
            names = names_of(self._module.module).values
            self._names = {each: f"%{name}" for each, name in names.items()}
        return self._names.get(value, "")

    def call_of(self, op: Operation) -> ComparedCall:
        """An op of the run, for those who follow it."""
        return self._call_of(op, None, -1)

    def _call_of(self, op: Operation, device: int | None, number: int | None = None) -> ComparedCall:
        name = self._name if number is None else name_of(op)
        number = next(self._recorder.numbers) if number is None else number
        text = partial(_text_of, op)
        rules, origin = self._module.target.rules, self._origin
        return ComparedCall(number, name, location_of(op), rules, self._name, device, text, origin)


class _Watcher(OpWatcher):
    """Tells a follower of the ops of a run."""

    def __init__(self, run: GoldenRun, follower: Follower) -> None:
        self._run = run
        self._follower = follower

    def before(self, op: Operation) -> None:
        """An op follows."""
        self._follower.before(self._run.call_of(op), op)

    def after(self, op: Operation) -> None:
        """An op is over."""
        self._follower.after(self._run.call_of(op), op)


def _nans(step: Step) -> float:
    """The largest share of NaN in a result of an op."""
    results = [each for tensors in step.results.values() for each in {id(each): each for each in tensors}.values()]
    return max(map(_share_of_nan, results), default=0.0)


def _share_of_nan(x: torch.Tensor) -> float:
    """The share of NaN; whether there is any is told by the extremes, which takes no tensor of flags."""
    if not x.numel() or not x.is_floating_point() or not x.aminmax().min.isnan():
        return 0.0
    return int(x.isnan().sum()) / x.numel()


def _text_of(op: Operation) -> str:
    return op_text(op, locations=True, local_scope=True, names=names_around(op)).strip()


def _difference(stepped: torch.Tensor, golden: torch.Tensor | None) -> Iterator[torch.Tensor]:
    """The distance of ops, one by one, from their goldens."""
    yield stepped.double() * 0 if golden is None else (stepped.double() - golden.double()).abs()


def _ignore(_: Finding) -> None:
    """Nothing: whoever runs the ops reads the records."""
