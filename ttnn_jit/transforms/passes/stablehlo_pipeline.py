"""stablehlo-pipeline: what StableHLO says of shardings is made explicit before it becomes TTIR."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects.locations import location_of
from ttnn_jit.dialects.text_calls.meshes_of_texts import mesh_of_text
from ttnn_jit.dialects.text_calls.text_attributes import name_of
from ttnn_jit.dialects.writing.editing import erase
from ttnn_jit.transforms.passes.inline import Inline

SHARDINGS = ("sdy.sharding", "mhlo.sharding")
"""Attributes of arguments, results and ops that say how they are cut among devices."""


@dataclass(frozen=True)
class StablehloPipeline(ModulePass):
    """Inlines calls; on one device, drops shardings, which cut nothing there.

    On several devices, manual computations are shards already; shardings outside of them are refused, since they are
    not propagated here.

    Attributes:
        mesh_shape: The extents of the mesh, if the module's is not meant.
    """

    name = "stablehlo-pipeline"
    over_texts: ClassVar[bool] = True

    mesh_shape: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Changes the functions of the module `op`.

        Raises:
            CompileError: A sharding is outside of a manual computation, and there are several devices.
        """
        Inline().apply(ctx, op)
        devices = math.prod(self.mesh_shape or mesh_of_text(op) or (1,))
        for each in [*op.walk()]:
            if devices > 1:
                _require_manual(each, devices)
            else:
                _drop_shardings(each)


def _require_manual(op: Operation, devices: int) -> None:
    stated = [name for name in SHARDINGS if name in op.attributes or name in op.properties]
    if isinstance(op, FuncOp):
        stated += [name for name in SHARDINGS if any(name in each for each in _of_arguments(op))]
    if name_of(op) == "sdy.sharding_constraint" or stated:
        raise CompileError(
            f"{name_of(op)} has a sharding over {devices} devices, which no pass here propagates",
            location=location_of(op),
            help="write the shards as `sdy.manual_computation`; `ttnn-jit run` executes the text with its shardings",
        )


def _of_arguments(function: FuncOp) -> list[dict[str, object]]:
    lists = (function.arg_attrs, function.res_attrs)
    return [dict(each.data) for attributes in lists if attributes is not None for each in attributes]


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
