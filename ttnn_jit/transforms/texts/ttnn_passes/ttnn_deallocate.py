"""ttnn-deallocate: frees every tensor after its last reader."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import boolean
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter
from ttnn_jit.dialects.upstream.rewriting.trace_hoisting import is_of_trace
from ttnn_jit.dialects.upstream.rewriting.ttnn_rules.freed_buffers import freed_by
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of


@dataclass(frozen=True)
class TTNNDeallocate(TextPass):
    """A `ttnn.deallocate` follows the last reader of each tensor that is not returned.

    Arguments of const-eval functions and of traces are kept, and what `ttcore.load_cached` gives.
    """

    name = "ttnn-deallocate"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Frees the tensors of a module's functions."""
        for function in functions_of(module):
            _free(function, rewriter)


def _free(function: FuncOp, rewriter: Rewriter) -> None:
    block = function.body.block
    place = {op: index for index, op in enumerate(block.ops)}
    kept = "const_eval" in function.attributes or is_of_trace(function)
    values: list[SSAValue] = [] if kept else [*block.args]
    values += [result for op in place if op.name != "ttir.empty" for result in op.results]
    freed: dict[Operation, list[SSAValue]] = {}
    itself = {value: op for op in place for value in freed_by(op)}
    for value in values:
        if not isinstance(value.type, TensorType):
            continue
        readers = [use.operation for use in value.uses]
        if any(isinstance(each, ReturnOp) or each.name == "ttnn.deallocate" for each in readers):
            continue
        made = value.owner if isinstance(value.owner, Operation) else None
        last = max(readers, key=lambda each: place.get(each, -1), default=made)
        if value in itself:
            _require_last(itself[value], last)
        elif last is not None and last in place:
            freed.setdefault(last, []).append(value)
    for last, gone in freed.items():
        after = last.next_op
        assert after is not None, "a function ends with its return"
        for value in gone:
            rewriter.create("ttnn.deallocate", {"input": value}, {"force": boolean(False)}, [], after)


def _require_last(op: Operation, last: Operation | None) -> None:
    if op is not last:
        raise CompileError(
            "use-after-free detected: op deallocates its input but is not the last user", location=location_of(op)
        )
