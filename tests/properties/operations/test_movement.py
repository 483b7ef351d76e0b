"""Movements: every bit is where torch puts it, alone, chained and read through views."""

from __future__ import annotations

import itertools
import math
from operator import attrgetter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.modules import scheduled_module
from ttnn_jit import jit, ops, ttnn
from ttnn_jit.compiler import driver
from ttnn_jit.dialects import InvalidModule, parse_module, verify
from ttnn_jit.dialects.layout import tensor_type
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.specs.access.access import Access, reshape_access
from ttnn_jit.specs.access.index_expressions import Const, Dim, bounds, evaluated
from ttnn_jit.specs.access.strided_walk import NotStridedError, walk
from ttnn_jit.specs.cores.sharding import dense_strides
from ttnn_jit.specs.tensor_spec import TensorSpec

COMPUTE = {
    *("all", "any", "argmax", "argmin", "divide", "floor_divide", "fmod", "gcd", "lcm", "nextafter", "polyval"),
    *("remainder", "sigmoid_accurate", "topk"),
}
"""Operations that are decomposed into others, and are no movements themselves."""

MOVEMENTS = [
    pytest.param(operation, shapes, statics, id=f"{operation.ttnn_name}-{shapes}-{statics}")
    for operation in ops.OPERATIONS
    if isinstance(operation, ops.MacroOperation | ops.Movement) and operation.name not in COMPUTE
    for shapes, statics in operation.examples
]
BIT_TYPES = {torch.float32: torch.int32, torch.bfloat16: torch.int16}
DTYPES = {torch.float32: ttnn.float32, torch.bfloat16: ttnn.bfloat16}
MEMORY_CONFIGS = (ttnn.DRAM_MEMORY_CONFIG, ttnn.L1_MEMORY_CONFIG)
LAYOUTS = (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT)


@pytest.fixture(scope="module")
def cpu_device_of_module():
    opened = ttnn.open_device(device_id=0, target="cpu")
    yield opened
    ttnn.close_device(opened)


def any_bits(shape, dtype, seed=0):
    """NaNs of any payload, infinities and denormals among them."""
    patterns = torch.iinfo(BIT_TYPES[dtype])
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(patterns.min, patterns.max, shape, generator=generator).to(BIT_TYPES[dtype]).view(dtype)


def assert_bits(got, want):
    if isinstance(want, list | tuple):
        assert type(got) is type(want)
        for one, other in zip(got, want, strict=True):
            assert_bits(one, other)
        return
    assert got.shape == want.shape
    assert torch.equal(got.contiguous().view(BIT_TYPES[want.dtype]), want.contiguous().view(BIT_TYPES[want.dtype]))


def example(operation, shapes, statics, dtype):
    """A call, tensors of any bits for it, and torch's result."""
    call = attrgetter(operation.name)(ttnn)
    xs = [None if shape is None else any_bits(shape, dtype, seed) for seed, shape in enumerate(shapes)]
    names = [[each.name for each in group] for group in (operation.operands, operation.attributes)]
    keywords = {**dict(zip(names[1], statics, strict=True)), **operation.fixed_keywords}

    def moved(*tensors):
        given = [list(tensors)] if operation.is_variadic else tensors
        named = {name: each for name, each in zip(names[0], given, strict=True) if each is not None}
        return call(**named, **keywords)

    return moved, xs, operation.golden(torch, *xs, *statics)


def in_torch_again(results):
    return type(results)(map(ttnn.to_torch, results)) if isinstance(results, list | tuple) else ttnn.to_torch(results)


def on_device(x, **where):
    return None if x is None else ttnn.from_torch(x, **where)


@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize(("operation", "shapes", "statics"), MOVEMENTS)
def test_every_bit_is_preserved_eagerly_and_compiled(operation, shapes, statics, dtype, device):
    moved, xs, want = example(operation, shapes, statics, dtype)
    for layout in LAYOUTS:
        tensors = [on_device(x, dtype=DTYPES[dtype], layout=layout, device=device) for x in xs]
        for results in (moved(*tensors), moved(*tensors), jit()(moved)(*tensors)):
            assert_bits(in_torch_again(results), want)
    function = jit()(moved)
    assert_bits(function(*xs), want)
    assert jit(graph_capture=True)(moved).ir(*xs, stage="frontend") == function.ir(*xs, stage="frontend")


