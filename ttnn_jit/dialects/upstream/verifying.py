"""Verification of upstream texts by the rules of the tables: counts, attributes and types that ODS states.

Messages are MLIR's. What C++ verifies beyond that is in `rules_of_operations`, by families of operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import VerifyException

from ttnn_jit.dialects.upstream import tables
from ttnn_jit.dialects.upstream.constraints import accepts, attribute_accepts
from ttnn_jit.dialects.upstream.rules import RULES
from ttnn_jit.dialects.upstream.rules.view import symbol_around
from ttnn_jit.dialects.upstream.segment_sizes import NAMES, segment_sizes, stated_segments
from ttnn_jit.dialects.upstream.tables import OperationRow, Value
from ttnn_jit.dialects.verifier import InvalidModule, enclosing_location, reason_of

_OF_LLVM = {"arith", "math", "memref", "tensor", "scf", "cf", "bufferization", "affine", "llvm", "tosa", "emitc"}
"""Dialects of which the tables know another version than tt-mlir uses."""


def verify_upstream(module: Operation) -> None:
    """Checks `module` and everything in it.

    Raises:
        InvalidModule: An operation breaks a rule of its rows in every version, or uses a value that is not visible. It
            has the first error of each function, as MLIR tells them.
    """
    found: dict[Operation | None, InvalidModule] = {}
    for op in module.walk():
        if found and _function_around(op) in found:
            continue
        error = next(errors_of(op), None)
        if error is not None:
            found[_function_around(op)] = InvalidModule(error, location=enclosing_location(op))
    if found:
        first, *further = found.values()
        first.further = tuple(further)
        raise first
    for region in module.regions:
        _verify_region(region, set())


def _function_around(op: Operation) -> Operation | None:
    around: Operation | None = op
    while around is not None and not isinstance(around, FuncOp):
        around = around.parent_op()
    return around


def errors_of(op: Operation) -> Iterator[str]:
    """What is wrong with one operation, without its regions, in MLIR's words."""
    if isinstance(op, UnregisteredOp):
        return
    found = [*_errors(op)]
    if not (found and has_destination(op) and is_valid_without_destination(op)):
        yield from found


def _errors(op: Operation) -> Iterator[str]:
    rows = tables.operation_rows(op.name) if op.name.partition(".")[0] not in _OF_LLVM else ()
    wrong = [next(_row_errors(op, row), None) for row in rows]
    if wrong and None not in wrong:
        yield f"'{op.name}' op {wrong[0]}"
        return
    yield from _structural_errors(op)
    try:
        for rule in RULES.get(op.name, ()):
            rule(op)
    except VerifyException as error:
        yield f"'{op.name}' op {error}"
    except Exception as error:  # noqa: BLE001 - a rule presupposes what other rules check
        yield f"'{op.name}' op {reason_of(error)}"


def breaks_rule(op: Operation) -> bool:
    """Whether an operation breaks a rule that ODS does not state."""
    try:
        for rule in RULES.get(op.name, ()):
            rule(op)
    except VerifyException:
        return True
    except (AssertionError, AttributeError, IndexError, KeyError):
        return False  # a rule presupposes the operands of the rows
    return False


def has_destination(op: Operation) -> bool:
    """Whether a TTIR op takes the tensor of its result as its last operand, as they did before December 2025."""
    if not op.name.startswith("ttir.") or len(op.results) != 1 or not op.operands:
        return False
    last, row = op.operands[-1], tables.operation_rows(op.name)[:1]
    is_empty = getattr(last.owner, "name", "") in {"ttir.empty", "tensor.empty"}
    declared = [each.name for one in row for each in one.operands]
    return is_empty and last.type == op.results[0].type and not {"output", "destination"} & {*declared}


def is_valid_without_destination(op: Operation) -> bool:
    """Whether an op that has a destination is valid without it."""
    if NAMES["operands"] in op.properties:
        return True
    types = [result.type for result in op.results]
    bare = type(op).create(operands=op.operands[:-1], result_types=types, properties=op.properties)
    try:
        return next(_errors(bare), None) is None
    finally:
        bare.erase()


def _row_errors(op: Operation, row: OperationRow) -> Iterator[str]:
    yield from _count_errors(op, row, "operands")
    yield from _attribute_errors(op, row)
    yield from _count_errors(op, row, "results")
    yield from _type_errors(op, row, "operands")
    yield from _type_errors(op, row, "results")


