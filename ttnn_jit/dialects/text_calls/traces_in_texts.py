"""Traces in texts: ops that are recorded run where their trace is executed, on what their tensors hold then."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import OpCall
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import LayoutView
from ttnn_jit.ops.families.text_operation import Role
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.process.dataclass import dataclass

_BEGIN, _END, _EXECUTE = "ttnn.begin_trace_capture", "ttnn.end_trace_capture", "ttnn.execute_trace"


def executed_ops(block: Block) -> list[Operation]:
    """The ops of a block in the order in which they run, its return included.

    Ops between `ttnn.begin_trace_capture` and `ttnn.end_trace_capture` are recorded, and run at every
    `ttnn.execute_trace` of that trace; nowhere else.

    Raises:
        CompileError: A trace is executed that the block has not captured, captures do not end or overlap, or an op
            reads what only a trace computes that was not executed yet.
    """
    ops = [*block.ops]
    if not any(name_of(op) in {_BEGIN, _EXECUTE} for op in ops):
        return ops
    window = _Window()
    for op in ops:
        window.add(op)
    if window.open is not None and window.begun is not None:
        raise CompileError("the capture of a trace does not end", location=location_of(window.begun))
    _require_executed(window)
    return window.executed


class _Window:
    """The ops of a block so far.

    Attributes:
        executed: Those that run, in order.
        open: The number of the trace that is being captured.
        begun: The op that began the last capture.
    """

    def __init__(self) -> None:
        self.executed: list[Operation] = []
        self.open: SSAValue | None = None
        self.begun: Operation | None = None
        self.captured: dict[SSAValue, list[Operation]] = {}

    def add(self, op: Operation) -> None:
        """The next op."""
        name = name_of(op)
        if name == _BEGIN and self.open is None and op.results:
            self.open, self.begun = op.results[0], op
            self.captured[self.open] = []
            self.executed.append(op)
        elif name == _END and self.open is not None and self.open in op.operands:
            self.open = None
            self.executed.append(op)
        elif name in {_BEGIN, _END} or (name == _EXECUTE and self.open is not None):
            raise CompileError(f"`{name}` does not fit the captures of traces before it", location=location_of(op))
        elif self.open is not None and not isinstance(op, ReturnOp):
            self.captured[self.open].append(op)
        elif name == _EXECUTE:
            self.executed += [*self._trace_of(op), op]
        else:
            self.executed.append(op)

    def _trace_of(self, op: Operation) -> list[Operation]:
        found = next((self.captured[each] for each in op.operands if each in self.captured), None)
        if found is None:
            raise CompileError(
                f"`{name_of(op)}`: this function has not captured the trace",
                location=location_of(op),
                help="run the function that calls `ttnn.capture_or_execute_trace`: it captures and executes",
            )
        return found


def _require_executed(window: _Window) -> None:
    """Refuses ops that read what a trace computes before it was executed; returning it is no reading."""
    recorded = {result for ops in window.captured.values() for op in ops for result in op.results}
    for op in window.executed:
        declared = text_operations().get(name_of(op))
        if isinstance(op, ReturnOp) or (declared is not None and declared.role is Role.NOTHING):
            continue
        if any(value in recorded for each in op.walk() for value in each.operands):
            raise CompileError(
                f"`{name_of(op)}` reads what a trace computes before its first `{_EXECUTE}`", location=location_of(op)
            )
        recorded.difference_update(op.results)


@dataclass(frozen=True)
class TracedCall:
    """What `ttnn.capture_or_execute_trace` does where no trace was captured yet.

    Attributes:
        staged: Inputs of the host, which the capturing function copies into slots; all inputs if there are no slots.
        resident: Inputs on the device, which are their own slots.
        allocating: The function that gives the slots, of inputs, then of results; None in texts before August 2026.
        slots: Of each input that has one, whether it is an input on the device.
    """

    staged: tuple[SSAValue, ...]
    resident: tuple[SSAValue, ...]
    allocating: str | None
    slots: tuple[SSAValue, ...]

    @classmethod
    def of(cls, read: OpCall) -> TracedCall:
        """The call that an op means."""
        inputs = tuple(read.arguments["inputs"])
        allocating = read.arguments["allocate_slots_callee"]
        if allocating is None:
            return cls(inputs, (), None, ())
        resident = tuple(each for each in inputs if LayoutView(each.type).on_device)
        return cls(tuple(each for each in inputs if each not in resident), resident, allocating, inputs)


def first_result(op: Operation, capturing: FuncOp) -> int:
    """Where the results of a trace begin in what the function that captures it returns.

    In texts of 2025 they follow the number of the trace, before the slots of inputs and results, which are not executed
    yet; in others they are the last ones.
    """
    returned, wanted = len(capturing.function_type.outputs), len(op.results)
    inputs = len(capturing.function_type.inputs)
    return 1 if returned == 1 + wanted + inputs + wanted else returned - wanted
