"""Tensors of block floats: their bytes, and operations on them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests.products import EXACTLY
from tests.unit.kernels import block_float_codec as codec
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError, CompileError
from ttnn_jit.dialects import parse_module, print_module
from ttnn_jit.runtime.memory.l1 import packed_bytes
from ttnn_jit.specs.dtypes import BLOCK_FLOATS
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.tools.cli import main
from ttnn_jit.transforms import pipeline

BY_NAME = sorted(BLOCK_FLOATS, key=lambda dtype: dtype.name)
DTYPES = pytest.mark.parametrize("dtype", BY_NAME, ids=lambda dtype: dtype.name)
SHAPES = st.sampled_from([(32, 32), (5, 37), (1, 1), (33, 65), (2, 3, 40, 16), (37,), (), (64, 96), (3, 0, 4)])
INF, NAN = float("inf"), float("nan")

KERNEL_STAGES = ("d2m-generic-tile-compute-loops", "d2m-op-scheduler", "d2m-insert-dst-register-access")

# From the specification: a row and, for both types, the shared exponent, the codes and the numbers.
EXAMPLES = {
    "basic": (
        [1, -0.5, 3.14159265, 0.1, 1.99, 0.0078125, -0.0, 2],
        (128, "2090650340000040", [1, -0.5, 3.15625, 0.09375, 2, 0, 0, 2]),
        (128, "29604004", [1, -0.5, 3, 0, 2, 0, 0, 2]),
    ),
    "small beside big": (
        [100, 1, 0.78125, 0.5, 0.39, 0.4, -0.7],
        (133, "64010100000081", [100, 1, 1, 0, 0, 0, -1]),
        (133, "6000000", [96, 0, 0, 0, 0, 0, 0]),
    ),
    "saturation": (
        [1.9999, 1.996, -1.9999, 1, 0.0078],
        (127, "7f7fff4000", [1.984375, 1.984375, -1.984375, 1, 0]),
        (127, "77f40", [1.75, 1.75, -1.75, 1, 0]),
    ),
    "ties": (
        [1.0078125, 1.0234375, 1.0390625],
        (127, "404242", [1, 1.03125, 1.03125]),
        (127, "444", [1, 1, 1]),
    ),
    "specials": (
        [INF, 1, -INF, NAN, 1e30, 3e38, -2],
        (255, "4000c060003800", [INF, 0, -INF, NAN, 0, 2.977e38, 0]),
        (255, "40c6040", [INF, 0, -INF, NAN, 0, INF, 0]),
    ),
    "denormals": (
        [1e-40, 2e-38, 1.2e-38, 5e-38],
        (3, "001b1044", [0, 1.98365e-38, 1.17549e-38, 4.99585e-38]),
        (3, "0214", [0, 2.351e-38, 1.17549e-38, 4.702e-38]),
    ),
    "lost bits are not sticky": ([256, 2.00001], (135, "4000", [256, 0]), (135, "40", [256, 0])),
    "what is left is rounded": ([256, 2.0001], (135, "4001", [256, 4]), (135, "40", [256, 0])),
}


def codes_in(stored, count):
    """The codes of the first row's first group, as hexadecimal digits."""
    return (
        stored[64 : 64 + count].hex()
        if len(stored) == 1088
        else "".join(f"{b & 15:x}{b >> 4:x}" for b in stored[64:72])[:count]
    )


@pytest.mark.parametrize("name", EXAMPLES)
@DTYPES
def test_the_worked_examples_of_the_format_are_stored_byte_for_byte(name, dtype):
    row, *wanted = EXAMPLES[name]
    shared, codes, numbers = wanted[dtype is ttnn.bfloat4_b]
    values = torch.zeros(32, 32)
    values[0, : len(row)] = torch.tensor(row)
    tensor = ttnn.from_torch(values, dtype=dtype)
    stored = tensor.stored_bytes()
    assert (stored[0], codes_in(stored, len(row))) == (shared, codes)
    assert not any(stored[1:64])
    np.testing.assert_allclose(tensor.to_torch()[0, : len(row)], torch.tensor(numbers, dtype=torch.float32), rtol=1e-3)


