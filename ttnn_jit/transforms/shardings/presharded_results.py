"""Results of which each device keeps its part: `result-presharded`, as torch-xla's users expect all of theirs.

A text does not say it, so the caller of the pipeline does: of each result, whether its user takes a tensor per device.
Attributes say it of the results of StableHLO, whose types are those of the wholes. In TTIR such a function returns the
part: nothing joins it, as in tt-mlir.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.functions import functions_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import declared_name
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.writing.editing import erase

_STATUS = "ttcore.shard_status"
_LOCAL = "ttcore.local_shape"


def mark_results(module: ModuleOp, presharded: Sequence[int]) -> None:
    """Says of each result of the public functions of a module whether devices keep their parts, and the part's shape.

    Args:
        module: The module, of StableHLO, whose shardings are explicit.
        presharded: Of each result, not 0 if devices keep their parts.

    Raises:
        CompileError: A public function has another number of results.
    """
    for function in functions_of(module):
        is_private = function.sym_visibility is not None and function.sym_visibility.data == "private"
        if is_private or not function.body.blocks:
            continue
        returned = _returned(function)
        if len(returned) != len(presharded):
            raise CompileError(
                f"The size of the result shard status does not match the number of results in the function: "
                f"{len(presharded)}, not {len(returned)}",
                location=location_of(function),
            )
        given = function.res_attrs or [DictionaryAttr({})] * len(returned)
        function.res_attrs = ArrayAttr(
            DictionaryAttr({**notes.data, **_said(value, is_kept=bool(is_kept))})
            for notes, value, is_kept in zip(given, returned, presharded, strict=True)
        )


def keep_parts(module: ModuleOp) -> None:
    """Lets functions return what a `ttir.mesh_shard` would join to a presharded result."""
    for function in functions_of(module):
        if not function.res_attrs or not function.body.blocks:
            continue
        last = function.body.block.last_op
        assert last is not None, "a function ends with what it returns"
        for index, notes in enumerate(function.res_attrs):
            maker = last.operands[index].owner
            if "<presharded>" in str(notes.data.get(_STATUS)) and _joins(maker):
                assert isinstance(maker, Operation), "it has been asked for its name"
                last.operands[index] = maker.operands[0]
                if not maker.results[0].first_use:
                    erase(maker)
        function.function_type = FunctionType.from_lists(
            [*function.function_type.inputs], [each.type for each in last.operands]
        )


def _returned(function: FuncOp) -> Sequence[SSAValue]:
    last = function.body.block.last_op
    assert last is not None, "a function ends with what it returns"
    return last.operands


def _said(value: SSAValue, *, is_kept: bool) -> dict[str, Attribute]:
    local = _part_type(value) if is_kept else value.type
    return {
        _LOCAL: parsed(f"#ttcore<local_shape local_shape = {local}>"),
        _STATUS: parsed(f"#ttcore.shard_status<{'presharded' if is_kept else 'unsharded'}>"),
    }


def _part_type(value: SSAValue) -> Attribute:
    """The type on a device of a whole tensor."""
    maker = value.owner
    if isinstance(maker, Operation) and isinstance(value, OpResult):
        if name_of(maker) == "sdy.manual_computation":
            inner = maker.regions[0].block.last_op
            assert inner is not None, "a region ends with what it returns"
            return inner.operands[value.index].type
        if declared_name(maker) == "stablehlo.custom_call@SPMDShardToFullShape":
            return maker.operands[0].type
    return value.type


def _joins(maker: object) -> bool:
    return (
        isinstance(maker, Operation)
        and name_of(maker) == "ttir.mesh_shard"
        and "<shard_to_full>" in str(maker.properties.get("shard_direction"))
    )
