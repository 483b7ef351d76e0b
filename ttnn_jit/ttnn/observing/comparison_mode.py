"""Comparison mode: compares operations with goldens in float64, while `ttnn.CONFIG.enable_comparison_mode` is on.

*Locally*, the golden takes the operands of the operation; *globally*, it takes the results of earlier goldens, so that
errors accumulate. A jitted function runs again, one operation at a time; each operation is compared with its golden,
and the result of the function with that of the second run.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_jit.diagnostics.errors import ShapeError, TtnnJitError
from ttnn_jit.diagnostics.tracebacks import user_location, warn_user
from ttnn_jit.dispatch.observers import Observer, name_of, only_observer
from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.golden.comparison_records import ComparisonRecord
from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict, judge, relative_of_pcc
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import implicit_cpu_device
from ttnn_jit.runtime.memory.random_words import drawing_from, next_draw
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.tensors.tensor import Tensor, specs_of, torch_copy
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.ttnn.observing.comparison_tolerances import JudgedCall, SelectedElements, chained_tolerance

if TYPE_CHECKING:
    import torch

    from ttnn_jit.ttnn.calling.golden_calls import GoldenCall


class ComparisonError(TtnnJitError, RuntimeError):
    """A result differs from its golden by more than the tolerance (a RuntimeError in ttnn)."""


class ComparisonWarning(UserWarning):
    """A result differs from its golden by more than the tolerance, or was not compared."""


class Comparison(NamedTuple):
    """A tensor and its golden.

    Attributes:
        record: The verdict.
        tensor: The result of an operation; None if it was not compared.
        golden: The golden, in float64 or integers.
        required_pcc: The required correlation.
    """

    record: ComparisonRecord
    tensor: Tensor | None = None
    golden: torch.Tensor | None = None
    required_pcc: float = 0.0


@dataclass(frozen=True)
class _Call:
    """A running call: its arguments in torch before the call, as actual values and as goldens.

    For a second run there are copies of the arguments, and the number of the next random draw.
    """

    local: tuple[Sequence[Any], Mapping[str, Any]]
    chained: tuple[Sequence[Any], Mapping[str, Any]]
    rerun_arguments: tuple[Sequence[Any], Mapping[str, Any]] | None
    draw: int


class ComparisonMode(Observer):
    """Compares calls, and stores the records.

    Args:
        required_pcc: Returns the correlation that is required of chains and of users' operations.
        on_comparison: Called with every comparison, and with every tensor that was not compared.
        warn_or_raise: Called with the record of every difference, and of every tensor that was not compared.
        running_test: Returns the name of the running test.
    """

    def __init__(
        self,
        required_pcc: Callable[[], float],
        on_comparison: Callable[[Comparison], None],
        warn_or_raise: Callable[[ComparisonRecord], None],
        running_test: Callable[[], str] = str,
    ) -> None:
        self.records: list[ComparisonRecord] = []
        self._required_pcc = required_pcc
        self._on_comparison = on_comparison
        self._warn_or_raise = warn_or_raise
        self._running_test = running_test
        self._thread_state = threading.local()
        self._numbers = 0
        self._goldens: dict[int, tuple[weakref.ref[Tensor], torch.Tensor]] = {}

    @property
    def _calls(self) -> list[_Call | None]:
        """The running calls of this thread, the innermost last."""
        calls: list[_Call | None] = vars(self._thread_state).setdefault("calls", [])
        return calls

    def before(self, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Save the arguments, which the operation may overwrite."""
        if self.looks_inside(operation) or _why_unreadable([*args, *kwargs.values()]):
            self._calls.append(None)
            return
        jitted = hasattr(operation, "__ttnn_jit_wrapped__")
        self._calls.append(
            _Call(
                _map_tensors(_as_golden, args, kwargs),
                _map_tensors(self._golden_or_value, args, kwargs),
                _map_tensors(_copy, args, kwargs) if jitted else None,
                next_draw(),
            )
        )

    def looks_inside(self, operation: Any) -> bool:
        """Whether it is a host function, which has no golden, but calls operations that have one."""
        return not hasattr(operation, "golden_function") and not hasattr(operation, "__ttnn_jit_wrapped__")

    def failed(self, operation: Any, error: BaseException) -> None:  # noqa: ARG002 - there is no result to compare
        """Drop the call."""
        self._calls.pop()

    def after(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """Compare the results."""
        call, number = self._calls.pop(), self._numbers
        self._numbers += 1
        results = leaves(result)
        tensors = [leaf for leaf in results if isinstance(leaf, Tensor)]
        if call is None:
            self._propagate_golden(operation, [*args, *kwargs.values()], tensors, number)
        elif call.rerun_arguments is not None:
            self._rerun(operation, call.rerun_arguments, call.draw, tensors, number)
        else:
            self._drop_goldens(tensors)
            compared = _FinishedCall(operation, args, kwargs, results)
            for level, (given, keywords) in (("locally", call.local), ("globally", call.chained)):
                self._compare(compared, level, given, keywords, number)

    def _propagate_golden(self, operation: Any, sources: Sequence[Any], tensors: list[Tensor], number: int) -> None:
        """Pass the golden of a moved tensor on to the result; note an operation whose elements cannot be read.

        Results of operations inside a host function have their own goldens already.
        """
        if not self.looks_inside(operation) and (why := _why_unreadable([*sources, *tensors])):
            self._note(operation, number, why)
            return
        if len(tensors) == 1 and sources and isinstance(sources[0], Tensor) and self._known_golden(tensors[0]) is None:
            golden = self._known_golden(sources[0])
            if golden is not None and golden.shape == tuple(tensors[0].shape):
                self._store_golden(tensors[0], golden)

    def _compare(
        self, compared: _FinishedCall, level: str, args: Sequence[Any], kwargs: Mapping[str, Any], number: int
    ) -> None:
        operation = compared.operation
        try:
            call = compared.judged(args, kwargs, exactly=level == "locally")
            goldens = [_in_float64(each) for each in leaves(call.golden())]
        except Exception as error:  # noqa: BLE001 - errors of goldens, torch's or the user's code, are reported
            self._note(operation, number, f"its golden failed {level}: {type(error).__name__}: {error}")
            return
        given = sum(each is not None for each in goldens)
        if len(compared.results) != given:
            self._note(operation, number, f"{len(compared.results)} tensors of results, {given} of its golden")
            return
        relative = relative_of_pcc(self._required_pcc())
        for output, (tensor, golden) in enumerate(zip(compared.results, goldens, strict=True)):
            if not isinstance(tensor, Tensor):
                continue
            if level == "globally":
                self._store_golden(tensor, golden)
                tolerance = call.globally(output, relative)
            else:
                tolerance = call.locally(tensor.dtype, output, relative)
            elements = (
                partial(call.compared_elements, output, compared.results, goldens) if call.returns_indices else None
            )
            self._record(operation, number, level, output, (tensor, golden), tolerance, elements)

    def _rerun(
        self, operation: Any, rerun_arguments: tuple[Any, Any], draw: int, tensors: list[Tensor], number: int
    ) -> None:
        """Run a jitted function again, one operation at a time, with the same random draws."""
        args, kwargs = rerun_arguments
        try:
            with only_observer(self), drawing_from(draw):
                stepped = operation.__ttnn_jit_wrapped__(*args, **kwargs)
        except ComparisonError:
            raise
        except TtnnJitError as error:
            self._note(operation, number, f"it does not run one operation after the other: {error.message}")
            return
        relative = relative_of_pcc(self._required_pcc())
        for output, (tensor, other) in enumerate(zip(tensors, leaves(stepped), strict=False)):
            golden, one_by_one = self._known_golden(other), _as_golden(other)
            if golden is not None:
                self._store_golden(tensor, golden)
            tolerance = chained_tolerance(relative, partial(_difference, one_by_one, golden))
            self._record(operation, number, "jitted", output, (tensor, one_by_one), tolerance)

    def _record(
        self,
        operation: Any,
        number: int,
        level: str,
        output: int,
        found: tuple[Tensor, torch.Tensor],
        tolerance: Tolerance,
        elements: Callable[[], SelectedElements] | None = None,
    ) -> None:
        tensor, golden = found
        got = torch_copy(tensor)
        if got.shape != golden.shape:
            self._note(operation, number, f"its result has shape {list(got.shape)}, its golden {list(golden.shape)}")
            return
        try:
            verdict = _verdict(found, got, tolerance, elements)
        except Exception as error:  # noqa: BLE001 - it evaluates the golden again
            self._note(operation, number, f"its golden failed {level}: {type(error).__name__}: {error}")
            return
        record = ComparisonRecord(
            number, name_of(operation), level, output, verdict.matches, verdict.pcc, verdict.max_ulp,
            verdict.differing_nans, str(user_location()), verdict.reason, verdict.first_nan, verdict.allclose,
            os.getpid(), self._running_test(),
        )  # fmt: skip
        self.records.append(record)
        self._on_comparison(Comparison(record, tensor, golden, self._required_pcc()))
        if not verdict.matches:
            self._warn_or_raise(record)

    def _note(self, operation: Any, number: int, note: str) -> None:
        """Record that a tensor was not compared."""
        record = ComparisonRecord(
            number, name_of(operation), "locally", 0, None, location=str(user_location()), reason=note,
            process=os.getpid(), test=self._running_test(),
        )  # fmt: skip
        self.records.append(record)
        self._on_comparison(Comparison(record))
        self._warn_or_raise(record)

    # --- The chain of goldens -----------------------------------------------------------------------------------------

    def _known_golden(self, tensor: Any) -> torch.Tensor | None:
        reference, golden = self._goldens.get(id(tensor), (None, None))
        return golden if reference is not None and reference() is tensor else None

    def _golden_or_value(self, tensor: Tensor) -> Any:
        known = self._known_golden(tensor)
        return _as_golden(tensor) if known is None else known

    def _store_golden(self, tensor: Tensor, golden: torch.Tensor) -> None:
        number = id(tensor)
        self._goldens[number] = weakref.ref(tensor, lambda _: self._goldens.pop(number, None)), golden

    def _drop_goldens(self, tensors: Sequence[Tensor]) -> None:
        """Drop the goldens of these results, which in-place updates made stale."""
        for tensor in tensors:
            self._goldens.pop(id(tensor), None)


class _FinishedCall:
    """A finished call.

    Args:
        operation: The operation.
        args: Its arguments.
        kwargs: Its keywords.
        results: Its results, tensors or None.
    """

    def __init__(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], results: list[Any]) -> None:
        self.operation = operation
        self.results = results
        self._target = _target(results)
        self._bound = operation.bound_call(args, kwargs, self._target)

    def judged(self, args: Sequence[Any], kwargs: Mapping[str, Any], *, exactly: bool) -> JudgedCall:
        """The golden call and the actual one; `exactly` rounds scalar operands as the target does."""
        golden: GoldenCall = self.operation.golden_call(args, kwargs)
        if exactly:
            first = next(spec.dtype for spec in specs_of(self._bound.operands) if isinstance(spec, TensorSpec))
            golden = golden.rounded_for(self._target, first)
        return JudgedCall(golden, self._bound, specs_of(self._bound.operands), self._target.numerics is Numerics.DEVICE)