@pytest.mark.parametrize(
    ("row", "column", "exponent", "of_8", "of_4", "is_upper"),
    [
        (0, 0, 0, 64, 64, False),
        (0, 16, 16, 320, 192, False),
        (16, 0, 32, 576, 320, False),
        (5, 7, 5, 151, 107, True),
        (17, 18, 49, 850, 457, False),
        (31, 31, 63, 1087, 575, True),
    ],
)
@DTYPES
def test_an_element_has_the_address_of_the_format(dtype, row, column, exponent, of_8, of_4, is_upper):
    values = torch.zeros(32, 32)
    values[row, column] = 1.0
    stored = ttnn.from_torch(values, dtype=dtype).stored_bytes()
    code = {of_8: 64} if dtype is ttnn.bfloat8_b else {of_4: 4 << 4 * is_upper}
    assert {index: byte for index, byte in enumerate(stored) if byte} == {exponent: 127} | code


@DTYPES
def test_sizes_are_those_of_packed_tiles(dtype):
    size = {7: 1088, 3: 576}[dtype.traits.magnitude_bits]
    spec = ttnn.from_torch(torch.ones(2, 33, 64), dtype=dtype).spec
    assert (spec.nbytes, spec.dtype.itemsize, ttnn.Tile().get_tile_size(dtype)) == (8 * size, size, size)
    in_l1 = spec.with_(memory_config=ttnn.L1_MEMORY_CONFIG)
    assert packed_bytes(in_l1, (1, 1)) == 8 * size


@st.composite
def arrays(draw, shapes=SHAPES):
    """Numbers of a wide range of exponents, with specials among them."""
    shape = draw(shapes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([1, 12, 60]))
    values = rng.standard_normal(shape) * np.exp2(rng.integers(-spread, spread + 1, shape))
    specials = rng.choice([INF, -INF, NAN, 1e-40, -0.0, 3.4e38, 1.2e-38], shape)
    rare = draw(st.sampled_from([0.0, 0.02]))
    with np.errstate(over="ignore"):
        return np.where(rng.random(shape) < rare, specials, values).astype(np.float32)


def as_matrix(values):
    return values.reshape((1,) * (2 - values.ndim) + values.shape)


@DTYPES
@given(values=arrays())
@settings(max_examples=25, deadline=None)
def test_any_tensor_is_stored_and_read_as_the_format_says(dtype, values):
    tensor = ttnn.from_torch(torch.from_numpy(values), dtype=dtype)
    stored = codec.packed(as_matrix(values), dtype)
    assert tensor.stored_bytes() == stored
    numbers = codec.unpacked(stored, as_matrix(values).shape, dtype).reshape(values.shape)
    np.testing.assert_array_equal(tensor.to_torch().numpy(), numbers)
    assert ttnn.from_torch(tensor.to_torch(), dtype=dtype).stored_bytes() == stored


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@DTYPES
@given(values=arrays())
@settings(max_examples=15, deadline=None)
def test_a_cast_on_a_device_packs_and_unpacks_as_the_host_does(target, dtype, values):
    with_no_nan = np.where(np.isnan(values), np.float32(INF), values) if target == "wormhole_b0" else values
    device = ttnn.open_device(device_id=0, target=target)
    for source in (ttnn.float32, ttnn.bfloat16):
        there = ttnn.from_torch(torch.from_numpy(values), dtype=source, layout=ttnn.TILE_LAYOUT, device=device)
        wanted = ttnn.from_torch(
            there.to_torch().nan_to_num(INF, INF, -INF) if with_no_nan is not values else there.to_torch(), dtype=dtype
        )
        packed = ttnn.typecast(there, dtype)
        assert packed.stored_bytes() == wanted.stored_bytes()
        back = ttnn.typecast(packed, source).to_torch().float()
        np.testing.assert_array_equal(back.numpy(), wanted.to_torch().numpy())


