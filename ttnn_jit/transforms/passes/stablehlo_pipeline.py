"""stablehlo-pipeline: what StableHLO says of shardings is made explicit before it becomes TTIR."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.functions import functions_of
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.dialects.text_calls.op_calls import bound_op, declared_name
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.upstream.rewriting.rewriter import operation_kind
from ttnn_jit.dialects.writing.editing import erase, insert_before
from ttnn_jit.ops.families.dialect_conversion import Conversion
from ttnn_jit.ops.texts import text_operations
from ttnn_jit.transforms.passes.convert_stablehlo_to_ttir import call_decomposition
from ttnn_jit.transforms.passes.inline import Inline
from ttnn_jit.transforms.shardings.batch_parallelism import cut_batches
from ttnn_jit.transforms.shardings.partitioning import partition
from ttnn_jit.transforms.shardings.shard_statuses import mark_functions, presharded_arguments
from ttnn_jit.transforms.shardings.single_mesh import unify_meshes
from ttnn_jit.transforms.shardings.stated import SHARDINGS
from ttnn_jit.transforms.shardings.xla_attributes import state_shardings

SHARDED_BY_HAND = ("stablehlo.custom_call@SPMDFullToShardShape", "stablehlo.custom_call@SPMDShardToFullShape")
"""Ops whose results, or operands, are parts."""


@dataclass(frozen=True)
class StablehloPipeline(ModulePass):
    """Inlines calls, and makes what a text says of shardings explicit.

    On several devices a function becomes a `sdy.manual_computation` on parts, with the collectives between them
    (`transforms/shardings`). A function that is one already, or is cut and joined by `@SPMDFullToShardShape` and
    `@SPMDShardToFullShape`, stays as it is. On one device shardings are dropped: they cut nothing there. Arguments and
    results say whether devices have their parts, and the shapes of these.

    Attributes:
        mesh_shape: The extents of the mesh, if the module's is not meant.
        automatic_arg_analysis: Whether arguments are cut along their batches if the text states no sharding.
        enable_auto_sharding: Whether a model of costs chooses shardings if the text states none, which is refused.
        result_presharded: Of each result, 1 if its user takes the part of each device, or 0; by default the wholes.
    """

    name = "stablehlo-pipeline"
    over_texts: ClassVar[bool] = True

    mesh_shape: tuple[int, ...] = ()
    automatic_arg_analysis: bool = False
    enable_auto_sharding: bool = False
    result_presharded: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Changes the functions of the module `op`.

        Raises:
            CompileError: A sharding is not partitioned here, or `result_presharded` is not of the results.
        """
        Inline().apply(ctx, op)
        state_shardings(op)
        cut = presharded_arguments(op)
        self._make_explicit(ctx, op)
        mark_functions(op, cut, self.result_presharded)

    def _make_explicit(self, ctx: Context, op: ModuleOp) -> None:
        devices = math.prod(self.mesh_shape or mesh_of_text(op) or (1,))
        if devices > 1:
            unify_meshes(op)
            if not _states_shardings(op):
                self._choose_shardings(op)
            if _is_cut_by_hand(op):
                return
            if _call_composites(op):
                Inline().apply(ctx, op)
            partition(op, self.mesh_shape)
        for each in [*op.walk()]:
            _drop_shardings(each)

    def _choose_shardings(self, module: ModuleOp) -> None:
        """Cuts arguments of a text that states no sharding, if that is asked for."""
        if self.enable_auto_sharding:
            raise CompileError(
                "the text states no sharding, and no model of costs here chooses how arguments are cut among devices",
                location=next((location_of(each) for each in functions_of(module)), None),
                help="`automatic-arg-analysis` cuts batches; without both each device computes all",
            )
        if self.automatic_arg_analysis:
            cut_batches(module, self.mesh_shape)


def _states_shardings(module: ModuleOp) -> bool:
    """Whether an argument, a result or an operation says how it is cut, or a computation on parts is written out."""
    names = {declared_name(op) for op in module.walk()}
    if names & {"sdy.manual_computation", "sdy.sharding_constraint", *SHARDED_BY_HAND}:
        return True
    noted = [str(each.arg_attrs) + str(each.res_attrs) for each in functions_of(module)]
    on_ops = [{*op.attributes, *op.properties} for op in module.walk()]
    return any(name in each for name in SHARDINGS for each in (*noted, *on_ops))


def _is_cut_by_hand(module: ModuleOp) -> bool:
    """Whether every sharding of a module is that of a manual computation, or of ops that cut and join tensors."""
    names = [declared_name(op) for op in module.walk()]
    if any(name in SHARDED_BY_HAND for name in names):
        return True
    stated = any(name in each for op in module.walk() for name in SHARDINGS for each in (op.attributes, op.properties))
    noted = any(SHARDINGS[0] in str(each.arg_attrs) + str(each.res_attrs) for each in functions_of(module))
    return "sdy.manual_computation" in names and "sdy.sharding_constraint" not in names and not stated and not noted


def _call_composites(module: ModuleOp) -> bool:
    """Replaces composites by calls of their decompositions; whether there were any.

    Those whose declaration has a sharding rule become custom calls instead, as in tt-mlir: their decompositions are
    functions of whole tensors.
    """
    found = False
    for op in [each for each in module.walk() if name_of(each) == "stablehlo.composite"]:
        read = bound_op(op)
        target = read.arguments["name"]
        known = text_operations().get(f"stablehlo.custom_call@{target}")
        if isinstance(known, Conversion) and known.sharded_by is not None:
            _make_custom_call(op, target)
        else:
            call_decomposition(op, read, op.result_types)
            found = True
    return found


def _make_custom_call(op: Operation, target: str) -> None:
    """Replaces a composite by a custom call with its attributes, `tt.composite_attributes`."""
    stated = {name: op.attributes[name] for name in SHARDINGS if name in op.attributes}
    attributes = op.properties.get("composite_attributes") or op.attributes.get("composite_attributes")
    made = operation_kind("stablehlo.custom_call").create(
        operands=[*op.operands],
        result_types=[*op.result_types],
        properties={"call_target_name": StringAttr(target)},
        attributes=stated if attributes is None else {**stated, "tt.composite_attributes": attributes},
    )
    made.location = op.location
    insert_before(made, op)
    for old, new in zip(op.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    erase(op)


def _drop_shardings(op: Operation) -> None:
    for name in SHARDINGS:
        op.attributes.pop(name, None)
        op.properties.pop(name, None)
    if isinstance(op, FuncOp):
        op.arg_attrs, op.res_attrs = _without(op.arg_attrs), _without(op.res_attrs)
    if name_of(op) == "sdy.sharding_constraint":
        op.results[0].replace_all_uses_with(op.operands[0])
        erase(op)


def _without(attributes: ArrayAttr[DictionaryAttr] | None) -> ArrayAttr[DictionaryAttr] | None:
    """The attributes of arguments or results without shardings."""
    if attributes is None:
        return None
    kept = [
        DictionaryAttr({name: value for name, value in each.data.items() if name not in SHARDINGS})
        for each in attributes
    ]
    return ArrayAttr(kept)
