"""Metadata of tensors in a jitted function equal those at run time, in both frontends."""

from __future__ import annotations

import numpy
import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError

OF_TORCH = {
    "rank": lambda x: 10 * x.ndim + x.dim() + len(x.shape),
    "extents": lambda x: [x.size(), x.size(0), x.size(-1), len(x), tuple(x.shape)] == [(4, 6), 4, 6, 4, (4, 6)],
    "counts": lambda x: x.numel() + torch.numel(x) + x.nelement() + x.nbytes + x.itemsize + x.element_size(),
    "strides": lambda x: 100 * x.T.stride(0) + x.T.stride()[1] + x.T.is_contiguous() + 2 * x.is_contiguous(),
    "kind": lambda x: x.is_floating_point() + 2 * torch.is_floating_point(x) + 4 * x.is_complex() + 8 * x.is_signed(),
    "equal": lambda x: (x.dtype == torch.float32) + 2 * (x.dtype != torch.float32) + 4 * (x.dtype == torch.bfloat16),
    "same": lambda x: x.dtype is torch.float32,
    "among": lambda x: (x.dtype in (torch.float32, torch.int32)) + 2 * (x.dtype in {torch.float32}),
    "table": lambda x: {torch.float32: 3.0, torch.bfloat16: 5.0}[x.dtype],
    "limits": lambda x: torch.finfo(x.dtype).bits + (torch.finfo(x.dtype).eps == 2**-23),
    "text": lambda x: str(x.dtype) == "torch.float32",
    "class": lambda x: isinstance(x.dtype, torch.dtype) and x.dtype.is_floating_point,
    "device": lambda x: (x.device.type == "cpu") + 2 * x.is_cpu + 4 * x.is_cuda + 8 * (x.device == torch.device("cpu")),
    "found": lambda x: hasattr(x, "ndim") + 2 * hasattr(x, "strides") + getattr(x, "ndim", 7),
    "callable": lambda x: callable(x) + 2 * x.get_device(),
    "rows": lambda x: sum(row[1] for row in x) + [*x][2][3],
    "alias": lambda x: x.detach().cpu() + 1.0,
}
OF_NUMPY = {
    "rank": lambda x: 10 * x.ndim + numpy.ndim(x) + len(numpy.shape(x)),
    "counts": lambda x: x.size + numpy.size(x) + numpy.size(x, 1) + x.nbytes + x.itemsize + len(x),
    "strides": lambda x: 100 * x.T.strides[0] + x.T.strides[1],
    "equal": lambda x: (x.dtype == numpy.float32) + 2 * (x.dtype == "float32") + 4 * (numpy.float64 == x.dtype),
    "limits": lambda x: float(numpy.finfo(x.dtype).eps),
    "text": lambda x: (x.dtype.name == "float32") + 2 * (x.device == "cpu"),
    "rows": lambda x: sum(row[1] for row in x) + [*x][2][3],
}
CASES = [(name, torch.arange(24.0).reshape(4, 6), ask) for name, ask in OF_TORCH.items()]
CASES += [(name, numpy.arange(24.0, dtype="f4").reshape(4, 6), ask) for name, ask in OF_NUMPY.items()]


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize(("name", "x", "ask"), CASES, ids=[f"{type(x).__name__}-{name}" for name, x, _ in CASES])
def test_dtypes_in_programs_are_those_of_the_library(name, x, ask, graph_capture):
    jitted = jit(graph_capture=graph_capture)(lambda x: x * 2.0 + ask(x))
    for _ in range(2):
        assert numpy.array_equal(numpy.asarray(jitted(x)), numpy.asarray(x * 2.0 + ask(x)))
    assert jitted.num_entries == 1, name


@pytest.mark.parametrize("graph_capture", [False, True])
def test_a_dtype_of_the_library_is_accepted_in_place_of_ttnns(graph_capture):
    @jit(graph_capture=graph_capture)
    def program(x, y):
        named = (x.dtype == ttnn.float32) + (ttnn.bfloat16 == y.dtype) - 2
        return ttnn.typecast(x, y.dtype) + named + ttnn.zeros(x.shape, dtype=y.dtype), ttnn.add(x, x, dtype=y.dtype)

    x, y = torch.randn(2, 3), torch.zeros(2, 3, dtype=torch.bfloat16)
    assert torch.equal(program(x, y)[0], x.to(torch.bfloat16))
    assert program(x, y)[1].dtype is torch.bfloat16


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int16, torch.int32, torch.int64], ids=str)
def test_integer_tensors_report_their_dtype(dtype, graph_capture):
    jitted = jit(graph_capture=graph_capture)(
        lambda x: x if x.dtype == dtype and x.itemsize == dtype.itemsize else None
    )
    x = torch.ones(2, dtype=dtype)
    assert jitted(x) is x
    with pytest.raises(CompileError, match=r"returns (no tensor|nothing)"):
        jitted(x.float())

    as_numpy = x.numpy()
    of_numpy = jit(graph_capture=graph_capture)(lambda x: x if x.dtype == as_numpy.dtype else None)
    assert of_numpy(as_numpy) is as_numpy
