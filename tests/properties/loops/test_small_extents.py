"""Operations with a dimension equal torch for tensors with few dimensions, and with extents of 0 and 1."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ttnn_jit import ttnn

SHAPES = st.lists(st.sampled_from([0, 1, 2, 3]), max_size=5).map(tuple)

ALONG_ONE = {
    "sum": (ttnn.sum, torch.sum),
    "mean": (ttnn.mean, torch.mean),
    "prod": (ttnn.prod, torch.prod),
    "max": (ttnn.max, torch.amax),
    "min": (ttnn.min, torch.amin),
    "softmax": (ttnn.softmax, torch.softmax),
    "log_softmax": (ttnn.log_softmax, torch.log_softmax),
    "cumsum": (ttnn.cumsum, torch.cumsum),
    "cumprod": (ttnn.cumprod, torch.cumprod),
    "flip": (lambda x, dim: ttnn.flip(x, [dim]), lambda x, dim: torch.flip(x, [dim])),
    "squeeze": (ttnn.squeeze, torch.squeeze),
    "unsqueeze": (ttnn.unsqueeze, torch.unsqueeze),
    "sort": (lambda x, dim: ttnn.sort(x, dim=dim)[0], lambda x, dim: torch.sort(x, dim)[0]),
    "indices": (lambda x, dim: ttnn.sort(x, dim=dim)[1], lambda x, dim: torch.sort(x, stable=True, dim=dim)[1]),
    "topk": (lambda x, dim: ttnn.topk(x, 1, dim=dim)[0], lambda x, dim: torch.topk(x, 1, dim)[0]),
    "argmax": (lambda x, dim: ttnn.argmax(x, dim=dim), torch.argmax),
    "concat": (lambda x, dim: ttnn.concat([x, x], dim=dim), lambda x, dim: torch.cat([x, x], dim)),
    "gather": (
        lambda x, dim: ttnn.gather(x, dim, index=ttnn.typecast(ttnn.zeros_like(x), ttnn.uint32)),
        lambda x, dim: torch.gather(x, dim, torch.zeros(x.shape, dtype=torch.int64)),
    ),
}


def in_torch(function, x, dim):
    """The result of torch; None if it refuses."""
    try:
        return function(x.double(), dim)
    except (IndexError, RuntimeError):
        return None


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(sorted(ALONG_ONE)), SHAPES, st.integers(-6, 5), st.sampled_from(["cpu", "wormhole_b0"]))
def test_dimensions_of_small_tensors_are_those_of_torch(name, shape, dim, target):
    ours, theirs = ALONG_ONE[name]
    x = torch.randn(shape)
    expected = in_torch(theirs, x, dim)
    with ttnn.open_device(device_id=0, target=target) as device:
        tensor = ttnn.from_torch(x, layout=ttnn.TILE_LAYOUT, device=device)
        if expected is None:
            return
        found = ttnn.to_torch(ours(tensor, dim))
        assert found.shape == expected.shape
        assert torch.allclose(found.double(), expected.double(), rtol=1e-5, atol=1e-6, equal_nan=True)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from([(), (2,), (0,), (1, 3)]),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from([ttnn.float32, ttnn.bfloat16]),
    st.sampled_from(["cpu", "wormhole_b0"]),
    st.booleans(),
)
def test_products_of_small_matrices_are_those_of_torch(batch, rows, terms, columns, dtype, target, with_bias):
    a = torch.randint(-3, 4, (*batch, rows, terms)).float()
    b = torch.randint(-3, 4, (*batch, terms, columns)).float()
    bias = torch.randint(-3, 4, (1, columns)).float()
    with ttnn.open_device(device_id=0, target=target) as device:
        x, y, z = (ttnn.from_torch(t, dtype=dtype, layout=ttnn.TILE_LAYOUT, device=device) for t in (a, b, bias))
        if with_bias:
            found, expected = ttnn.add(ttnn.matmul(x, y), z), a.double() @ b.double() + bias.double()
        else:
            found, expected = ttnn.matmul(x, y), a.double() @ b.double()
        assert torch.equal(ttnn.to_torch(found).double(), expected)


@settings(max_examples=200, deadline=None)
@given(st.data(), st.sampled_from(["cpu", "wormhole_b0"]))
def test_scattered_tensors_may_be_smaller_along_every_dimension(data, target):
    shape = data.draw(st.lists(st.integers(1, 4), max_size=4).map(tuple))
    dim = data.draw(st.integers(-max(len(shape), 1), max(len(shape), 1) - 1))
    axis = dim % max(len(shape), 1)
    index = tuple(data.draw(st.integers(0, extent + (each == axis))) for each, extent in enumerate(shape))
    source = tuple(data.draw(st.integers(extent, extent + 2)) for extent in index)
    reduce, in_torch = data.draw(
        st.sampled_from([(None, None), ("add", "sum"), ("multiply", "prod"), ("amax", "amax"), ("amin", "amin")])
    )
    x, numbers = torch.randint(-9, 9, shape).float(), torch.randint(-9, 9, source).float()
    indices = torch.randint(0, shape[axis] if shape else 1, index)
    if reduce is None:
        expected = torch.scatter(x.double(), dim, indices, numbers.double())
    else:
        expected = torch.scatter_reduce(x.double(), dim, indices, numbers.double(), in_torch)
    with ttnn.open_device(device_id=0, target=target) as device:
        on = {"layout": ttnn.TILE_LAYOUT, "device": device}
        given_to = ttnn.from_torch(x, **on), dim, ttnn.from_torch(indices, dtype=ttnn.int32, **on)
        found = ttnn.scatter(*given_to, ttnn.from_torch(numbers, **on), reduce=reduce)
        assert torch.equal(ttnn.to_torch(found).double(), expected)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 5),
    st.integers(1, 6),
    st.integers(1, 3),
    st.integers(0, 3),
    st.integers(1, 2),
    st.booleans(),
    st.sampled_from(["max", "avg"]),
)
def test_pools_of_small_images_are_those_of_torch(extent, kernel, stride, padding, dilation, ceil, kind):
    x = torch.randn(1, extent, extent, 2)
    image = x.permute(0, 3, 1, 2).double()
    try:
        if kind == "max":
            expected = torch.nn.functional.max_pool2d(image, kernel, stride, padding, dilation, ceil)
        else:
            expected = torch.nn.functional.avg_pool2d(image, kernel, stride, padding, ceil)
    except RuntimeError:
        return
    taps = {"dilation": [dilation] * 2} if kind == "max" else {}
    with ttnn.open_device(device_id=0, target="cpu") as device:
        found = (ttnn.max_pool2d if kind == "max" else ttnn.avg_pool2d)(
            input_tensor=ttnn.from_torch(x.reshape(1, 1, extent * extent, 2), device=device),
            batch_size=1,
            input_h=extent,
            input_w=extent,
            channels=2,
            kernel_size=[kernel] * 2,
            stride=[stride] * 2,
            padding=[padding] * 2,
            ceil_mode=ceil,
            **taps,
        )
        wanted = expected.permute(0, 2, 3, 1).reshape(found.shape)
        assert torch.allclose(ttnn.to_torch(found).double(), wanted, rtol=1e-5, atol=1e-6)
