"""parse(print(m)) = m, over random modules of every level."""

import struct
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    AffineMapAttr,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ttnn_jit import ops
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects import (
    builders,
    d2m,
    parse_module,
    print_module,
    set_system_desc,
    system_desc_of,
    ttir,
    ttnn,
    verify,
)
from ttnn_jit.dialects.affine import LoadOp, StoreOp
from ttnn_jit.dialects.layout import spec_of, tensor_type
from ttnn_jit.dialects.locations import fused_location, location_attribute
from ttnn_jit.dialects.properties import properties_of
from ttnn_jit.dialects.spelling.float_text import float_text
from ttnn_jit.dialects.ttcore import data_type_attr, grid_attr, tile_type
from ttnn_jit.specs.dtypes import MOVABLE
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import BufferType, DataType, Layout, MemoryConfig, TensorSpec
from ttnn_jit.transforms.kernels.kernel_ops import kernel_properties

SETTINGS = settings(max_examples=30, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])

dtypes = st.sampled_from(sorted(MOVABLE, key=lambda dtype: dtype.value))
float32_values = st.integers(0, 2**32 - 1).map(lambda bits: struct.unpack("<f", struct.pack("<I", bits))[0])
locations = st.builds(
    Location, st.sampled_from(["a.py", 'b "c".py', "d\\é.py"]), st.integers(1, 99), st.integers(0, 99)
)
discardable: st.SearchStrategy[dict[str, Attribute]] = st.dictionaries(
    st.sampled_from(["ttnn.hoist_generic_via_d2m", "a", "z.b", "two words"]),
    st.one_of(
        st.just(UnitAttr()),
        st.text(max_size=4).map(StringAttr),
        st.integers(-5, 5).map(lambda value: IntegerAttr(value, i64)),
        float32_values.map(lambda value: FloatAttr(value, f32)),
    ),
    max_size=2,
)


def fills(dtype: DataType) -> st.SearchStrategy[float]:
    return st.integers(dtype.values[0], dtype.values[-1]) if dtype.is_integer else float32_values


@st.composite
def specs(draw: st.DrawFn) -> TensorSpec:
    shape = draw(st.lists(st.integers(0, 70), max_size=4))
    config = MemoryConfig(buffer_type=draw(st.sampled_from(list(BufferType))))
    strides = None
    dtype = draw(st.sampled_from(list(DataType)))
    layout = Layout.TILE if dtype.is_block_float else draw(st.sampled_from(list(Layout)))
    if layout is Layout.ROW_MAJOR and draw(st.booleans()):
        strides = tuple(draw(st.lists(st.integers(-9, 9), min_size=len(shape), max_size=len(shape))))
    return TensorSpec(shape, dtype, layout, config, strides=strides)


@st.composite
def tensor_modules(draw: st.DrawFn) -> ModuleOp:
    spec = draw(specs())
    type_, made = tensor_type(spec), tensor_type(spec.with_())  # results of an op are dense
    table = draw(st.sampled_from([ttnn.OP_OF, ttir.OP_OF]))
    block = Block(arg_types=[type_] * draw(st.integers(1, 3)))
    values: list[SSAValue] = list(block.args)
    if draw(st.booleans()):
        values.append(_full(draw, block, spec.with_(), table is ttnn.OP_OF))
    for operation in draw(st.lists(st.sampled_from(ops.operations_on(frozenset([spec.dtype.unpacked]))), max_size=5)):
        op_class = table[operation]
        operands = [draw(st.sampled_from(values)) for _ in range(operation.arity)]
        properties = properties_of(operation, [draw(float32_values) for _ in operation.attributes])
        if operation.has_dtype_property and draw(st.booleans()):
            properties["dtype"] = data_type_attr(spec.dtype)
        op = op_class.make(operands, made, properties=properties, attributes=draw(discardable))
        block.add_op(op)
        values.append(op.result)
    block.add_op(func.ReturnOp(values[-1]))
    return _module(draw, [func.FuncOp("f", ([type_] * len(block.args), [values[-1].type]), Region(block))])


def _full(draw: st.DrawFn, block: Block, spec: TensorSpec, of_ttnn: bool) -> SSAValue:
    value = draw(fills(spec.dtype))
    if not of_ttnn:
        full = ttir.FullOp.make(value, tensor_type(spec))
        block.add_op(full)
        return full.result
    device = ttnn.GetDeviceOp.make()
    created = ttnn.FullOp.make(device.device, value, spec, tensor_type(spec))
    block.add_ops([device, created])
    return created.result


