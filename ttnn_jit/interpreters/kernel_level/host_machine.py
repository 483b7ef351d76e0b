"""Executes the host program of kernels: tensors to memrefs and back, allocations, launches, other ops as they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttnn_jit.dialects.functions import call_graph_post_order, entry_point
from ttnn_jit.dialects.layout import dtype_of, spec_of
from ttnn_jit.dialects.region_loops import refusal
from ttnn_jit.dialects.ttcore import TileType, system_desc_of
from ttnn_jit.dialects.upstream.table_operations import named_operands
from ttnn_jit.interpreters.interpreted_tiles import elements_of, tiles_of
from ttnn_jit.interpreters.kernel_level.kernel_core import SEMAPHORE_BYTES, Argument, Arguments
from ttnn_jit.interpreters.kernel_level.kernel_launch import SEMAPHORES, HostBuffer, KernelConfig, Kernels
from ttnn_jit.interpreters.kernel_level.memory import Pages, TileFormat, pages_of_memref
from ttnn_jit.interpreters.tensor_interpreter import Tensor
from ttnn_jit.interpreters.tile_interpreter import Machine, require_small, run_op
from ttnn_jit.kernels.vectors.numpy_vector import NumpyVector
from ttnn_jit.process.dataclass import dataclass
from ttnn_jit.specs.target import TILE_HEIGHT, TILE_WIDTH, SystemDesc

Array = np.ndarray[Any, Any]

_FREE_ADDRESS = 1 << 40
"""Where tensors lie that the host program did not allocate: behind every memory of a chip."""


def interpret_kernels(module: ModuleOp, inputs: Sequence[Array], entry: str | None = None) -> list[Array]:
    """The results of an entry point of a module after `convert-d2m-to-ttkernel` or `convert-d2m-to-ttmetal`.

    Args:
        module: The module.
        inputs: One array per argument, of the tensor's logical shape and element type; uint16 for bfloat16.
        entry: The name of the entry point; None: the only one.

    Raises:
        KernelError: A kernel breaks the protocol of the core, or threads wait for each other.
        ArgumentError: The arrays do not fit the function, or the tensors are too large to be interpreted.
        CompileError: An op is unknown to the interpreter, or there is no such entry point.
    """
    function = entry_point(module, entry)
    functions = {each.sym_name.data: each for each in call_graph_post_order(module, (function,))}
    require_small(module, function, functions)
    kernels = {each.sym_name.data: each for each in module.walk() if isinstance(each, FuncOp)}
    machine = HostMachine(system_desc_of(module), function, functions, kernels)
    block = function.body.block
    with NumpyVector.quiet():
        machine.bind(block, inputs)
        machine.run(block)
    return machine.results()


@dataclass(frozen=True)
class Semaphore:
    """A semaphore of every core, and its initial value."""

    address: int
    value: int


class HostMachine(Machine):
    """The execution of a host program.

    Args:
        target: The target.
        function: The entry point.
        functions: It, and those that it calls.
        kernels: The functions that cores run.
    """

    def __init__(
        self, target: SystemDesc, function: FuncOp, functions: Mapping[str, FuncOp], kernels: Mapping[str, FuncOp]
    ) -> None:
        super().__init__(target.numerics, function, functions)
        self._kernels = Kernels(kernels, target)
        self._next_address = _FREE_ADDRESS
        self._live: dict[int, Pages] = {}
        self._semaphores: list[Semaphore] = []

    def run(self, block: Block) -> None:
        """Executes the ops of a block."""
        for op in block.ops:
            handler = _HANDLERS.get(op.name)
            if handler is None:
                run_op(self, op)
            else:
                handler(self, op)

    # Memory

    def _cast(self, op: Operation) -> None:
        value, result = self.environment[op.operands[0]], op.results[0]
        match result.type:
            case MemRefType() if isinstance(value, Tensor):
                pages = pages_of_memref(result.type, self._next_address)
                self._next_address += pages.data.nbytes
                self._write(pages, value)
                self._keep(pages)
                self.environment[result] = pages
            case TensorType() if isinstance(value, Pages):
                self.environment[result] = self._read(value, result.type)
            case _:
                self.environment[result] = value

    def _keep(self, pages: Pages) -> None:
        self._live[id(pages)] = pages

    def _write(self, pages: Pages, tensor: Tensor) -> None:
        """Writes the tiles of a tensor to its pages."""
        format_ = TileFormat(pages.dtype)
        rows, columns = (grid * shard for grid, shard in zip(pages.data.shape[:2], pages.shard, strict=True))
        tiles = tiles_of(tensor, (rows, columns))
        for number in range(rows * columns):
            row, column = divmod(number, columns)
            pages.page(number)[...] = format_.encoded(tiles[row, column], self.math)

    def _read(self, pages: Pages, type_: Attribute) -> Tensor:
        """The tensor in pages."""
        spec, format_ = spec_of(type_), TileFormat(pages.dtype)
        rows, columns = (grid * shard for grid, shard in zip(pages.data.shape[:2], pages.shard, strict=True))
        tiles = np.stack([format_.decoded(pages.page(number), self.math) for number in range(rows * columns)])
        empty = Tensor(np.zeros(spec.shape, spec.dtype.compute.numpy), spec)
        return Tensor(elements_of(tiles.reshape(rows, columns, *tiles.shape[1:]), empty), spec)

    def _allocate(self, op: Operation) -> None:
        type_ = op.results[0].type
        given = op.properties.get("address", op.attributes.get("address"))
        if not isinstance(given, IntegerAttr):
            raise refusal(op, "it has no address")
        assert isinstance(type_, MemRefType)
        if getattr(type_.layout, "name", "") == "ttcore.cb_layout":
            self.environment[op.results[0]] = _buffer(type_, given.value.data)
            return
        pages = pages_of_memref(type_, given.value.data)
        self._keep(pages)
        self.environment[op.results[0]] = pages

    def _deallocate(self, op: Operation) -> None:
        pages = self.environment[op.operands[0]]
        if isinstance(pages, Pages) and self._live.pop(id(pages), None) is None:
            raise refusal(op, "the buffer was freed before")

    def _alias(self, op: Operation) -> None:
        pages = self.environment[op.operands[0]]
        type_ = op.results[0].type
        assert isinstance(type_, MemRefType)
        count = pages.data.shape[2]
        self.environment[op.results[0]] = HostBuffer(
            pages.address, count, pages.data.shape[3], _tile_dtype(type_), pages
        )

    def _view(self, op: Operation) -> None:
        self.environment[op.results[0]] = self.environment[op.operands[0]]

    def _empty_tensor(self, op: Operation) -> None:
        spec = spec_of(op.results[0].type)
        self.environment[op.results[0]] = Tensor(np.zeros(spec.shape, spec.dtype.compute.numpy), spec)

    def _semaphore(self, op: Operation) -> None:
        given = op.properties.get("initial_value", op.properties.get("initialValue"))
        value = given.value.data if isinstance(given, IntegerAttr) else 0
        made = Semaphore(SEMAPHORES + SEMAPHORE_BYTES * len(self._semaphores), value)
        self._semaphores.append(made)
        self.environment[op.results[0]] = made

    def _nothing(self, op: Operation) -> None:
        """Commands are executed in order, each to its end."""

    # Launches

    def _program(self, op: Operation) -> None:
        named = named_operands(op)
        arguments = [self.environment[value] for value in named.get("args", named.get("buffers", ()))]
        ports = [int(port) for port in op.properties["cb_ports"].get_values()]  # type: ignore[attr-defined]
        buffers = dict(zip(ports, self._buffers(op, named.get("cbs", ())), strict=True))
        configs = [_config(op, each, arguments, ports) for each in _listed(op.properties["kernelConfigs"])]
        self._launch(op, configs, buffers)

    def _launched(self, op: Operation) -> None:
        operands = [self.environment[value] for value in op.operands]
        ports: dict[int, int] = {}
        for index, value in enumerate(operands):
            if isinstance(value, HostBuffer):
                ports[index] = len(ports)
        buffers = dict(zip(ports.values(), self._buffers(op, [op.operands[index] for index in ports]), strict=True))
        grid = op.properties["grid"]
        size = (grid.data[0], grid.data[1])  # type: ignore[attr-defined]
        configs = [
            self._config_of_thread(op, thread, size, operands, ports) for thread in _listed(op.properties["threads"])
        ]
        self._launch(op, configs, buffers)

    def _buffers(self, op: Operation, values: Sequence[SSAValue]) -> list[HostBuffer]:
        found = []
        for value in values:
            held = self.environment[value]
            if isinstance(held, Pages):
                found.append(HostBuffer(held.address, held.data.shape[2], held.data.shape[3], held.dtype, held))
            elif isinstance(held, HostBuffer):
                found.append(held)
            else:
                raise refusal(op, "a circular buffer is no buffer of the device")
        return found

    def _config_of_thread(
        self, op: Operation, thread: Any, size: tuple[int, int], operands: Sequence[Any], ports: Mapping[int, int]
    ) -> KernelConfig:
        name = thread.value("kernelSymbol").root_reference.data
        kernel = self._kernels.function(name, op)
        spec: Any = kernel.attributes.get("ttkernel.arg_spec")
        given: dict[str, list[Argument]] = {"common": [], "rt_args": [], "ct_args": []}
        for kind in ("rt_args", "ct_args"):
            for each in (spec.value(kind) if spec is not None else None) or ():
                index, type_ = each.value("operand_index"), each.value("arg_type")
                value = _passed(op, type_, index, operands, ports)
                is_common = kind == "rt_args" and each.value("is_uniform") is not False
                given["common" if is_common else kind].append(Argument(type_, value))
        arguments = Arguments(*given.values())
        wide, fidelity = op.attributes.get("d2m.fp32_dest_acc_en"), op.attributes.get("d2m.math_fidelity")
        return KernelConfig(
            name,
            (0, 0),
            size,
            arguments,
            computes=thread.value("threadType") == "compute",
            is_wide=isinstance(wide, IntegerAttr) and bool(wide.value.data),
            fidelity=fidelity.data if isinstance(fidelity, StringAttr) else "HiFi4",
        )

    def _launch(self, op: Operation, configs: Sequence[KernelConfig], buffers: Mapping[int, HostBuffer]) -> None:
        semaphores = {each.address: each.value for each in self._semaphores}
        self._kernels.run(op, configs, buffers, [*self._live.values()], semaphores)


def _config(op: Operation, config: Any, arguments: Sequence[Any], ports: Sequence[int]) -> KernelConfig:
    """A kernel of a `ttmetal.enqueue_program`."""
    place, given = config.value("core_range"), config.value("kernel_args")
    lists = [
        [
            Argument(kind_, _passed(op, kind_, each.value("operand_index"), arguments, {port: port for port in ports}))
            for each in given.value(kind) or ()
            if (kind_ := each.value("type"))
        ]
        for kind in ("common_rt_args", "rt_args", "ct_args")
    ]
    if given.value("common_rt_args") is None and given.value("rt_args") is not None:
        lists[0] = lists[1]  # December has one kind of runtime arguments, which all cores share
    return KernelConfig(
        config.value("kernel_symbol").root_reference.data,
        tuple(place.value("offset")),
        tuple(place.value("size")),
        Arguments(*lists),
        computes=config.value("math_fidelity") is not None,
        is_wide=bool(config.value("fp32_dest_acc_en")),
        is_full=bool(config.value("dst_full_sync_en")),
        fidelity=_FIDELITIES.get(config.value("math_fidelity"), "HiFi4"),
    )


_FIDELITIES = {"lofi": "LoFi", "hifi2": "HiFi2", "hifi3": "HiFi3", "hifi4": "HiFi4"}


def _passed(op: Operation, kind: str, index: int, operands: Sequence[Any], ports: Mapping[int, int]) -> Any:
    """What a kernel gets for an operand of its launch.

    Raises:
        CompileError: The operand is nothing of that kind.
    """
    if kind == "cb_port":
        if index not in ports:
            raise refusal(op, f"its operand {index} is no circular buffer, and a kernel takes it as one")
        return ports[index]
    value = operands[index] if 0 <= index < len(operands) else None
    wanted = _KINDS.get(kind, object)
    if value is None or not isinstance(value, wanted):
        raise refusal(op, f"its operand {index} is no {kind}, and a kernel takes it as one")
    return value.address if isinstance(value, Semaphore) else value


_KINDS: Mapping[str, type] = {
    "buffer_address": Pages,
    "tensor_accessor_args": Pages,
    "local_semaphore": Semaphore,
    "global_semaphore": Semaphore,
}
"""Kind of an argument -> what the host has for it."""


def _listed(attribute: Attribute) -> Sequence[Any]:
    assert isinstance(attribute, ArrayAttr)
    return attribute.data


def _buffer(type_: MemRefType[Attribute], address: int) -> HostBuffer:
    """A circular buffer of a type with a `#ttcore.cb_layout`."""
    layout: Any = type_.layout
    dtype = _tile_dtype(type_)
    count = math.prod(type_.get_shape()) * layout.value("buffers")
    if dtype is not None:
        return HostBuffer(address, count, TileFormat(dtype).nbytes, dtype)
    elements = TILE_HEIGHT * TILE_WIDTH  # of a page: rows of numbers are counted in as many numbers as a tile has
    bits = getattr(type_.element_type, "bitwidth", 32)
    return HostBuffer(address, count // elements, elements * bits // 8, None)


def _tile_dtype(type_: MemRefType[Attribute]) -> Any:
    return dtype_of(type_) if isinstance(type_.element_type, TileType) else None


_HANDLERS: Mapping[str, Callable[[HostMachine, Operation], None]] = {
    "ttir.ttnn_metal_layout_cast": HostMachine._cast,
    "memref.alloc": HostMachine._allocate,
    "ttmetal.create_buffer": HostMachine._allocate,
    "memref.dealloc": HostMachine._deallocate,
    "ttmetal.deallocate_buffer": HostMachine._deallocate,
    "d2m.operand_alias": HostMachine._alias,
    "d2m.view_layout": HostMachine._view,
    "d2m.empty": HostMachine._empty_tensor,
    "d2m.create_local_semaphore": HostMachine._semaphore,
    "ttmetal.create_local_semaphore": HostMachine._semaphore,
    "ttmetal.create_global_semaphore": HostMachine._semaphore,
    "ttmetal.finish": HostMachine._nothing,
    "ttmetal.enqueue_program": HostMachine._program,
    "d2m.generic": HostMachine._launched,
}
"""Name of an op -> what executes it; other ops are those of the tile interpreter."""
