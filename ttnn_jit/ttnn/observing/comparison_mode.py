"""Comparison mode: every operation beside its golden in float64, while `ttnn.CONFIG.enable_comparison_mode` is on.

*Locally* the golden gets what the operation got; *globally* it gets what the goldens before it gave, so that errors add
up. A jitted function is run again operation by operation, each beside its golden, and its result beside that run's.
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
from ttnn_jit.diagnostics.tracebacks import user_location, warn_the_user
from ttnn_jit.dispatch.observers import Observer, name_of, telling_only
from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.golden.comparison_records import ComparisonRecord
from ttnn_jit.golden.verdict import Stored, Tolerance, Verdict, judge, relative_of_pcc
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import implicit_cpu_device
from ttnn_jit.runtime.programs.random_state import drawing_from, next_draw
from ttnn_jit.runtime.tensors.tensor import Tensor, specs_of
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import TensorSpec
from ttnn_jit.ttnn.calling.mesh import MeshTensor
from ttnn_jit.ttnn.observing.comparison_tolerances import Elements, JudgedCall, in_a_chain

if TYPE_CHECKING:
    import torch

    from ttnn_jit.ttnn.calling.golden_calls import GoldenCall


class ComparisonError(TtnnJitError, RuntimeError):
    """An operation is further from its golden than it may be (a RuntimeError in ttnn)."""


class ComparisonWarning(UserWarning):
    """An operation is further from its golden than it may be, or was not compared."""


class Comparison(NamedTuple):
    """A tensor beside its golden.

    Attributes:
        record: What was found.
        tensor: What an operation gave; None where nothing was compared.
        golden: In float64, or the integers.
        wanted_pcc: The correlation that is asked for.
    """

    record: ComparisonRecord
    tensor: Tensor | None = None
    golden: torch.Tensor | None = None
    wanted_pcc: float = 0.0


@dataclass(frozen=True)
class _Call:
    """A call that runs: its arguments in torch, as they were before it, in two chains.

    For a second run there are copies of them, and the number of the next draw of random elements.
    """

    local: tuple[Sequence[Any], Mapping[str, Any]]
    chained: tuple[Sequence[Any], Mapping[str, Any]]
    again: tuple[Sequence[Any], Mapping[str, Any]] | None
    draw: int


class ComparisonMode(Observer):
    """Compares calls, and keeps what it found.

    Args:
        wanted_pcc: The correlation that is asked for of chains and of users' operations, at any time.
        tell: Gets every comparison of a tensor, and what was not compared.
        complain: Gets what is wrong, and what was not compared.
        running_test: Names the test that runs, at any time.
    """

    def __init__(
        self,
        wanted_pcc: Callable[[], float],
        tell: Callable[[Comparison], None],
        complain: Callable[[ComparisonRecord], None],
        running_test: Callable[[], str] = str,
    ) -> None:
        self.records: list[ComparisonRecord] = []
        self._wanted_pcc = wanted_pcc
        self._tell = tell
        self._complain = complain
        self._running_test = running_test
        self._of_thread = threading.local()
        self._numbers = 0
        self._goldens: dict[int, tuple[weakref.ref[Tensor], torch.Tensor]] = {}

    @property
    def _calls(self) -> list[_Call | None]:
        """Those that run on this thread, the innermost last."""
        calls: list[_Call | None] = vars(self._of_thread).setdefault("calls", [])
        return calls

    def before(self, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Keep what the operation gets: it may write into it."""
        if self.looks_inside(operation) or _why_unseen([*args, *kwargs.values()]):
            self._calls.append(None)
            return
        jitted = hasattr(operation, "__ttnn_jit_wrapped__")
        self._calls.append(
            _Call(
                _mapped(_as_golden, args, kwargs),
                _mapped(self._golden, args, kwargs),
                _mapped(_copied, args, kwargs) if jitted else None,
                next_draw(),
            )
        )

    def looks_inside(self, operation: Any) -> bool:
        """Whether it is a function of the host API, which has no golden, but is made of operations that have."""
        return not hasattr(operation, "golden_function") and not hasattr(operation, "__ttnn_jit_wrapped__")

    def failed(self, operation: Any, error: BaseException) -> None:  # noqa: ARG002 - an operation that failed gave nothing
        """Forget the call."""
        self._calls.pop()

    def after(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """Compare what it gave."""
        call, number = self._calls.pop(), self._numbers
        self._numbers += 1
        results = leaves(result)
        tensors = [leaf for leaf in results if isinstance(leaf, Tensor)]
        if call is None:
            self._carry(operation, [*args, *kwargs.values()], tensors, number)
        elif call.again is not None:
            self._step(operation, call.again, call.draw, tensors, number)
        else:
            self._forget(tensors)
            compared = _Compared(operation, args, kwargs, results)
            for level, (given, keywords) in (("locally", call.local), ("globally", call.chained)):
                self._compare(compared, level, given, keywords, number)

    def _carry(self, operation: Any, sources: Sequence[Any], tensors: list[Tensor], number: int) -> None:
        """A function that moves a tensor moves its golden; an operation comes here whose numbers cannot be seen.

        What the operations inside a function gave has a golden of its own.
        """
        if not self.looks_inside(operation) and (why := _why_unseen([*sources, *tensors])):
            self._note(operation, number, why)
            return
        if len(tensors) == 1 and sources and isinstance(sources[0], Tensor) and self._known(tensors[0]) is None:
            golden = self._known(sources[0])
            if golden is not None and golden.shape == tuple(tensors[0].shape):
                self._keep(tensors[0], golden)

    def _compare(
        self, compared: _Compared, level: str, args: Sequence[Any], kwargs: Mapping[str, Any], number: int
    ) -> None:
        operation = compared.operation
        try:
            call = compared.judged(args, kwargs, exactly=level == "locally")
            goldens = [_in_float64(each) for each in leaves(call.golden())]
        except Exception as error:  # noqa: BLE001 - a golden is torch's and the user's code: what it raises is told
            self._note(operation, number, f"its golden failed {level}: {type(error).__name__}: {error}")
            return
        given = sum(each is not None for each in goldens)
        if len(compared.results) != given:
            self._note(operation, number, f"{len(compared.results)} tensors of results, {given} of its golden")
            return
        relative = relative_of_pcc(self._wanted_pcc())
        for output, (tensor, golden) in enumerate(zip(compared.results, goldens, strict=True)):
            if not isinstance(tensor, Tensor):
                continue
            if level == "globally":
                self._keep(tensor, golden)
                tolerance = call.globally(output, relative)
            else:
                tolerance = call.locally(tensor.dtype, output, relative)
            elements = (
                partial(call.compared_elements, output, compared.results, goldens) if call.names_indices else None
            )
            self._record(operation, number, level, output, (tensor, golden), tolerance, elements)

    def _step(self, operation: Any, again: tuple[Any, Any], draw: int, tensors: list[Tensor], number: int) -> None:
        """Run a jitted function again, an operation at a time, with the random elements that it drew."""
        args, kwargs = again
        try:
            with telling_only(self), drawing_from(draw):
                stepped = operation.__ttnn_jit_wrapped__(*args, **kwargs)
        except ComparisonError:
            raise
        except TtnnJitError as error:
            self._note(operation, number, f"it does not run one operation after the other: {error.message}")
            return
        relative = relative_of_pcc(self._wanted_pcc())
        for output, (tensor, other) in enumerate(zip(tensors, leaves(stepped), strict=False)):
            golden, one_by_one = self._known(other), _as_golden(other)
            if golden is not None:
                self._keep(tensor, golden)
            tolerance = in_a_chain(relative, partial(_difference, one_by_one, golden))
            self._record(operation, number, "jitted", output, (tensor, one_by_one), tolerance)

    def _record(
        self,
        operation: Any,
        number: int,
        level: str,
        output: int,
        found: tuple[Tensor, torch.Tensor],
        tolerance: Tolerance,
        elements: Callable[[], Elements] | None = None,
    ) -> None:
        tensor, golden = found
        got = tensor.to_torch()
        if got.shape != golden.shape:
            self._note(operation, number, f"its result has shape {list(got.shape)}, its golden {list(golden.shape)}")
            return
        try:
            verdict = _verdict(found, got, tolerance, elements)
        except Exception as error:  # noqa: BLE001 - it asks the golden again
            self._note(operation, number, f"its golden failed {level}: {type(error).__name__}: {error}")
            return
        record = ComparisonRecord(
            number, name_of(operation), level, output, verdict.matches, verdict.pcc, verdict.max_ulp,
            verdict.differing_nans, str(user_location()), verdict.reason, verdict.first_nan, verdict.allclose,
            os.getpid(), self._running_test(),
        )  # fmt: skip
        self.records.append(record)
        self._tell(Comparison(record, tensor, golden, self._wanted_pcc()))
        if not verdict.matches:
            self._complain(record)

    def _note(self, operation: Any, number: int, note: str) -> None:
        """Say that something was not compared."""
        record = ComparisonRecord(
            number, name_of(operation), "locally", 0, None, location=str(user_location()), reason=note,
            process=os.getpid(), test=self._running_test(),
        )  # fmt: skip
        self.records.append(record)
        self._tell(Comparison(record))
        self._complain(record)

    # --- The chain of goldens -----------------------------------------------------------------------------------------

    def _known(self, tensor: Any) -> torch.Tensor | None:
        reference, golden = self._goldens.get(id(tensor), (None, None))
        return golden if reference is not None and reference() is tensor else None

    def _golden(self, tensor: Tensor) -> Any:
        known = self._known(tensor)
        return _as_golden(tensor) if known is None else known

    def _keep(self, tensor: Tensor, golden: torch.Tensor) -> None:
        number = id(tensor)
        self._goldens[number] = weakref.ref(tensor, lambda _: self._goldens.pop(number, None)), golden

    def _forget(self, tensors: Sequence[Tensor]) -> None:
        """An operation gave these: what was written in place has no longer the golden of before."""
        for tensor in tensors:
            self._goldens.pop(id(tensor), None)


class _Compared:
    """A call that ran, and what it gave.

    Args:
        operation: What was called.
        args: Its arguments.
        kwargs: Its keywords.
        results: What it gave: tensors, or None.
    """

    def __init__(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], results: list[Any]) -> None:
        self.operation = operation
        self.results = results
        self._target = _target(results)
        self._bound = operation.bound_call(args, kwargs, self._target)

    def judged(self, args: Sequence[Any], kwargs: Mapping[str, Any], *, exactly: bool) -> JudgedCall:
        """The golden's call; `exactly`: with the numbers and the formula of its target."""
        golden: GoldenCall = self.operation.golden_call(args, kwargs)
        if exactly:
            first = next(spec.dtype for spec in specs_of(self._bound.operands) if isinstance(spec, TensorSpec))
            golden = golden.on(self._target, first)
        return JudgedCall(golden, self._bound, specs_of(self._bound.operands), self._target.numerics is Numerics.DEVICE)


