"""Host functions that change layouts behave in jitted functions as eagerly."""

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError, LayoutError, TtnnJitError
from ttnn_jit.ops import OPERATIONS, MacroOperation
from ttnn_jit.ops.families.decomposition import SpecOps
from ttnn_jit.specs.tensor_spec import TensorSpec

HEIGHT = ttnn.create_sharded_memory_config(
    (64, 96), core_grid=ttnn.CoreGrid(y=2, x=1), strategy=ttnn.ShardStrategy.HEIGHT
)
WIDTH = ttnn.create_sharded_memory_config(
    (64, 96), core_grid=ttnn.CoreGrid(y=1, x=3), strategy=ttnn.ShardStrategy.WIDTH
)

MOVES = {
    "rows": lambda x: ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT),
    "tiles": lambda x: ttnn.to_layout(x, layout=ttnn.TILE_LAYOUT, memory_config=ttnn.L1_MEMORY_CONFIG),
    "float32": lambda x: ttnn.to_layout(x, x.layout, ttnn.float32),
    "dram": lambda x: ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG),
    "l1": lambda x: ttnn.to_memory_config(x, memory_config=ttnn.L1_MEMORY_CONFIG, dtype=ttnn.bfloat16),
    "height": lambda x: ttnn.to_memory_config(ttnn.to_layout(x, ttnn.TILE_LAYOUT), HEIGHT),
    "width": lambda x: ttnn.to_memory_config(ttnn.to_layout(x, ttnn.TILE_LAYOUT), WIDTH),
    "interleaved": lambda x: ttnn.sharded_to_interleaved(x) if ttnn.is_sharded(x) else x,
    "sharded": lambda x: x if x.is_sharded() else ttnn.interleaved_to_sharded(MOVES["tiles"](x), HEIGHT),
    "resharded": lambda x: ttnn.reshard(x, WIDTH) if x.is_sharded() else x,
    "same": lambda x: ttnn.to_memory_config(x, ttnn.get_memory_config(x)),
    "clone": lambda x: ttnn.clone(x),
    "reallocate": lambda x: ttnn.reallocate(ttnn.clone(x)),
    "move": lambda x: ttnn.move(ttnn.clone(x)),
    "fallback": lambda x: ttnn.get_fallback_function(ttnn.reshape)(x, tuple(x.shape)),
    "compute": lambda x: ttnn.abs(x),
    "scale": lambda x: x * 2.0,
}  # fmt: skip


def program(names):
    def function(x):
        for name in names:
            x = MOVES[name](x)
        return x

    return function


@pytest.fixture(params=["cpu", "wormhole_b0"])
def device(request):
    opened = ttnn.open_device(device_id=0, target=request.param)
    yield opened
    ttnn.close_device(opened)


def on(device, x, layout=ttnn.TILE_LAYOUT, memory_config=None):
    return ttnn.from_torch(x, dtype=ttnn.bfloat16, layout=layout, device=device, memory_config=memory_config)


@settings(max_examples=40, deadline=None)
@given(names=st.lists(st.sampled_from([*MOVES]), min_size=1, max_size=6), capture=st.booleans())
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_a_program_gives_its_tensors_the_layouts_of_eager_calls(target, names, capture):
    if target == "wormhole_b0":  # chip kernels take no other layouts in a jitted function
        names = [name for name in names if name not in {"compute", "scale", "float32", "l1"}] or ["rows"]
    device = ttnn.open_device(device_id=0, target=target)
    x = on(device, torch.randn(64, 96))
    eager, jitted = program(names)(x), ttnn_jit.jit(graph_capture=capture)(program(names))(x)
    assert jitted.spec == eager.spec
    assert torch.equal(jitted.to_torch(), eager.to_torch())
    ttnn.close_device(device)


