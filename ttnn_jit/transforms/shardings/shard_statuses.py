"""What functions say of their arguments and results on a mesh: `ttcore.shard_status` and `ttcore.local_shape`.

An argument whose sharding a text states is one of which each device has its part. Of a result a text does not say it,
so the caller of the pipeline does: `result-presharded`, as torch-xla's users expect all of theirs. Attributes say it of
the arguments and results of StableHLO, whose types are those of the wholes. In TTIR a function takes the wholes, which
`ttir.mesh_shard` cuts, and returns the part of a presharded result: nothing joins it, as in tt-mlir.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue, Use

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.functions import functions_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.op_calls import declared_name
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.writing.editing import erase
from ttnn_jit.transforms.shardings.stated import SHARDINGS

_STATUS = "ttcore.shard_status"
_LOCAL = "ttcore.local_shape"


def presharded_arguments(module: ModuleOp) -> set[SSAValue]:
    """The arguments whose sharding a module states.

    Raises:
        CompileError: An argument or a result has a local shape already.
    """
    found: set[SSAValue] = set()
    for function in functions_of(module):
        for notes in (*(function.arg_attrs or ()), *(function.res_attrs or ())):
            if _LOCAL in notes.data:
                raise CompileError(
                    "an argument or a result has a local shape already, cannot annotate it",
                    location=location_of(function),
                    help="the text has gone through `stablehlo-pipeline`",
                )
        if function.body.blocks and function.arg_attrs:
            pairs = zip(function.body.block.args, function.arg_attrs, strict=True)
            found.update(value for value, notes in pairs if any(name in notes.data for name in SHARDINGS))
    return found


def mark_functions(module: ModuleOp, arguments: Collection[SSAValue], results: Sequence[int]) -> None:
    """Says of each argument and result of a module's functions whether devices have their parts, and the part's shape.

    Args:
        module: The module, of StableHLO, whose shardings are explicit.
        arguments: The arguments of which devices have their parts.
        results: Of each result of a public function, not 0 if devices keep their parts; () if they keep none.

    Raises:
        CompileError: A public function has another number of results.
    """
    for function in functions_of(module):
        if not function.body.blocks:
            continue
        is_private = function.sym_visibility is not None and function.sym_visibility.data == "private"
        returned = _returned(function)
        kept = [0] * len(returned) if is_private or not results else results
        if len(returned) != len(kept):
            raise CompileError(
                f"The size of the result shard status does not match the number of results in the function: "
                f"{len(kept)}, not {len(returned)}",
                location=location_of(function),
            )
        _mark_arguments(function, arguments)
        given = function.res_attrs or [DictionaryAttr({})] * len(returned)
        marked = [
            DictionaryAttr({**notes.data, **_said(_part_type(value) if is_kept else value.type, is_kept=bool(is_kept))})
            for notes, value, is_kept in zip(given, returned, kept, strict=True)
        ]
        function.res_attrs = ArrayAttr(marked) if marked else None


def _mark_arguments(function: FuncOp, cut: Collection[SSAValue]) -> None:
    values = function.body.block.args
    given = function.arg_attrs or [DictionaryAttr({})] * len(values)
    marked = [
        DictionaryAttr({**notes.data, **_said(_cut_type(value) if value in cut else value.type, is_kept=value in cut)})
        for notes, value in zip(given, values, strict=True)
    ]
    function.arg_attrs = ArrayAttr(marked) if marked else None


def take_wholes(module: ModuleOp) -> None:
    """Says of presharded arguments that they are wholes, as `ttir.mesh_shard` cuts them from here on."""
    for function in functions_of(module):
        if function.arg_attrs and function.body.blocks:
            pairs = zip(function.arg_attrs, function.body.block.args, strict=True)
            function.arg_attrs = ArrayAttr(
                DictionaryAttr({**notes.data, **_said(value.type, is_kept=False)}) if _STATUS in notes.data else notes
                for notes, value in pairs
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


def _said(local: Attribute, *, is_kept: bool) -> dict[str, Attribute]:
    return {
        _LOCAL: parsed(f"#ttcore<local_shape local_shape = {local}>"),
        _STATUS: parsed(f"#ttcore.shard_status<{'presharded' if is_kept else 'unsharded'}>"),
    }


def _cut_type(value: SSAValue) -> Attribute:
    """The type on a device of an argument, which a manual computation or an op of its own cuts."""
    for use in value.uses:
        if (found := _cut_by(use)) is not None:
            return found
    return value.type


def _cut_by(use: Use) -> Attribute | None:
    reader = use.operation
    if name_of(reader) == "sdy.manual_computation":
        return reader.regions[0].block.args[use.index].type
    if declared_name(reader) == "stablehlo.custom_call@SPMDFullToShardShape":
        return reader.results[0].type
    if declared_name(reader) == "stablehlo.custom_call@Sharding":
        found = map(_cut_by, reader.results[0].uses)
        return next((each for each in found if each is not None), None)
    return None


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
