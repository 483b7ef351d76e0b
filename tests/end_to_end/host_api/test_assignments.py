"""Functions built on others: copies into tensors, repeated rows, old names of layouts, slices of shards."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError, ShapeError, TtnnJitError

MODES = {"eager": lambda function: function, "interpreted": jit(graph_capture=False), "traced": jit(graph_capture=True)}


def on_device(x, device, layout=ttnn.TILE_LAYOUT, **keywords):
    return ttnn.from_torch(x, layout=layout, device=device, **keywords)


def random(*shape, dtype=torch.float32):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


@pytest.mark.parametrize("mode", MODES)
def test_a_copy_writes_into_the_second_tensor_in_its_element_type(mode, device):
    x = random(64, 32)
    source, target = on_device(x, device), on_device(torch.zeros(64, 32, dtype=torch.bfloat16), device)
    returned = MODES[mode](lambda a, b: ttnn.copy(a, b))(source, target)
    assert returned is target
    assert torch.equal(ttnn.to_torch(target), x.bfloat16())


@pytest.mark.parametrize("mode", MODES)
def test_an_assignment_is_a_copy_of_the_element_type_as_requested(mode, cpu_device):
    x = random(5, 33)
    got = MODES[mode](lambda x: ttnn.assign(x, dtype=ttnn.bfloat16))(on_device(x, cpu_device))
    assert torch.equal(ttnn.to_torch(got), x.bfloat16())
    kept = MODES[mode](lambda x: ttnn.assign(x))(on_device(x, cpu_device))
    assert torch.equal(ttnn.to_torch(kept), x)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [torch.int32, torch.uint32])
def test_plus_one_is_added_in_place_and_negative_elements_are_skipped_on_request(mode, dtype, cpu_device):
    start = torch.tensor([0, 5, -1, -7, 2**31 - 1])
    x = start.to(dtype)
    for skips, want in ((False, start + 1), (True, torch.where(x.long() < 0, start, start + 1))):
        tensor = on_device(x, cpu_device, ttnn.ROW_MAJOR_LAYOUT)
        returned = MODES[mode](lambda x: ttnn.plus_one(x, skip_negative_entries=skips))(tensor)  # noqa: B023 - called here
        assert returned is tensor
        assert torch.equal(ttnn.to_torch(tensor, dtype=dtype), want.to(dtype))


BROADCAST = {ttnn.BcastOpDim.H: (1, 1, 1, 40), ttnn.BcastOpDim.W: (1, 1, 33, 1), ttnn.BcastOpDim.HW: (1, 1, 1, 1)}
MATH = {ttnn.BcastOpMath.ADD: torch.add, ttnn.BcastOpMath.SUB: torch.sub, ttnn.BcastOpMath.MUL: torch.mul}


@pytest.mark.parametrize("mode", MODES)
def test_a_row_a_column_and_a_number_are_repeated(mode, cpu_device):
    a = random(2, 3, 33, 40)
    for dim, shape in BROADCAST.items():
        for math_op, golden in MATH.items():
            b = random(*shape)
            got = MODES[mode](lambda a, b: ttnn.bcast(a, b, math_op=math_op, dim=dim))(  # noqa: B023 - called here
                on_device(a, cpu_device), on_device(b, cpu_device)
            )
            assert torch.equal(ttnn.to_torch(got), golden(a, b))


@pytest.mark.parametrize("mode", MODES)
def test_a_chain_of_unary_operations_is_rounded_once(mode, cpu_device):
    x = random(33, 40, dtype=torch.bfloat16)
    chain = [
        ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
        ttnn.UnaryWithParam(ttnn.UnaryOpType.POWER, 3),
        ttnn.UnaryOpType.NEG,
    ]
    got = MODES[mode](lambda x: ttnn.unary_chain(x, chain))(on_device(x, cpu_device))
    assert torch.equal(ttnn.to_torch(got), (-(x.double().relu() ** 3)).float().bfloat16())


def test_layouts_have_older_names(device):
    x = random(2, 3, 33, 40)
    rows = on_device(x, device, ttnn.ROW_MAJOR_LAYOUT)
    for tiled in (
        ttnn.tilize(rows),
        ttnn.tilize_with_zero_padding(rows),
        ttnn.tilize_with_val_padding(rows, [2, 3, 64, 64], 7.0),
        ttnn.tilize_with_val_padding(rows, ttnn.pad_to_tile_shape(rows.shape), 0),
    ):
        assert (tiled.layout, tuple(tiled.shape), tuple(tiled.padded_shape)) == (
            ttnn.TILE_LAYOUT,
            x.shape,
            (2, 3, 64, 64),
        )
        assert torch.equal(ttnn.to_torch(tiled), x)
        back = ttnn.untilize(tiled)
        assert back.layout is ttnn.ROW_MAJOR_LAYOUT
        assert torch.equal(ttnn.to_torch(back), x)
        part = ttnn.untilize_with_unpadding(tiled, [1, 1, 32, 9])
        assert part.layout is ttnn.ROW_MAJOR_LAYOUT
        assert torch.equal(ttnn.to_torch(part), x[:2, :2, :33, :10])
    assert ttnn.tilize(rows, dtype=ttnn.bfloat16).dtype is ttnn.bfloat16
    assert ttnn.pad_to_tile_shape([3, 5, 33, 64], True, False, False, True) == [3, 32, 33, 64]


@settings(deadline=None, max_examples=10)
@given(data=st.data(), tiled=st.booleans())
def test_tensors_on_the_host_are_padded_and_cut_by_methods_of_their_own(data, tiled):
    shape = data.draw(st.lists(st.integers(1, 40), min_size=2, max_size=3))
    x = random(*shape)
    tensor = ttnn.Tensor(x).to(ttnn.TILE_LAYOUT if tiled else ttnn.ROW_MAJOR_LAYOUT)
    start = [data.draw(st.integers(0, 3)) for _ in shape]
    new = [first + extent + data.draw(st.integers(0, 3)) for first, extent in zip(start, shape, strict=True)]
    slices = tuple(slice(first, first + extent) for first, extent in zip(start, shape, strict=True))
    expected = torch.full(new, 2.5)
    expected[slices] = x
    padded = tensor.pad(new, start, 2.5)
    assert (padded.device(), padded.layout) == (None, tensor.layout)
    assert torch.equal(padded.to_torch(), expected)
    back = padded.unpad(start, [each.stop for each in slices])
    assert torch.equal(back.to_torch(), x)
    assert torch.equal(tensor.pad_to_tile(7.0).to_torch(), x)
    whole = ttnn.pad_to_tile_shape(shape)
    filled = tensor.pad(output_tensor_shape=whole, input_tensor_start=[0] * len(shape), pad_value=7.0)
    for written in (filled, filled.pad_to_tile(0.0), tensor):
        assert torch.equal(written.unpad_from_tile(shape).to_torch(), x)


@pytest.mark.parametrize("mode", MODES)
def test_tensors_of_programs_are_padded_and_cut_by_their_methods(mode, cpu_device):
    x = random(3, 40)

    def program(x):
        wider = ttnn.exp(x).pad([5, 64], [1, 0], -1.0)
        return wider, wider.unpad([1, 0], [4, 40]).pad_to_tile(0.0), wider.unpad_from_tile([2, 33])

    wider, same, part = map(ttnn.to_torch, MODES[mode](program)(on_device(x, cpu_device)))
    expected = torch.nn.functional.pad(x.exp(), (0, 24, 1, 1), value=-1.0)
    torch.testing.assert_close(wider, expected)
    torch.testing.assert_close(same, x.exp())
    torch.testing.assert_close(part, expected[:2, :33])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: x.pad([2, 4], [0, 0], 0), "cannot be padded by .*none below 0"),
        (lambda x: x.pad([4], [0], 0), r"\[3, 4\] cannot be padded to \[4\]"),
        (lambda x: x.unpad([0, 0], [3, 5]), r"shape \[3, 4\] has no part from \[0, 0\] to \[3, 5\]"),
        (lambda x: x.unpad([0], [3]), "has no part from"),
        (lambda x: x.unpad([2, 0], [1, 4]), "has no part from"),
        (lambda x: x.unpad_from_tile([3, 5]), r"is not one of \[3, 5\] in whole tiles\nhelp: `tensor.unpad"),
        (lambda x: x.unpad_from_tile([1, 3, 4]), "is not one of"),
    ],
)
def test_shapes_that_do_not_fit_are_refused(call, text):
    with pytest.raises(ShapeError, match=f"(?s){text}"):
        call(ttnn.Tensor(torch.ones(3, 4)))


@pytest.mark.parametrize("traced", [False, True])
def test_layouts_change_in_programs_too(traced, cpu_device):
    x = random(2, 3, 33, 40)

    def program(x):
        tiled = ttnn.tilize_with_val_padding(ttnn.exp(x), [2, 3, 64, 64], 0.0)
        return tiled, ttnn.untilize_with_unpadding(ttnn.neg(tiled), [1, 2, 32, 9])

    tiled, part = jit(graph_capture=traced)(program)(on_device(x, cpu_device, ttnn.ROW_MAJOR_LAYOUT))
    assert (tiled.layout, part.layout) == (ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT)
    torch.testing.assert_close(ttnn.to_torch(tiled), x.exp())
    torch.testing.assert_close(ttnn.to_torch(part), -x.exp()[..., :10])


def test_slices_of_rows_go_to_shards_and_back(device):
    x = random(1, 1, 256, 64, dtype=torch.bfloat16)
    whole, cache = on_device(x, device), on_device(torch.zeros_like(x), device)
    for index in range(4):
        part = ttnn.interleaved_to_sharded_partial(
            whole, (2, 1), [32, 64], 4, index, ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.ShardOrientation.ROW_MAJOR
        )
        assert part.is_sharded()
        assert torch.equal(ttnn.to_torch(part), x[:, :, 64 * index : 64 * (index + 1)])
        doubled = ttnn.multiply(part, 2.0)
        assert (
            ttnn.sharded_to_interleaved_partial(doubled, cache, 4, index, memory_config=ttnn.DRAM_MEMORY_CONFIG)
            is cache
        )
    assert torch.equal(ttnn.to_torch(cache), x * 2)


def test_a_tensor_is_filled_with_one_number_in_its_first_rows_and_columns(device):
    like = on_device(random(32, 32, dtype=torch.bfloat16), device)
    want = torch.full((2, 3, 64, 96), 5.0)
    want[:, :, :33, :31] = 10
    got = ttnn.fill_rm(2, 3, 64, 96, 33, 31, like, 10, 5)
    assert (got.layout, got.dtype) == (ttnn.ROW_MAJOR_LAYOUT, ttnn.bfloat16)
    assert torch.equal(ttnn.to_torch(got).float(), want)
    ones = ttnn.fill_ones_rm(N=1, C=1, H=4, W=4, hOnes=0, wOnes=2, any=like)
    assert ttnn.to_torch(ones).sum() == 0


def test_mismatched_arguments_are_refused(device):
    x = on_device(random(1, 1, 64, 64), device)
    with pytest.raises(ShapeError, match="not repeated along H"):
        ttnn.bcast(x, x, ttnn.BcastOpMath.ADD, ttnn.BcastOpDim.H)
    with pytest.raises(ArgumentError, match="adds to integers"):
        ttnn.plus_one(x)
    with pytest.raises(TtnnJitError, match="`ops_chain` of unary_chain must be"):
        ttnn.unary_chain(x, ["relu"])
    with pytest.raises(ShapeError, match=r"\[1, 1, 96, 64\] is not \[1, 1, 64, 64\]"):
        ttnn.tilize_with_val_padding(x, [1, 1, 96, 64], 0)
    with pytest.raises(ShapeError, match="is no element"):
        ttnn.untilize_with_unpadding(x, [0, 0, 64, 0])
    with pytest.raises(ShapeError, match="no slice 4 of 4"):
        ttnn.sharded_to_interleaved_partial(x, x, 4, 4)
    with pytest.raises(ShapeError, match="are no part"):
        ttnn.fill_ones_rm(1, 1, 4, 4, 5, 1, x)
    with pytest.raises(CompileError, match="cannot be copied into one of shape"):
        jit(graph_capture=False)(lambda x: ttnn.copy(x[:, :, :3], x))(x.cpu().to_torch())