def test_on_cpu_a_change_of_layout_between_operations_copies_nothing():
    device = ttnn.open_device(device_id=0, target="cpu")
    x = on(device, torch.randn(70, 33))

    def heads(x):
        rows = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT)
        parts = ttnn.permute(ttnn.to_layout(ttnn.reshape(rows, (7, 10, 33)), ttnn.TILE_LAYOUT), (1, 0, 2))
        return ttnn.add(ttnn.to_memory_config(parts, ttnn.L1_MEMORY_CONFIG), 1.0)

    def stored(x):
        return ttnn.add(
            ttnn.to_layout(ttnn.abs(ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG)), ttnn.ROW_MAJOR_LAYOUT), 1.0
        )

    for function in (heads, stored):
        jitted = ttnn_jit.jit()(function)
        assert torch.equal(jitted(x).to_torch(), function(x).to_torch())
        assert len(jitted.explain(x).launches) == 1
    ttnn.close_device(device)


def test_texts_with_such_operations_are_parsed_back():
    from ttnn_jit.dialects import parse_module, print_module

    device = ttnn.open_device(device_id=0, target="cpu")
    jitted = ttnn_jit.jit()(program(["rows", "scale", "height"]))
    text = jitted.ir(on(device, torch.randn(64, 96)))
    assert text.count("ttnn.relayout") == 1
    assert print_module(parse_module(text)) == text
    ttnn.close_device(device)


def test_a_tensor_of_torch_is_not_moved():
    x = torch.randn(3, 5)
    jitted = ttnn_jit.jit()(
        lambda x: ttnn.to_layout(ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG) * 2, ttnn.TILE_LAYOUT)
    )
    assert torch.equal(jitted(x), x * 2)


def test_a_tensor_reports_the_same_properties_inside_and_outside_a_program(device):
    x = on(device, torch.randn(64, 96), memory_config=HEIGHT)

    def described(x):
        return (
            x.shape, x.padded_shape, x.dtype, x.layout, x.memory_config(), x.is_sharded(), x.volume(), x.get_dtype(),
            x.get_layout(), x.element_size(), x.physical_volume(), ttnn.is_tensor_storage_on_device(x),
        )  # fmt: skip

    wanted = described(x)

    def checked(x):
        assert described(x) == wanted
        return ttnn.exp(x)

    ttnn_jit.jit()(checked)(x)


def test_configs_may_be_made_in_a_program(device):
    a, b = (on(device, torch.randn(64, 64)) for _ in range(2))

    def product(a, b):
        config = ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4, fp32_dest_acc_en=True)
        grid = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=(2, 2), in0_block_w=1, out_subblock_h=1, out_subblock_w=1, per_core_M=1,
            per_core_N=1, transpose_mcast=False, fused_activation=None,
        )  # fmt: skip
        return ttnn.matmul(a, b, compute_kernel_config=config, program_config=grid)

    assert torch.equal(ttnn_jit.jit()(product)(a, b).to_torch(), product(a, b).to_torch())


REFUSED = [
    (lambda x: ttnn.to_memory_config(x, ttnn.L1_MEMORY_CONFIG, output_tensor=x), "writes into no tensor inside"),
    (lambda x: ttnn.typecast(ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), ttnn.bfloat8_b), "BFLOAT8_B"),
    (lambda x: ttnn.to_memory_config(x, 3), "`memory_config` must be a MemoryConfig"),
    (lambda x: ttnn.to_torch(x), "Function to_torch not supported"),
]


@pytest.mark.parametrize(("function", "text"), REFUSED)
def test_an_impossible_layout_is_an_error_at_the_users_line(function, text):
    device = ttnn.open_device(device_id=0, target="cpu")
    with pytest.raises(CompileError, match=text) as raised:
        ttnn_jit.jit()(function)(on(device, torch.randn(64, 96)))
    assert raised.value.location.file == __file__
    ttnn.close_device(device)