@pytest.mark.parametrize("index", range(len(MOVEMENTS)), ids=[each.id for each in MOVEMENTS])
def test_every_bit_is_preserved_by_numba(index):
    """In one dtype or the other: compilation by numba takes longer than everything else."""
    moved, xs, want = example(*MOVEMENTS[index].values, list(BIT_TYPES)[index % 2])
    assert_bits(jit(backend="numba")(moved)(*xs), want)


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
def test_a_movement_with_another_dtype_rounds_once_and_applies_activations(target):
    x = torch.randn(33, 70)
    opened = ttnn.open_device(device_id=0, target=target)
    tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=opened)
    assert_bits(ttnn.to_torch(ttnn.transpose(tensor, 0, 1, dtype=ttnn.bfloat16)), x.T.bfloat16())
    assert_bits(
        ttnn.to_torch(ttnn.concat([tensor, tensor], dim=1, dtype=ttnn.bfloat16)), torch.cat([x, x], 1).bfloat16()
    )
    assert_bits(ttnn.to_torch(ttnn.concat([tensor, tensor], dim=0, activations=["relu"])), torch.cat([x, x]).relu())
    ttnn.close_device(opened)


WHOLE_TILES = [
    (lambda x: ttnn.permute(x, (0, 2, 1)), lambda x: x.permute(0, 2, 1)),
    (lambda x: ttnn.reshape(x, (64, 96)), lambda x: x.reshape(64, 96)),
    (lambda x: ttnn.add(ttnn.transpose(x, -1, -2), 1.0), lambda x: x.transpose(-1, -2) + 1.0),
    (lambda x: ttnn.permute(ttnn.add(x, 1.0), (1, 0, 2)), lambda x: (x + 1.0).permute(1, 0, 2)),
    (lambda x: ttnn.reshape(ttnn.permute(x, (2, 0, 1)), (-1, 32)), lambda x: x.permute(2, 0, 1).reshape(-1, 32)),
]


@pytest.mark.parametrize(("written", "in_torch"), WHOLE_TILES)
def test_on_a_chip_a_movement_is_an_operation_of_the_host_program(written, in_torch, device):
    x = torch.arange(2 * 32 * 96, dtype=torch.float32).reshape(2, 32, 96)
    tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
    function = jit()(written)
    assert_bits(ttnn.to_torch(function(tensor)), in_torch(x))
    text = function.ir(tensor, stage="convert-d2m-to-ttnn")
    assert any(f'"ttnn.{name}"' in text for name in ("permute", "reshape", "transpose"))
    assert "view_layout" not in text


# --- Chains ---------------------------------------------------------------------------------------------------------


VIEWS = ("permute", "reshape", "slice", "repeat", "unsqueeze", "flip", "repeat_interleave")
KINDS = (*VIEWS, "pad", "roll")


def movements(draw, shape, kinds):
    """A movement of a tensor of that shape, as (name, attributes)."""
    kind = draw(st.sampled_from(kinds))
    return kind, ATTRIBUTES[kind](draw, shape, len(shape))


def parts(draw, shape, _):
    begins = [draw(st.integers(0, extent - 1)) for extent in shape]
    ends = [draw(st.integers(begin + 1, extent)) for begin, extent in zip(begins, shape, strict=True)]
    return tuple(begins), tuple(ends), tuple(draw(st.integers(1, 3)) for _ in shape)


def padding(draw, shape, _):
    few = st.integers(0, 2)
    return tuple((draw(few), draw(few)) for _ in shape), draw(st.sampled_from([0, -1.5, 7]))


ATTRIBUTES = {
    "permute": lambda draw, _, rank: (tuple(draw(st.permutations(range(rank)))),),
    "reshape": lambda draw, shape, _: (draw(st.sampled_from(factorings(math.prod(shape)))),),
    "slice": parts,
    "repeat": lambda draw, shape, _: (tuple(draw(st.integers(1, 2)) for _ in shape),),
    "unsqueeze": lambda draw, _, rank: (draw(st.integers(-rank - 1, rank)),),
    "flip": lambda draw, _, rank: (tuple(draw(st.lists(st.integers(0, rank - 1), unique=True, min_size=1))),),
    "repeat_interleave": lambda draw, _, rank: (draw(st.integers(1, 3)), draw(st.integers(-rank, rank - 1))),
    "pad": padding,
    "roll": lambda draw, _, rank: ((draw(st.integers(-9, 9)),), (draw(st.integers(-rank, rank - 1)),)),
}