def on(device, values, dtype):
    return ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device)


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@DTYPES
def test_operations_decode_compute_in_float32_and_encode(target, dtype):
    device = ttnn.open_device(device_id=0, target=target)
    generator = torch.Generator().manual_seed(7)
    a, b = (on(device, torch.randn(2, 40, 48, generator=generator), dtype) for _ in range(2))
    w = on(device, torch.randn(48, 33, generator=generator), dtype)
    x, y, v = a.to_torch(), b.to_torch(), w.to_torch()
    for got, exact in [
        (ttnn.add(a, b), x + y),
        (ttnn.multiply(a, 0.5), x * 0.5),
        (ttnn.maximum(a, b), torch.maximum(x, y)),
        (ttnn.relu(a), x.relu()),
        (ttnn.gt(a, b), (x > y).float()),
        (ttnn.permute(a, (0, 2, 1)), x.permute(0, 2, 1)),
        (ttnn.reshape(a, (80, 48)), x.reshape(80, 48)),
        (ttnn.concat([a, b], dim=1), torch.cat([x, y], 1)),
        (ttnn.max(a, dim=-1, keepdim=True), x.amax(-1, keepdim=True)),
    ]:
        assert got.dtype is dtype
        assert got.stored_bytes() == ttnn.from_torch(exact, dtype=dtype).stored_bytes()
    for got, exact in [
        (ttnn.exp(a), x.exp()),
        (ttnn.sum(a, dim=-1), x.double().sum(-1)),
        (ttnn.matmul(a, w, compute_kernel_config=EXACTLY), x.double() @ v.double()),
        (ttnn.softmax(a, dim=-1), x.double().softmax(-1)),
    ]:
        assert got.dtype is dtype
        wanted = ttnn.from_torch(exact.float(), dtype=dtype).to_torch()
        step = exact.abs().max() * 2.0 ** -(dtype.traits.magnitude_bits - 1)
        assert (got.to_torch() - wanted).abs().max() <= step
        assert (got.to_torch() == wanted).float().mean() > 0.99


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@DTYPES
def test_a_tensor_without_elements_moves_like_others(target, dtype):
    device = ttnn.open_device(device_id=0, target=target)
    empty = on(device, torch.zeros(3, 0, 32, 64), dtype)
    x = on(device, torch.randn(64, 32), dtype)
    for tensor, moved, shape in [
        (empty, lambda x: ttnn.transpose(x, 0, 1), (0, 3, 32, 64)),
        (empty, lambda x: ttnn.reshape(x, (0, 32)), (0, 32)),
        (empty, lambda x: ttnn.repeat(x, (2, 2, 2, 2)), (6, 0, 64, 128)),
        (empty, lambda x: ttnn.concat([x, x], 1), (3, 0, 32, 64)),
        (x, lambda x: x[32:32], (0, 32)),
        (x, lambda x: x[:, 32:32], (64, 0)),
        (x, lambda x: ttnn.add(x[32:32], 1.0), (0, 32)),
    ]:
        for called in (moved, ttnn_jit.jit()(moved), ttnn_jit.jit(graph_capture=True)(moved)):
            got = called(tensor)
            assert (got.dtype, tuple(got.to_torch().shape)) == (dtype, shape)


@pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
@DTYPES
def test_a_call_that_moves_in_steps_packs_once(target, dtype):
    opened = ttnn.open_device(device_id=0, target=target)
    for device in (opened, None):
        tensor = on(device, torch.randn(64, 96, generator=torch.Generator().manual_seed(3)), dtype)
        x = tensor.to_torch()
        for moved, exact in [
            (
                lambda t: ttnn.rearrange(t, "a (b c) -> c (b a)", b=3),
                x.reshape(64, 3, 32).permute(2, 1, 0).reshape(32, 192),
            ),
            (lambda t: ttnn.pad(t, [(16, 16), (1, 31)], mode="circular"), padded(x, (1, 31, 16, 16), "circular")),
            (lambda t: ttnn.pad(t, [(16, 16), (1, 31)], mode="reflect"), padded(x, (1, 31, 16, 16), "reflect")),
            (lambda t: ttnn.roll(t, [3, 2], [0, 1]), x.roll([3, 2], [0, 1])),
        ]:
            wanted = ttnn.from_torch(exact, dtype=dtype).stored_bytes()
            for called in (moved, ttnn_jit.jit()(moved), ttnn_jit.jit(graph_capture=True)(moved))[: 3 if device else 1]:
                assert called(tensor).stored_bytes() == wanted