VIEWS = {
    "none": lambda x: x,
    "heads": lambda x: ttnn.permute(ttnn.reshape(x, (2, 64, 3, 32)), (0, 2, 1, 3))[:, 1],
    "transposed": lambda x: ttnn.transpose(x, 1, 2),
    "part": lambda x: x[:, 3:50:2, 5:38],
    "odd": lambda x: ttnn.transpose(ttnn.reshape(x, (2, 32, 192))[:, :, 7:44], 1, 2),
    "merged": lambda x: ttnn.reshape(ttnn.permute(ttnn.reshape(x, (2, 64, 3, 32)), (0, 2, 1, 3)), (2, 32, 192)),
    "rows": lambda x: ttnn.to_layout(ttnn.transpose(x, 1, 2), ttnn.ROW_MAJOR_LAYOUT),
    "first": lambda x: ttnn.repeat(x[:1], (2, 1, 1)),
    "backwards": lambda x: ttnn.flip(x, [1]),
}
"""The memory configs of a tensor of 2x64x96."""


@settings(max_examples=40, deadline=None)
@given(
    left=st.sampled_from([*VIEWS]),
    right=st.sampled_from([*VIEWS]),
    dtype=st.sampled_from([ttnn.float32, ttnn.bfloat16]),
)
def test_a_product_reads_movements_of_its_operands_with_the_bits_of_copies(left, right, dtype):
    device = ttnn.open_device(device_id=0, target="cpu")
    a, b = (ttnn.from_torch(torch.randn(2, 64, 96), dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device) for _ in "ab")

    def product(a, b):
        a, b = VIEWS[left](a), VIEWS[right](b)
        b = b[:, : a.shape[-1], :] if b.shape[-2] >= a.shape[-1] else b
        return ttnn.matmul(a[:, :, : b.shape[-2]], b)

    assert torch.equal(ttnn_jit.jit()(product)(a, b).to_torch(), product(a, b).to_torch())
    ttnn.close_device(device)


def test_a_product_copies_no_operand_that_strides_can_describe():
    device = ttnn.open_device(device_id=0, target="cpu")
    x, y = (on(device, torch.randn(2, 64, 96)) for _ in "xy")

    def scores(x, y):
        query, key = (ttnn.reshape(each, (2, 64, 3, 32)) for each in (x, y))
        return ttnn.matmul(ttnn.permute(query, (0, 2, 1, 3)), ttnn.permute(key, (0, 2, 3, 1)))

    assert [launch.ops for launch in ttnn_jit.jit()(scores).explain(x, y).launches] == [("matmul",)]
    ttnn.close_device(device)


TYPED = {
    "matmul": lambda x, dtype: ttnn.matmul(x, ttnn.transpose(x, 0, 1), dtype=dtype),
    "linear": lambda x, dtype: ttnn.linear(x, ttnn.transpose(x, 0, 1), activation="relu", dtype=dtype),
    "add": lambda x, dtype: ttnn.add(x, 1.0, dtype=dtype),
    "permute": lambda x, dtype: ttnn.clone(ttnn.permute(x, (1, 0)), dtype=dtype),
    "assign": lambda x, dtype: ttnn.assign(x, dtype=dtype),
    "sum": lambda x, dtype: ttnn.sum(ttnn.neg(x), dim=-1, keepdim=True, dtype=dtype),
    "softmax": lambda x, dtype: ttnn.softmax(x, dim=-1, dtype=dtype),
}


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("dtype", [ttnn.float32, ttnn.bfloat16, ttnn.bfloat8_b], ids=lambda dtype: dtype.name)
def test_an_operation_in_a_program_has_the_requested_dtype(device, name, dtype):
    x = on(device, torch.randn(64, 96))
    call = TYPED[name]
    eager = call(x, dtype)
    for capture in (False, True):
        as_eager = ttnn_jit.jit(graph_capture=capture, math_fidelity=ttnn.MathFidelity.HiFi2)
        jitted = as_eager(lambda x: call(x, dtype))(x)
        assert jitted.dtype is dtype
        assert torch.equal(jitted.to_torch(), eager.to_torch())


# --- Requested layouts ------------------------------------------------------------------------------------------------

