"""Python that is written from a module gives the module again."""

from __future__ import annotations

import linecache
import random
from itertools import count

import pytest

from tests.argument_walk import shapes_and_attributes
from tests.properties.calls.test_frontends_agree import ProgramWriter, function_from
from tests.unit.frontend.stand_in import BF16, CPU, F32, WORMHOLE, lowered
from ttnn_jit import ttnn
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import print_module
from ttnn_jit.emitpy import python_of
from ttnn_jit.frontend.writing.module_builder import ModuleBuilder
from ttnn_jit.ops import OVERLOADS, TYPECAST
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

OPERATIONS = {operation.ttnn_name: operation for each in OVERLOADS.values() for operation in each if not operation.body}
FILES = count()


def module_of(operation, shapes, statics, dtype):
    builder = ModuleBuilder("program", CPU, None)
    specs = [None if shape is None else TensorSpec(shape, dtype, Layout.TILE) for shape in shapes]
    operands = [None if spec is None else (builder.argument(spec), spec) for spec in specs]
    results = builder.results(operation, operands, statics, None)
    return builder.finish([value for value, _ in results]), [spec for spec in specs if spec is not None]


def function_of(source):
    """The function of a module's source; its lines can be read, as those of a file can."""
    source = source.replace("import ttnn\n", "\n", 1)
    file = f"<emitted {next(FILES)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = {"ttnn": ttnn}
    exec(compile(source, file, "exec"), names)
    return names


def again(source, specs, name="program", target=CPU):
    return print_module(lowered(function_of(source)[name], *specs, target=target).module)


@pytest.mark.parametrize("name", sorted({*OPERATIONS} - {TYPECAST.ttnn_name, "matmul_activation"}))
def test_each_operation_is_written_as_a_call_that_gives_its_module(name):
    operation = OPERATIONS[name]
    for shapes, statics in shapes_and_attributes(operation):
        for dtype in (DataType.BFLOAT16, DataType.INT32):
            extents = [(32, 64) if shape is ... else shape for shape in shapes]
            try:
                module, specs = module_of(operation, extents, statics, dtype)
            except CompileError:
                continue
            source = python_of(module)
            assert again(source, specs) == print_module(module), source


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("target", [CPU, WORMHOLE], ids=lambda target: target.name)
def test_a_random_program_is_written_and_gives_its_module(seed, target):
    function = function_from(ProgramWriter(random.Random(seed)).program(), f"<program {seed}>")
    arguments = BF16, F32 if seed % 2 else BF16.with_(shape=(1, 32))
    module = lowered(function, *arguments, target=target).module
    source = python_of(module)
    assert again(source, arguments, target=target) == print_module(module), source


def test_values_have_the_names_of_the_users_variables_and_numbers_are_written_where_they_are_used():
    text = """
def scaled(first, second):
    total = ttnn.add(first, second)
    best, places = ttnn.topk(ttnn.multiply(total, 0.5), 8, dim=-1, largest=False)
    moved = ttnn.to_memory_config(best, ttnn.L1_MEMORY_CONFIG)
    return ttnn.softmax(moved, -1), ttnn.typecast(places, ttnn.int32)
"""
    spec = TensorSpec((32, 64), DataType.FLOAT32, Layout.TILE)
    module = lowered(function_of(text)["scaled"], spec, spec, target=CPU).module
    source = python_of(module)
    assert (
        source
        == """import ttnn


def scaled(arg_0, arg_1):
    total = ttnn.add(arg_0, arg_1)
    multiply = ttnn.multiply(total, 0.5)
    best, places = ttnn.topk(multiply, k=8, dim=1, largest=False)
    moved = ttnn.to_memory_config(best, ttnn.L1_MEMORY_CONFIG)
    softmax = ttnn.softmax(moved, dim=1)
    typecast = ttnn.typecast(places, ttnn.int32)
    return softmax, typecast
"""
    )
    assert again(source, [spec, spec], "scaled") == print_module(module)


def test_an_op_without_a_call_is_refused_at_its_line():
    text = """def program(x):
    return ttnn.rand((32, 64), device=x.device()) + x
"""
    spec = TensorSpec((32, 64), DataType.FLOAT32, Layout.TILE)
    module = lowered(function_of(text)["program"], spec, target=CPU).module
    with pytest.raises(CompileError, match=r":2:.*has no call in ttnn"):
        python_of(module)