def complain(raises: Callable[[], bool], record: ComparisonRecord) -> None:
    """Warn of what is wrong, or raise it where that is asked for; of what was not compared, warn."""
    if record.matches is None:
        text = f"{record.operation} was not compared: {record.reason}"
    else:
        pcc = "" if record.pcc is None else f" (correlation {record.pcc!r})"
        text = f"{record.operation}: output {record.output} is not its golden {record.level}: {record.reason}{pcc}"
        if raises():
            raise ComparisonError(text, location=user_location())
    warn_the_user(text, ComparisonWarning)


def _target(results: Sequence[Any]) -> SystemDesc:
    """Where it ran; what is on the host was computed on the CPU."""
    devices = (tensor.device() for tensor in results if isinstance(tensor, Tensor))
    return (next((device for device in devices if device is not None), None) or implicit_cpu_device()).target


def _verdict(
    found: tuple[Tensor, torch.Tensor],
    got: torch.Tensor,
    tolerance: Tolerance,
    elements: Callable[[], Elements] | None,
) -> Verdict:
    tensor, golden = found
    flushes = _target([tensor]).numerics is Numerics.DEVICE
    verdict = judge(got, golden, Stored(tensor.dtype, flushes), tolerance)
    if elements is None or verdict.matches:
        return verdict
    try:
        named, right, dtype = elements()
    except ShapeError as error:
        return replace(verdict, reason=error.message)
    of_elements = judge(named, right, Stored(dtype, flushes), tolerance)
    return replace(verdict, matches=of_elements.matches, reason=of_elements.reason)


