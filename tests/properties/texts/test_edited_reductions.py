"""A dump of a reduction loop with one edited line gives its result, or an error at its location."""

from __future__ import annotations

import math
import re
from functools import cache

import pytest
import torch

from tests.properties.texts.test_edited_maps import STAGES
from ttnn_jit import jit, ttnn
from ttnn_jit.compiler import driver
from ttnn_jit.diagnostics.errors import CompileError
from ttnn_jit.dialects import parse_module, verify
from ttnn_jit.dialects.d2m import MaskOp
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.runtime.elements.torch_elements import torch_tensor
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.transforms import pipeline

X = torch.arange(33.0 * 40).reshape(33, 40) - 500.0
Y = torch.arange(40.0 * 34).reshape(40, 34) % 37.0
REFUSED = None


def rows(x):
    return ttnn.sum(x, dim=1, keepdim=True)


def largest(x):
    return ttnn.max(x, dim=0)


def product(x, y):
    return x @ y


INPUTS = {rows: (X,), largest: (X,), product: (X, Y)}


@cache
def dump(program, stage):
    return jit()(program).ir(*INPUTS[program], stage=stage)


def native(module, inputs):
    program = driver.compile_scheduled(module)
    (result,) = program.allocate_outputs()
    program.run(*(x.data_ptr() for x in inputs), result.address)
    return torch_tensor(program.plan.outputs[0], result).clone()


def interpreted(module, inputs):
    return torch.from_numpy(interpret(module, [x.numpy() for x in inputs])[0])


def result_of(executor, text, stage, inputs):
    """The result of a dump in `executor`; `REFUSED` if it ends with an error at a location in it."""
    try:
        module = parse_module(text, "dump.mlir")
        verify(module)
        if stage != pipeline.SCHEDULED:
            pipeline.run(module, CompileOptions(), start_after=STAGES[stage], until=pipeline.SCHEDULED)
        return executor(module, inputs)
    except CompileError as error:
        refusal = error
    assert refusal.location is not None, refusal.message
    assert refusal.location.file == "dump.mlir"
    return REFUSED


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("program", INPUTS, ids=lambda program: program.__name__)
def test_a_dump_of_any_stage_computes_the_function(program, stage):
    want = jit()(program)(*INPUTS[program])
    for executor in (native, interpreted):
        assert torch.equal(result_of(executor, dump(program, stage), stage, INPUTS[program]), want)


UNDER_A_MASK_OF_ONES = X.sum(1, keepdim=True) + 24.0
"""The sums including the 24 elements that fill the second tile."""


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    ("program", "old", "new", "meanings"),
    [
        (rows, "iterator_types = [#parallel, #reduction]", "iterator_types = [#parallel, #parallel]", ()),
        (rows, "iterator_types = [#parallel, #reduction]", "iterator_types = [#reduction, #parallel]", ()),
        (rows, "(d0, d1) -> (d0, 0)", "(d0, d1) -> (0, d1)", ()),
        (rows, "(d0, d1) -> (d0, 0)", "(d0, d1) -> (d0, d1)", ()),
        (rows, "(d0, d1) -> (d0, d1)>", "(d0, d1) -> (d1, d0)>", ()),
        (rows, "reduce_dim R", "reduce_dim C", ()),
        (rows, " <{reduce_dim = #d2m<reduce_dim R>}>", "", ()),
        (rows, "fill_value = <zero>", "fill_value = <one>", (UNDER_A_MASK_OF_ONES,)),
        (rows, "logical_shape = [33, 40]", "logical_shape = [33, 39]", ()),
        (rows, "constant 1.000000e+00", "constant 2.000000e+00", (2.0 * X.sum(1, keepdim=True),)),
        (rows, "tile_reduce_sum", "tile_reduce_max", (X.amax(1, keepdim=True).clamp(min=0.0),)),
        (largest, "iterator_types = [#reduction, #parallel]", "iterator_types = [#parallel, #reduction]", ()),
        (largest, "(d0, d1) -> (0, d1)", "(d0, d1) -> (0, 0)", ()),
        (largest, "tile_reduce_max", "tile_reduce_min", (torch.full((40,), -math.inf),)),
        (product, "[#parallel, #parallel, #reduction]", "[#parallel, #parallel, #parallel]", ()),
        (product, "[#parallel, #parallel, #reduction]", "[#reduction, #parallel, #parallel]", ()),
        (product, "(d0, d1, d2) -> (d0, d2)", "(d0, d1, d2) -> (d2, d0)", ()),
        (product, "(d0, d1, d2) -> (d0, d2)", "(d0, d1, d2) -> (d0, 0)", ()),
        (product, "(d0, d1, d2) -> (d2, d1)", "(d0, d1, d2) -> (d1, d2)", ()),
        (product, "(d0, d1, d2) -> (d0, d1)", "(d0, d1, d2) -> (d1, d0)", ()),
        (product, "fill_value = <zero>", "fill_value = <one>", (X @ Y + 24.0,)),
    ],
)
def test_an_edited_reduction_loop_gives_its_result_or_an_error_at_its_location(program, old, new, meanings, stage):
    text = dump(program, stage)
    assert old in text
    edited = text.replace(old, new)
    for executor in (native, interpreted):
        result = result_of(executor, edited, stage, INPUTS[program])
        assert result is REFUSED or any(torch.equal(result, meaning) for meaning in meanings)


