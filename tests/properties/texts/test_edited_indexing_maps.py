"""A dump with an edited indexing map of a kernel gives one result in every executor, or an error at its location."""

from __future__ import annotations

from functools import cache

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ArrayAttr
from xdsl.parser import Parser

from tests.properties.texts.test_edited_maps import STAGES, result_of
from ttnn_jit import jit, ttnn
from ttnn_jit.compiler import driver
from ttnn_jit.dialects import context, parse_module
from ttnn_jit.dialects.d2m import GenericOp
from ttnn_jit.interpreters.tile_interpreter import interpret
from ttnn_jit.runtime.elements.torch_elements import torch_tensor

SHAPE = (64, 96)
INPUTS = [torch.arange(64 * 96.0).reshape(SHAPE) / 1000, torch.arange(64 * 96.0).flip(0).reshape(SHAPE) / 700]


def fused(x, y):
    return ttnn.add(ttnn.multiply(x, 2.0), y)


def reduced(x, y):
    return ttnn.sum(ttnn.multiply(x, y), 1)


def contracted(x, y):
    return ttnn.matmul(x, y, transpose_b=True)


def broadcast(x, y):
    return ttnn.add(x, ttnn.sum(y, 1, True))


def in_batches(x, y):
    return ttnn.add(ttnn.reshape(x, (2, 32, 96)), ttnn.reshape(y, (2, 32, 96)))


PROGRAMS = [fused, reduced, contracted, broadcast, in_batches]
CONSTANTS = (0, 1, 5)


@cache
def dump(program, stage):
    return parse_module(jit()(program).ir(*INPUTS, stage=stage), "dump.mlir")


def native(module):
    program = driver.compile_scheduled(module)
    (result,) = program.allocate_outputs()
    program.run(*(x.data_ptr() for x in INPUTS), result.address)
    return torch_tensor(program.plan.outputs[0], result).clone()


def interpreted(module):
    return torch.from_numpy(interpret(module, [x.numpy() for x in INPUTS])[0])


def kernels_of(module):
    return [op for op in module.walk() if isinstance(op, GenericOp)]


@st.composite
def edits(draw):
    program, stage = draw(st.sampled_from(PROGRAMS)), draw(st.sampled_from([*STAGES]))
    kernels = kernels_of(dump(program, stage))
    kernel = draw(st.integers(0, len(kernels) - 1))
    maps = kernels[kernel].indexing_maps.data
    index = draw(st.integers(0, len(maps) - 1))
    dims = [f"d{dim}" for dim in range(maps[index].data.num_dims)]
    results = [draw(st.sampled_from([*dims, *CONSTANTS])) for _ in maps[index].data.results]
    return program, stage, kernel, index, f"affine_map<({', '.join(dims)}) -> ({', '.join(map(str, results))})>"


@settings(max_examples=300, deadline=None)
@given(edits())
def test_an_edited_indexing_map_gives_the_same_in_every_executor_or_an_error_at_its_location(edit):
    program, stage, kernel, index, text = edit
    module = dump(program, stage).clone()
    edited = kernels_of(module)[kernel]
    maps = [*edited.indexing_maps.data]
    maps[index] = Parser(context(), text).parse_attribute()
    edited.properties["indexing_maps"] = ArrayAttr(maps)
    found = [result_of(executor, module.clone(), stage) for executor in (native, interpreted)]
    assert (found[0] is None) == (found[1] is None)
    assert found[0] is None or torch.equal(*found)