def _difference(one_by_one: torch.Tensor, golden: torch.Tensor | None) -> torch.Tensor:
    """How far a jitted function's operations, rounded one by one, are from their goldens."""
    return one_by_one.double() * 0 if golden is None else (one_by_one.double() - golden.double()).abs()


def _mapped(
    change: Callable[[Tensor], Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    def changed(leaf: Any) -> Any:
        return change(leaf) if isinstance(leaf, Tensor) else leaf

    mapped: tuple[list[Any], dict[str, Any]] = map_leaves((list(args), dict(kwargs)), changed)
    return mapped


def _as_golden(tensor: Tensor) -> torch.Tensor:
    """What a golden computes with: float64 of floats, else the integers, in a type that torch computes with."""
    values = tensor.to_torch()
    if values.is_floating_point():
        return _in_float64(values)
    return values if tensor.dtype.compute.is_signed else values.long()


def _in_float64(golden: torch.Tensor) -> torch.Tensor:
    """What a golden gave, in which the ones behind it compute: a cast's has the type that it casts to."""
    return golden.double() if golden is not None and golden.is_floating_point() else golden


def _copied(tensor: Tensor) -> Tensor:
    import copy

    return copy.deepcopy(tensor)


def _why_unseen(values: Sequence[Any]) -> str:
    """Why the elements of a tensor among these cannot be looked at; empty if they can."""
    for tensor in (leaf for leaf in leaves(list(values)) if isinstance(leaf, Tensor)):
        if isinstance(tensor, MeshTensor):
            return "it runs on every device of a mesh"
        device = tensor.device()
        if device is not None and device.recorder is not None:
            return "it is captured in a trace, and runs later"
    return ""
