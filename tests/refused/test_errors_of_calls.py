"""What wrong tensors, functions and cores are told at a call, to the letter."""

# ruff: noqa: ARG005 - every action is given the device

from __future__ import annotations

import functools
import math

import numpy
import pytest
import torch

import ttnn_jit
from tests.refused.tiled import BLOCK, X, double, tiled
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import ArgumentError


def test_a_core_that_is_too_small_is_named_with_what_lies_there(device):
    config = ttnn.create_sharded_memory_config((64, 4096), ttnn.CoreGrid(x=1, y=1), BLOCK)
    held = tiled(device, torch.zeros(64, 4096), memory_config=config)
    view = device.memory_view()
    assert (view.used, view.cores[0].used, view.cores[1].used) == (1 << 20, 1 << 20, 0)
    cores = "CoreRangeSet([CoreRange((x=0, y=0) to (x=0, y=0))])"
    spec = (
        f"TensorSpec([64, 4096], f32, TILE, l1, block_sharded ShardSpec({cores}, [64, 4096], "
        "ShardOrientation.ROW_MAJOR))"
    )
    text = (
        f"L1 of core (x=0, y=0) is too small: {spec} needs 1,048,576 bytes there, of 1,369,120 there are 320,544 left. "
        f"It holds 1,048,576 bytes of {spec}\n"
        "help: deallocate tensors, spread them over more cores, or keep them in `ttnn.DRAM_MEMORY_CONFIG`"
    )
    for action in (lambda: double(held), lambda: ttnn.exp(held), lambda: ttnn.clone(held)):
        with pytest.raises(RuntimeError) as raised:
            action()
        assert str(raised.value) == text
    assert device.memory_view().used == 1 << 20
    ttnn.deallocate(held)
    assert device.memory_view().used == 0
    assert device.memory_view().high_water == 1 << 20
    assert str(device.memory_view()).startswith("L1 of 64 cores, 1,369,120 bytes each: 0 used on the fullest, ")


def test_an_output_tensor_that_does_not_fit_is_left_as_it_was(device):
    output = ttnn.zeros((32, 64), ttnn.float32, ttnn.TILE_LAYOUT, device)
    text = r"^ttnn.exp has a result of .*64, 64.*, and writes into a tensor of .*32, 64"
    compiles = ttnn_jit.cache_info().compiles
    with pytest.raises(ValueError, match=text):
        ttnn.exp(tiled(device), output_tensor=output)
    assert ttnn_jit.cache_info().compiles == compiles
    ttnn.exp(tiled(device), output_tensor=ttnn.zeros_like(tiled(device)))
    device.clear_program_cache()
    with pytest.raises(ValueError, match=text):
        ttnn.exp(tiled(device), output_tensor=output)
    assert device.num_program_cache_entries() == 0
    assert not output.to_torch().any()


def test_an_output_tensor_that_was_deallocated_is_refused_before_anything_runs(device):
    x, output = tiled(device), tiled(device)
    ttnn.deallocate(output)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"^ttnn.exp: the tensor was deallocated"):
            ttnn.exp(x, output_tensor=output)
    assert device.num_program_cache_entries() == 0


def test_a_compiled_program_says_what_it_takes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # `compile_only` writes below the current folder
    program = ttnn_jit.jit(compile_only=True)(lambda x: x * 2.0)(X)
    with pytest.raises(ValueError, match="argument 0 is a ") as raised:
        program(X)
    assert str(raised.value) == (
        "lambda: argument 0 is a torch.Tensor; the program was compiled for torch or numpy memory, of which it takes "
        "addresses only\n"
        "help: call the jitted function itself, without `compile_only`; or give addresses to `Program.run`"
    )


@pytest.mark.parametrize(
    "action",
    [
        lambda x: ttnn.exp(X), lambda x: ttnn.add(x, X), lambda x: x + X, lambda x: ttnn.add(x, x, output_tensor=X),
        lambda x: ttnn.to_torch(X), lambda x: ttnn.clone(X), lambda x: ttnn.zeros_like(X),
        lambda x: ttnn.from_device(X),
    ],
)  # fmt: skip
def test_a_torch_tensor_given_to_eager_ttnn_is_told_how_to_become_one_of_ttnns(device, action):
    with pytest.raises(
        ValueError, match=r"got (a )?torch\.Tensor\nhelp: .*`ttnn\.from_torch\(tensor, layout="
    ) as raised:
        action(tiled(device))
    assert "numpy" not in str(raised.value)


def test_a_numpy_array_given_to_eager_ttnn_is_told_how_to_become_a_tensor(device):
    for action in (ttnn.exp, lambda array: array + tiled(device)):
        with pytest.raises(ValueError, match=r"got numpy\.ndarray\nhelp: .*`ttnn\.from_torch\(torch\.from_numpy"):
            action(numpy.ones((32, 32), numpy.float32))


