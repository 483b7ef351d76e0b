"""Random programs of several functions: modules of one function, of which random parts become functions.

What an outlined module computes is known: what the module did before. Parts of parts are outlined too, equal functions
become one that is called several times, and some functions are called by none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ttnn_jit.dialects import print_module, ttnn
from ttnn_jit.dialects.function_builder import TTIR, TTNN, FunctionBuilder, TensorDialect, module_of
from ttnn_jit.dialects.functions import calls_of, functions_of, is_kernel
from ttnn_jit.ops import OVERLOADS, TYPECAST
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

MAIN = "main"
DIALECTS = {"ttnn": TTNN, "ttir": TTIR}
UNARY = ("exp", "neg", "tanh", "abs", "sigmoid")
BINARY = ("add", "multiply", "subtract", "maximum")


@st.composite
def programs(
    draw: st.DrawFn, target: str, *, dtypes: Sequence[DataType] = (DataType.FLOAT32,), sorts: bool = False
) -> list[object]:
    """The input of `built`: the arguments' specs, then calls by name, indices of values, and attributes, then results.

    Args:
        draw: Hypothesis's.
        target: Name of a preset.
        dtypes: Of arguments.
        sorts: With an operation of two results, which numba takes long to compile.
    """
    chip = target != "cpu"
    shape = draw(st.sampled_from([(64, 64), (32, 96)] if chip else [(64, 64), (33, 40), (5, 7), (1, 1)]))
    layout = Layout.TILE if chip else draw(st.sampled_from(list(Layout)))
    specs = [TensorSpec(shape, draw(st.sampled_from(dtypes)), layout) for _ in range(draw(st.integers(1, 3)))]
    kinds = st.sampled_from(["unary", "unary", "binary", "binary", "number", "softmax", "sum", "matmul", "permute"])
    calls = draw(
        st.lists(
            st.tuples(
                st.one_of(kinds, *[st.just("sort")] * sorts), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99)
            ),
            min_size=2,
            max_size=9,
        )
    )
    return [specs, calls, draw(st.lists(st.integers(0, 99), min_size=1, max_size=3))]


def built(program: list[object], target: str, dialect: str) -> ModuleOp:
    """The module of a program, by a builder without the rules of ``@jit``."""
    return module_of((_function(program, target, DIALECTS[dialect]),), PRESETS[target])


def _function(program: list[object], target: str, dialect: TensorDialect) -> FuncOp:
    specs, calls, returned = program
    builder = FunctionBuilder(dialect, MAIN, PRESETS[target].numerics, None)
    values = [(builder.argument(spec), spec) for spec in specs]  # type: ignore[attr-defined]
    for kind, first, second, which in calls:  # type: ignore[attr-defined]
        values += _results(builder, kind, values[first % len(values)], _like(values, first, second), which)
    return builder.function([values[-1 - index % len(values)][0] for index in returned])  # type: ignore[attr-defined]


def _like(values, first, second):
    """A value of the shape and the element type of the `first`."""
    spec = values[first % len(values)][1]
    same = [each for each in values if (each[1].shape, each[1].dtype) == (spec.shape, spec.dtype)]
    return same[second % len(same)]


def _results(builder, kind, x, y, which):
    if x[1].dtype.is_integer:  # the indices of a sort
        kind = "typecast"
    match kind:
        case "unary":
            name, operands, statics = UNARY[which % len(UNARY)], (x,), ()
        case "binary":
            name, operands, statics = BINARY[which % len(BINARY)], (x, y), ()
        case "number":
            name, operands, statics = BINARY[which % len(BINARY)], (x, (0.5, -1.25)[which % 2]), ()
        case "softmax":
            name, operands, statics = "softmax", (x,), (-1, False)
        case "sum":
            name, operands, statics = "sum", (x,), ((which % 2,), True)
        case "matmul":
            name, operands, statics = "matmul", (x, y), (False, True, None)
        case "permute":
            name, operands, statics = "permute", (x,), ((1, 0),)
        case "sort":
            name, operands, statics = "sort", (x,), (which % 2, False, True)
        case _:
            return builder.results(TYPECAST, (x,), (DataType.FLOAT32,), None)
    return builder.results(OVERLOADS[name][0], operands, statics, None)


@st.composite
def outlined(draw: st.DrawFn, module: ModuleOp) -> str:
    """The text of `module` with random parts of it as functions, with any number of calls."""
    made = module.clone()
    block = made.body.block
    for number in range(draw(st.integers(1, 5))):
        function = draw(st.sampled_from([each for each in functions_of(made) if not is_kernel(each)]))
        ops = [op for op in function.body.block.ops if not isinstance(op, ReturnOp | ttnn.GetDeviceOp)]
        if ops:
            start = draw(st.integers(0, len(ops) - 1))
            part = ops[start : draw(st.integers(start + 1, len(ops)))]
            name = draw(st.sampled_from([f"part{number}", f"{MAIN}_kernel{number}"]))
            block.add_op(_outline(draw, part, name))
    for name, op in _alike(draw, made):
        block.add_op(_outline(draw, [op], name, is_bare=True))
    _share(made)
    for number in range(draw(st.integers(0, 2))):
        unused = draw(st.sampled_from([each for each in functions_of(made) if not is_kernel(each)])).clone()
        unused.properties["sym_name"] = StringAttr(f"unused{number}")
        block.add_op(unused)
    functions = list(block.ops)
    for op in functions:
        op.detach()
    block.add_ops(draw(st.permutations(functions)))
    return print_module(made)


def _alike(draw: st.DrawFn, module: ModuleOp) -> list[tuple[str, Operation]]:
    """Names of ops that compute the same with other operands, if there are any; one of their kinds is drawn."""
    kinds: dict[object, list[Operation]] = {}
    for function in functions_of(module):
        for op in function.body.block.ops:
            if op.operands and op.results and not isinstance(op, CallOp | ttnn.FullOp):
                said = (type(op), tuple(op.operand_types), tuple(op.result_types), str(op.properties))
                kinds.setdefault(said, []).append(op)
    several = [ops for ops in kinds.values() if len(ops) > 1]
    chosen = draw(st.sampled_from([None, *several])) or ()
    return [(f"alike{number}", op) for number, op in enumerate(chosen)]


def _outline(draw: st.DrawFn, part: Sequence[Operation], name: str, *, is_bare: bool = False) -> FuncOp:
    """The function for `part`, consecutive ops that are replaced by a call of it.

    Unless it `is_bare`, it may take what it does not need, and return what nobody reads.
    """
    around = part[0].parent_block()
    assert around is not None
    inside = {result for op in part for result in op.results}
    inputs = dict.fromkeys(value for op in part for value in op.operands if value not in inside)
    device = next((value for value in inputs if isinstance(value.type, ttnn.DeviceType)), None)
    given = [value for value in inputs if value is not device]
    if around.args and not is_bare:
        given += draw(st.lists(st.sampled_from(around.args), max_size=1))
    used = [value for value in inside if _is_used_outside(value, part) and value.type != ttnn.DEVICE]
    used.sort(key=lambda value: (part.index(value.owner), value.index))
    body = Block(arg_types=[value.type for value in given])
    more = [*body.args, *used] if used and not is_bare else []
    returned = [*used, *draw(st.lists(st.sampled_from(more), max_size=1))] if more else used
    call = CallOp(name, given, [value.type for value in returned])
    around.insert_op_before(call, part[0])
    own = dict(zip(given, body.args, strict=False))
    if device is not None:
        body.add_op(get_device := ttnn.GetDeviceOp.make())
        own[device] = get_device.device
    for op in part:
        op.detach()
        op.operands = [own.get(value, value) for value in op.operands]
        body.add_op(op)
    _replace_outside(part, dict(zip(used, call.results, strict=False)))
    body.add_op(ReturnOp(*returned))
    types = FunctionType.from_lists(body.arg_types, [value.type for value in returned])
    visibility = draw(st.sampled_from(["private", "private", "public", None]))
    return FuncOp(name, types, Region(body), visibility)


def _is_used_outside(value: SSAValue, part: Sequence[Operation]) -> bool:
    return any(not _is_within(use.operation, part) for use in value.uses)


def _is_within(op: Operation, part: Sequence[Operation]) -> bool:
    while op.parent_block() is not part[0].parent_block():
        around = op.parent_op()
        if around is None:
            return False
        op = around
    return op in part


def _replace_outside(part: Sequence[Operation], by: dict[SSAValue, SSAValue]) -> None:
    for value, replacement in by.items():
        value.replace_uses_with_if(replacement, lambda use: not _is_within(use.operation, part))


def _share(module: ModuleOp) -> None:
    """Merges functions with equal bodies."""
    first_of: dict[str, FuncOp] = {}
    for function in functions_of(module):
        if function.sym_name.data == MAIN or is_kernel(function):
            continue
        first = first_of.setdefault(_text_without_name(function), function)
        if first is not function:
            for caller in functions_of(module):
                for call in calls_of(caller):
                    if call.callee == SymbolRefAttr(function.sym_name):
                        call.properties["callee"] = SymbolRefAttr(first.sym_name)
            function.detach()


def _text_without_name(function: FuncOp) -> str:
    anonymous = function.clone()
    anonymous.properties["sym_name"] = StringAttr("f")
    anonymous.properties.pop("sym_visibility", None)
    return print_module(anonymous)


def called_by(module: ModuleOp) -> dict[str, list[str]]:
    """Function -> the names of the functions that it calls, in order."""
    return {
        function.sym_name.data: [call.callee.root_reference.data for call in calls_of(function)]
        for function in functions_of(module)
    }


def depth_of(module: ModuleOp, name: str = MAIN) -> int:
    """The depth of a function's calls."""
    calls = called_by(module)
    return max((1 + depth_of(module, callee) for callee in calls[name]), default=0)


def names_of(functions: Iterable[FuncOp]) -> list[str]:
    return [function.sym_name.data for function in functions]