@pytest.mark.parametrize(
    ("program", "old", "new"),
    [
        (rows, r"%cst_0 = arith.constant 0.000000e\+00", "%cst_0 = arith.constant 1.000000e+00"),
        (rows, r"(tile_fill.*)%cst_0", r"\g<1>%cst"),
        (rows, r"(affine.store %\d+, %dst\[)0", r"\g<1>1"),
        (rows, r"%c2( step %c1 {\s+%subview_1)", r"%c1\1"),
        (product, r"%c2( step %c1 {\s+%subview_\d = .*\s+%subview)", r"%c1\1"),
        (product, r"(tile_matmul\"\()(%\d+), (%\d+)", r"\g<1>\3, \2"),
        (largest, "constant 0xFF800000", "constant 0x7F800000"),
    ],
)
def test_other_accumulators_and_loops_that_skip_tiles_are_refused(program, old, new):
    edited, edits = re.subn(old, new, dump(program, pipeline.SCHEDULED))
    assert edits
    assert result_of(native, edited, pipeline.SCHEDULED, INPUTS[program]) is REFUSED


@pytest.mark.parametrize("program", [rows, product])
def test_padding_that_is_not_masked_is_not_reduced(program):
    module = parse_module(dump(program, pipeline.SCHEDULED), "dump.mlir")
    for op in list(module.walk()):
        if isinstance(op, MaskOp):
            op.result.replace_all_uses_with(op.input)
    with pytest.raises(CompileError, match="would take part"):
        native(module, INPUTS[program])


def factors(x, y):
    return ttnn.matmul(x, y, transpose_b=True)


COLUMNS = {"d1 * -1 + 39": (rows, factors), "d1 mod 5": (factors,), "d1 mod 7": ()}
"""By the column of a view: its reader; the contracted dimension of a product may be several loops."""


@pytest.mark.parametrize(("program", "inputs"), [(rows, (X,)), (factors, (X, X))])
@pytest.mark.parametrize("column", COLUMNS)
def test_an_operation_beside_kernels_reduces_a_view_or_is_refused_at_its_location(program, inputs, column):
    lines = jit()(program).ir(*inputs, stage="cse").splitlines(keepends=True)
    at, line = next((at, line) for at, line in enumerate(lines) if '= "ttir.' in line)
    tensor = re.search(r"tensor<33x40[^>]*>", line)[0]
    lines[at] = line.replace('"(%arg0', '"(%view')
    remapping = f"affine_map<(d0, d1) -> (d0, {column})>"
    lines.insert(at, f'%view = "d2m.view_layout"(%arg0) <{{remapping = {remapping}}}> : ({tensor}) -> {tensor}\n')
    result = result_of(native, "".join(lines), pipeline.SCHEDULED, inputs)
    if program not in COLUMNS[column]:
        assert result is REFUSED
        return
    viewed = X[:, eval(column.replace("mod", "%"), {"d1": torch.arange(40)})]
    assert torch.equal(result, viewed.sum(1, keepdim=True) if program is rows else viewed @ X.T)


def test_a_reduction_whose_result_nobody_reads_is_accepted():
    x, function = X.bfloat16(), jit()(lambda x: rows(ttnn.neg(x)))
    lines = function.ir(x, stage=pipeline.SCHEDULED).splitlines(keepends=True)
    *_, first = (at for at, line in enumerate(lines) if "d2m.generic" in line)
    *_, last = (at for at, line in enumerate(lines) if line.startswith("    } : tensor"))
    unread = re.sub(r"%\d+ = d2m.generic", "%unread = d2m.generic", "".join(lines[first : last + 1]))
    text = "".join([*lines[: last + 1], unread, *lines[last + 1 :]])
    assert torch.equal(result_of(native, text, pipeline.SCHEDULED, (x,)), function(x))