@DTYPES
def test_heads_that_keep_their_groups_are_split_in_packed_bytes_of_l1(dtype):
    device = ttnn.open_device(device_id=0, target="wormhole_b0")
    rows = on(device, torch.randn(4, 64, 3 * 1024), dtype)
    x = ttnn.to_memory_config(rows, ttnn.L1_MEMORY_CONFIG)
    packed = device.memory_view().used
    heads = ttnn.transformer.split_query_key_value_and_split_heads(x, num_heads=32, transpose_key=True)
    # The rows, the results, and as much between them: each as large as it is packed.
    assert device.memory_view().high_water <= 4 * packed
    assert all(each.dtype is dtype for each in heads)


def padded(x, edges, mode):
    return torch.nn.functional.pad(x[None, None], edges, mode=mode)[0, 0]


def test_row_major_block_floats_are_refused_with_an_alternative(device):
    rows = ttnn.from_torch(torch.ones(32, 32), device=device)
    for action in (
        lambda: ttnn.from_torch(torch.ones(3, 4), dtype=ttnn.bfloat8_b, layout=ttnn.ROW_MAJOR_LAYOUT),
        lambda: ttnn.typecast(rows, ttnn.bfloat8_b),
        lambda: ttnn.full((3, 4), 1.0, dtype=ttnn.bfloat4_b, layout=ttnn.ROW_MAJOR_LAYOUT),
    ):
        with pytest.raises(
            (CompileError, ArgumentError), match=r"BFLOAT._B is packed tile by tile(.|\n)*layout=ttnn\.TILE_LAYOUT"
        ):
            action()


def test_integer_operations_refuse_block_floats_by_name(device):
    x = on(device, torch.ones(32, 32), ttnn.bfloat8_b)
    with pytest.raises((CompileError, ArgumentError), match="`bitwise_and` does not take BFLOAT8_B"):
        ttnn.bitwise_and(x, x)


@ttnn_jit.jit()
def cast(x):
    return ttnn.typecast(x, ttnn.bfloat8_b)


def test_a_cast_of_a_row_major_torch_tensor_to_block_floats_is_refused_at_its_location():
    with pytest.raises(CompileError, match="BFLOAT8_B is packed tile by tile") as refused:
        cast(torch.ones(32, 32))
    assert refused.value.location.file == __file__


@pytest.mark.parametrize("graph_capture", [False, True], ids=["ast", "trace"])
@DTYPES
def test_on_a_chip_a_jitted_function_has_the_bytes_of_eager_calls(graph_capture, dtype, device):
    def program(a, b):
        x = ttnn.exp(ttnn.add(ttnn.multiply(a, 0.3), b))
        return ttnn.matmul(ttnn.relu(b), ttnn.softmax(x, dim=-1)), ttnn.sum(x, dim=0, keepdim=True)

    a, b = (on(device, torch.randn(64, 64), dtype) for _ in range(2))
    jitted = ttnn_jit.jit(graph_capture=graph_capture, math_fidelity=ttnn.MathFidelity.LoFi)(program)
    for got, wanted in zip(jitted(a, b), program(a, b), strict=True):
        assert got.dtype is dtype
        assert got.stored_bytes() == wanted.stored_bytes()


@DTYPES
def test_under_ieee_numerics_a_fused_value_is_packed_once_and_an_explicit_cast_rounds(dtype):
    device = ttnn.open_device(device_id=0, target="cpu")
    x = on(device, torch.randn(40, 40), dtype)
    fused = ttnn_jit.jit()(lambda x: ttnn.add(ttnn.multiply(x, 0.3), 0.01))
    exact = x.to_torch() * 0.3 + 0.01
    assert fused(x).stored_bytes() == ttnn.from_torch(exact, dtype=dtype).stored_bytes()
    rounding = ttnn_jit.jit()(lambda x: ttnn.typecast(ttnn.typecast(x, dtype), ttnn.float32))
    y = on(device, torch.randn(40, 40), ttnn.float32)
    assert torch.equal(rounding(y).to_torch(), ttnn.from_torch(y.to_torch(), dtype=dtype).to_torch())