def warn_or_raise(raises: Callable[[], bool], record: ComparisonRecord) -> None:
    """Warn of a difference, or raise if `raises` says so; warn of a tensor that was not compared."""
    if record.matches is None:
        text = f"{record.operation} was not compared: {record.reason}"
    else:
        pcc = "" if record.pcc is None else f" (correlation {record.pcc!r})"
        text = f"{record.operation}: output {record.output} is not its golden {record.level}: {record.reason}{pcc}"
        if raises():
            raise ComparisonError(text, location=user_location())
    warn_user(text, ComparisonWarning)


def _target(results: Sequence[Any]) -> SystemDesc:
    """The target of the results; results on the host were computed by the CPU."""
    devices = (tensor.device() for tensor in results if isinstance(tensor, Tensor))
    return (next((device for device in devices if device is not None), None) or implicit_cpu_device()).target


def _verdict(
    found: tuple[Tensor, torch.Tensor],
    got: torch.Tensor,
    tolerance: Tolerance,
    elements: Callable[[], SelectedElements] | None,
) -> Verdict:
    tensor, golden = found
    flushes = _target([tensor]).numerics is Numerics.DEVICE
    verdict = judge(got, golden, ResultFormat(tensor.dtype, flushes), tolerance)
    if elements is None or verdict.matches:
        return verdict
    try:
        named, right, dtype = elements()
    except ShapeError as error:
        return replace(verdict, reason=error.message)
    of_elements = judge(named, right, ResultFormat(dtype, flushes), tolerance)
    return replace(verdict, matches=of_elements.matches, reason=of_elements.reason)


