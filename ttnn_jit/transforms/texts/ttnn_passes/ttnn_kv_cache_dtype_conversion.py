"""ttnn-kv-cache-dtype-conversion: key-value caches are arguments of narrower types."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.diagnostics.errors import ArgumentError
from ttnn_jit.dialects.upstream.rewriting.cache_arguments import cache_ops, is_cache
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, operand_named
from ttnn_jit.dialects.upstream.rewriting.ttnn_layouts import LayoutView, data_type_attribute, has_layout, laid_out
from ttnn_jit.dialects.upstream.rewriting.weight_types import BLOCK_TYPES
from ttnn_jit.transforms.texts.text_pass import TextPass, functions_of
from ttnn_jit.transforms.texts.ttnn_passes.ttnn_weight_dtype_conversion import NO_TYPE

_TAKES_WIDER_ROWS = {"ttnn.paged_update_cache"}
"""Operations that ttnn calls with rows of another type than the cache's; others get a cast."""


@dataclass(frozen=True)
class TTNNKVCacheDtypeConversion(TextPass):
    """Arguments marked `ttcore.kv_cache` get a narrower type, and so do the rows that are written to them.

    A function with an operation whose cache is no such argument stays as it is.

    Attributes:
        target_dtype: `bfp_bf8` or `bfp_bf4`; `none` changes nothing.
    """

    name = "ttnn-kv-cache-dtype-conversion"

    target_dtype: str = NO_TYPE

    def __post_init__(self) -> None:
        """Refuses another type."""
        super().__post_init__()
        if self.target_dtype not in {NO_TYPE, "", *BLOCK_TYPES}:
            raise ArgumentError(
                f"`target-dtype={self.target_dtype}`", help=f"it is one of {', '.join([NO_TYPE, *BLOCK_TYPES])}"
            )

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Converts the caches of a module's functions."""
        if self.target_dtype in {NO_TYPE, ""}:
            return
        for function in functions_of(module):
            if str(function.attributes.get("tt.function_type", '"forward_device"')) != '"forward_device"':
                continue
            if all(is_cache(function, cache) for _, cache in cache_ops(function)):
                self._convert(function, rewriter)

    def _convert(self, function: FuncOp, rewriter: Rewriter) -> None:
        block = function.body.block
        for argument in block.args:
            if is_cache(function, argument) and has_layout(argument.type):
                argument._type = self._narrow(argument)
                rewriter.changes += 1
        last = block.last_op
        outputs = [each.type for each in last.operands] if isinstance(last, ReturnOp) else []
        function.function_type = FunctionType.from_lists([each.type for each in block.args], outputs)
        for op, _ in cache_ops(function):
            if op.name not in _TAKES_WIDER_ROWS:
                self._cast_rows(op, rewriter)

    def _narrow(self, value: SSAValue) -> TensorType:
        assert isinstance(value.type, TensorType)
        element = parsed_type(f"!ttcore.tile<32x32, {self.target_dtype}>")
        return laid_out(TensorType(element, value.type.get_shape()), memory=LayoutView(value.type).memory)

    def _cast_rows(self, op: Operation, rewriter: Rewriter) -> None:
        rows = operand_named(op, "input")
        assert rows is not None, "an update has rows"
        if not has_layout(rows.type):
            return
        result = self._narrow(rows)
        if result.get_element_type() == rows.type.get_element_type():  # type: ignore[attr-defined]
            return
        cast = {"dtype": data_type_attribute(result.get_element_type())}
        op.operands[[*op.operands].index(rows)] = rewriter.value("ttnn.typecast", {"input": rows}, cast, result, op)
