"""convert-d2m-to-ttnn: the host program, one `ttnn.generic` per kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import count

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, Region
from xdsl.passes import ModulePass

from ttnn_jit.dialects import d2m, system_desc_of, ttir, ttnn
from ttnn_jit.dialects.functions import KERNEL, functions_of
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.dialects.ttcore import BufferAccessAttr, GridAttr, TileType, data_type_attr
from ttnn_jit.dialects.ttnn_attributes import ProgramAttr, ShapeAttr, TTNNLayoutAttr
from ttnn_jit.dialects.writing.creation import SEGMENTS, counterpart, create
from ttnn_jit.dialects.writing.editing import append
from ttnn_jit.process.memoized import memoized
from ttnn_jit.specs.cores.sharding import shard_cores
from ttnn_jit.specs.extents.divisors import least_of
from ttnn_jit.specs.extents.extent import computed
from ttnn_jit.specs.product_precision import ProductPrecision
from ttnn_jit.specs.tensor_spec import BufferType, CoreCoord, MathFidelity
from ttnn_jit.transforms.function_bodies import ValueMap, rebuild
from ttnn_jit.transforms.kernels.tile_inits import insert_tile_inits


@dataclass(frozen=True)
class ConvertD2MToTTNN(ModulePass):
    """Outlines every kernel's region into a function and replaces the kernel by a launch.

    ``%r = d2m.generic {...} ins(%a, %b) outs(%out) {region}`` in ``@f`` becomes::

        %r = "ttnn.generic"(%a, %b, %out) <{program = #ttnn.program<{
               cbs = [{access = #ttcore.buffer_access<stream>, dtype = #ttcore.supportedDataTypes<bf16>,
                       num_pages = 16 : i64, page_size = 2048 : i64}, ...],
               common_runtime_args = ["buffer_address 0", ...], compile_time_args = [0 : i64, ...],
               grid = #ttcore.grid<8x8>, kernel = @f_kernel0, math_fidelity = "HiFi4", semaphores = []}>}>

        func.func private @f_kernel0(%arg0: !d2m.cb<...>, %arg1: ..., %arg2: ...)
            attributes {block_factors, d2m.kernel, grid, indexing_maps, iterator_types, threads, ...} {region; return}

    There is one circular buffer per tensor, inputs then output; a page is one tile. If a tensor is sharded in L1 over
    the kernel's grid, its buffer is an ``alias`` of the shard. Other buffers are a ``stream``: they are
    double-buffered, with twice the tiles of one pass through DST, but no more than one core's shard. Compile-time
    arguments are the buffers' indices, common runtime arguments the tensors' addresses, in the same order. The kernel
    function keeps the generic's properties and discardable attributes, and gets ``d2m.tile_init`` where a chip sets up
    its engines: before a loop nest with a single tile op, else before each op. Tensors keep their layouts.
    ``d2m.empty`` stays: it allocates the output.

    Attributes:
        math_fidelity: Name of the MathFidelity in the program descriptors.
        fp32_dest_acc: Whether they have ``fp32_dest_acc_en``.
    """

    name = "convert-d2m-to-ttnn"

    math_fidelity: str = MathFidelity.HiFi4.name
    fp32_dest_acc: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:  # noqa: ARG002 - xDSL's signature
        """Converts every function of the module `op`; kernel functions follow their caller."""
        taken = {function.sym_name.data for function in op.body.block.ops if isinstance(function, FuncOp)}
        for function in functions_of(op):
            outlining = _Outlining(function, taken, self._configuration(), self._dst_capacity(op))
            rebuild(function.body.block, outlining.rewrite)
            op.body.block.insert_ops_after(outlining.kernels, function)

    def _dst_capacity(self, module: ModuleOp) -> Callable[[d2m.GenericOp, Iterable[d2m.CBType]], int]:
        """A function from a kernel and its buffers to its DST capacity in tiles; accumulation is in f32."""
        target = system_desc_of(module)

        def capacity(generic: d2m.GenericOp, buffers: Iterable[d2m.CBType]) -> int:
            wide = self.fp32_dest_acc or any(_tile_of(buffer).dtype.is_wide for buffer in buffers)
            return target.dst_capacity(wide=wide or any(kind.data != "parallel" for kind in generic.iterator_types))

        return capacity

    def _configuration(self) -> dict[str, Attribute]:
        """The compute configuration of program descriptors whose kernels have none of their own."""
        return _computing(self.math_fidelity, fp32_dest_acc=self.fp32_dest_acc)


class _Outlining:
    """The outlining of the kernels of one function."""

    def __init__(
        self,
        function: FuncOp,
        taken: set[str],
        configuration: Mapping[str, Attribute],
        dst_capacity: Callable[[d2m.GenericOp, Iterable[d2m.CBType]], int],
    ) -> None:
        self._symbols = (
            symbol for number in count() if (symbol := f"{function.sym_name.data}_kernel{number}") not in taken
        )
        self._configuration = configuration
        self._dst_capacity = dst_capacity
        self.kernels: list[FuncOp] = []

    def rewrite(self, op: Operation, values: ValueMap) -> Iterable[Operation] | None:
        if isinstance(op, ttir.TensorOp):
            # An operation outside kernels is a ttnn op, a launch of its own.
            return values.replaced(op, counterpart(ttnn.OP_OF[op.operation], op, values.operands(op)))
        if isinstance(op, ttir.FullOp):
            return values.replaced(op, *_created(op))
        if not isinstance(op, d2m.GenericOp):
            return None
        symbol = next(self._symbols)
        launch = ttnn.GenericOp.make(
            values.operands(op),
            ProgramAttr(self._program(op, symbol)),
            op.result_types,
            op.location,
        )
        if op.canonical_kernel is op and op.known_reading is None:
            self.kernels.append(_kernel_function(op, symbol))
        return values.replaced(op, launch)

    def _program(self, generic: d2m.GenericOp, symbol: str) -> DictionaryAttr:
        buffers = generic.buffers
        streamed = 2 * self._dst_capacity(generic, buffers)
        shards = [
            _shards(operand.type, buffer, generic.grid)
            for operand, buffer in zip(generic.operands, buffers, strict=True)
        ]
        # As in `kernel_shape`, the result comes first.
        home = next((cores for cores in (*shards[len(generic.inputs) :], *shards) if cores), None)
        return DictionaryAttr(
            {
                "cbs": ArrayAttr(
                    [
                        _buffer_descriptor(buffer, None if cores and cores == home else streamed)
                        for cores, buffer in zip(shards, buffers, strict=True)
                    ]
                ),
                "common_runtime_args": _addresses(len(buffers)),
                "compile_time_args": _indices(len(buffers)),
                "grid": generic.grid,
                "kernel": SymbolRefAttr(symbol),
                "semaphores": _NO_SEMAPHORES,
                **_own_configuration(generic, self._configuration),
            }
        )


def _own_configuration(generic: d2m.GenericOp, configuration: Mapping[str, Attribute]) -> Mapping[str, Attribute]:
    """The compute configuration of the kernel's matrix product, or else `configuration`."""
    if all(kind.data == "parallel" for kind in generic.iterator_types):
        return configuration
    products = (op.precision for op in generic.body.walk() if isinstance(op, d2m.TileContractOp))
    text = next(products, None)
    if text is None:
        return configuration
    precision = ProductPrecision.of(text)
    assert precision.fidelity is not None, "verified"
    return _computing(precision.fidelity.name, fp32_dest_acc=precision.fp32_dest_acc)


def _computing(math_fidelity: str, *, fp32_dest_acc: bool) -> dict[str, Attribute]:
    fidelity: dict[str, Attribute] = {"math_fidelity": StringAttr(math_fidelity)}
    return fidelity | ({"fp32_dest_acc_en": UnitAttr()} if fp32_dest_acc else {})


def _created(op: ttir.FullOp) -> tuple[Operation, ...]:
    """The `ttnn.full` in place of a `ttir.full`, and its device."""
    device = ttnn.GetDeviceOp.make(op.location)
    spec = spec_of(op.result.type)
    return device, ttnn.FullOp.make(device.results[0], op.fill_value.value.data, spec, op.result.type, op.location)


_NO_SEMAPHORES = ArrayAttr[Attribute](())


@memoized
def _addresses(buffers: int) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(f"buffer_address {i}") for i in range(buffers)])