def _difference(one_by_one: torch.Tensor, golden: torch.Tensor | None) -> torch.Tensor:
    """The distance of a jitted function's operations, run one by one, from their goldens."""
    return one_by_one.double() * 0 if golden is None else (one_by_one.double() - golden.double()).abs()


def _map_tensors(
    change: Callable[[Tensor], Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    def changed(leaf: Any) -> Any:
        return change(leaf) if isinstance(leaf, Tensor) else leaf

    mapped: tuple[list[Any], dict[str, Any]] = map_leaves((list(args), dict(kwargs)), changed)
    return mapped


def _as_golden(tensor: Tensor) -> torch.Tensor:
    """The operand of a golden: float64 for floats, else integers in a dtype in which torch computes."""
    values = torch_copy(tensor)
    if values.is_floating_point():
        return _in_float64(values)
    return values if tensor.dtype.compute.is_signed else values.long()


def _in_float64(golden: torch.Tensor) -> torch.Tensor:
    """The result of a golden with floats as float64; the golden of a cast has the dtype of the cast."""
    return golden.double() if golden is not None and golden.is_floating_point() else golden


def _copy(tensor: Tensor) -> Tensor:
    import copy

    return copy.deepcopy(tensor)


def _why_unreadable(values: Sequence[Any]) -> str:
    """Why the elements of a tensor among `values` cannot be read; empty if they can."""
    for tensor in (leaf for leaf in leaves(list(values)) if isinstance(leaf, Tensor)):
        if isinstance(tensor, MeshTensor):
            return "it runs on every device of a mesh"
        device = tensor.device()
        if device is not None and device.recorder is not None:
            return "it is captured in a trace, and runs later"
    return ""
