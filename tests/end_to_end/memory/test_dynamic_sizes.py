"""Programs for many sizes on chip targets, of sharded and strided tensors, and of tensors in L1."""

import gc
import weakref

import numpy
import pytest
import torch

import ttnn_jit
from ttnn_jit import ttnn
from ttnn_jit.cache.statistics import COUNTERS
from ttnn_jit.compiler.driver import compile_program
from ttnn_jit.compiler.request import FunctionRequest, OperationRequest
from ttnn_jit.compiler.template import descriptors_of
from ttnn_jit.diagnostics.errors import GridError, OversizedProgramError, ShapeError, TtnnJitError
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, TensorSpec

ROWS = (3, 4, 5, 7, 20, 33, 50)


def scaled(x):
    return ttnn.exp(ttnn.multiply(x, 0.5))


def halved(x):
    return ttnn.add(x[: x.shape[0] // 2], 1.0)


def summed(x):
    return ttnn.sum(ttnn.exp(x), dim=-1, keepdim=True)


def bits(result):
    tensor = ttnn.to_torch(result) if isinstance(result, ttnn.Tensor) else torch.as_tensor(result)
    return tuple(tensor.shape), tensor.contiguous().view(torch.uint8).numpy().tobytes()


def outcome(function, x):
    """The spec and the bits of a result, or the error."""
    try:
        result = function(x)
    except TtnnJitError as error:
        return type(error), str(error)
    return getattr(result, "spec", None), bits(result)


def compiles(function, tensors, **options):
    """The compiles of each call in turn; outcomes are those of programs for one size."""
    dynamic = ttnn_jit.jit(enable_cache=False, **options)(function)
    exact = ttnn_jit.jit(enable_cache=False, dynamic=False, **options)(function)
    counts = []
    for x in tensors:
        before = COUNTERS.compiles
        found = outcome(dynamic, x)
        counts.append(COUNTERS.compiles - before)
        assert found == outcome(exact, x)
        assert found == outcome(dynamic, x), "the second call"
    return counts


# --- Strided tensors ------------------------------------------------------------------------------------------------

STRIDED = {
    "columns of rows": lambda rows: torch.randn(rows, 24)[:, :16],
    "a transposed matrix": lambda rows: torch.randn(16, rows).T,
    "every second row": lambda rows: torch.randn(2 * rows, 16)[::2],
    "one row many times": lambda rows: torch.randn(1, 16).expand(rows, 16),
    "rows in reverse order": lambda rows: numpy.ones((rows, 16), numpy.float32)[::-1],
    "the middle of rows": lambda rows: torch.randn(rows, rows + 6)[:, 1:-1],
}


@pytest.mark.parametrize("function", [scaled, halved, summed])
@pytest.mark.parametrize("kind", STRIDED)
def test_strided_tensors_have_programs_for_many_sizes(kind, function):
    counts = compiles(function, map(STRIDED[kind], ROWS))
    assert sum(counts) <= 4
    assert counts[-2:] == [0, 0]


def test_a_marked_extent_of_a_strided_tensor_opens_its_strides():
    first = torch.randn(16, 20).T
    ttnn_jit.mark_dynamic(first, 0)
    assert compiles(scaled, [first, *(torch.randn(16, rows).T for rows in (21, 40))]) == [1, 0, 0]


def test_a_strided_tensor_that_a_function_reads_may_change_its_sizes():
    held = {}

    @ttnn_jit.jit(enable_cache=False)
    def summed_with(x):
        return ttnn.add(x, ttnn.sum(held["cache"], dim=0))

    x, counts = torch.randn(1, 16), []
    for length in (10, 11, 12, 20, 30):
        held["cache"] = torch.randn(16, length).T
        before = COUNTERS.compiles
        result = summed_with(x)
        counts.append(COUNTERS.compiles - before)
        torch.testing.assert_close(result, x + held["cache"].sum(0))
    assert counts == [1, 1, 0, 0, 0]


# --- Chip targets ---------------------------------------------------------------------------------------------------


def tiles(device, rows, columns=64, config=None):
    values = torch.randn(rows, columns)
    return ttnn.from_torch(values, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device, memory_config=config)


def shards(rows, columns=64, cores=8):
    grid = ttnn.CoreGrid(x=cores, y=1)
    return ttnn.create_sharded_memory_config((rows, columns), grid, ttnn.ShardStrategy.HEIGHT)


def test_on_a_chip_target_a_few_programs_serve_all_sizes(device):
    counts = compiles(scaled, (tiles(device, 32 * rows) for rows in ROWS))
    assert counts == [1, 1, 0, 0, 0, 1, 0], "one of a size, and one for each class of sizes"


@pytest.mark.parametrize("config", [None, ttnn.L1_MEMORY_CONFIG], ids=["DRAM", "L1"])
def test_eager_operations_on_a_chip_target_have_programs_for_many_sizes(device, config):
    counts = []
    for rows in ROWS:
        before, x = COUNTERS.compiles, tiles(device, 32 * rows, 96, config)
        found = outcome(ttnn.cbrt, x)
        counts.append(COUNTERS.compiles - before)
        (cbrt,) = ttnn.cbrt.__ttnn_overloads__
        request = OperationRequest(cbrt, (x.spec,), (), device.target)
        assert found == outcome(compile_program(request, use_disk=False).program, x)
    assert counts == [1, 1, 0, 0, 0, 1, 0], "one of a size, and one for each class of sizes"


def test_a_size_that_the_rules_of_a_chip_refuse_has_the_error_of_a_compile(device):
    counts = compiles(scaled, (tiles(device, rows) for rows in (64, 96, 128, 40, 160, 41)))
    assert counts == [1, 1, 0, 0, 0, 0]
    with pytest.raises(ShapeError, match="Shape\\(\\[40, 64\\]\\), which is not made of whole 32x32 tiles"):
        ttnn_jit.jit(scaled)(tiles(device, 40))


def product(x):
    return ttnn.matmul(x, ttnn.transpose(x, 0, 1))


def test_products_whose_grid_is_chosen_by_their_size_are_those_of_a_compile(device):
    counts = compiles(product, (tiles(device, 32 * rows) for rows in (2, 4, 8, 16, 24, 3)))
    assert counts == [1, 1, 1, 0, 0, 1], "results over 8x8 cores"


@pytest.mark.parametrize("function", [scaled, halved])
def test_sharded_tensors_have_programs_for_many_sizes(device, function):
    counts = compiles(function, (tiles(device, 256 * rows, config=shards(256 * rows)) for rows in (1, 2, 3, 5, 6, 7)))
    assert sum(counts) <= 3
    assert counts[-1] == 0


def test_requested_shards_have_programs_for_many_sizes(device):
    counts = []
    for rows in (256, 512, 768, 1024, 1280):
        before, x = COUNTERS.compiles, tiles(device, rows, 32)
        result = ttnn.tan(x, memory_config=shards(rows, 32))
        counts.append(COUNTERS.compiles - before)
        assert result.memory_config() == shards(rows, 32)
        assert bits(result) == bits(ttnn.tan(x))
    assert counts == [1, 1, 0, 0, 0]


def resharded(x):
    config = ttnn.create_sharded_memory_config(x.shape, ttnn.CoreGrid(x=1, y=2), ttnn.ShardStrategy.HEIGHT)
    return ttnn.exp(ttnn.to_memory_config(x, config))


def test_a_program_that_exceeds_l1_at_some_sizes_is_refused_at_these(device):
    rows = (128, 256, 320, 100, 384, 64 * 400, 64, 64 * 200, 131)
    counts = compiles(resharded, (tiles(device, each) for each in rows))
    assert counts == [1, 1, 0, 0, 0, 1, 1, 0, 0], "one of a size, and one for each class of sizes"
    jitted = ttnn_jit.jit(resharded)
    with pytest.raises(OversizedProgramError, match="does not fit into the L1 of wormhole_b0"):
        jitted(tiles(device, 64 * 400))
    with pytest.raises(GridError, match="HEIGHT sharding of 131x64 elements"):
        jitted(tiles(device, 131))


def test_a_size_that_exceeds_l1_is_compiled_once_where_a_template_holds_for_it(device, monkeypatch):
    """That compile says what does not fit."""
    lowered = []
    lower = FunctionRequest.lower
    monkeypatch.setattr(FunctionRequest, "lower", lambda request: lowered.append(request) or lower(request))
    jitted = ttnn_jit.jit(enable_cache=False)(resharded)
    for rows, count in ((64 * 300, 1), (64 * 301, 2), (64 * 303, 1), (64 * 305, 1), (64 * 100, 0)):
        before, x = len(lowered), tiles(device, rows)
        if rows > 64 * 100:
            with pytest.raises(OversizedProgramError, match="does not fit into the L1 of wormhole_b0"):
                jitted(x)
        else:
            assert bits(jitted(x)) == bits(ttnn.exp(x))
        assert len(lowered) - before == count, rows


def test_a_program_for_many_sizes_is_charged_as_one_of_its_size_is():
    """With its circular buffers, on each core."""

    def views(**options):
        jitted = ttnn_jit.jit(enable_cache=False, **options)(resharded)
        found = []
        for rows in (128, 192, 256, 512):
            opened = ttnn.open_device(device_id=0)
            jitted(tiles(opened, rows))
            found.append(opened.memory_view().cores)
            ttnn.close_device(opened)
        return found

    before = COUNTERS.template_hits
    dynamic = views()
    assert COUNTERS.template_hits - before == 2
    assert dynamic == views(dynamic=False)
    assert max(core.high_water for core in dynamic[0]) > max(core.used for core in dynamic[0])


# --- The tensors of calls ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["torch", "numpy", "ttnn"])
@pytest.mark.parametrize("function", [scaled, lambda x: ttnn.add(x, x.shape[0])])
def test_no_program_holds_a_tensor_of_a_call(library, function, cpu_device):
    jitted, found = ttnn_jit.jit(enable_cache=False)(function), []
    for rows in ROWS:
        x = torch.randn(rows, 16)
        x = x.numpy() if library == "numpy" else ttnn.from_torch(x, device=cpu_device) if library == "ttnn" else x
        for _ in range(3):
            found.append(weakref.ref(jitted(x)))
        found.append(weakref.ref(x))
        del x
    gc.collect()
    assert [reference() for reference in found] == [None] * len(found)


@pytest.mark.parametrize("same", [True, False])
def test_descriptors_are_made_though_the_tensors_of_the_call_are_gone(same):
    def compared(x, y):
        return ttnn.add(x, y) if x is y else ttnn.multiply(ttnn.exp(x), y)

    tensors = [torch.zeros(4, 16), torch.zeros(4, 16)]
    given = [tensors[0]] * 2 if same else tensors
    arguments = dict.fromkeys("xy", TensorSpec((4, 16), DataType.FLOAT32))
    request = FunctionRequest(compared, arguments, PRESETS["cpu"], CompileOptions(), tensors=given)
    again = request.held_weakly()
    expected = descriptors_of(again)
    reference = weakref.ref(tensors[0])
    del tensors, given, request
    gc.collect()
    assert reference() is None
    assert descriptors_of(again) == expected