def _count_errors(op: Operation, row: OperationRow, which: str) -> Iterator[str]:
    declared: tuple[Value, ...] = getattr(row, which)
    count = len(getattr(op, which))
    segments = stated_segments(op, row, which)
    if segments is None and row.has(f"AttrSized{which[:-1].title()}Segments"):
        return  # a text may leave out what another version does not have
    if segment_sizes(declared, count, segments) is not None or row.versions == "+":
        return
    needed = sum(not each.count for each in declared)
    if segments is not None:
        yield (
            f"operand count ({count}) does not match with the total size ({_total(segments)}) specified in attribute "
            f"'{NAMES[which]}'"
        )
    elif any(each.count for each in declared):
        yield f"expected {needed} or more {which}, but found {count}"
    elif needed < 2:
        one = "requires a single operand" if which == "operands" else "requires one result"
        yield one if needed else f"requires zero {which}"
    else:
        yield f"expected {needed} {which}" + (f", but found {count}" if which == "operands" else "")


def _total(segments: object) -> int:
    return sum(segments.get_values())  # type: ignore[attr-defined]  # a dense array, as the parser made it


def _attribute_errors(op: Operation, row: OperationRow) -> Iterator[str]:
    for attribute in row.attributes:
        given = op.properties.get(attribute.name)
        if given is None:
            if not attribute.is_optional and not attribute.default and attribute.kind != "UnitAttr":
                yield f"requires attribute '{attribute.name}'"
        elif (summary := attribute_accepts(given, attribute.kind)) is not None:
            yield f"attribute '{attribute.name}' failed to satisfy constraint: {summary}"


def _type_errors(op: Operation, row: OperationRow, which: str) -> Iterator[str]:
    declared: tuple[Value, ...] = getattr(row, which)
    values = getattr(op, which)
    sizes = segment_sizes(declared, len(values), stated_segments(op, row, which))
    if sizes is None:
        return
    constraints = [each for each, size in zip(declared, sizes, strict=True) for _ in range(size)]
    for index, (each, value) in enumerate(zip(constraints, values, strict=True)):
        if not accepts(value.type, each.constraint):
            kind = ("variadic of " if each.count == "*" else "") + tables.constraint(each.constraint)[0]
            yield f"{which[:-1]} #{index} must be {kind}, but got '{value.type}'"


def _structural_errors(op: Operation) -> Iterator[str]:
    if isinstance(op, ReturnOp):
        yield from _return_errors(op)
    elif isinstance(op, CallOp):
        yield from _call_errors(op)
    for region in op.regions:
        for block in region.blocks:
            last = block.last_op
            ends = last is not None and (last.has_trait(IsTerminator) or isinstance(last, UnregisteredOp))
            if isinstance(op, FuncOp) and not ends:
                yield "block with no terminator" if last is not None else "empty block: expect at least a terminator"


def _return_errors(op: ReturnOp) -> Iterator[str]:
    function = op.parent_op()
    if not isinstance(function, FuncOp):
        return
    wanted = function.function_type.outputs.data
    if len(wanted) != len(op.operands):
        yield (
            f"'func.return' op has {len(op.operands)} operands, but enclosing function "
            f"(@{function.sym_name.data}) returns {len(wanted)}"
        )
    for index, (value, type_) in enumerate(zip(op.operands, wanted, strict=False)):
        if value.type != type_:
            yield (
                f"'func.return' op type of return operand {index} ('{value.type}') doesn't match function result type "
                f"('{type_}') in function @{function.sym_name.data}"
            )


def _call_errors(op: CallOp) -> Iterator[str]:
    name = op.callee.root_reference.data
    callee = symbol_around(op, name)
    if not isinstance(callee, FuncOp):
        yield f"'func.call' op '{name}' does not reference a valid function"
        return
    if len(callee.function_type.inputs) != len(op.operands):
        yield "'func.call' op incorrect number of operands for callee"
    elif [*callee.function_type.inputs] != [value.type for value in op.operands]:
        yield "'func.call' op operand type mismatch"
    elif [*callee.function_type.outputs] != [*op.result_types]:
        yield "'func.call' op result type mismatch"


def _verify_region(region: Region, visible: set[SSAValue]) -> None:
    """Requires each operand to be visible: of a region with several blocks, in any of them."""
    defined: list[SSAValue] = []
    many = len(region.blocks) > 1
    if many:
        defined = [value for block in region.blocks for value in _values_of(block)]
        visible.update(defined)
    for block in region.blocks:
        defined += block.args
        visible.update(block.args)
        for op in block.ops:
            for index, operand in enumerate(op.operands):
                if operand not in visible:
                    reason = f"'{op.name}' op operand #{index} does not dominate this use"
                    raise InvalidModule(reason, location=enclosing_location(op))
            for inner in op.regions:
                _verify_region(inner, set() if op.has_trait(IsolatedFromAbove) else visible)
            defined += op.results
            visible.update(op.results)
    visible.difference_update(defined)


def _values_of(block: Block) -> Iterator[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from op.results
