"""A dump with an edited map of a view gives the result of that map in every executor, or an error at its line."""

from __future__ import annotations

from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.parser import Parser

from ttnn_jit import jit, ttnn
from ttnn_jit.compiler import driver
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import context, parse_module, verify
from ttnn_jit.dialects.d2m import ViewLayoutOp
from ttnn_jit.dialects.declared_ops import MovementOp
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.runtime.elements.torch_elements import torch_tensor
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.transforms import pipeline

SHAPE = (12, 8)
INPUTS = [torch.arange(96.0).reshape(SHAPE), torch.arange(96.0).flip(0).reshape(SHAPE) * 3.0]


def transposed(x, y):
    return ttnn.subtract(ttnn.transpose(x, 0, 1), ttnn.transpose(y, 0, 1))


def regrouped(x, y):
    return ttnn.add(ttnn.reshape(x, (3, 32)), ttnn.reshape(ttnn.multiply(y, 2.0), (3, 32)))


def cut_in_threes(x, y):
    return ttnn.minimum(ttnn.transpose(x[:, :3], 0, 1), ttnn.reshape(y[:, :3], (3, 12)))


def joined(x, y):
    return ttnn.concat([ttnn.permute(x, (1, 0)), ttnn.slice(y, (0, 1), (8, 8))], dim=1)


def summed(x, y):
    return ttnn.subtract(ttnn.sum(x, dim=1), ttnn.sum(ttnn.multiply(y, 2.0), dim=1))


def multiplied(x, y):
    return ttnn.matmul(x, y, transpose_b=True)


PROGRAMS = {
    transposed: ((8, 12), lambda edited, x, y: edited(x) - edited(y)),
    regrouped: ((3, 32), lambda edited, x, y: edited(x) + edited(y * 2.0)),
    cut_in_threes: ((3, 12), lambda edited, x, y: torch.minimum(edited(x), y[:, :3].reshape(3, 12))),
    joined: ((8, 12), lambda edited, x, y: torch.cat([edited(x), y[:8, 1:]], 1)),
    summed: ((8, 12), lambda edited, x, y: edited(x).sum(0) - edited(y * 2.0).sum(0)),
    multiplied: ((8, 12), lambda edited, x, y: x @ edited(y)),
}
"""Program -> extents of its first view, and torch's result with an edited view."""
STAGES = {
    "convert-ttir-to-d2m": "convert-ttir-to-d2m",
    "d2m-scalarize-const-tensors": "d2m-generic-fusion",  # as if fusion had fused nothing
    "d2m-generic-fusion": "d2m-generic-fusion",
    pipeline.SCHEDULED: pipeline.SCHEDULED,
}
"""Stage of a dump -> the stage after which it is resumed."""


@cache
def dump(program, stage):
    return parse_module(jit()(program).ir(*INPUTS, stage=stage), "dump.mlir")


def gathered(expressions, extents):
    """Reads the elements of a tensor that a map selects; None if some do not exist."""
    d0, d1 = torch.meshgrid(*map(torch.arange, extents), indexing="ij")
    text = ", ".join(expressions).replace("floordiv", "//").replace("mod", "%")
    at = [torch.as_tensor(found).expand(extents) for found in eval(text, {"d0": d0, "d1": d1})]
    inside = all(found.min() >= 0 and found.max() < extent for found, extent in zip(at, SHAPE, strict=True))
    return (lambda x: x[tuple(at)]) if inside else None


NUMBERS = st.integers(1, 13)
EXPRESSIONS = st.recursive(
    st.sampled_from(["d0", "d1"]),
    lambda inner: st.one_of(
        st.builds("({} floordiv {})".format, inner, NUMBERS),
        st.builds("({} mod {})".format, inner, NUMBERS),
        st.builds("({} * {} + {})".format, inner, st.integers(-4, 12), inner),
        st.builds("({} * {} + {})".format, inner, st.integers(-3, 3), st.integers(-12, 12)),
    ),
    max_leaves=4,
)


def inside(extent):
    """Accepted dumps: at least half of them."""
    return st.one_of(EXPRESSIONS, st.builds(f"({{}} mod {extent})".format, EXPRESSIONS))


def affine_map(expressions):
    return Parser(context(), f"affine_map<(d0, d1) -> ({', '.join(expressions)})>").parse_attribute()


def native(module):
    program = driver.compile_scheduled(module)
    (result,) = program.allocate_outputs()
    program.run(*(x.data_ptr() for x in INPUTS), result.address)
    return torch_tensor(program.plan.outputs[0], result)


def interpreted(module):
    return torch.from_numpy(interpret(module, [x.numpy() for x in INPUTS])[0])


def result_of(executor, module, stage):
    """The result of an edited dump in `executor`; None if it is refused at a location in it."""
    try:
        verify(module)
        if stage != pipeline.SCHEDULED:
            pipeline.run(module, CompileOptions(), start_after=STAGES[stage], until=pipeline.SCHEDULED)
        return executor(module)
    except CompileError as error:
        refusal = error
    assert refusal.location is not None, refusal.message
    assert refusal.location.file == "dump.mlir"
    return None


def edited_and_run(program, stage, expressions, and_edited=lambda _: None):
    """Runs the dump with another first map in both executors, which are right or refuse; whether native code ran."""
    extents, in_torch = PROGRAMS[program]
    module = dump(program, stage).clone()
    views = [op for op in module.walk() if isinstance(op, ViewLayoutOp)]
    for view in [view for view in views if view.remapping == views[0].remapping]:
        view.properties["remapping"] = affine_map(expressions)
    and_edited(module)
    edited = gathered(expressions, extents)
    found = [result_of(executor, module.clone(), stage) for executor in (native, interpreted)]
    for result in found:
        assert result is None or (edited is not None and torch.equal(result, in_torch(edited, *INPUTS)))
    return found[0] is not None


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(list(PROGRAMS)), st.sampled_from(list(STAGES)), st.tuples(inside(SHAPE[0]), inside(SHAPE[1])))
def test_an_edited_map_gives_its_result_or_an_error_at_its_location(program, stage, expressions):
    edited_and_run(program, stage, expressions)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("program", [summed, multiplied])
@pytest.mark.parametrize(
    ("column", "is_walked"), [("d0", True), ("d0 mod 4", True), ("d0 floordiv 2", True), ("d0 mod 5", False)]
)
def test_a_reduction_loop_reads_an_edited_view_or_a_copy_of_it_or_is_refused(program, column, is_walked, stage):
    assert edited_and_run(program, stage, ("d1", column)) == is_walked


@pytest.mark.parametrize("stage", STAGES)
def test_kernels_whose_views_no_common_loops_traverse_are_not_fused(stage):
    assert edited_and_run(cut_in_threes, stage, ("d1 floordiv 2", "d0"))


@pytest.mark.parametrize(("column", "is_walked"), [("d0", True), ("d0 mod 4", True), ("d0 mod 5", False)])
def test_an_operation_beside_kernels_reads_an_edited_view_or_is_refused_at_its_location(column, is_walked):
    def concat_the_view_itself(module):
        view, concat = (next(op for op in module.walk() if isinstance(op, kind)) for kind in (ViewLayoutOp, MovementOp))
        concat.operands[0] = view.result

    assert edited_and_run(joined, pipeline.SCHEDULED, ("d1", column), concat_the_view_itself) == is_walked