def test_a_missing_element_type_says_why_under_both_its_names():
    reason = "no element type of that name is implemented"
    for find in (lambda: ttnn.DataType.FP8_E4M3, lambda: ttnn.fp8_e4m3, lambda: ttnn.DataType.INT8):
        with pytest.raises(AttributeError, match=reason):
            find()
    assert ttnn.DataType.BFLOAT16 is ttnn.bfloat16
    assert not hasattr(ttnn.DataType, "FP8_E4M3")


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda x: x // 2, "the operator `//` is not supported on tensors\nhelp: write `ttnn.floor_divide(x, y)`"),
        (lambda x: 2 // x, "the operator `//` is not supported on tensors\nhelp: write `ttnn.floor_divide(x, y)`"),
        (
            lambda x: x % x,
            "the operator `%` is not supported on tensors\n"
            "help: write `ttnn.remainder(x, y)`, or `ttnn.fmod(x, y)` for the sign of x",
        ),
        (lambda x: +x, "the operator `+` is not supported on tensors\nhelp: write `x`"),
    ],
)
def test_an_operator_that_tensors_lack_says_what_to_write_eager_parsed_and_traced(device, action, text):
    for call in (action, ttnn_jit.jit(action), ttnn_jit.jit(graph_capture=True)(action)):
        with pytest.raises(ttnn_jit.diagnostics.errors.TtnnJitError) as raised:
            call(tiled(device))
        first, help_text = text.split("\n")
        assert first in str(raised.value)
        assert str(raised.value).endswith(help_text)


@pytest.mark.parametrize(
    ("value", "name"),
    [(int, "type"), (abs, "builtin_function_or_method"), (torch.nn.ReLU(), "torch.ReLU")],
)
def test_only_python_functions_are_jitted(value, name):
    with pytest.raises(ValueError, match=f"^@jit takes a Python function, got {name}\n"):
        ttnn_jit.jit(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (staticmethod(double.func), "got staticmethod\nhelp: write `@staticmethod` above `@jit`"),
        (functools.partial(double.func), "got functools.partial\nhelp: jit its function, and make a partial of"),
        (functools.lru_cache(double.func), "got functools._lru_cache_wrapper\nhelp: remove the cache"),
        (torch.nn.ReLU().forward, "got method\nhelp: write `@jit` above a `def` in the class"),
        (torch.nn.ReLU, "got type\nhelp: write `@jit` above a `def` in the class"),
    ],
)
def test_what_wraps_a_function_is_told_to_go_around_jit(value, text):
    with pytest.raises(ValueError, match=text):
        ttnn_jit.jit(value)


def test_torch_and_numpy_in_one_call_are_told_how_to_meet():
    text = "numpy arrays and torch tensors in one call: `x` is a torch tensor, `y` is a numpy array\n"
    with pytest.raises(ValueError, match=rf"{text}help: pass `torch\.from_numpy"):
        ttnn_jit.jit(lambda x, y: x + y)(X, X.numpy())


def test_using_a_deallocated_tensor_names_the_operation_and_the_tensor(device):
    tensor = tiled(device)
    ttnn.deallocate(tensor)
    shown = (
        "the tensor was deallocated: ttnn.Tensor(<buffer is not allocated>, shape=Shape([64, 64]), "
        "dtype=DataType.FLOAT32, layout=Layout.TILE)\n"
        "help: use it before `ttnn.deallocate`, or keep a copy of it"
    )
    for action, name in (
        (ttnn.exp, "ttnn.exp"),
        (double, "double"),
        (ttnn.to_torch, "to_torch"),
        (ttnn.clone, "clone"),
        (lambda x: ttnn.typecast(x, ttnn.bfloat16), "typecast"),
        (lambda x: ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), "to_layout"),
        (lambda x: x.to(ttnn.ROW_MAJOR_LAYOUT), "to"),
    ):
        with pytest.raises(RuntimeError) as raised:
            action(tensor)
        assert str(raised.value) == f"{name}: {shown}"


def test_wrong_arguments_start_as_the_document_says(device):
    with pytest.raises(ValueError, match=r"^Invalid arguments for function double: too many positional arguments"):
        double(tiled(device), tiled(device))


def test_a_result_that_no_memory_holds_is_refused_at_the_operation():
    column, row = (torch.empty(1, 1).expand(shape) for shape in ((2**31, 1), (1, 2**31)))
    with pytest.raises(
        ttnn_jit.diagnostics.errors.CompileError, match=r"has more than 4,611,.* bytes(.|\n)*\^\^\^\^\^"
    ):
        ttnn_jit.jit(lambda x, y: x * y)(column, row)


@pytest.mark.parametrize("number", [float, int, complex, math.exp])
def test_a_tensor_is_no_number(device, number):
    with pytest.raises(ValueError, match=r"of a ttnn tensor is not supported\nhelp: .*item\(\)"):
        number(tiled(device, torch.ones(1, 1)))


def test_one_output_tensor_does_not_hold_several_results(device):
    for call in (ttnn.chunk, ttnn.split):
        with pytest.raises(ArgumentError, match=r"`output_tensor` does not apply to .*, which has several results"):
            call(tiled(device), 2, output_tensor=tiled(device))
