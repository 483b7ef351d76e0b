"""A builder without rules of ``@jit`` produces the same ops as the passes, and calls."""

from __future__ import annotations

import pytest

from ttnn_jit.diagnostics.errors import CompileError, OperandDTypeError
from ttnn_jit.diagnostics.source import Location
from ttnn_jit.dialects import parse_module, print_module, verify
from ttnn_jit.dialects.function_builder import TTIR, TTNN, FunctionBuilder, module_of
from ttnn_jit.dialects.locations import locations_of
from ttnn_jit.ops import OVERLOADS
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec
from ttnn_jit.transforms import pipeline

both = pytest.mark.parametrize("dialect", [TTNN, TTIR], ids=["ttnn", "ttir"])
targets = pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
SPEC = TensorSpec((32, 64), DataType.BFLOAT16, Layout.TILE)


def program(dialect, target):
    """A function that another one calls twice: numbers, a composite, two results."""
    numerics = PRESETS[target].numerics
    inner = FunctionBuilder(dialect, "inner", numerics, None)
    x = inner.argument(SPEC), SPEC
    scaled = inner.operation(OVERLOADS["multiply"][0], (x, 0.1), (), None)
    chosen = inner.operation(OVERLOADS["softmax"][0], (scaled,), (-1, False), None)
    callee = inner.function([chosen[0], scaled[0]], is_private=True)
    outer = FunctionBuilder(dialect, "outer", numerics, None)
    first, second = outer.call(callee, [outer.argument(SPEC)], None)
    again, _ = outer.call(callee, [second[0]], None)
    total = outer.operation(OVERLOADS["add"][0], (first, again), (), None)
    return module_of([outer.function([total[0]]), callee], PRESETS[target])


@both
@targets
def test_a_built_module_is_valid_and_parses_back(dialect, target):
    module = program(dialect, target)
    verify(module)
    text = print_module(module)
    assert print_module(parse_module(text)) == text
    assert "func.func private @inner" in text
    assert text.count("call @inner") == 2


@targets
def test_the_ttir_builder_and_the_first_stage_produce_the_same_function(target):
    module = program(TTNN, target)
    pipeline.run(module, CompileOptions(), until=pipeline.STAGES[0])
    assert print_module(module) == print_module(program(TTIR, target))


def test_a_result_has_the_type_of_the_declaration():
    builder = FunctionBuilder(TTIR, "f", PRESETS["cpu"].numerics, None)
    x = builder.argument(SPEC), SPEC
    ((_, spec),) = builder.results(OVERLOADS["sum"][0], (x,), ((1,), False), None)
    assert tuple(spec.shape) == (32,)
    _, wide = builder.operation(OVERLOADS["exp"][0], (x,), (), None, dtype=DataType.FLOAT32)
    assert wide.dtype is DataType.FLOAT32


def test_an_element_type_that_the_operation_does_not_take_is_refused_at_the_call():
    builder = FunctionBuilder(TTIR, "f", PRESETS["cpu"].numerics, None)
    spec = SPEC.with_(dtype=DataType.INT32)
    x = builder.argument(spec), spec
    with pytest.raises(OperandDTypeError, match="`exp` does not take INT32 tensors"):
        builder.operation(OVERLOADS["exp"][0], (x,), (), None)
    with pytest.raises(CompileError, match=r"model\.py:3:4") as refused:
        builder.operation(OVERLOADS["exp"][0], (x,), (), Location("model.py", 3, 4))
    assert refused.value.help.startswith("it takes BFLOAT16")


def test_a_call_has_the_locations_of_its_call_stack():
    module = program(TTNN, "cpu")
    callee = module.body.block.last_op
    builder = FunctionBuilder(TTNN, "third", PRESETS["cpu"].numerics, None)
    location = Location("model.py", 7, 2, called_from=Location("main.py", 1, 1))
    builder.call(callee, [builder.argument(SPEC)], location)
    assert [(each.file, each.line) for each in locations_of(builder.block.last_op)] == [("model.py", 7), ("main.py", 1)]
