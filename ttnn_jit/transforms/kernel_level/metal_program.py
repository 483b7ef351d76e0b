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
from ttnn_jit.dialects.ttcore import GridAttr, TileType, system_desc_of
from ttnn_jit.dialects.upstream.rewriting.made_attributes import dense_i64, parsed, parsed_type
from ttnn_jit.dialects.upstream.rewriting.rewriter import AUGUST, Rewriter
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.dialects.writing.editing import erase
from ttnn_jit.transforms.function_bodies import require_converted
from ttnn_jit.transforms.kernel_level.host_side import FIDELITY, WIDE
from ttnn_jit.transforms.kernel_level.operand_layout import core_place

_NOC_OF_CORE = {0: "noc1", 1: "noc0"}
"""The data movement core that runs a kernel -> the NoC that it drives."""


def lower_launches(module: ModuleOp) -> None:
    """Replaces every launch and allocation of a module; the regions of a `d2m.spatial` are one program.

    Raises:
        CompileError: A launch names no kernel functions, or a kernel that there is not, it connects chips, or an
            operation of d2m is left.
    """
    kernels = {each.sym_name.data: each for each in module.walk() if isinstance(each, FuncOp)}
    workers = system_desc_of(module).grid
    rewriter = Rewriter(AUGUST)
    launching = [each for each in module.walk() if each.name in {"d2m.generic", "d2m.spatial"}]
    for op in [each for each in launching if not _is_in_spatial(each)]:
        program = _Program(kernels, workers)
        for launch in _launches(op):
            program.add(launch)
        program.replace(op, rewriter)
    _lower_semaphores(module, rewriter)
    for op in [*module.walk()]:
        if isinstance(op, memref.AllocOp) and "address" in op.attributes:
            properties = {"address": op.attributes["address"]}
            made = rewriter.create("ttmetal.create_buffer", {}, properties, op.result_types, op)
            rewriter.replace(op, made.results)
        elif isinstance(op, memref.DeallocOp):
            rewriter.create("ttmetal.deallocate_buffer", {"input": op.operands[0]}, {}, [], op)
            erase(op)
    require_converted(module.walk(), "d2m")


def _lower_semaphores(module: ModuleOp, rewriter: Rewriter) -> None:
    """Replaces what makes and resets semaphores, and erases views that launches have read through."""
    for op in [*module.walk()]:
        if op.name in _SEMAPHORES:
            _write_semaphore(op, rewriter)
        elif op.name == "d2m.reset_global_semaphore":
            given, value = {"semaphore": op.operands[0]}, {"value": op.properties["value"]}
            rewriter.create("ttmetal.reset_global_semaphore", given, value, [], op)
            erase(op)
        elif op.name == "d2m.view_layout" and op.results[0].first_use is None:
            erase(op)


_SEMAPHORES = {"d2m.create_global_semaphore": "value", "d2m.create_local_semaphore": "initialValue"}
"""The operation that makes a semaphore -> its attribute of the first value."""


def _write_semaphore(op: Operation, rewriter: Rewriter) -> None:
    """Makes a semaphore of TTMetal: a global one lies where its buffer does, on the cores of the buffer's grid."""
    name = op.name.removeprefix("d2m.create_")
    properties = {"initial_value": op.properties.get(_SEMAPHORES[op.name])}
    if op.operands:
        buffer = op.operands[0]
        address = buffer.owner.attributes.get("address") if isinstance(buffer.owner, memref.AllocOp) else None
        if address is None:
            raise refusal(op, "its buffer has no address")
        assert isinstance(buffer.type, MemRefType)
        rows, columns = buffer.type.get_shape()[:2]
        properties |= {"address": address, "core_range": parsed(f"#ttmetal.core_range<0x0, {rows}x{columns}>")}
    made = rewriter.create(f"ttmetal.create_{name}", {}, properties, [parsed_type(f"!ttmetal.{name}")], op)
    rewriter.replace(op, made.results)


def _is_in_spatial(op: Operation) -> bool:
    parent = op.parent_op()
    return parent is not None and parent.name == "d2m.spatial"


def _launches(op: Operation) -> list[Operation]:
    """A launch itself; of a `d2m.spatial` those in its regions.

    Raises:
        CompileError: A region has another operation.
    """
    if op.name == "d2m.generic":
        return [op]
    found = [each for region in op.regions for block in region.blocks for each in block.ops]
    other = next((each for each in found if each.name != "d2m.generic"), None)
    if other is not None or op.results:
        raise refusal(other or op, "a region has more than launches on buffers")
    return found


