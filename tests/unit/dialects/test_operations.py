"""Every op builds, verifies, prints and parses back; derived ops know their declaration."""

from collections.abc import Callable

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import AffineMapAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr, UnknownLoc, f32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineMap

from ttnn_jit import ops
from ttnn_jit.dialects import affine, builders, d2m, operation_of, parse_module, print_module, ttir, ttnn, verify
from ttnn_jit.dialects.layout import tensor_type
from ttnn_jit.dialects.properties import properties_of
from ttnn_jit.dialects.ttcore import grid_attr, tile_type
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.transforms.kernels.kernel_ops import KernelShape, kernel_op

SPEC = TensorSpec((64, 64), DataType.BFLOAT16, Layout.TILE)
TENSOR = tensor_type(SPEC)
TILE = tile_type(DataType.BFLOAT16)
SHARD = builders.tile_memref((2, 2), DataType.BFLOAT16, "l1")
BLOCK = builders.tile_memref((1, 2), DataType.BFLOAT16, "l1", (2, 1), None)
DST = builders.tile_memref((8, 1, 2), DataType.BFLOAT16, "dst")

Build = Callable[[list[SSAValue]], list[Operation]]


def module_of(argument_types: list[object], build: Build) -> ModuleOp:
    block = Block(arg_types=argument_types)  # type: ignore[arg-type]
    block.add_ops([*build(list(block.args)), func.ReturnOp()])
    return ModuleOp([func.FuncOp("f", (argument_types, []), Region(block))])  # type: ignore[arg-type]


def comes_back(module: ModuleOp) -> bool:
    verify(module)
    text = print_module(module)
    again = parse_module(text)
    verify(again)
    return print_module(again) == text and module.is_structurally_equivalent(again)


@pytest.mark.parametrize("operation", ops.ELEMENTWISE, ids=lambda operation: operation.ttnn_name)
@pytest.mark.parametrize("table", [ttnn.OP_OF, ttir.OP_OF, d2m.TILE_OP_OF], ids=["ttnn", "ttir", "d2m"])
def test_a_derived_op_round_trips_and_names_its_operation(table: dict, operation: ops.Operation) -> None:  # type: ignore[type-arg]
    op_class = table[operation]
    dtype = SPEC.dtype if SPEC.dtype in operation.dtypes else DataType.INT32
    value_type = tile_type(dtype) if table is d2m.TILE_OP_OF else tensor_type(SPEC.with_(dtype=dtype))
    numbers = [0.25 * (index + 1) for index in range(len(operation.attributes))]
    module = module_of(
        [value_type] * operation.arity,
        lambda args: [op_class.make(args, value_type, properties=properties_of(operation, numbers))],
    )
    assert comes_back(module)
    built = next(op for op in module.walk() if isinstance(op, op_class))
    assert operation_of(built) is operation
    assert built.statics == tuple(numbers)


def test_an_op_that_is_no_user_operation_has_no_declaration() -> None:
    assert operation_of(ttnn.GetDeviceOp.make()) is None


def test_a_tile_op_takes_scalars_beside_a_tile() -> None:
    operation = ops.OVERLOADS["multiply"][0]
    module = module_of([TILE, f32], lambda args: [d2m.TILE_OP_OF[operation].make([args[1], args[0]], TILE)])
    assert comes_back(module)


BUILDS: dict[str, tuple[list[object], Build]] = {
    "ttnn.full": (
        [],
        lambda _: [device := ttnn.GetDeviceOp.make(), ttnn.FullOp.make(device.device, 0.5, SPEC, TENSOR)],
    ),
    "ttnn.generic": (
        [TENSOR, TENSOR],
        lambda args: [
            ttnn.GenericOp.make(
                args, ttnn.ProgramAttr(DictionaryAttr({"kernel": SymbolRefAttr("k"), "cbs": StringAttr("")}))
            )
        ],
    ),
    "ttir": ([], lambda _: [ttir.EmptyOp.make(TENSOR), ttir.FullOp.make(0.1, TENSOR)]),
    "d2m.empty": ([], lambda _: [d2m.EmptyOp.make(TENSOR)]),
    "d2m.acquire_dst": ([], lambda _: [d2m.AcquireDstOp.make(DST)]),
    "tile_bcast": ([TILE], lambda args: [d2m.TileBcastOp.make(args[0], kind) for kind in d2m.BCAST_TYPES]),
    "tile_typecast": ([TILE], lambda args: [d2m.TileTypecastOp.make(args[0], tile_type(DataType.FLOAT32))]),
    "constants": (
        [],
        lambda _: [
            builders.constant_index(4),
            builders.constant_number(builders.number_attr(0.1)),
            builders.constant_number(builders.number_attr(2**32 - 1)),
        ],
    ),
    "d2m.generic": ([TENSOR], lambda args: _generic(args[0])),
    "affine": ([SHARD], lambda args: _nest(args[0])),
}


def _generic(tensor: SSAValue) -> list[Operation]:
    body = Block(arg_types=[TILE, TILE])
    negated = d2m.TILE_OP_OF[ops.OVERLOADS["neg"][0]].make([body.args[0]], TILE)
    body.add_ops([negated, builders.linalg_yield([negated.result])])
    shape = KernelShape(grid_attr(1, 1), (AffineMapAttr(AffineMap.identity(2)),) * 2, (d2m.cb_type(SHARD),) * 2)
    empty = d2m.EmptyOp.make(TENSOR)
    return [empty, kernel_op([tensor], empty.result, shape, body, UnknownLoc())]


def _nest(shard: SSAValue) -> list[Operation]:
    constants = [builders.constant_index(value) for value in (0, 1, 2)]
    zero, one, two = (constant.result for constant in constants)
    loop = builders.scf_loop(zero, two, one)
    row = loop.body.block.args[0]
    view = builders.subview(shard, [row, zero], (1, 2), BLOCK)
    dst = d2m.AcquireDstOp.make(DST)
    inner = builders.affine_loop(2, step=2)
    column = inner.body.block.args[0]
    load = affine.LoadOp.make(view.result, [0, column])
    store = affine.StoreOp.make(load.result, dst.result, [two, 0, column])
    inner.body.block.add_ops([load, store])
    builders.end_affine_loop(inner)
    loop.body.block.add_ops([view, dst, inner])
    builders.end_scf_loop(loop)
    assert load.indices == (0, column)
    assert store.indices == (two, 0, column)
    return [*constants, loop]


@pytest.mark.parametrize("name", BUILDS)
def test_an_op_round_trips(name: str) -> None:
    argument_types, build = BUILDS[name]
    assert comes_back(module_of(argument_types, build))