@memoized
def _indices(buffers: int) -> ArrayAttr[IntegerAttr]:
    return ArrayAttr([IntegerAttr(i, i64) for i in range(buffers)])


def _tile_of(buffer: d2m.CBType) -> TileType:
    tile = buffer.underlying.element_type
    assert isinstance(tile, TileType)
    return tile


def _shards(tensor: Attribute, buffer: d2m.CBType, grid: GridAttr) -> tuple[CoreCoord, ...]:
    """The cores whose shards of `tensor` are those of a kernel over `grid`; empty if the shards differ."""
    assert isinstance(tensor, TensorType)
    layout = tensor.encoding
    if (
        not isinstance(layout, TTNNLayoutAttr)
        or not layout.is_sharded
        or isinstance(layout.nd_shard, ShapeAttr)
        or layout.buffer_type is not BufferType.L1
        or layout.grid != grid
        or layout.memref.get_shape() != buffer.underlying.get_shape()
    ):
        return ()
    spec = spec_of(tensor)
    return shard_cores(spec.padded_shape, spec.memory_config)


@memoized
def _buffer_descriptor(buffer: d2m.CBType, streamed: int | None) -> DictionaryAttr:
    """The descriptor of a circular buffer of at most `streamed` pages; None: it aliases a shard."""
    tile = _tile_of(buffer)
    part = math.prod(buffer.underlying.get_shape())
    return DictionaryAttr(
        {
            "access": BufferAccessAttr("alias" if streamed is None else "stream"),
            "dtype": data_type_attr(tile.dtype),
            "num_pages": IntegerAttr(part if streamed is None else computed(least_of, part, streamed), i64),
            "page_size": IntegerAttr(tile.nbytes, i64),
        }
    )


_PRIVATE = StringAttr("private")


@memoized
def _kernel_type(buffers: tuple[Attribute, ...]) -> FunctionType:
    return FunctionType.from_lists(buffers, [])


def _kernel_function(generic: d2m.GenericOp, symbol: str) -> FuncOp:
    region: Region = generic.detach_region(generic.body)
    insert_tile_inits(region)
    append(region.block, (create(ReturnOp, location=generic.location),))
    kept = {name: value for name, value in generic.properties.items() if name != SEGMENTS}
    return create(
        FuncOp,
        properties={
            "sym_name": StringAttr(symbol),
            "sym_visibility": _PRIVATE,
            "function_type": _kernel_type(tuple(argument.type for argument in region.block.args)),
        },
        attributes={**generic.attributes, **kept, KERNEL: UnitAttr()},
        regions=(region,),
        location=generic.location,
    )