@DTYPES
def test_arguments_are_updated_and_files_keep_the_packed_tiles(dtype, device, tmp_path):
    a, b = (on(device, torch.randn(33, 40), dtype) for _ in range(2))
    wanted = ttnn.add(a, b)
    assert ttnn.add_(a, b) is a
    assert a.stored_bytes() == wanted.stored_bytes()
    ttnn.dump_tensor(tmp_path / "tensor.bin", a)
    assert ttnn.load_tensor(tmp_path / "tensor.bin").stored_bytes() == a.stored_bytes()
    assert "dtype=DataType.BFLOAT" in repr(a)
    assert np.array_equal(np.asarray(a.cpu()), a.to_torch().numpy())


def test_a_dump_runs_natively_and_interpreted_with_one_result(tmp_path, device):
    a = on(device, torch.zeros(40, 64), ttnn.bfloat8_b)
    dump, result = tmp_path / "dump.mlir", tmp_path / "result.pt"
    dump.write_text(ttnn_jit.jit()(lambda a: ttnn.permute(ttnn.add(a, 0.3), (1, 0))).ir(a))
    found = []
    for mode in ([], ["--interpret"]):
        assert main(["run", str(dump), *mode, "--save", str(result)]) == 0
        found += torch.load(result, weights_only=True)
    assert torch.equal(*found)


@pytest.mark.parametrize(
    "call", [lambda a: ttnn.add(a, a), lambda a: ttnn.permute(a, (1, 0)), lambda a: ttnn.sum(ttnn.neg(a), 0)]
)
def test_a_dump_in_which_packed_elements_are_computed_with_is_refused_by_both_executors(tmp_path, device, capsys, call):
    a = on(device, torch.zeros(64, 64), ttnn.bfloat8_b)
    module = parse_module(ttnn_jit.jit()(call).ir(a, stage="convert-ttnn-to-ttir"))
    passes = [
        each for each in pipeline.stage_passes(CompileOptions()) if each.name in {"convert-ttir-to-d2m", *KERNEL_STAGES}
    ]
    pipeline.run_passes(module, passes)
    (tmp_path / "dump.mlir").write_text(print_module(module))
    for mode in ([], ["--interpret"]):
        assert main(["run", str(tmp_path / "dump.mlir"), "--after", pipeline.SCHEDULED, *mode]) == 1
        assert "the elements of block floats are packed" in capsys.readouterr().err


def test_the_module_spells_block_floats_as_tiles_and_reads_them_back(device):
    a = on(device, torch.randn(64, 32), ttnn.bfloat8_b)
    jitted = ttnn_jit.jit()(lambda a: ttnn.exp(ttnn.typecast(ttnn.abs(a), ttnn.bfloat4_b)))
    text = jitted.ir(a, stage="frontend")
    assert "tensor<64x32x!ttcore.tile<32x32, bfp_bf8>" in text
    assert "tensor<64x32x!ttcore.tile<32x32, bfp_bf4>" in text
    for stage in ("frontend", "ttir-decompose-composites", "d2m-insert-dst-register-access", "convert-d2m-to-ttnn"):
        text = jitted.ir(a, stage=stage)
        assert print_module(parse_module(text)).strip() == text.strip()


@DTYPES
@pytest.mark.parametrize("spread", [0, 1, 12, 255])
def test_all_bfloat16_bit_patterns_are_packed_like_their_float32_values(dtype, spread):
    """The kernel truncates and rounds to 15 bits, where float32 has 24."""
    generator = np.random.default_rng(spread)
    highest = generator.integers(0, 256, (256, 16, 1))
    exponents = np.clip(highest - generator.integers(0, spread + 1, (256, 16, 16)), 0, 255).reshape(256, 256)
    patterns = (generator.integers(0, 65536, (256, 256)) & 0x807F | exponents << 7).astype(np.uint16)
    with ttnn.manage_device(0, target="cpu") as device:
        values = torch.from_numpy(patterns.view(np.int16)).view(torch.bfloat16)
        packed = ttnn.typecast(ttnn.from_torch(values, layout=ttnn.TILE_LAYOUT, device=device), dtype)
        assert bytes(packed.stored_bytes()) == codec.packed(values.float().numpy(), dtype)
