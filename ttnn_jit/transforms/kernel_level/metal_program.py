"""The launch of kernels as `ttmetal.enqueue_program`, with what the host passes to each kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects import memref
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.dialects.ttcore import system_desc_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import dense_i64, parsed
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.dialects.writing.editing import erase
from ttnn_jit.transforms.function_bodies import require_converted
from ttnn_jit.transforms.kernel_level.host_side import FIDELITY, WIDE
from ttnn_jit.transforms.kernel_level.operand_layout import core_place

_NOC_OF_CORE = {0: "noc1", 1: "noc0"}
"""The data movement core that runs a kernel -> the NoC that it drives."""


def lower_launches(module: ModuleOp) -> None:
    """Replaces every launch and allocation of a module.

    Raises:
        CompileError: A launch names no kernel functions, or a kernel that there is not, or an operation of d2m is left.
    """
    kernels = {each.sym_name.data: each for each in module.walk() if isinstance(each, FuncOp)}
    workers = system_desc_of(module).grid
    rewriter = Rewriter(AUGUST)
    for op in [*module.walk()]:
        if op.name == "d2m.generic":
            _Launch(op, kernels, workers, rewriter).replace()
    for op in [*module.walk()]:
        if isinstance(op, memref.AllocOp) and "address" in op.attributes:
            properties = {"address": op.attributes["address"]}
            made = rewriter.create("ttmetal.create_buffer", {}, properties, op.result_types, op)
            rewriter.replace(op, made.results)
        elif isinstance(op, memref.DeallocOp):
            rewriter.create("ttmetal.deallocate_buffer", {"input": op.operands[0]}, {}, [], op)
            erase(op)
    require_converted(module.walk(), "d2m")


class _Launch:
    """One launch."""

    def __init__(self, op: Operation, kernels: dict[str, FuncOp], workers: tuple[int, int], rewriter: Rewriter) -> None:
        if any(region.blocks for region in op.regions):
            raise refusal(op, "it has a region", "run `convert-d2m-to-ttkernel` before")
        self._op = op
        self._kernels = kernels
        self._workers = workers
        self._rewriter = rewriter
        self._arguments: list[SSAValue] = []
        self._buffers: list[SSAValue] = []
        self._place: dict[int, int] = {}
        self._port: dict[int, int] = {}

    def replace(self) -> None:
        """Writes the program in its place."""
        op = self._op
        groups = named_operands(op)
        others = len(groups["inputs"]) + len(groups["outputs"])
        for index, value in enumerate(op.operands):
            if index >= others and isinstance(value.type, MemRefType):
                self._port[index] = len(self._buffers)
                self._buffers.append(_behind(value, "d2m.operand_alias"))
            else:
                self._place[index] = len(self._arguments)
                self._arguments.append(_behind(value, "d2m.view_layout"))
        threads = op.properties["threads"]
        assert isinstance(threads, ArrayAttr)
        properties = {
            "cb_ports": dense_i64([*range(len(self._buffers))]),
            "kernelConfigs": parsed(f"[{', '.join(map(self._config, threads.data))}]"),
        }
        given = {"args": self._arguments, "cbs": self._buffers}
        self._rewriter.create("ttmetal.enqueue_program", given, properties, [], op)
        erase(op)

    def _config(self, thread: Any) -> str:
        op, name = self._op, thread.value("kernelSymbol")
        kernel = None if name is None else self._kernels.get(name.root_reference.data)
        if kernel is None:
            raise refusal(op, "a thread names no kernel", "run `convert-d2m-to-ttkernel` before")
        cores = f"#ttmetal.core_range<0x0, {self._grid()}>"
        start = f"@{kernel.sym_name.data}, {cores}, {self._passed(kernel)}"
        if thread.value("threadType") == "compute":
            wide, fidelity = op.attributes.get(WIDE), op.attributes.get(FIDELITY)
            is_wide = isinstance(wide, IntegerAttr) and bool(wide.value.data)
            precision = fidelity.data.lower() if isinstance(fidelity, StringAttr) else "hifi4"
            return (
                f"#ttmetal.compute_config<{start}, {precision}, {str(is_wide).lower()}, false, false, "
                f"[{'fp32' if is_wide and _casts(kernel) else 'default'}]>"
            )
        core = thread.value("dmCoreIndex") or 0
        return f"#ttmetal.noc_config<{start}, dm_core = {core}, {_NOC_OF_CORE.get(core, 'noc0')}>"

    def _grid(self) -> str:
        grid: Any = self._op.properties["grid"]
        extents: Sequence[int] = grid.data if isinstance(grid.data, tuple) else grid.value("shape")
        place = core_place(extents[:2], self._workers)
        if place is None:
            raise refusal(self._op, f"its grid {list(extents)} exceeds the cores")
        return "x".join(map(str, place)) if math.prod(place) else "1x1"

    def _passed(self, kernel: FuncOp) -> str:
        spec: Any = kernel.attributes.get("ttkernel.arg_spec")
        lists: dict[str, list[str]] = {"common_rt_args": [], "rt_args": [], "ct_args": []}
        for kind in ("rt_args", "ct_args"):
            for each in (spec.value(kind) if spec is not None else None) or ():
                is_own = kind == "ct_args" or each.value("is_uniform") is False
                lists[kind if is_own else "common_rt_args"].append(self._argument(each))
        given = " ".join(f"{kind} = [{', '.join(own)}]" for kind, own in lists.items() if own)
        return f"#ttmetal.kernel_args<{given}>"

    def _argument(self, argument: Any) -> str:
        kind, index = argument.value("arg_type"), argument.value("operand_index")
        table = self._port if kind == "cb_port" else self._place
        if index not in table:
            raise refusal(self._op, f"its operand {index} is no {kind} for a kernel")
        return f"<{kind}[{table[index]}]>"


def _casts(kernel: FuncOp) -> bool:
    return any(op.name == "ttkernel.typecast_tile" for op in kernel.walk())


def _behind(value: SSAValue, name: str) -> SSAValue:
    """What an op of a name is a view of, if it makes the value."""
    owner = value.owner
    return owner.operands[0] if isinstance(owner, Operation) and owner.name == name else value
