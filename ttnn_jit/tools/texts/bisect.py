"""``ttnn-jit bisect``: finds the first op of a text whose result is not that of its golden."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, Region, SSAValue

from ttnn_jit.dialects import print_module
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import captured_by
from ttnn_jit.dialects.text_calls.text_attributes import name_of, symbol_of
from ttnn_jit.dialects.writing.creation import create, empty_block, region_of
from ttnn_jit.dialects.writing.editing import append
from ttnn_jit.process.complete_file import write_complete
from ttnn_jit.process.standard_output import write_output
from ttnn_jit.sessions.text_runs import GoldenRun
from ttnn_jit.tools.opt import read_text
from ttnn_jit.tools.texts.run_text import chosen_entries, inputs_of


def main(options: argparse.Namespace) -> int:
    """Prints a module of the first wrong op, and the reason on stderr; 1 if there is one."""
    text, name = read_text(options.file)
    for module, entry in chosen_entries(options, text, name):
        count = 0
        for compared in GoldenRun(module, entry, inputs_of(options, module, entry)).compared():
            count += 1
            if compared.matches:
                continue
            print(f"{location_of(compared.op)}: `{name_of(compared.op)}`: {compared.failures[0]}", file=sys.stderr)
            single = print_module(module_of_op(compared.op))
            if options.output:
                write_complete(options.output, [single.encode()])
            else:
                write_output(single)
            return 1
        print(f"@{entry}: {count} ops, each equal to its golden", file=sys.stderr)
    return 0


def module_of_op(op: Operation) -> ModuleOp:
    """A module of one function, which computes one op of its arguments, and the constants that its regions read."""
    given: Sequence[SSAValue] = [*dict.fromkeys(op.operands)]
    body = empty_block()
    values: dict[SSAValue, SSAValue] = {value: body.insert_arg(value.type, index) for index, value in enumerate(given)}
    for value in captured_by(each for each in op.walk() if each is not op):
        assert isinstance(value.owner, Operation), "regions read constants"
        append(body, (constant := value.owner.clone(value_mapper=values),))
        values.update(zip(value.owner.results, constant.results, strict=True))
    clone = op.clone(value_mapper=values)
    append(body, (clone, create(ReturnOp, operands=clone.results, location=op.location)))
    function_type = FunctionType.from_lists([each.type for each in given], [each.type for each in op.results])
    function = create(
        FuncOp,
        properties={"sym_name": StringAttr("main"), "function_type": function_type},
        regions=(region_of(body),),
        location=op.location,
    )
    block = empty_block()
    append(block, (function, *_host_modules(op)))
    return create(ModuleOp, regions=(region_of(block),), location=op.location)


def _host_modules(op: Operation) -> Iterator[Operation]:
    """What a call of a function of the host's module needs beside it: a declaration, and the module."""
    if not isinstance(op, CallOp):
        return
    properties = {
        "sym_name": StringAttr(symbol_of(op.callee)),
        "function_type": FunctionType.from_lists(
            [each.type for each in op.operands], [each.type for each in op.results]
        ),
        "sym_visibility": StringAttr("private"),
    }
    yield create(FuncOp, properties=properties, regions=(Region(),), location=op.location)
    outermost: Operation = op
    while (parent := outermost.parent_op()) is not None:
        outermost = parent
    yield from (each.clone() for each in outermost.walk() if name_of(each) == "ttcore.cpu_module")