@st.composite
def kernel_modules(draw: st.DrawFn) -> ModuleOp:
    dtype = draw(dtypes)
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    type_ = tensor_type(TensorSpec((rows * 32, columns * 32), dtype, Layout.TILE))
    shard = builders.tile_memref((rows, columns), dtype, "l1")
    inputs = draw(st.integers(1, 3))
    body = Block(arg_types=[d2m.cb_type(shard)] * (inputs + 1))
    waits = [d2m.WaitOp.make(argument) for argument in body.args[:-1]]
    target = d2m.ReserveOp.make(body.args[-1])
    body.add_ops([*waits, target])
    body.add_ops(_loops(draw, [wait.result for wait in waits], target.result, (rows, columns), dtype))
    function = Block(arg_types=[type_] * inputs)
    empty = d2m.EmptyOp.make(type_)
    generic = d2m.GenericOp.create(
        operands=(*function.args, empty.result),
        result_types=(type_,),
        properties=kernel_properties(grid_attr(1, 1), (AffineMapAttr(AffineMap.identity(2)),) * (inputs + 1)),
        regions=(Region(body),),
    )
    generic.attributes.update(draw(discardable))
    function.add_ops([empty, generic, func.ReturnOp(generic.results[0])])
    return _module(draw, [func.FuncOp("kernel", ([type_] * inputs, [type_]), Region(function))])


def _loops(
    draw: st.DrawFn, sources: list[SSAValue], target: SSAValue, shape: tuple[int, int], dtype: DataType
) -> list[Operation]:
    constants = [builders.constant_index(value) for value in (0, 1, shape[0])]
    scalar = builders.constant_number(builders.number_attr(draw(fills(dtype))))
    zero, one, rows = (constant.result for constant in constants)
    outer = builders.scf_loop(zero, rows, one)
    block_type = builders.tile_memref((1, shape[1]), dtype, "l1", (shape[1], 1), None)
    offsets = [outer.body.block.args[0], zero]
    views = [builders.subview(memref, offsets, (1, shape[1]), block_type) for memref in (*sources, target)]
    dst = d2m.AcquireDstOp.make(builders.tile_memref((8, 1, shape[1]), dtype, "dst"))
    inner = builders.affine_loop(shape[1], step=draw(st.integers(1, 2)))
    column = inner.body.block.args[0]
    tile = tile_type(dtype)
    tiles: list[SSAValue] = []
    for view in views[:-1]:
        load = LoadOp.make(view.result, [0, column])
        inner.body.block.add_op(load)
        tiles.append(load.result)
    for operation in draw(st.lists(st.sampled_from(ops.operations_on(frozenset([dtype]))), max_size=4)):
        op_class = d2m.TILE_OP_OF[operation]
        operands = [tiles[-1]] + [draw(st.sampled_from([*tiles, scalar.result])) for _ in operation.operands[1:]]
        numbers = properties_of(operation, [draw(float32_values) for _ in operation.attributes])
        op = op_class.make(operands, tile, properties=numbers)
        bcast = d2m.TileBcastOp.make(op.result, draw(st.sampled_from(d2m.BCAST_TYPES)))
        inner.body.block.add_ops([op, bcast])
        tiles.append(bcast.result)
    slot = draw(st.sampled_from([one, 3]))
    inner.body.block.add_op(StoreOp.make(tiles[-1], dst.result, [slot, 0, column]))
    builders.end_affine_loop(inner)
    outer.body.block.add_ops([*views, dst, inner])
    builders.end_scf_loop(outer)
    return [*constants, scalar, outer]


def _module(draw: st.DrawFn, functions: list[Operation]) -> ModuleOp:
    module = ModuleOp(functions)
    set_system_desc(module, draw(st.sampled_from(list(PRESETS.values()))))
    for op in module.walk():
        op.location = fused_location(
            [location_attribute(location) for location in draw(st.lists(locations, max_size=3))]
        )
    return module


@dataclass(frozen=True)
class Drawn:
    """A module whose repr is its text, because xDSL's repr can be a hundred kilobytes long."""

    module: ModuleOp

    def __repr__(self) -> str:
        return print_module(self.module)


modules = st.one_of(tensor_modules(), kernel_modules()).map(Drawn)


@pytest.mark.slow
@SETTINGS
@given(modules)
def test_a_module_round_trips_through_its_text(drawn: Drawn) -> None:
    module = drawn.module
    verify(module)
    text = print_module(module)
    again = parse_module(text)
    verify(again)
    assert module.is_structurally_equivalent(again)
    assert print_module(again) == text
    assert system_desc_of(again) == system_desc_of(module)


@pytest.mark.slow
@SETTINGS
@given(modules)
def test_locations_round_trip_through_the_text(drawn: Drawn) -> None:
    module = drawn.module
    text = print_module(module, locations=True)
    again = parse_module(text)
    assert print_module(again, locations=True) == text
    # A loop's terminator is not printed, so its location cannot round trip.
    written = [op.location for op in module.walk() if not op.name.endswith(".yield")]
    assert [op.location for op in again.walk() if not op.name.endswith(".yield")] == written


@SETTINGS
@given(specs())
def test_a_spec_round_trips_through_its_type(spec: TensorSpec) -> None:
    text = f"func.func private @f({tensor_type(spec)})"
    function = parse_module(text).body.block.first_op
    assert isinstance(function, func.FuncOp)
    (type_,) = function.function_type.inputs
    assert type_ == tensor_type(spec)
    assert spec_of(type_) is spec


@settings(max_examples=500, deadline=None, database=None)
@given(float32_values)
def test_a_float_round_trips_through_its_text(value: float) -> None:
    module = parse_module(f"module attributes {{a = {float_text(value, Float32Type())} : f32}} {{\n}}")
    assert module.attributes["a"] == FloatAttr(value, f32)
