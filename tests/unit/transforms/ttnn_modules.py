"""TTNN modules in the form of the frontends, built op by op."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from ttnn_jit import ops
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects import d2m, set_system_desc, ttnn, verify
from ttnn_jit.dialects.layout import spec_of, tensor_type
from ttnn_jit.dialects.locations import location_attribute
from ttnn_jit.dialects.properties import properties_of
from ttnn_jit.specs.cores.sharding import create_sharded_memory_config
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS, SystemDesc
from ttnn_jit.specs.tensor_spec import CoreGrid, DataType, Layout, ShardStrategy, TensorSpec
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.kernels.kernel_body import generics, operation_names

BF16 = DataType.BFLOAT16
F32 = DataType.FLOAT32
SCHEDULED = "d2m-insert-dst-register-access"


def tiled(*shape: int, dtype: DataType = BF16) -> TensorSpec:
    """A tiled tensor in DRAM."""
    return TensorSpec(shape, dtype, Layout.TILE)


def block_sharded(*shape: int, cores: tuple[int, int] = (8, 8), dtype: DataType = BF16) -> TensorSpec:
    """A tiled tensor in L1, split over columns x rows of cores."""
    config = create_sharded_memory_config(shape, CoreGrid(x=cores[0], y=cores[1]), ShardStrategy.BLOCK)
    return TensorSpec(shape, dtype, Layout.TILE, config)


def row_major(*shape: int, dtype: DataType = F32, strides: tuple[int, ...] | None = None) -> TensorSpec:
    """A row-major tensor, as the cpu target takes them."""
    return TensorSpec(shape, dtype, Layout.ROW_MAJOR, strides=strides)


class Graph:
    """A function under construction; values are combined by `op` and `full`."""

    def __init__(self, *specs: TensorSpec) -> None:
        self._block = Block(arg_types=[tensor_type(spec) for spec in specs])
        self._device: SSAValue | None = None
        self._line = 0
        self.args = self._block.args

    def op(self, name: str, *operands: SSAValue, spec: TensorSpec | None = None, hoist: bool = True) -> SSAValue:
        """The result of an operation; its spec is the first operand's unless given."""
        operation = next(o for o in ops.OVERLOADS[name] if o.arity == len(operands))
        numbers = [attribute.default for attribute in operation.attributes]
        cls = ttnn.OP_OF[operation]
        op = cls.make(
            operands,
            tensor_type(spec) if spec else operands[0].type,
            properties=properties_of(operation, numbers),
            attributes=dict(ttnn.HOISTED) if hoist else {},
        )
        return self._add(op)

    def full(self, value: float, like: SSAValue, dtype: DataType | None = None) -> SSAValue:
        """A tensor of one number, of the shape of `like`."""
        if self._device is None:
            self._device = self._add(ttnn.GetDeviceOp.make())
        spec = spec_of(like.type)
        spec = spec.with_(dtype=dtype or spec.dtype)
        return self._add(ttnn.FullOp.make(self._device, value, spec, tensor_type(spec)))

    def module(self, *results: SSAValue, target: str | SystemDesc = "wormhole_b0", name: str = "f") -> ModuleOp:
        """The module whose one function returns `results`."""
        self._add(ReturnOp(*results))
        types = ([argument.type for argument in self.args], [value.type for value in results])
        function = FuncOp(name, types, Region(self._block))
        function.location = location_attribute(Location("model.py", 1, 1))
        module = ModuleOp([function])
        set_system_desc(module, PRESETS[target] if isinstance(target, str) else target)
        verify(module)
        return module

    def _add(self, op):
        self._line += 1
        op.location = location_attribute(Location("model.py", self._line, 1))
        self._block.add_op(op)
        return op.results[0] if op.results else None


def lowered(module: ModuleOp, until: str = SCHEDULED, **options: object) -> ModuleOp:
    """`module` after the stage `until`, verified after every pass."""
    pipeline.run(module, CompileOptions(**options), until=until, verify_each=True)
    return module


def kernels(module: ModuleOp) -> list[d2m.GenericOp]:
    """The kernels of a module."""
    return list(generics(module))


def operations(kernel: d2m.GenericOp) -> tuple[str, ...]:
    """The user's operations, in the order of the kernel."""
    return operation_names(kernel.body.walk())


def balanced_tree(
    count: int, spec: TensorSpec, combine: Callable[[Graph, SSAValue, SSAValue], SSAValue] | None = None
) -> ModuleOp:
    """The sum of `count` arguments, pair by pair in rounds."""
    graph = Graph(*[spec] * count)
    values = list(graph.args)
    while len(values) > 1:
        paired = [
            combine(graph, a, b) if combine else graph.op("add", a, b)
            for a, b in zip(values[::2], values[1::2], strict=False)
        ]
        values = paired + values[2 * len(paired) :]
    return graph.module(values[0])


def ladder(count: int, spec: TensorSpec) -> ModuleOp:
    """The sum of `count` arguments, one after the other."""
    graph = Graph(*[spec] * count)
    value = graph.args[0]
    for argument in graph.args[1:]:
        value = graph.op("add", value, argument)
    return graph.module(value)


def cosh(spec: TensorSpec, target: str = "wormhole_b0") -> ModuleOp:
    """The cosh of the ttnn.jit document."""
    graph = Graph(spec)
    (x,) = graph.args
    total = graph.op("add", graph.op("exp", x), graph.op("exp", graph.op("neg", x)))
    return graph.module(graph.op("multiply", total, graph.full(0.5, total)), target=target, name="cosh")


def unary_chain(spec: TensorSpec) -> ModuleOp:
    """The unary chain of the ttnn.jit document."""
    graph = Graph(spec)
    value = graph.args[0]
    for name in ("abs", "sin", "neg", "exp"):
        value = graph.op(name, value)
    return graph.module(value, name="unary_chain")


def add_tree_8_to_1(spec: TensorSpec) -> ModuleOp:
    """The add tree of the ttnn.jit document, ops in its order."""
    graph = Graph(*[spec] * 8)
    a = graph.args
    first = [graph.op("add", a[i], a[i + 1]) for i in (0, 2, 4, 6)]
    second = [graph.op("add", first[0], first[1]), graph.op("add", first[2], first[3])]
    return graph.module(graph.op("add", *second), name="add_tree_8_to_1")
