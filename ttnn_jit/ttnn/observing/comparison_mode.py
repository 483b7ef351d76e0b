"""Comparison mode: compares operations with goldens in float64, while `ttnn.CONFIG.enable_comparison_mode` is on.

Isolated, the golden takes the operands of the operation; accumulated, it takes the results of earlier goldens, so that
errors add up. A jitted function also runs one operation at a time; each operation is compared with its golden, and the
result of the function, as a whole, with that of this run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_jit.diagnostics.errors import ShapeError, TtnnJitError
from ttnn_jit.diagnostics.tracebacks import user_location, warn_user
from ttnn_jit.dispatch.call_events import is_jitted, name_of
from ttnn_jit.dispatch.observers import Observer, only_observer, start, stop
from ttnn_jit.events.listeners import error_text, silence
from ttnn_jit.foreign.pytrees import leaves, map_leaves
from ttnn_jit.golden.comparison_recorder import RECORDERS, ComparedCall, Outcome, Recorder
from ttnn_jit.golden.comparison_records import ComparisonRecord, Mode, Status
from ttnn_jit.golden.golden_chain import GoldenChain
from ttnn_jit.golden.judging import judge
from ttnn_jit.golden.verdict import ResultFormat, Tolerance, Verdict, relative_of_pcc
from ttnn_jit.ops.host_ops import EXCHANGES
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.runtime.device import Device, implicit_cpu_device
from ttnn_jit.runtime.libraries import is_library_tensor, tensor_library_of
from ttnn_jit.runtime.memory.random_words import drawing_from, next_draw
from ttnn_jit.runtime.meshes.mesh_tensor import MeshTensor
from ttnn_jit.runtime.tensors.tensor import Tensor, as_torch, specs_of, torch_copy, write_elements
from ttnn_jit.specs.target import Numerics, SystemDesc
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec
from ttnn_jit.ttnn.observing.comparison_tolerances import JudgedCall, SelectedElements, chained_tolerance
from ttnn_jit.ttnn.tensors.torch_conversion import from_torch

if TYPE_CHECKING:
    import torch

    from ttnn_jit.ttnn.calling.golden_calls import GoldenCall


class ComparisonError(TtnnJitError, RuntimeError):
    """A result differs from its golden by more than the tolerance (a RuntimeError in ttnn)."""


class ComparisonWarning(UserWarning):
    """A result differs from its golden by more than the tolerance, or was not compared."""


_Arguments = tuple[Sequence[Any], Mapping[str, Any]]


@dataclass(frozen=True)
class _Call:
    """A running call: its arguments in torch before the call, as actual values and as goldens.

    Attributes:
        local: The arguments with their values; None for a jitted function.
        chained: The arguments with their goldens; None for a jitted function.
        stepped: Of a jitted function, what it returned one operation at a time, why it does not run so, or None if its
            results cannot be read.
    """

    local: _Arguments | None
    chained: _Arguments | None
    stepped: Any = None


class _ThreadState(threading.local):
    """What a thread is in.

    Attributes:
        calls: The running calls, the innermost last; None for one whose results are not compared.
        is_over_mesh: Per running call, whether it is repeated on every device of a mesh.
        program: The jitted function that runs one operation at a time.
        hidden: Tensors that it wrote to beside its arguments, with copies of what they had.
    """

    def __init__(self) -> None:
        self.calls: list[_Call | None] = []
        self.is_over_mesh: list[bool] = []
        self.program = ""
        self.hidden: dict[int, tuple[Tensor, Tensor]] | None = None


class ComparisonMode(Observer):
    """Compares calls.

    A jitted function runs before the call itself, one operation at a time, on copies of its arguments; other tensors
    that it writes to get back what they had.

    Args:
        recorder: Takes the comparisons.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._state = _ThreadState()
        self._chain = GoldenChain()

    def begin(self) -> None:
        """Compare from now on, ops of texts too (`ttnn_jit.sessions.text_runs`)."""
        RECORDERS.append(self._recorder)
        start(self)

    def end(self) -> None:
        """Stop comparing."""
        stop(self)
        RECORDERS.remove(self._recorder)

    def before(self, operation: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """Save the arguments, which the operation may overwrite; run a jitted function one operation at a time."""
        if not self._recorder.watches_this_thread:
            return
        repeats = _is_repeated_on_devices(operation, [*args, *kwargs.values()])
        call = None if repeats or _is_host_function(operation) else self._begun(operation, args, kwargs)
        self._state.is_over_mesh.append(repeats)
        self._state.calls.append(call)

    def _begun(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> _Call | None:
        """The call of an operation or a jitted function; None if its results are not compared."""
        is_readable = not _why_unreadable(operation, [*args, *kwargs.values()])
        if is_jitted(operation):
            return _Call(None, None, self._stepped(operation, args, kwargs) if is_readable else None)
        if not is_readable:
            return None
        if self._state.hidden is not None:
            self._save_hidden(operation, args, kwargs)
        try:
            local, chained = (_map_tensors(change, args, kwargs) for change in (_as_golden, self._golden_or_value))
        except TtnnJitError:  # of a tensor without memory: the operation refuses it
            return None
        return _Call(local, chained)

    def looks_inside(self, operation: Any) -> bool:
        """Whether it has no golden, but calls operations that have one: a host function, or one that a mesh repeats."""
        if not self._recorder.watches_this_thread:
            return False
        return _is_host_function(operation) or (bool(self._state.is_over_mesh) and self._state.is_over_mesh[-1])

    def failed(self, operation: Any, error: BaseException) -> None:
        """Record that the operation raised, unless one inside it did."""
        if not self._recorder.watches_this_thread:
            return
        self._state.calls.pop()
        is_over_mesh = self._state.is_over_mesh.pop()
        if not isinstance(error, ComparisonError) and not (is_over_mesh and not is_jitted(operation)):
            call = self._call(operation, next(self._recorder.numbers), None)
            self._recorder.noted(call, Mode.ISOLATED, Status.RAISED, error_text(error))

    def after(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any) -> None:
        """Compare the results."""
        if not self._recorder.watches_this_thread:
            return
        call, number = self._state.calls.pop(), next(self._recorder.numbers)
        self._state.is_over_mesh.pop()
        results = leaves(result)
        if call is None:
            self._propagate_golden(operation, [*args, *kwargs.values()], _tensors_in(results), number)
        elif is_jitted(operation):
            self._compare_whole(operation, call, results, number, [*args, *kwargs.values()])
        else:
            self._chain.drop(_tensors_in(results))
            compared = _FinishedCall(operation, args, kwargs, results)
            for mode, arguments in ((Mode.ISOLATED, call.local), (Mode.ACCUMULATED, call.chained)):
                assert arguments is not None, "it is no jitted function"
                self._compare(compared, mode, *arguments, number)

    def _propagate_golden(self, operation: Any, sources: Sequence[Any], tensors: list[Tensor], number: int) -> None:
        """Pass the golden of a moved tensor on to the result; note an operation whose elements cannot be read.

        Results of operations inside a host function have their own goldens already.
        """
        why = _why_unreadable(operation, [*sources, *tensors])
        if why and (hasattr(operation, "golden_call") or getattr(operation, EXCHANGES, False)):
            self._note(operation, number, Status.SKIPPED, why)
            return
        if len(tensors) != 1 or not sources or not isinstance(sources[0], Tensor):
            return
        for source, tensor in zip(_parts(sources[0]), _parts(tensors[0]), strict=False):
            golden = self._chain.get(source)
            if self._chain.get(tensor) is None and golden is not None and golden.shape == tuple(tensor.shape):
                self._chain.set(tensor, golden)

    def _compare(
        self, compared: _FinishedCall, mode: Mode, args: Sequence[Any], kwargs: Mapping[str, Any], number: int
    ) -> None:
        operation = compared.operation
        try:
            call = compared.judged(args, kwargs, exactly=mode is Mode.ISOLATED)
            goldens = [_in_float64(each) for each in leaves(call.golden())]
        except Exception as error:  # noqa: BLE001 - errors of goldens, torch's or the user's code, are reported
            if getattr(operation, "golden", operation) is None:
                self._note(operation, number, Status.NO_GOLDEN, getattr(error, "message", str(error)), mode)
            else:
                self._note(operation, number, Status.GOLDEN_FAILED, f"its golden failed: {error_text(error)}", mode)
            return
        given = sum(each is not None for each in goldens)
        if len(compared.results) != given:
            status = Status.SHAPE_MISMATCH if given else Status.NO_GOLDEN
            text = f"{len(compared.results)} tensors of results, {given} of its golden"
            self._note(operation, number, status, text, mode)
            return
        relative = relative_of_pcc(self._recorder.checks.pcc)
        operands = _torch_tensors_in((args, kwargs))
        for output, (tensor, golden) in enumerate(zip(compared.results, goldens, strict=True)):
            if not isinstance(tensor, Tensor):
                continue
            if mode is Mode.ACCUMULATED:
                self._chain.set(tensor, golden)
                tolerance = call.globally(output, relative)
            else:
                tolerance = call.locally(tensor.dtype, output, relative)
            elements = (
                partial(call.compared_elements, output, compared.results, goldens) if call.returns_indices else None
            )
            pair = _Pair(tensor, golden, tolerance, elements, operands)
            self._record(self._call(operation, number, tensor), mode, output, pair)

    def _stepped(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """What a jitted function returns one operation at a time, with the random draws of the call to come."""
        state = self._state
        around = state.program, state.hidden
        given, keywords = _map_leaves(_on_device, args, kwargs)
        for old, new in zip(leaves((args, kwargs)), leaves((given, keywords)), strict=True):
            if (golden := self._chain.get(old)) is not None:
                self._chain.set(new, golden)
        state.program, state.hidden = name_of(operation), {}
        try:
            with only_observer(self), silence(), drawing_from(next_draw()):
                return leaves(operation.__ttnn_jit_wrapped__(*given, **keywords))
        except ComparisonError:
            raise
        except Exception as error:  # noqa: BLE001 - an error of the program itself is raised by the call to come
            reason = error.message if isinstance(error, TtnnJitError) else error_text(error)
            return f"it does not run one operation after the other: {reason}"
        finally:
            hidden = state.hidden
            state.program, state.hidden = around
            for tensor, copy in (hidden or {}).values():
                write_elements(copy, tensor, "the end of a comparison")

    def _save_hidden(self, operation: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Copy the tensors that the operation is going to write to."""
        assert self._state.hidden is not None, "a jitted function runs one operation at a time"
        for tensor in operation.written_tensors(args, kwargs) if hasattr(operation, "written_tensors") else ():
            if isinstance(tensor, Tensor):
                self._state.hidden.setdefault(id(tensor), (tensor, _copy(tensor)))

    def _compare_whole(
        self,
        operation: Any,
        call: _Call,
        results: list[Any],
        number: int,
        given: Sequence[Any],
    ) -> None:
        if call.stepped is None or isinstance(call.stepped, str):
            why = call.stepped or _why_unreadable(operation, given)
            self._note(operation, number, Status.SKIPPED, why, Mode.WHOLE)
            return
        relative = relative_of_pcc(self._recorder.checks.pcc)
        pairs = [filter(is_library_tensor, each) for each in (results, call.stepped)]
        for output, (whole, other) in enumerate(zip(*pairs, strict=False)):
            for tensor, part in zip(_parts(whole), _parts(other), strict=True):
                golden, one_by_one = self._chain.get(part), _as_golden(part)
                if golden is not None:
                    self._chain.set(tensor, golden)
                tolerance = chained_tolerance(relative, partial(_difference, one_by_one, golden))
                pair = _Pair(tensor, one_by_one, tolerance)
                device = part.device().id() if isinstance(whole, MeshTensor) else None
                self._record(self._call(operation, number, tensor, device), Mode.WHOLE, output, pair)

    def _call(self, operation: Any, number: int, tensor: Any, in_mesh: int | None = None) -> ComparedCall:
        """A call; `tensor` is a result of it, on this device of a mesh; None if it has no result."""
        if tensor is None:
            return ComparedCall(number, name_of(operation), user_location(), program=self._state.program)
        device = _device([tensor])
        if in_mesh is None and any(self._state.is_over_mesh):
            in_mesh = device.id()
        return ComparedCall(number, name_of(operation), user_location(), device.rules, self._state.program, in_mesh)

    def _record(self, call: ComparedCall, mode: Mode, output: int, pair: _Pair) -> None:
        got = as_torch(pair.tensor)
        if got.shape != pair.golden.shape:
            reason = f"its result has shape {list(got.shape)}, its golden {list(pair.golden.shape)}"
            self._recorder.noted(call, mode, Status.SHAPE_MISMATCH, reason, output)
            return
        try:
            verdict = _verdict(pair, got)
        except Exception as error:  # noqa: BLE001 - it evaluates the golden again
            reason = f"its golden failed: {error_text(error)}"
            self._recorder.noted(call, mode, Status.GOLDEN_FAILED, reason, output)
            return
        outcome = Outcome(
            verdict, got, pair.golden, _dtype(pair.tensor).mlir, str(pair.tolerance), pair.operands, pair.tensor
        )
        self._recorder.compared(call, mode, output, outcome)

    def _note(self, operation: Any, number: int, status: Status, note: str, mode: Mode = Mode.ISOLATED) -> None:
        """Record that a tensor was not compared."""
        self._recorder.noted(self._call(operation, number, None), mode, status, note)

    def _golden_or_value(self, tensor: Tensor) -> Any:
        known = self._chain.get(tensor)
        return _as_golden(tensor) if known is None else known


class _Pair(NamedTuple):
    """A result and its golden.

    Attributes:
        tensor: The result.
        golden: The golden, in float64 or integers.
        tolerance: The allowed difference.
        elements: Of results that are indices, makes the elements that they select.
        operands: What the operation read.
    """

    tensor: Any
    golden: torch.Tensor
    tolerance: Tolerance
    elements: Callable[[], SelectedElements] | None = None
    operands: Sequence[torch.Tensor] = ()


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
    if record.matches or record.status is Status.RAISED:  # an error speaks for itself
        return
    if record.matches is None:
        text = f"{record.operation} was not compared: {record.reason}"
    else:
        pcc = "" if record.pcc is None else f" (correlation {record.pcc!r})"
        text = f"{record.operation}: output {record.output} is not its golden, {record.mode}: {record.reason}{pcc}"
        if raises():
            raise ComparisonError(text, location=user_location())
    warn_user(text, ComparisonWarning)


def _target(results: Sequence[Any]) -> SystemDesc:
    """The target of the results; results on the host were computed by the CPU."""
    return _device(results).target


def _device(results: Sequence[Any]) -> Device:
    devices = (_parts(tensor)[0].device() for tensor in results if isinstance(tensor, Tensor))
    return next((device for device in devices if device is not None), None) or implicit_cpu_device()


def _verdict(pair: _Pair, got: torch.Tensor) -> Verdict:
    flushes = _target([pair.tensor]).numerics is Numerics.DEVICE
    verdict = judge(got, pair.golden, ResultFormat(_dtype(pair.tensor), flushes), pair.tolerance)
    if pair.elements is None or verdict.matches:
        return verdict
    try:
        named, right, dtype = pair.elements()
    except ShapeError as error:
        return replace(verdict, reason=error.message)
    of_elements = judge(named, right, ResultFormat(dtype, flushes), pair.tolerance)
    return replace(verdict, matches=of_elements.matches, reason=of_elements.reason)


def _difference(one_by_one: torch.Tensor, golden: torch.Tensor | None) -> torch.Tensor:
    """The distance of a jitted function's operations, run one by one, from their goldens."""
    return one_by_one.double() * 0 if golden is None else (one_by_one.double() - golden.double()).abs()


def _map_leaves(
    change: Callable[[Any], Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    mapped: tuple[list[Any], dict[str, Any]] = map_leaves((list(args), dict(kwargs)), change)
    return mapped


def _map_tensors(
    change: Callable[[Tensor], Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    return _map_leaves(lambda leaf: change(leaf) if isinstance(leaf, Tensor) else leaf, args, kwargs)


def _tensors_in(values: Any) -> list[Tensor]:
    return [leaf for leaf in leaves(values) if isinstance(leaf, Tensor)]


def _torch_tensors_in(values: Any) -> list[torch.Tensor]:
    import torch

    return [leaf for leaf in leaves(values) if isinstance(leaf, torch.Tensor)]


def _as_golden(tensor: Any) -> torch.Tensor:
    """The operand of a golden: float64 for floats, else integers in a dtype in which torch computes."""
    values = torch_copy(tensor) if isinstance(tensor, Tensor) else as_torch(tensor).clone()
    if values.is_floating_point():
        return _in_float64(values)
    return values if _dtype(tensor).compute.is_signed else values.long()


def _dtype(tensor: Any) -> DataType:
    library = tensor_library_of(tensor)
    assert library is not None, "it is a tensor"
    return library.spec_of(tensor).dtype


def _in_float64(golden: torch.Tensor) -> torch.Tensor:
    """The result of a golden with floats as float64; the golden of a cast has the dtype of the cast."""
    return golden.double() if golden is not None and golden.is_floating_point() else golden


def _copy(tensor: Tensor) -> Tensor:
    import copy

    return copy.deepcopy(tensor)


def _on_device(leaf: Any) -> Any:
    """A copy of a tensor; of one of torch or numpy as a tensor of ttnn, whose operations take no others."""
    if isinstance(leaf, Tensor):
        return _copy(leaf)
    if (library := tensor_library_of(leaf)) is None:
        return leaf
    return from_torch(as_torch(leaf).clone(), layout=library.spec_of(leaf).layout, device=implicit_cpu_device())


def _parts(tensor: Any) -> Sequence[Any]:
    """The tensors of the devices of a mesh; else the tensor itself."""
    return tensor.tensors if isinstance(tensor, MeshTensor) else (tensor,)


def _is_host_function(operation: Any) -> bool:
    """Whether it has no golden, but calls operations that have one."""
    return not hasattr(operation, "golden_call") and not is_jitted(operation)


def _is_repeated_on_devices(operation: Any, values: Sequence[Any]) -> bool:
    """Whether every device of a mesh runs the operation by itself."""
    is_whole = is_jitted(operation) or getattr(operation, EXCHANGES, False) or _is_host_function(operation)
    return not is_whole and any(isinstance(leaf, MeshTensor) for leaf in leaves(values))


def _why_unreadable(operation: Any, values: Sequence[Any]) -> str:
    """Why the results of an operation cannot be compared; empty if they can."""
    tensors = _tensors_in(values)
    if getattr(operation, EXCHANGES, False) and any(isinstance(tensor, MeshTensor) for tensor in tensors):
        return "the devices of a mesh exchange data in it"
    for part in (part for tensor in tensors for part in _parts(tensor)):
        device = part.device()
        if device is not None and device.recorder is not None:
            return "it is captured in a trace, and runs later"
    return ""
