"""Compiled operations run without torch and numpy, eagerly and jitted."""

from __future__ import annotations

import math
import sys

import pytest
import torch

from benchmarks.checkouts.replay_programs import _calls
from ttnn_jit import jit, ttnn
from ttnn_jit.ops import OPERATIONS, Elementwise, Reduction
from ttnn_jit.specs.dtypes import FLOATS

EXAMPLES_OF_A_KIND = 4
"""Operations of one family run in the same way, except those that check elements first."""


def chosen():
    """Operations that check elements or have several results, and some of each family."""
    met = dict.fromkeys(map(type, OPERATIONS), 0)
    for operation in OPERATIONS:
        is_special = operation.check is not None or not operation.gives_one_tensor
        if operation.fixed_keywords or not (operation.examples or type(operation) in {Elementwise, Reduction}):
            continue
        met[type(operation)] += not is_special
        if is_special or met[type(operation)] <= EXAMPLES_OF_A_KIND:
            yield operation


def tensor(shape, index, device, *, integer):
    numbers = torch.arange(math.prod(shape)).reshape(shape)
    values = numbers % 2 if integer else ((numbers * 7 + index) % 11 - 3).float()
    return ttnn.from_torch(values, dtype=ttnn.int32 if integer else ttnn.float32, device=device)


def calls(device):
    for operation in chosen():
        call = next(_calls(operation))
        namespace = {"ttnn": ttnn}
        exec(call["source"], namespace)
        shapes = call["shapes"] or ((32, 64),) * call["tensors"]
        arguments = [
            tensor(shape, index, device, integer=index in call["integers"] or not operation.dtypes & FLOATS)
            for index, shape in enumerate(shapes)
        ]
        yield namespace[call["program"]], arguments


@pytest.mark.slow
def test_every_kind_of_operation_runs_where_neither_torch_nor_numpy_can_be_imported(monkeypatch):
    device = ttnn.open_device(device_id=0, target="cpu")
    prepared = [(function, jit()(function), arguments) for function, arguments in calls(device)]
    assert len(prepared) > 40
    for function, jitted, arguments in prepared:
        function(*arguments)
        jitted(*arguments)
    with monkeypatch.context() as blocked:
        for name in [name for name in sys.modules if name.partition(".")[0] in {"torch", "numpy"}]:
            blocked.setitem(sys.modules, name, None)
        for function, jitted, arguments in prepared:
            function(*arguments)
            jitted(*arguments)
