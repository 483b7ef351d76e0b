"""An operation's refusal of a call is an error of its arguments, with the name that was called."""

from __future__ import annotations

import pytest
import torch

from ttnn_jit import jit, ttnn
from ttnn_jit.diagnostics.errors import CompileError, DTypeError, ShapeError

SHAPES = {
    "linear": lambda a, _: ttnn.linear(a, a),
    "matmul": lambda a, _: ttnn.matmul(a, a),
    "addmm": lambda a, _: ttnn.addmm(a, a, a),
    "add": lambda a, b: ttnn.add(a, b),
    "softmax": lambda a, _: ttnn.softmax(a, 5),
    "concat": lambda a, b: ttnn.concat([a, b], 0),
    "reshape": lambda a, _: ttnn.reshape(a, (5, 5)),
    "layer_norm": lambda a, b: ttnn.layer_norm(a, weight=b),
    "slice": lambda a, _: ttnn.slice(a, (0, -65), (32, 64)),
    "sum": lambda a, _: ttnn.sum(a, 3),
    "topk": lambda a, _: ttnn.topk(a, 100),
}
DTYPES = {
    "bitwise_and": lambda a, _: ttnn.bitwise_and(a, a),
    "embedding": lambda a, _: ttnn.embedding(a, a),
    "paged_update_cache": lambda a, _: ttnn.experimental.paged_update_cache(
        ttnn.reshape(a, (1, 1, 32, 64)), ttnn.reshape(a, (1, 1, 32, 64)), update_idxs_tensor=a, page_table=a
    ),
}
CASES = [(name, call, ShapeError) for name, call in SHAPES.items()]
CASES += [(name, call, DTypeError) for name, call in DTYPES.items()]


@pytest.mark.parametrize(("name", "call", "kind"), CASES, ids=[name for name, *_ in CASES])
def test_an_eager_call_is_refused_by_its_name_and_kind(name, call, kind, device):
    shapes = (32, 64), (32, 96)
    a, b = (ttnn.from_torch(torch.ones(shape), layout=ttnn.TILE_LAYOUT, device=device) for shape in shapes)
    with pytest.raises(kind, match=rf"`{name}`|of `(\w+\.)?{name}`") as error:
        call(a, b)
    assert isinstance(error.value, CompileError), "as such errors were before they had kinds"


@pytest.mark.parametrize("graph_capture", [False, True])
@pytest.mark.parametrize(("name", "call", "kind"), CASES, ids=[name for name, *_ in CASES])
def test_a_jitted_function_is_refused_at_its_line(name, call, kind, graph_capture):
    with pytest.raises(CompileError, match=rf"`{name}`|of `(\w+\.)?{name}`") as error:
        jit(graph_capture=graph_capture)(call)(torch.ones(32, 64), torch.ones(32, 96))
    assert not isinstance(error.value, kind)
    assert "^" in str(error.value)
