"""A compile does a fixed amount of work per operation: counted, not timed."""

import sys
from collections import Counter

import pytest

from ttnn_jit import compiler, ttnn
from ttnn_jit.codegen import llvm_kernel
from ttnn_jit.target import PRESETS
from ttnn_jit.tensor_spec import DataType, Layout, TensorSpec

SPEC = TensorSpec((32, 64), DataType.FLOAT32, Layout.TILE)


def chain(x, y, count):
    value = x
    for _ in range(count):
        value = ttnn.add(ttnn.multiply(value, y), x)
    return value


def squares(x, y, count):
    """No operation of it fuses with another: each reads one value twice."""
    value = x
    for _ in range(count):
        value = ttnn.add(ttnn.multiply(value, value), y)
        value = ttnn.subtract(value, value)
    return value


def calls_of_a_compile(count, target, written=chain):
    """Function -> how often Python entered it while a program of `count` groups of operations was compiled."""

    def program(x, y):
        return written(x, y, count)

    request = compiler.Request(program, {"x": SPEC, "y": SPEC}, PRESETS[target], compiler.CompileOptions())
    llvm_kernel.kernel_text.cache_clear()
    calls = Counter()

    def count_call(frame, event, _):
        if event == "call":
            calls[frame.f_code] += 1

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        compiler.compile_function(request, use_disk=False)
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize(("target", "written"), [("cpu", chain), ("wormhole_b0", chain), ("wormhole_b0", squares)])
def test_ten_more_operations_cost_what_ten_fewer_did(target, written, monkeypatch):
    monkeypatch.setattr(compiler, "_objects", lambda code: dict.fromkeys(code.texts, b""))
    calls_of_a_compile(3, target, written)  # what is done once per process is done now
    few, some, many = (sum(calls_of_a_compile(count, target, written).values()) for count in (20, 40, 80))
    assert many - some <= 2.1 * (some - few)