BLOCK = ttnn.create_sharded_memory_config(
    (64, 192), core_grid=ttnn.CoreGrid(y=2, x=2), strategy=ttnn.ShardStrategy.BLOCK
)
CONFIGS = [None, BLOCK, ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG, ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG]
CONFIGS += [ttnn.L1_MEMORY_CONFIG, ttnn.DRAM_MEMORY_CONFIG]
BETWEEN = {
    "add": lambda x, config: ttnn.add(x, 1.0, memory_config=config),
    "relu": lambda x, _: ttnn.relu(x),
    "reshape": lambda x, _: ttnn.reshape(x, tuple(x.shape)),
    "moved": lambda x, config: ttnn.to_memory_config(x, config or x.memory_config()),
    "interleaved": lambda x, _: ttnn.sharded_to_interleaved(x) if x.is_sharded() else x,
    "typecast": lambda x, _: ttnn.typecast(x, ttnn.float32),
    "written": lambda x, _: ttnn.multiply_(x, 2.0),
}


@settings(max_examples=12, deadline=None)
@given(
    config=st.sampled_from(CONFIGS),
    steps=st.lists(st.tuples(st.sampled_from([*BETWEEN]), st.sampled_from(CONFIGS)), max_size=3),
    capture=st.booleans(),
)
@pytest.mark.filterwarnings("ignore:.*on an operation is ignored")
@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_results_that_depend_on_a_layout_equal_those_of_eager_calls(target, config, steps, capture):
    device = ttnn.open_device(device_id=0, target=target)
    x, weight = (on(device, torch.randint(-1, 2, shape).float()) for shape in ((1, 64, 64), (64, 192)))

    def program(x, weight):
        y = ttnn.linear(x, weight, memory_config=config)
        for name, other in steps:
            y = BETWEEN[name](y, other)
        heads = ttnn.transformer.split_query_key_value_and_split_heads(y, num_heads=2)
        return heads, ttnn.abs(y) if ttnn.is_sharded(y) else ttnn.neg(y)

    refused: tuple[type[Exception], ...] = (TtnnJitError,)
    try:
        eager = program(x, weight)
        refused = (LayoutError,) if target == "wormhole_b0" else ()  # a chip's kernels do not take every tensor
        jitted = ttnn_jit.jit(graph_capture=capture)(program)(x, weight)
    except refused:
        assume(False)
    for one, other in zip((*eager[0], eager[1]), (*jitted[0], jitted[1]), strict=True):
        assert torch.equal(one.to_torch(), other.to_torch())
    ttnn.close_device(device)


class Listing(SpecOps):
    def __init__(self):
        self.calls = []

    def results(self, operation, operands, *statics):
        self.calls.append((operation, statics))
        return super().results(operation, operands, *statics)


def calls_of(operation, specs, statics):
    ops = Listing()
    operation.decomposed(ops, ops.values(specs), statics)
    return ops.calls


def test_operations_whose_results_depend_on_a_layout_declare_it():
    sharded = [
        ttnn.create_sharded_memory_config(
            shard,
            core_grid=ttnn.CoreGrid(y=1, x=1),
            strategy=ttnn.ShardStrategy.HEIGHT,
            use_height_and_width_as_shard_shape=True,
        )
        for shard in ((32, 32), (32, 96))
    ]
    found = set()
    for operation in (
        each for each in OPERATIONS if isinstance(each, MacroOperation) and not each.optional_operands > 1
    ):
        dtype = ttnn.bfloat16 if ttnn.bfloat16 in operation.dtypes else next(iter(operation.dtypes))
        for shapes, statics in operation.examples:
            calls = []
            for config in (None, *sharded):
                specs = [
                    None if shape is None else TensorSpec(shape, dtype, ttnn.TILE_LAYOUT, config) for shape in shapes
                ]
                try:
                    calls.append(calls_of(operation, specs, statics))
                except TtnnJitError:
                    break  # shards that are broadcast
            if any(each != calls[0] for each in calls[1:]):
                found.add(operation.name)
    assert found == {each.name for each in OPERATIONS if each.reads_layout}
