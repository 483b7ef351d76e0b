"""Products on chip targets: truncated factors and rounded sums, modelled in float64."""

import functools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.utils.exceptions import VerifyException

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.dialects import parse_module

BITS = {torch.float32: 23, torch.bfloat16: 7}


def cut(values, bits):
    """Numbers in float64 truncated toward zero to this many bits behind the leading one."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.trunc(np.ldexp(mantissa, bits + 1)), exponent - bits - 1)


def factors(a, b, fidelity):
    """The factors of the engine, and the part of the product that it omits."""
    first, second = min(10, BITS[a.dtype]), min(9, BITS[b.dtype])
    kept = {"LoFi": (6, 4), "HiFi2": (6, second)}.get(fidelity, (first, second))
    left, right = (cut(x.double().numpy(), bits) for x, bits in zip((a, b), kept, strict=True))
    if fidelity != "HiFi3":
        return left, right, np.zeros_like(left), np.zeros_like(right)
    return left, right, left - cut(left, 6), right - cut(right, 4)


def bfloat16(values):
    return torch.from_numpy(values.astype(np.float32)).bfloat16().double().numpy()


def product(a, b, fidelity, fp32_dest_acc):
    """The matrix product of a (..., M, K) and b (..., K, N), whose sums float64 holds exactly before each rounding."""
    left, right, low_left, low_right = factors(a, b, fidelity)
    extent = a.shape[-1]
    order = list(range(extent))
    if a.dtype is b.dtype is torch.bfloat16 and fidelity != "HiFi3":
        order = [k for pair in range(0, extent, 2) for k in (pair + 1, pair) if k < extent]
    total = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]))
    for done, k in enumerate(order, 1):
        exact = left[..., :, k, None] * right[..., k, None, :] - low_left[..., :, k, None] * low_right[..., k, None, :]
        total = (total + exact).astype(np.float32).astype(np.float64)
        if not fp32_dest_acc and (done % 32 == 0 or done == extent):
            total = bfloat16(total)
    return total


def drawn(shape, dtype, generator):
    """Numbers of a few exponents, so that their sums are exact in float64."""
    signs = torch.randint(0, 2, shape, generator=generator) * 2 - 1
    return (
        signs * (1 + torch.rand(shape, generator=generator)) * 2.0 ** torch.randint(-3, 4, shape, generator=generator)
    ).to(dtype)


@functools.cache
def wormhole():
    return ttnn.open_device(device_id=0, target="wormhole_b0")


def on_device(x):
    return ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=wormhole())


DTYPES = st.sampled_from([torch.float32, torch.bfloat16])
FIDELITIES = st.sampled_from(["LoFi", "HiFi2", "HiFi3", "HiFi4"])
EXTENTS = st.tuples(
    st.sampled_from([1, 3, 8, 33]), st.sampled_from([1, 2, 31, 32, 33, 70, 96]), st.sampled_from([1, 5, 17, 32, 70])
)


def config(fidelity, fp32_dest_acc):
    return ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, fidelity) if fidelity else None, fp32_dest_acc_en=fp32_dest_acc
    )


def assert_is(found, wanted, dtype):
    assert torch.equal(ttnn.to_torch(found).double(), torch.from_numpy(wanted.astype(np.float32)).to(dtype).double())


@settings(max_examples=40, deadline=None)
@given(EXTENTS, DTYPES, DTYPES, FIDELITIES, st.booleans(), st.booleans(), st.integers(0, 2**31))
def test_a_config_decides_the_truncation_of_factors_and_sums_of_eager_products(
    extents, first, second, fidelity, fp32, transpose_b, seed
):
    rows, inner, columns = extents
    generator = torch.Generator().manual_seed(seed)
    a, b = drawn((2, rows, inner), first, generator), drawn((2, inner, columns), second, generator)
    given_b = on_device(b.mT.contiguous() if transpose_b else b)
    found = ttnn.matmul(on_device(a), given_b, transpose_b=transpose_b, compute_kernel_config=config(fidelity, fp32))
    assert_is(found, product(a, b, fidelity, fp32), first)


@pytest.mark.parametrize(
    ("first", "second", "result", "keywords", "fidelity", "fp32"),
    [
        ("bfloat16", "bfloat16", None, {}, "HiFi2", False),
        ("bfloat16", "bfloat16", None, {"core_grid": "grid"}, "LoFi", False),
        ("bfloat16", "bfloat16", "float32", {}, "HiFi2", True),
        ("bfloat16", "bfloat8_b", None, {}, "HiFi2", False),
        ("bfloat8_b", "bfloat8_b", "bfloat16", {}, "LoFi", False),
        ("bfloat8_b", "bfloat4_b", "float32", {}, "LoFi", True),
        ("float32", "float32", None, {}, "HiFi4", True),
        ("float32", "float32", None, {"core_grid": "grid"}, "HiFi4", True),
        ("float32", "float32", "bfloat16", {}, "HiFi4", False),
        ("float32", "bfloat16", None, {}, "HiFi2", True),
        ("bfloat16", "bfloat16", None, {"config": (None, True)}, "HiFi2", True),
        ("float32", "float32", None, {"config": ("HiFi2", False)}, "HiFi2", False),
    ],
)
@pytest.mark.parametrize("rows", [3, 40])
def test_an_eager_product_without_a_config_has_the_precision_of_ttnn(
    rows, first, second, result, keywords, fidelity, fp32
):
    generator = torch.Generator().manual_seed(7)
    a, b = drawn((rows, 96), torch.float32, generator), drawn((96, 64), torch.float32, generator)
    x, y = (
        ttnn.from_torch(each, dtype=getattr(ttnn, dtype), layout=ttnn.TILE_LAYOUT, device=wormhole())
        for each, dtype in ((a, first), (b, second))
    )
    held = (ttnn.to_torch(each).to(torch.float32 if each.dtype == ttnn.float32 else torch.bfloat16) for each in (x, y))
    wanted = product(*held, fidelity, fp32)
    requested = {"dtype": getattr(ttnn, result)} if result else {}
    if "core_grid" in keywords:
        requested["core_grid"] = ttnn.CoreGrid(y=1, x=1)
    if "config" in keywords:
        requested["compute_kernel_config"] = config(*keywords["config"])
    dtype = torch.float32 if (result or first) == "float32" else torch.bfloat16
    assert_is(ttnn.matmul(x, y, **requested), wanted, dtype)
    assert_is(ttnn.linear(x, y, **requested), wanted, dtype)


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("backend", ["ttnn", "numba"])
def test_jitted_products_have_the_fidelity_of_their_function_or_their_own_config(captured, dtype, backend):
    generator = torch.Generator().manual_seed(3)
    a, b = drawn((32, 96), dtype, generator), drawn((96, 64), dtype, generator)
    x, y = on_device(a), on_device(b)
    own = config("HiFi3", False)

    def plain(x, y):
        return ttnn.matmul(x, y)

    def precise(x, y):
        return ttnn.matmul(x, y, compute_kernel_config=own)

    of_f32 = dtype is torch.float32
    for fidelity in ("LoFi", "HiFi2", "HiFi3", "HiFi4"):
        for fp32 in (False, True):
            options = {"graph_capture": captured, "fp32_dest_acc": fp32, "backend": backend}
            jitted = ttnn_jit.jit(math_fidelity=getattr(ttnn.MathFidelity, fidelity), **options)
            assert_is(jitted(plain)(x, y), product(a, b, fidelity, fp32 or of_f32), dtype)
    assert_is(
        ttnn_jit.jit(graph_capture=captured, backend=backend)(precise)(x, y), product(a, b, "HiFi3", False), dtype
    )


def test_warm_calls_distinguish_configs():
    generator = torch.Generator().manual_seed(5)
    a, b = drawn((32, 96), torch.bfloat16, generator), drawn((96, 64), torch.bfloat16, generator)
    x, y = on_device(a), on_device(b)
    requested = [("LoFi", False), ("HiFi4", True), ("HiFi2", True)]
    configs = [config(*each) for each in requested]
    for _ in range(4):
        for each, precision in zip(requested, configs, strict=True):
            found = ttnn.matmul(x, y, compute_kernel_config=precision)
            assert_is(found, product(a, b, *each), torch.bfloat16)
        assert_is(ttnn.matmul(x, y), product(a, b, "HiFi2", False), torch.bfloat16)
        assert_is(x @ y, product(a, b, "HiFi2", False), torch.bfloat16)


@pytest.mark.parametrize("rows", [1, 9])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi2", "HiFi3", "HiFi4"])
def test_infinities_and_nan_propagate_as_in_ieee_754(fidelity, dtype, rows):
    a, b = torch.ones(rows, 40), torch.ones(40, 33)
    patterns = torch.tensor([0x7F800001, 0x7FC00000, 0x7F800000], dtype=torch.int32).view(torch.float32)
    a[0, 3] = (
        patterns[0] if dtype is torch.float32 else torch.tensor(0x7F81, dtype=torch.int16).view(torch.bfloat16).float()
    )
    b[5, 1], b[7, 2] = patterns[2], patterns[1]
    precision = config(fidelity, True)
    found = ttnn.to_torch(
        ttnn.matmul(on_device(a.to(dtype)), on_device(b.to(dtype)), dtype=ttnn.float32, compute_kernel_config=precision)
    )
    wanted = a.double() @ b.double()
    assert torch.equal(found.isnan(), wanted.isnan())
    assert torch.equal(found.isposinf(), wanted.isposinf())


def test_on_cpu_configs_and_fidelity_have_no_effect():
    device = ttnn.open_device(device_id=1, target="cpu")
    generator = torch.Generator().manual_seed(3)
    a, b = torch.randn(9, 100, generator=generator).bfloat16(), torch.randn(100, 33, generator=generator).bfloat16()
    x, y = (ttnn.from_torch(each, layout=ttnn.TILE_LAYOUT, device=device) for each in (a, b))
    plain = ttnn.to_torch(ttnn.matmul(x, y))
    before = ttnn.matmul.num_entries
    requested = ttnn.to_torch(ttnn.matmul(x, y, compute_kernel_config=config("LoFi", False)))
    jitted = ttnn_jit.jit(math_fidelity=ttnn.MathFidelity.LoFi)(lambda x, y: ttnn.matmul(x, y))
    assert torch.equal(plain, requested)
    assert torch.equal(plain, ttnn.to_torch(jitted(x, y)))
    assert ttnn.matmul.num_entries == before


CONVOLUTION = {
    "in_channels": 16, "out_channels": 32, "batch_size": 1, "input_height": 6, "input_width": 6, "kernel_size": (3, 3),
}  # fmt: skip


@pytest.mark.parametrize("captured", [None, False, True])
@pytest.mark.parametrize("fidelity", ["LoFi", "HiFi2", "HiFi3", "HiFi4", None])
@pytest.mark.parametrize("fp32", [False, True])
@pytest.mark.parametrize(("dtype", "groups"), [(torch.float32, 1), (torch.bfloat16, 1), (torch.bfloat16, 2)])
def test_a_config_decides_the_truncation_of_factors_and_sums_of_convolutions(dtype, groups, fp32, fidelity, captured):
    generator = torch.Generator().manual_seed(5)
    x = drawn((1, 6, 6, 16), dtype, generator)
    weight = drawn((32, 16 // groups, 3, 3), dtype, generator)
    given_weight, requested = ttnn.from_torch(weight, device=wormhole()), config(fidelity, fp32)

    def program(x):
        return ttnn.conv2d(
            input_tensor=x, weight_tensor=given_weight, compute_config=requested, groups=groups, **CONVOLUTION
        )

    run = program if captured is None else ttnn_jit.jit(graph_capture=captured)(program)
    windows = x.unfold(1, 3, 1).unfold(2, 3, 1).permute(0, 1, 2, 4, 5, 3).reshape(16, 9, groups, -1)
    columns = weight.permute(2, 3, 1, 0).reshape(-1, groups, 32 // groups)
    wanted = [
        product(windows[:, :, group].reshape(16, -1), columns[:, group], fidelity or "HiFi4", fp32)
        for group in range(groups)
    ]
    assert_is(run(ttnn.from_torch(x, device=wormhole())), np.concatenate(wanted, -1).reshape(1, 1, 16, 32), dtype)


def test_a_convolution_without_a_config_has_exact_products_in_float32():
    x, weight = torch.full((1, 6, 6, 16), 1 + 2.0**-12), torch.ones(32, 16, 3, 3)
    given_x, given_weight = (ttnn.from_torch(each, device=wormhole()) for each in (x, weight))
    plain = ttnn.conv2d(input_tensor=given_x, weight_tensor=given_weight, **CONVOLUTION)
    assert torch.equal(ttnn.to_torch(plain), torch.full((1, 1, 16, 32), 144 * (1 + 2.0**-12)))
    requested = ttnn.conv2d(
        input_tensor=given_x, weight_tensor=given_weight, compute_config=config(None, True), **CONVOLUTION
    )
    assert torch.equal(ttnn.to_torch(requested), torch.full((1, 1, 16, 32), 144.0))


@pytest.mark.parametrize("text", ["HiFi5", "default", "HiFi2, fp32", ""])
def test_a_dump_with_another_precision_is_refused(text):
    x = on_device(torch.ones(32, 32, dtype=torch.bfloat16))
    stage = ttnn_jit.jit(lambda x: ttnn.matmul(x, x)).ir(x, stage="d2m-insert-dst-register-access")
    assert 'compute_config = "HiFi4"' in stage
    with pytest.raises(VerifyException, match="takes no precision"):
        parse_module(stage.replace("HiFi4", text)).verify()


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("wrong", ["fast", "HiFi2", 3])
def test_invalid_configs_are_refused_eagerly_and_in_jitted_functions(captured, wrong):
    x = on_device(torch.ones(32, 32, dtype=torch.bfloat16))

    def program(x):
        return ttnn.matmul(x, x, compute_kernel_config=wrong)

    for run in (program, ttnn_jit.jit(graph_capture=captured)(program)):
        with pytest.raises(TtnnJitError, match=r"must be a ttnn\.DeviceComputeKernelConfig"):
            run(x)
