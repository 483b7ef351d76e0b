"""ttnn-configure-ccl-ops: collectives are told how the devices along their axis are linked."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation

from ttnn_jit.dialects.upstream.rewriting.made_attributes import parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import Rewriter, mesh_topology_of
from ttnn_jit.transforms.texts.text_pass import TextPass

_TOPOLOGY = "topology"
_AXIS = "cluster_axis"


@dataclass(frozen=True)
class TTNNConfigureCCLOps(TextPass):
    """A collective without a `topology` gets that of its axis, which `ttcore.device` has as `meshTopology`.

    As in tt-mlir, the topologies are listed from the last axis to the first, and collectives along a row of two axes
    (`cluster_axis` 1) get the first one. Topologies are those of links; they change no result.
    """

    name = "ttnn-configure-ccl-ops"

    def change(self, module: ModuleOp, rewriter: Rewriter) -> None:
        """Sets the topologies of a module's collectives."""
        linked = mesh_topology_of(module)
        for op in module.walk() if linked else ():
            axis = op.properties.get(_AXIS)
            if isinstance(axis, IntegerAttr) and _takes_topology(op, rewriter):
                index = len(linked) - 1 - axis.value.data
                if index >= 0 and linked[index] != "disabled":
                    op.properties[_TOPOLOGY] = parsed(f"#ttcore.topology<{linked[index]}>")
                    rewriter.changes += 1


def _takes_topology(op: Operation, rewriter: Rewriter) -> bool:
    """Whether an operation of TTNN may have a topology, and has none."""
    row = rewriter.row(op.name) if op.name.startswith("ttnn.") else None
    return row is not None and _TOPOLOGY not in op.properties and any(each.name == _TOPOLOGY for each in row.attributes)
