"""Every entry point of a module with several functions computes the result of its inlined body."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from tests.outlining import MAIN, built, called_by, depth_of, names_of, outlined, programs
from tests.unit.codegen.programs import assert_same_bits, bfloat16, native
from ttnn_jit.dialects import parse_module, print_module, verify
from ttnn_jit.dialects.functions import calls_of, entry_points, functions_of
from ttnn_jit.dialects.layout import spec_of
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.tensor_spec import DataType
from ttnn_jit.tools.stage_of_module import schedule, stage_of
from ttnn_jit.transforms import pipeline
from ttnn_jit.transforms.passes.inline import reduce_to_entry_point

_FLOATS = (DataType.FLOAT32, DataType.BFLOAT16)
quick = settings(max_examples=16, deadline=None, suppress_health_check=list(HealthCheck))
few = settings(quick, max_examples=8)
targets = pytest.mark.parametrize("target", ["cpu", "wormhole_b0"])
dialects = pytest.mark.parametrize("dialect", ["ttnn", "ttir"])


def assert_round_trip(module):
    verify(module)
    for locations in (False, True):
        text = print_module(module, locations=locations)
        assert print_module(parse_module(text), locations=locations) == text


def data_for(function, seed):
    generator = np.random.default_rng(seed)
    specs = [spec_of(argument.type) for argument in function.body.block.args]
    made = [generator.standard_normal(tuple(spec.shape)).astype(np.float32) for spec in specs]
    return [
        each if spec.dtype is DataType.FLOAT32 else bfloat16(each) if spec.dtype is DataType.BFLOAT16 else integers
        for each, spec in zip(made, specs, strict=True)
        for integers in [np.abs(each * 4).astype(spec.dtype.traits.numpy)]
    ]


def program_at(module, entry):
    """The scheduled module of one entry point."""
    program = module.clone()
    schedule(program, entry=entry)
    return program


@targets
@dialects
@given(data=st.data())
@quick
def test_calls_become_the_text_that_stood_there(target, dialect, data):
    module = built(data.draw(programs(target, dtypes=list(_FLOATS), sorts=True)), target, dialect)
    parts = parse_module(data.draw(outlined(module)))
    assert_round_trip(parts)
    reduce_to_entry_point(parts, MAIN)
    assert_round_trip(parts)
    assert calls_of(functions_of(parts)[0]) == []
    for each in (module, parts):  # a part with ttnn ops gets the device by itself
        pipeline.run(each, CompileOptions(), until=pipeline.STAGES[0])
    assert print_module(parts) == print_module(module)


@targets
@given(data=st.data())
@quick
def test_calls_around_kernels_become_the_text_that_stood_there(target, data):
    module = built(data.draw(programs(target)), target, "ttir")
    until = data.draw(st.sampled_from(pipeline.STAGES[1:-1]))
    pipeline.run(module, CompileOptions(), start_after=stage_of(module), until=until)
    parts = parse_module(data.draw(outlined(module)))
    assert_round_trip(parts)
    reduce_to_entry_point(parts, MAIN)
    assert_round_trip(parts)
    assert print_module(parts) == print_module(module)


@targets
@dialects
@given(data=st.data())
@quick
def test_every_entry_point_has_the_bits_of_the_interpreter_that_executes_calls(target, dialect, data):
    # Under IEEE numerics fusion decides where values are rounded, and remaining calls prevent fusion.
    dtypes = _FLOATS if target != "cpu" else (DataType.FLOAT32,)
    parts = parse_module(data.draw(outlined(built(data.draw(programs(target, dtypes=dtypes)), target, dialect))))
    literal = parts.clone()
    pipeline.run(literal, CompileOptions(), start_after=stage_of(literal), until=pipeline.SCHEDULED)
    for entry in names_of(entry_points(parts)):
        program = program_at(parts, entry)
        inputs = data_for(functions_of(program)[0], data.draw(st.integers(0, 99)))
        for got, wanted in zip(native(program, inputs), interpret(literal, inputs, entry), strict=True):
            assert_same_bits(got, wanted)


@targets
@dialects
@given(data=st.data())
@few
def test_every_stage_takes_functions_and_leaves_a_text_that_can_be_resumed(target, dialect, data):
    module = built(data.draw(programs(target)), target, dialect)
    parts = parse_module(data.draw(outlined(module)))
    stages = pipeline.STAGES[pipeline.STAGES.index(stage_of(parts)) + 1 :] if dialect == "ttir" else pipeline.STAGES
    stage = data.draw(st.sampled_from(stages))
    pipeline.run(parts, CompileOptions(), start_after=stage_of(parts), until=stage)
    assert_round_trip(parts)
    inputs = data_for(functions_of(module)[0], 1)
    resumed = program_at(parse_module(print_module(parts)), MAIN)
    for got, wanted in zip(native(resumed, inputs), native(program_at(module, MAIN), inputs), strict=True):
        assert_same_bits(got, wanted)


@pytest.mark.parametrize(
    "condition",
    [
        lambda module: depth_of(module) >= 3,
        lambda module: any(len(call.results) > 1 for each in functions_of(module) for call in calls_of(each)),
        lambda module: len(found := [*chain(*called_by(module).values())]) > len({*found}),
        lambda module: len(set(called_by(module)) - {*chain(*called_by(module).values())}) > 2,
        lambda module: len(entry_points(module)) > 2,
    ],
    ids=["calls in calls in calls", "several results", "a function called twice", "unused functions", "entry points"],
)
def test_the_generator_produces_every_case(condition):
    texts = programs("cpu").map(lambda program: built(program, "cpu", "ttir")).flatmap(outlined)
    drawn = settings(max_examples=500, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
    find(texts, lambda text: condition(parse_module(text)), settings=drawn)