class _Program:
    """Launches on cores of their own, with all arguments and buffers in one list each."""

    def __init__(self, kernels: dict[str, FuncOp], workers: tuple[int, int]) -> None:
        self.kernels = kernels
        self.workers = workers
        self.arguments: list[SSAValue] = []
        self.buffers: list[SSAValue] = []
        self._configs: list[str] = []
        self._taken: set[tuple[int, int]] = set()

    def take(self, op: Operation, first: Sequence[int], extents: Sequence[int]) -> None:
        """Takes a rectangle of cores for a launch.

        Raises:
            CompileError: Another launch has one of them.
        """
        rows, columns = (range(begin, begin + extent) for begin, extent in zip(first, extents, strict=True))
        own = {(row, column) for row in rows for column in columns}
        if own & self._taken:
            raise refusal(op, "another launch of the program has its cores")
        self._taken |= own

    def add(self, op: Operation) -> None:
        """Adds a launch."""
        self._configs += _Launch(op, self).configs()

    def replace(self, op: Operation, rewriter: Rewriter) -> None:
        """Writes the program in the place of `op`."""
        properties = {
            "cb_ports": dense_i64([*range(len(self.buffers))]),
            "kernelConfigs": parsed(f"[{', '.join(self._configs)}]"),
        }
        given = {"args": self.arguments, "cbs": self.buffers}
        rewriter.create("ttmetal.enqueue_program", given, properties, [], op)
        erase(op)


class _Launch:
    """One launch."""

    def __init__(self, op: Operation, program: _Program) -> None:
        if any(region.blocks for region in op.regions):
            raise refusal(op, "it has a region", "run `convert-d2m-to-ttkernel` before")
        if "fabricConnectionConfig" in op.properties:
            raise refusal(op, "its kernels connect chips")
        self._op = op
        self._program = program
        self._place: dict[int, int] = {}
        self._port: dict[int, int] = {}

    def configs(self) -> list[str]:
        """The texts of its kernels; their arguments become those of the program."""
        op, program = self._op, self._program
        groups = named_operands(op)
        others = len(groups["inputs"]) + len(groups["outputs"])
        for index, value in enumerate(op.operands):
            if index >= others and isinstance(value.type, MemRefType):
                self._port[index] = len(program.buffers)
                program.buffers.append(_behind(value, "d2m.operand_alias"))
            else:
                self._place[index] = len(program.arguments)
                program.arguments.append(_behind(value, "d2m.view_layout"))
        threads = op.properties["threads"]
        assert isinstance(threads, ArrayAttr)
        first, extents = self._cores()
        program.take(op, first, extents)
        cores = f"#ttmetal.core_range<{'x'.join(map(str, first))}, {'x'.join(map(str, extents))}>"
        return [self._config(each, cores) for each in threads.data]

    def _config(self, thread: Any, cores: str) -> str:
        op, name = self._op, thread.value("kernelSymbol")
        kernel = None if name is None else self._program.kernels.get(name.root_reference.data)
        if kernel is None:
            raise refusal(op, "a thread names no kernel", "run `convert-d2m-to-ttkernel` before")
        start = f"@{kernel.sym_name.data}, {cores}, {self._passed(kernel)}"
        if thread.value("threadType") == "compute":
            wide, fidelity = op.attributes.get(WIDE), op.attributes.get(FIDELITY)
            is_wide = bool(wide.value.data) if isinstance(wide, IntegerAttr) else _has_wide_operands(op)
            precision = fidelity.data.lower() if isinstance(fidelity, StringAttr) else "hifi4"
            return (
                f"#ttmetal.compute_config<{start}, {precision}, {str(is_wide).lower()}, false, false, "
                f"[{'fp32' if is_wide and _casts(kernel) else 'default'}]>"
            )
        core = thread.value("dmCoreIndex") or 0
        return f"#ttmetal.noc_config<{start}, dm_core = {core}, {_NOC_OF_CORE.get(core, 'noc0')}>"

    def _cores(self) -> tuple[Sequence[int], Sequence[int]]:
        """The first core and the extents, which a grid with a map to cores states."""
        grid: Any = self._op.properties["grid"]
        if isinstance(grid, GridAttr):
            place = core_place(grid.data[:2], self._program.workers)
            if place is None:
                raise refusal(self._op, f"its grid {list(grid.data)} exceeds the cores")
            return (0, 0), place if math.prod(place) else (1, 1)
        shape, map_ = grid.value("shape"), grid.value("virtToPhysicalMap") or grid.value("mapping")
        _, *first = map_.eval([0] * len(shape), [])
        _, *last = map_.eval([extent - 1 for extent in shape], [])
        extents = [end - begin + 1 for begin, end in zip(first, last, strict=True)]
        inside = all(end < limit for end, limit in zip(last, self._program.workers, strict=True))
        if min(extents) < 1 or math.prod(extents) != math.prod(shape) or not inside:
            raise refusal(self._op, f"its grid {list(shape)} lies on no rectangle of the cores")
        return first, extents

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


def _has_wide_operands(op: Operation) -> bool:
    """Whether an input or output has tiles of 32 bits."""
    groups = named_operands(op)
    types = [value.type for value in (*groups["inputs"], *groups["outputs"])]
    tiles = [each.element_type for each in types if isinstance(each, MemRefType)]
    return any(isinstance(each, TileType) and each.nbytes == 4 * each.height.data * each.width.data for each in tiles)


def _casts(kernel: FuncOp) -> bool:
    return any(op.name == "ttkernel.typecast_tile" for op in kernel.walk())


def _behind(value: SSAValue, name: str) -> SSAValue:
    """What an op of a name is a view of, if it makes the value."""
    owner = value.owner
    return owner.operands[0] if isinstance(owner, Operation) and owner.name == name else value
