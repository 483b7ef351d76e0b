"""No result depends on which buffers of a program share a storage, nor on what it held before."""

from __future__ import annotations

import ctypes
import random
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import ttnn_jit
from tests.properties.extents.random_programs import RandomProgram
from tests.properties.loops.test_random_layer_programs import function_of, programs
from tests.properties.meshes.test_mesh_programs import Random
from tests.sampling import drawn
from tests.unit.codegen.programs import assert_same_bits, run_plan
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.codegen.host import host_program
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.diagnostics.errors import TtnnJitError
from ttnn_jit.runtime.memory.buffer import HOST_POOL


@pytest.fixture(autouse=True)
def shares_small_buffers(monkeypatch):
    monkeypatch.setattr(host_program, "LEAST_SHARED_BYTES", 0)


def without_sharing(monkeypatch):
    """From now on, every buffer of a compiled plan has a storage of its own."""
    monkeypatch.setattr(host_program, "storage_of", lambda _, buffers, __: {each: each for each in buffers.values()})


def mark_idle_memory():
    """Set all bytes of the memory that the next call gets to 255: NaN, or -1."""
    for own in [*HOST_POOL._classes.values()]:
        for address in [*own.free]:
            ctypes.memset(int(address), 255, own.nbytes)


def shared_bytes(plan):
    return sum(spec.nbytes for spec in plan.intermediates) - sum(spec.nbytes for spec in plan.scratch)


def program_of(source, shapes, seed):
    generator = torch.Generator().manual_seed(seed)
    tensors = [torch.randn(shape, generator=generator) for shape in shapes]
    request = ttnn_jit.jit()(function_of(source, ttnn)).request(*(each.clone() for each in tensors))
    program = compile_program(request, use_disk=False).program
    _ = program.native  # it loads the kernels, with the functions that they call
    return program, tensors


@settings(max_examples=20, deadline=None)
@given(program=programs(), seed=st.integers(0, 99))
def test_random_layer_programs_have_the_bits_of_buffers_with_memory_of_their_own(program, seed):
    made, tensors = program_of(*program, seed)
    arrays = [each.numpy() for each in tensors]
    alone, shared = (run_plan(made.plan, made.objects, arrays, in_storages=each) for each in (False, True))
    for one, other in zip(alone, shared, strict=True):
        assert_same_bits(one, other)


def layers(x, *weights):
    """Values of several widths."""
    for weight in weights:
        x = ttnn.layer_norm(ttnn.softmax(ttnn.matmul(x, weight), -1))
    return x, ttnn.sum(x, 1, True)


SHAPES = (64, 48), (48, 200), (200, 96), (96, 120), (120, 7)


def bits(results):
    return [each.numpy().tobytes() for each in (results if isinstance(results, tuple) else (results,))]


def test_calls_of_several_threads_have_storages_of_their_own(monkeypatch):
    def arguments(seed):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(shape, generator=generator) for shape in SHAPES]

    def calls(seed):
        own = arguments(seed)
        return [bits(function(*own)) for _ in range(20)]

    function = ttnn_jit.jit(enable_cache=False, dynamic=False)(layers)
    assert shared_bytes(compile_program(function.request(*arguments(0)), use_disk=False).program.plan) > 0
    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(calls, range(4))]
    without_sharing(monkeypatch)
    alone = ttnn_jit.jit(enable_cache=False, dynamic=False)(lambda *given: layers(*given))
    for seed, own in enumerate(found):
        assert own == [bits(alone(*arguments(seed)))] * 20


def test_no_result_lies_in_memory_that_a_later_call_writes():
    function = ttnn_jit.jit(enable_cache=False)(layers)
    given_tensors = [torch.randn(shape) for shape in SHAPES]
    results = function(*given_tensors)
    before = bits(results)
    for _ in range(3):
        mark_idle_memory()
        function(*(2 * each for each in given_tensors))
    assert bits(results) == before


def outcome(function, tensors):
    """The bits of the results, or the error."""
    mark_idle_memory()
    try:
        return bits(function(*tensors))
    except TtnnJitError as error:
        return type(error).__name__, error.message


@pytest.mark.filterwarnings("ignore:.* compiles every size by itself")
def test_templates_have_the_bits_of_buffers_with_memory_of_their_own_at_every_size(monkeypatch):
    served = 0
    for seed in range(drawn(8)):
        program = RandomProgram(seed)
        cases = [program.tensors(a, b) for a, b in program.sizes(8)]
        found = {}
        for shares in (True, False):
            with monkeypatch.context() as own:
                if not shares:
                    without_sharing(own)
                function = ttnn_jit.jit(dynamic=shares or False, enable_cache=False)(program.function())
                compiled = COUNTERS.compiles
                found[shares] = [outcome(function, tensors) for tensors in cases]
                served += shares and len(cases) - (COUNTERS.compiles - compiled)
        assert found[True] == found[False], program.text
    assert served > 0


def test_a_template_has_at_each_size_the_bytes_of_its_largest_buffers():
    """The storages are those of the first size; which of their buffers is the largest depends on the size."""

    def widths(x, first, second):
        return ttnn.matmul(ttnn.softmax(ttnn.matmul(ttnn.softmax(ttnn.matmul(x, first), -1), second), -1), first)

    function = ttnn_jit.jit(enable_cache=False, dynamic=True)(widths)
    fixed = ttnn_jit.jit(enable_cache=False, dynamic=False)(lambda *given: widths(*given))
    for rows, columns in ((40, 96), (64, 48), (100, 300), (33, 500)):
        tensors = torch.randn(rows, 64), torch.randn(64, columns), torch.randn(columns, 64)
        assert outcome(function, tensors) == outcome(fixed, tensors)


@pytest.mark.parametrize("seed", range(3))
def test_programs_of_meshes_have_the_bits_of_eager_calls(seed):
    """Each device has storages of its own."""
    random.seed(seed)
    mark_idle_memory()
    Random(40 + seed).digests()