def factorings(count):
    divisors = [d for d in range(1, count + 1) if count % d == 0]
    pairs = [(d, count // d) for d in divisors]
    return [(count,), *pairs, *((a, b // c, c) for a, b in pairs for c in divisors if b % c == 0 and c > 1)]


@st.composite
def chains(draw, kinds=KINDS):
    """A shape, and movements and additions of one number on the way."""
    shape = draw(st.sampled_from([(6,), (4, 6), (3, 40), (2, 3, 8), (2, 33, 5), (2, 2, 3, 4)]))
    x, steps = torch.zeros(shape), []
    for _ in range(draw(st.integers(1, 4))):
        if kinds is KINDS and draw(st.booleans()):
            steps.append(("add", (1.0,)))
        name, statics = movements(draw, tuple(x.shape), kinds)
        if x.numel() > 4096 and name in {"repeat", "repeat_interleave"}:
            continue
        steps.append((name, statics))
        x = in_torch(x, name, statics)
    return shape, steps


def in_torch(x, name, statics):
    return x + statics[0] if name == "add" else ops.OVERLOADS[name][0].golden(torch, x, *statics)


def program(steps):
    def moved(x):
        for name, statics in steps:
            x = getattr(ttnn, name)(x, *statics)
        return x

    return moved


@settings(max_examples=25, deadline=None)
@given(chains(), st.sampled_from([torch.float32, torch.bfloat16]))
def test_chains_of_movements_and_arithmetic_agree_with_torch_and_the_interpreter(chain, dtype):
    shape, steps = chain
    x = torch.arange(math.prod(shape), dtype=torch.float32).remainder(97).reshape(shape).to(dtype)
    want = x
    for name, statics in steps:
        want = in_torch(want.float(), name, statics)
    want = want.to(dtype)
    function = jit()(program(steps))
    assert_bits(function(x), want)
    assert_bits(jit(backend="numba")(program(steps))(x), want)
    module = scheduled_module(function, x)
    patterns = x.view(torch.int16).numpy().view("uint16") if dtype is torch.bfloat16 else x.numpy()
    (interpreted,) = interpret(module, [patterns])
    found = torch.from_numpy(interpreted.view("int16")).view(dtype) if dtype is torch.bfloat16 else interpreted
    assert_bits(torch.as_tensor(found), want)


@settings(max_examples=15, deadline=None)
@given(
    st.one_of(
        chains(("permute", "slice", "unsqueeze", "flip")),
        chains(("permute", "unsqueeze", "flip", "repeat_interleave")),  # a slice may end within repeated elements
    )
)
def test_a_chain_of_movements_before_arithmetic_copies_nothing(chain):
    shape, steps = chain
    x = torch.rand(shape)
    request = jit()(lambda x: ttnn.exp(program(steps)(x))).request(x)
    plan = driver.compile_program(request, use_disk=False).program.plan
    assert len(plan.launches) == 1
    assert plan.bytes_touched == x.nbytes + plan.outputs[0].nbytes


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_views_that_no_common_loops_traverse_are_copied_first(cpu_device_of_module, data):
    """For padded tensors: each reshape is split at other dimensions."""
    shapes = [(2, 12, 5), (24, 5), (8, 3, 5), (3, 8, 5), (4, 6, 5), (120,), (12, 10)]
    xs = [any_bits(data.draw(st.sampled_from(shapes)), torch.bfloat16, seed).float().nan_to_num() for seed in range(3)]
    new = data.draw(st.sampled_from(shapes))
    tensors = [ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=cpu_device_of_module) for x in xs]

    def smallest(x, y, z):
        return ttnn.minimum(ttnn.minimum(ttnn.reshape(x, new), ttnn.reshape(y, new)), ttnn.reshape(z, new))

    want = torch.minimum(torch.minimum(xs[0].reshape(new), xs[1].reshape(new)), xs[2].reshape(new))
    assert_bits(ttnn.to_torch(jit()(smallest)(*tensors)), want)


def test_a_dense_copy_has_the_layout_of_other_intermediates_of_its_operand(cpu_device_of_module):
    x = torch.arange(96.0).reshape(12, 8)[:, :5]
    function = jit()(lambda x: ttnn.exp(ttnn.reshape(x, (5, 12))))
    in_tiles = {"layout": ttnn.TILE_LAYOUT, "device": cpu_device_of_module}
    for argument in (x, *(ttnn.from_torch(x, **in_tiles, memory_config=config) for config in MEMORY_CONFIGS)):
        plan = driver.compile_program(function.request(argument), use_disk=False).program.plan
        (dense,), (result,) = plan.intermediates, plan.outputs
        assert dense.memory_config == result.memory_config


# --- Accesses -------------------------------------------------------------------------------------------------------


def addresses(access, strides):
    for index in itertools.product(*map(range, access.extents)):
        yield sum(evaluated(expr, index) * stride for expr, stride in zip(access.coordinates, strides, strict=True))


@st.composite
def composed(draw):
    """The access of a chain of movements to its source, and the source's shape."""
    shape, steps = draw(chains(VIEWS))
    access, extents = Access.identity(shape), shape
    for name, statics in steps:
        operation, canonical = ops.OVERLOADS[name][0].canonicalize(extents, *statics)
        (part,) = operation.parts((extents,), canonical)
        access = part.access.compose(access)
        extents = access.extents
    return access, shape


@settings(max_examples=40, deadline=None)
@given(composed(), st.integers(0, 3))
def test_the_loops_of_a_traversal_visit_the_elements_of_the_access(access_and_shape, padding):
    access, shape = access_and_shape
    strides = dense_strides((*shape[:-1], shape[-1] + padding))
    assert access.stays_inside(shape)
    try:
        walked = walk(access.extents, [access.address(shape, strides)])
    except NotStridedError:
        return
    loops = itertools.product(*map(range, walked.extents))
    steps = walked.strides[0]
    found = [walked.offsets[0] + sum(i * s for i, s in zip(index, steps, strict=True)) for index in loops]
    assert found == list(addresses(access, strides))


@given(st.sampled_from([(4, 6), (2, 3, 8), (5, 1, 7), (1, 30)]), st.data())
def test_a_reshape_of_dense_memory_is_always_one_traversal(shape, data):
    new = data.draw(st.sampled_from(factorings(math.prod(shape))))
    walked = walk(new, [reshape_access(shape, new).address(shape, dense_strides(shape))])
    assert math.prod(walked.extents) == math.prod(shape)


@settings(max_examples=25, deadline=None)
@given(composed())
def test_bounds_cover_every_value_of_an_expression(access_and_shape):
    access, _ = access_and_shape
    for expr in access.coordinates:
        low, high = bounds(expr, access.extents)
        values = [evaluated(expr, index) for index in itertools.product(*map(range, access.extents))]
        assert low <= min(values)
        assert max(values) <= high


@given(composed(), st.sampled_from([2, 4]))
def test_runs_that_are_declared_whole_stay_whole(access_and_shape, length):
    access, shape = access_and_shape
    found = list(addresses(access, dense_strides(shape)))
    runs = [found[start : start + length] for start in range(0, len(found), length)]
    whole = all(run[0] % length == 0 and run == list(range(run[0], run[0] + length)) for run in runs)
    assert whole or not access.keeps_runs(shape, length)


def test_heads_split_and_merged_keep_runs():
    rows, heads = (6, 384, 1024), (6, 384, 16, 64)
    assert reshape_access(rows, heads).keeps_runs(rows, 16)
    assert reshape_access(heads, rows).keeps_runs(heads, 16)
    assert not reshape_access(rows, (6, 384, 128, 8)).keeps_runs(rows, 16)
    assert not Access((4, 64, 32), (Dim(0), Dim(2), Dim(1))).keeps_runs((4, 32, 64), 16)
    assert Access((4, 64, 32), (Dim(1), Dim(0), Dim(2))).keeps_runs((64, 4, 32), 16)


def test_an_access_beyond_its_source_is_detected():
    assert Access((4,), (Dim(0),)).stays_inside((4,))
    assert not Access((5,), (Dim(0),)).stays_inside((4,))
    assert not Access((4,), (Const(4),)).stays_inside((4,))
    assert not Access((4,), (Dim(0), Const(0))).stays_inside((4,))


# --- Edited dumps ---------------------------------------------------------------------------------------------------

SCHEDULED = "d2m-insert-dst-register-access"
VIEW = "(d0, d1) -> (d1, d0)"


@pytest.fixture
def square(cpu_device_of_module):
    return ttnn.from_torch(torch.rand(40, 40), device=cpu_device_of_module)


@pytest.fixture
def scheduled(square):
    """The scheduled module of exp of a transposed square, as text with one view in it."""
    text = jit()(lambda x: ttnn.exp(ttnn.transpose(x, 0, 1))).ir(square, stage=SCHEDULED)
    assert text.count(VIEW) == 1
    return text


@pytest.mark.parametrize(
    ("edited", "in_torch"),
    [
        ("(d0, d1) -> (d0, d1)", lambda x: x),
        ("(d0, d1) -> (d1, 3)", lambda x: x[:, 3].expand(40, 40)),
        ("(d0, d1) -> (d1, d0 floordiv 2)", lambda x: x.T.repeat_interleave(2, 0)[:40]),
        ("(d0, d1) -> (d0 mod 8, d1)", lambda x: x[:8].repeat(5, 1)),
        ("(d0, d1) -> (d1, d0 * -1 + 39)", lambda x: x.T.flip(0)),
    ],
)
def test_an_edited_map_of_a_view_changes_the_elements_read_natively_and_interpreted(
    edited, in_torch, square, scheduled
):
    module = parse_module(scheduled.replace(VIEW, edited))
    verify(module)
    x = ttnn.to_torch(square)
    (interpreted,) = interpret(module, [x.numpy()])
    torch.testing.assert_close(torch.from_numpy(interpreted), in_torch(x).double().exp().float(), rtol=3e-7, atol=0.0)
    assert_bits(driver.compile_scheduled(module)(square).to_torch(), torch.from_numpy(interpreted))


@pytest.mark.parametrize("edited", ["(d0, d1) -> (d1, d0 + 1)", "(d0, d1) -> (d1, d0 - 1)", "(d0, d1) -> (d0 * 2, d1)"])
def test_an_edited_map_that_leaves_its_operand_is_refused(edited, scheduled):
    module = parse_module(scheduled.replace(VIEW, edited))
    with pytest.raises(InvalidModule, match=r"the remapping .* leaves tensor<40x40xf32"):
        verify(module)


@pytest.mark.parametrize("edited", ["(d0, d1) -> (d0 ceildiv 2, d1)", "(d0, d1) -> (d1)", "(d0) -> (d0, d0)"])
def test_an_edited_map_that_is_no_index_is_refused(edited, scheduled):
    module = parse_module(scheduled.replace(VIEW, edited))
    with pytest.raises(InvalidModule, match=r"is no index of a view|the remapping (takes|gives)"):
        verify(module)


@pytest.mark.parametrize("dialect", ["ttnn", "ttir"])
def test_a_movement_in_a_text_keeps_the_element_type(dialect):
    wide, narrow = (str(tensor_type(TensorSpec((40, 40), dtype))) for dtype in (ttnn.float32, ttnn.bfloat16))
    op = f'%0 = "{dialect}.transpose"(%a) <{{dim0 = 0 : si32, dim1 = 1 : si32}}>'
    text = (
        "func.func @f(%a: {0}) -> {1} {{ "
        + op.replace("{", "{{").replace("}", "}}")
        + " : ({0}) -> {1} return %0 : {1} }}"
    )
    verify(parse_module(text.format(wide, wide)))
    with pytest.raises(InvalidModule, match="computes nothing"):
        verify(parse_module(text.format(wide, narrow)))


@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize("shape", [(512, 64), (64, 2, 1024), (544, 33)])
def test_a_transpose_of_far_rows_moves_every_bit_in_blocks_or_not(shape, dtype):
    x, dims = any_bits(shape, dtype), tuple(reversed(range(len(shape))))
    assert_bits(jit()(lambda x: ttnn.permute(x, dims))(x), x.permute(dims))
    assert_bits(jit(backend="numba")(lambda x: ttnn.permute(x, dims))(x), x.permute(dims))


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@pytest.mark.parametrize("dtype", BIT_TYPES)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, -0.0, 1e-40, -1e-40, 0.1, 3.4e38])
def test_fill_values_are_stored_alike_by_every_executor(value, dtype, target):
    """On chips a bfloat16 NaN is infinity, and a denormal is zero."""
    x = torch.randn(3, 5, generator=torch.Generator().manual_seed(1)).to(dtype)
    with ttnn.open_device(device_id=0, target=target) as device:
        on_device = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
        pad = lambda x: ttnn.pad(x, [(1, 2), (0, 3)], value=value)  # noqa: E731
        program = jit()(pad)
        native = ttnn.to_torch(program(on_device))
        patterns = x.view(torch.int16).numpy().view("uint16") if dtype is torch.bfloat16 else x.numpy()
        (interpreted,) = interpret(scheduled_module(program, on_device), [patterns])
        others = [ttnn.to_torch(jit(backend="numba")(pad)(on_device)), ttnn.to_torch(pad(on_device))]
    signed = f"int{8 * dtype.itemsize}"
    others.append(torch.from_numpy(interpreted.view(signed).reshape(native.shape).copy()).view(dtype))
    for other in others:
        assert torch.equal(other.isnan(), native.isnan())
        assert_bits(other.nan_to_num(nan=0.0), native.nan_to_num(nan=0.0))
